"""A row that excuses something is taken away to the letter, with what runs it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.changes.model import Change
from indexes.queries.changes.planning import Changes
from indexes.queries.changes.python import rows
from indexes.queries.gaps.model import Gap, GapList
from tests.indexing import append, opened, write


@pytest.mark.parametrize("kind", ["opinfo-failure", "opinfo-skip", "docs-coverage", "typing"])
def test_the_line_of_a_gap_goes(changes: Changes, answer: GapList, kind: str) -> None:
    gaps = [one for one in answer.gaps if one.kind == kind]
    assert gaps
    for gap in gaps[:3]:
        plan = changes.of_id(gap.id)
        assert plan is not None
        removed = [step for step in plan.steps if step.action == "remove"]
        assert removed, gap.id
        for step in removed:
            (line,) = changes.tree.lines(step.location.path, step.location.line, step.location.line)
            assert not step.code or f"-{line}" in step.code


def test_what_closes_the_list_behind_a_row_stays(changes: Changes, answer: GapList) -> None:
    (gap,) = [one for one in answer.gaps if "test_closing" in one.what]
    plan = changes.of_id(gap.id)
    assert plan is not None
    (step,) = [one for one in plan.steps if one.action == "remove"]
    text = changes.tree.line(step.location)
    assert text.endswith("),),")
    assert [line for line in step.code[2:] if line[0] in "+-"] == [f"-{text}", "+            ),"]


def test_a_row_of_no_operator_has_a_test_chosen_by_its_name_alone(changes: Changes) -> None:
    path = "torch/testing/_internal/common_modules.py"
    what = "TestCommon.test_out is skipped for common_modules.py"
    gap = Gap(Location(path, 1), what, "", kind="opinfo-skip", name="common_modules.py")
    change = Change("opinfo-skip", "common_modules.py", "", gap=gap)
    parts = rows.opinfo_row(changes.tree, change)
    (run,) = parts.tests
    assert run.command.endswith(" -k test_out")
    assert [step.action for step in parts.steps] == ["remove", "run"]  # excused, it fails unseen


def test_functions_without_types_are_named(changes: Changes) -> None:
    path = "torch/_decomp/decompositions.py"
    gap = Gap(Location(path, 1), "no types", "it is excused", kind="typing", name=path)
    plan = rows.typing(changes.tree, Change("typing", path, "", gap=gap))
    assert "Annotate whole." in [step.what for step in plan.steps]


def test_what_is_documented_nowhere_gets_a_docstring_and_a_line_of_a_page(changes: Changes) -> None:
    plan = changes.of_id("docs-coverage/torch.words.bare.bare")
    assert plan is not None
    docstring, page, row = plan.steps
    added = [line[1:] for line in docstring.code[2:] if line.startswith("+")]
    text = "\n".join(["def bare(one, *, two=1) -> int:", *added, "    return one"])
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert (ast.get_docstring(function) or "").splitlines()[2:5] == [
        "Args:",
        "    one: what it is for",
        "    two: what it is for",
    ]
    assert (page.action, page.location.path, row.action) == (
        "add",
        "docs/source/said.rst",
        "remove",
    )


def test_of_copies_one_is_kept(changes: Changes, answer: GapList) -> None:
    gap = next(one for one in answer.gaps if one.kind == "duplicate")
    plan = changes.of_id(gap.id)
    assert plan is not None
    assert [step.action for step in plan.steps] == ["edit", "edit"]


def test_an_owner_is_named_where_a_folder_has_one(changes: Changes) -> None:
    alike = changes.of_id("test-owner/test/alike/test_nobody.py")
    assert alike is not None
    assert '+# Owner(s): ["module: alike"]' in alike.steps[0].code
    others = changes.of_id("test-owner/test/test_nobody.py")
    assert others is not None
    (step,) = others.steps
    assert not step.code
    assert "the label of the module" in step.what


def test_a_reference_to_a_note_gets_the_title_that_a_comment_has(changes: Changes) -> None:
    plan = changes.of_id("note-link/Order of keys")
    assert plan is not None
    head, reference = plan.steps
    assert (head.action, reference.action) == ("read", "edit")
    assert "# Note [Order of the keys]" in changes.tree.line(head.location)
    assert [line for line in reference.code[2:] if line[0] in "+-"] == [
        "-# See Note [Order of keys]",
        "+# See Note [Order of the keys]",
    ]


def test_without_a_similar_note_a_reference_is_to_be_corrected(changes: Changes) -> None:
    plan = changes.of_id("note-link/Nothing like it")
    assert plan is not None
    (step,) = plan.steps
    assert (step.what, step.code) == ("Correct Note [Nothing like it], or remove it.", ())


def test_a_link_to_a_file_that_is_gone_may_mean_one_beside_it(tree_copy: Path, cache: Path) -> None:
    """Of the same ending, in the same folder."""
    beside = {"torch/fx/README.md": "Words.\n", "torch/fx/words.txt": "Words.\n"}
    write(tree_copy, {**beside, "CONTRIBUTING.md": "See [it](torch/fx/OVERVIEW.md).\n"})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_id("file-link/CONTRIBUTING.md")
    assert plan is not None
    edit, read = plan.steps
    assert edit.location.path == "CONTRIBUTING.md"
    assert (read.action, read.location.path) == ("read", "torch/fx/README.md")


_PAGE = """
.. currentmodule:: torch
.. autosummary::

    Tensor.view
    nn.Pool
    nn.modules.pooling.Pool
    nn.Norm1d
    nn.Norm2d
    Tensor.fold
    nn.functional.fold
    optim.RMSprop
"""


@pytest.mark.parametrize(
    ("dead", "what"),
    [
        ("torch.view", "torch.view does not exist: write torch.Tensor.view."),
        ("torch.pooled.Pool", "torch.pooled.Pool does not exist: write torch.nn.Pool."),
        ("torch.optim.RMSProp", "torch.optim.RMSProp does not exist: write torch.optim.RMSprop."),
        ("torch.fold", "torch.fold, or remove it. Perhaps it is torch.Tensor.fold or torch.nn."),
        ("torch.nn.Norm", "torch.nn.Norm, or remove it. Perhaps it is torch.nn.Norm"),
        ("torch._own._apart.emptied", "does not exist: write torch.own._apart.emptied."),
        ("torch.nowhere", "Correct torch.nowhere, or remove it."),
    ],
)
def test_a_dead_link_leads_to_what_pages_list(
    tree_copy: Path, cache: Path, dead: str, what: str
) -> None:
    """Or to what a private module defines; which of several is not said."""
    pooling = "class Pool:\n    pass\n"
    write(
        tree_copy,
        {
            "docs/source/listed.rst": _PAGE,
            "docs/source/dead.rst": f":func:`{dead}`\n",
            "torch/nn/modules/pooling.py": pooling,
            "torch/own/__init__.py": "",
            "torch/own/_apart.py": "def emptied():\n    pass\n\n\ndef view():\n    pass\n",
        },
    )
    append(tree_copy, {"torch/nn/__init__.py": "\nfrom torch.nn.modules.pooling import Pool\n"})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_id(f"docs-link/{dead}")
    assert plan is not None
    assert what in plan.steps[0].what
    assert bool(plan.steps[0].code) == ("write" in what)
