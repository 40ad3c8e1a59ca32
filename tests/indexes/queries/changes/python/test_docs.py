"""Docstrings and pages are corrected to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.changes.model import Change, ChangeStep
from indexes.queries.changes.planning import Changes
from indexes.queries.changes.python.docs import docs_page, docs_signature
from indexes.queries.changes.python.rows import on_page
from indexes.queries.gaps.model import Gap, GapList
from indexes.queries.gaps.tree import Tree
from tests.indexing import append, opened, write


def _touched(changes: Changes, wanted: str) -> list[ChangeStep]:
    plan = changes.of_id(wanted)
    assert plan is not None
    return [step for step in plan.steps if step.touches]


@pytest.mark.parametrize(
    ("wanted", "before", "after"),
    [
        (
            "docs-signature/lonely",
            "-lonely(input, length) -> Tensor",
            "+lonely(input, size) -> Tensor",
        ),
        (
            "docs-signature/twice",
            "-thrice(input, other, size) -> Tensor",
            "+twice(input, other, size) -> Tensor",
        ),
    ],
)
def test_a_signature_says_what_the_schema_says(
    changes: Changes, wanted: str, before: str, after: str
) -> None:
    (step,) = _touched(changes, wanted)
    assert step.location.path == "torch/_torch_docs.py"
    assert before in step.code
    assert after in step.code


def test_prose_keeps_its_words_when_a_parameter_is_renamed(changes: Changes) -> None:
    (step,) = _touched(changes, "docs-signature/lonely")
    assert "+The length is that of ``input[:size]``, not 'length'." in step.code
    assert "+    size (int): how long, :attr:`size`" in step.code


def test_a_page_gets_a_line(changes: Changes, answer: GapList) -> None:
    (gap,) = [one for one in answer.gaps if one.kind == "docs-page"]
    (step,) = _touched(changes, gap.id)
    assert step.location.path == "docs/source/tensors.rst"
    assert "+    Tensor.relu_" in step.code


@pytest.mark.parametrize(
    ("last", "listed"),
    [("relu", ["+    Tensor.relu", "     Tensor.relu_"]), ("same", ["+    Tensor.same"])],
)
def test_a_line_of_a_page_stands_in_the_order_of_names(
    tree_copy: Path, cache: Path, last: str, listed: list[str]
) -> None:
    page = "docs/source/tensors.rst"
    write(tree_copy, {page: ".. autosummary::\n\n    Tensor.relu_\n    Tensor.sin\n"})
    row = Location(page, 3 if last == "relu" else 4)
    where = Location("torch/_tensor_docs.py", 1)
    gap = Gap(where, "", "", (where, row), op="relu", name="relu", subject=f"Tensor.{last}")
    with opened(tree_copy, cache) as index:
        change = Change("docs-page", "relu", "", op="relu", gap=gap)
        step = docs_page(Tree(index), change).steps[0]
    at = step.code.index(listed[0])
    assert list(step.code[at : at + len(listed)]) == listed


def test_a_missing_docstring_is_drafted(changes: Changes, answer: GapList) -> None:
    gap = next(one for one in answer.gaps if one.kind == "docs")
    first = _touched(changes, gap.id)[0]
    assert first.action == "add"
    assert any("add_docstr" in line for line in first.code if line.startswith("+"))


def test_all_docstrings_of_an_operator(changes: Changes) -> None:
    plan = changes.of_op("whole", "docs")
    paths = {step.location.path for step in plan.steps if step.touches}
    assert {"torch/_torch_docs.py", "torch/_tensor_docs.py"} <= paths


def test_a_name_without_its_module_is_the_name_that_it_means(changes: Changes) -> None:
    short, whole = (changes.of_op(one, "docs") for one in ("AdamW", "torch.optim.AdamW"))
    assert short.change.name == whole.change.name == "torch.optim.AdamW"
    assert short.files == whole.files
    assert "torch/optim/_adam.py" in short.files


def test_what_only_bears_the_name_of_an_operator_is_read(changes: Changes) -> None:
    plan = changes.of_op("whole", "docs")
    said = {step.what: step.action for step in plan.steps}
    assert said["The docstring of torch.whole."] == "edit"
    assert said["The docstring of torch.namesakes.whole."] == "read"


def test_several_operators_are_one_change(changes: Changes) -> None:
    alone, both = (changes.of_ops(names, "docs") for names in (["whole"], ["whole", "twice"]))
    assert alone == changes.of_op("whole", "docs")
    assert both.change.name == "whole, twice"
    said = {step.what for step in both.steps}
    assert {"The docstring of torch.whole.", "The docstring of torch.twice."} <= said


def test_a_line_of_documentation_leads_to_its_twins(changes: Changes) -> None:
    at = next(
        step.location
        for step in changes.of_op("whole", "docs").steps
        if step.location.path == "torch/_torch_docs.py"
    )
    plan = changes.of_op(f"{at.path}:{at.line}", "docs")
    assert {"torch/_torch_docs.py", "torch/_tensor_docs.py"} <= set(plan.files)
    assert changes.of_op(at.path, "docs").files == (at.path,)


def test_pages_that_list_a_name_are_read_where_a_docstring_is_edited(changes: Changes) -> None:
    plan = changes.of_op("whole", "docs")
    assert any(step.location.path.startswith("docs/") for step in plan.steps)
    assert not any(path.startswith("docs/") for path in plan.files)
    assert plan.files


def test_a_name_that_only_a_page_has_is_planned(changes: Changes) -> None:
    """As methods that C++ binds by hand, which nothing in the tree defines."""
    assert changes.of_op("addmv", "docs").files == ("docs/source/torch.rst",)


def test_a_function_without_a_docstring_gets_one_beside_its_method(changes: Changes) -> None:
    plan = changes.of_op("everywhere", "docs")
    touched = {step.location.path: step.action for step in plan.steps if step.touches}
    assert touched["torch/_torch_docs.py"] == "add"
    assert touched["torch/_tensor_docs.py"] == "edit"


def test_a_name_is_listed_on_the_page_of_its_kind_wherever_its_neighbour_is(
    tree_copy: Path, cache: Path
) -> None:
    pages = {"tensors": ("abs", "add", "sub"), "apart": ("abs_",)}
    for page, names in pages.items():
        rows = "\n".join(f"    Tensor.{name}" for name in names)
        (tree_copy / f"docs/source/{page}.rst").write_text(f".. autosummary::\n\n{rows}\n")
    with opened(tree_copy, cache) as index:
        steps = Changes(index).of_op("sin", "docs").steps
    (step,) = [one for one in steps if "List torch.Tensor.sin" in one.what]
    assert step.location.path == "docs/source/tensors.rst"
    assert [line for line in step.code[2:] if line[0] in "+-"] == ["+    Tensor.sin"]


def test_a_name_with_a_docstring_is_listed_even_if_a_page_lists_the_method(
    tree_copy: Path, cache: Path
) -> None:
    head = ".. currentmodule:: torch\n.. autosummary::\n\n"
    pages = {"docs/source/tensors.rst": f"{head}    Tensor.cumsum\n    Tensor.abs\n"}
    pages["docs/source/torch.rst"] = f"{head}    abs\n    add\n"
    docstring = '\nadd_docstr_all("cumsum", r"cumsum(dim) -> Tensor")\n'
    write(tree_copy, pages)
    append(tree_copy, {"torch/_tensor_docs.py": docstring})
    with opened(tree_copy, cache) as index:
        steps = Changes(index).of_op("cumsum", "docs").steps
    (listed,) = [step for step in steps if step.what.startswith("List ")]
    assert (listed.location.path, listed.what[:18]) == (
        "docs/source/torch.rst",
        "List torch.cumsum ",
    )


def test_a_name_is_listed_in_the_group_of_the_names_that_begin_like_it(
    tree_copy: Path, cache: Path
) -> None:
    """Not after the last name before it, which another group of the page may have."""
    head = ".. currentmodule:: torch\n.. autosummary::\n\n"
    groups = f"{head}    cat\n    cumsum_as\n\n{head}    abs\n    contiguous\n    cz\n"
    write(tree_copy, {"docs/source/torch.rst": groups})
    with opened(tree_copy, cache) as index:
        (listed,) = on_page(Tree(index), "torch.cumsum")
    at = listed.code.index("+    cumsum")
    assert listed.code[at - 1 : at + 2] == ("     cat", "+    cumsum", "     cumsum_as")


def test_pages_of_other_names_of_an_operator_are_no_part_of_a_correction(
    tree_copy: Path, cache: Path
) -> None:
    head = ".. currentmodule:: torch\n.. autosummary::\n\n"
    pages = {"torch": "cumsum", "tensors": "Tensor.cumsum"}
    write(tree_copy, {f"docs/source/{p}.rst": f"{head}    {name}\n" for p, name in pages.items()})
    gap = Gap(Location("torch/_torch_docs.py", 1), "cumsum documents axis", "", subject="cumsum")
    with opened(tree_copy, cache) as index:
        change = Change("docs-signature", "cumsum", "", op="cumsum", gap=gap)
        said = [step.location.path for step in docs_signature(Tree(index), change).steps]
    assert "docs/source/torch.rst" in said
    assert "docs/source/tensors.rst" not in said


def test_a_name_that_differs_in_case_alone_is_a_neighbour(tree_copy: Path, cache: Path) -> None:
    page = ".. currentmodule:: torch.cased\n.. autosummary::\n\n    Tensor\n"
    write(tree_copy, {"docs/source/cased.rst": page})
    with opened(tree_copy, cache) as index:
        (listed,) = on_page(Tree(index), "torch.cased.tensor")
    assert listed.code[-2:] == ("     Tensor", "+    tensor")
