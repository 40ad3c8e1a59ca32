"""``affected``: edits of a copy of the small tree, in a repository of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.model.errors import NotFound, SourceError
from indexes.model.impact import Affected
from indexes.queries.impact.affected import affected
from indexes.queries.impact.changed_text import compare_yaml
from indexes.queries.index import Index
from tests.indexing import edit, opened, write
from tests.repositories import begin, commit, git

NATIVE = "aten/src/ATen/native"


@pytest.fixture
def repository(tree_copy: Path) -> Path:
    """The small tree, committed."""
    begin(tree_copy)
    return tree_copy


Answer = Callable[..., Affected]


@pytest.fixture
def answer(repository: Path, cache: Path) -> Answer:
    def ask(*arguments: object, **options: object) -> Affected:
        with opened(repository, cache) as index:
            return affected(index, *arguments, **options)  # type: ignore[arg-type]

    return ask


def _operators(found: Affected, dispatches: int = 0) -> dict[str, tuple[str, ...]]:
    return {o.name: o.aspects for o in found.impact.operators if o.dispatches <= dispatches}


def test_nothing_differs(answer: Answer) -> None:
    found = answer()
    assert (found.files, found.changes, found.quiet, found.impact.steps) == (0, (), (), ())


def test_comments_and_white_space_affect_nothing(repository: Path, answer: Answer) -> None:
    path = f"{NATIVE}/cpu/SoftMaxKernel.cpp"
    old = "static void softmax_kernel_impl(const Tensor& result, const"
    new = "// said\nstatic void\nsoftmax_kernel_impl(const Tensor&   result, /* here */ const"
    edit(repository, path, old, new)
    edit(
        repository,
        "torch/_decomp/decompositions.py",
        "    return softmax_backward_helper(",
        "    # said\n\n    return softmax_backward_helper(",
    )
    edit(repository, f"{NATIVE}/native_functions.yaml", "- func: abs(", "# said\n\n- func: abs(")
    found = answer()
    assert found.changes == ()
    assert set(found.quiet) == {
        path,
        "torch/_decomp/decompositions.py",
        f"{NATIVE}/native_functions.yaml",
    }
    assert found.impact.operators == ()


def test_a_kernel_a_formula_function_an_entry_and_a_decomposition(
    repository: Path, answer: Answer
) -> None:
    edit(
        repository,
        f"{NATIVE}/cpu/SoftMaxKernel.cpp",
        "vec_softmax<scalar_t, false>::apply",
        "vec_softmax<scalar_t, true>::apply",
    )
    edit(
        repository,
        "torch/csrc/autograd/FunctionsManual.cpp",
        "  bool is_one = false;",
        "  bool is_one = true;",
    )
    edit(
        repository,
        "torch/_decomp/decompositions.py",
        "    return grad_output * output",
        "    return output * grad_output",
    )
    found = answer()
    assert {(c.kind, c.name.rpartition("::")[2].rpartition(".")[2]) for c in found.changes} == {
        ("function", "softmax_kernel_impl"),
        ("function", "maybe_multiply"),
        ("python", "softmax_backward_helper"),
    }
    reached = _operators(found)
    assert reached["_softmax.out"] == ("kernel",)
    assert "backward" in reached["add.Tensor"]
    assert reached["_softmax_backward_data"] == ("decomposition",)


def test_a_meta_function_is_called_by_its_words(repository: Path, answer: Answer) -> None:
    head = "TORCH_META_FUNC(mm)(const Tensor & self, const Tensor & mat2) {"
    edit(repository, f"{NATIVE}/LinearAlgebra.cpp", head, f"{head} int added;")
    assert [change.kind for change in answer().changes] == ["meta function"]


def test_a_yaml_entry_with_the_fields_that_differ(repository: Path, answer: Answer) -> None:
    path = f"{NATIVE}/native_functions.yaml"
    text = (repository / path).read_text()
    at = text.index("- func: abs(Tensor self)")
    end = text.index("\n", at)
    (repository / path).write_text(f"{text[:end]}\n  device_guard: False{text[end:]}")
    found = answer()
    change = next(c for c in found.changes if c.kind == "operator entry")
    assert (change.name, change.what, change.detail) == ("abs", "changed", "device_guard")
    assert _operators(found)["abs"][0] == "schema"
    assert any("_abs_cpu" in test.command for test in found.impact.tests)


def test_a_new_row_of_a_dispatch_table_is_tested_on_its_own_device(
    repository: Path, answer: Answer
) -> None:
    path = f"{NATIVE}/native_functions.yaml"
    edit(repository, path, "    CPU: nonzero_cpu", "    CPU: nonzero_cpu\n    MPS: nonzero_cpu")
    (reached,) = (one for one in answer().impact.operators if one.name == "nonzero")
    assert reached.keys == ("MPS",)
    edit(repository, path, "    CPU: nonzero_cpu", "    CPU: nonzero_other")
    (reached,) = (one for one in answer().impact.operators if one.name == "nonzero")
    assert {"CPU", "MPS"} <= {*reached.keys}


def test_the_keys_whose_kernels_a_dispatch_table_changes() -> None:
    entry = "- func: gcd(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDA: {}\n"
    old, more = entry.format("gcd"), f"{entry.format('gcd')}    MPS: gcd\n"
    for new, keys in ((more, ("MPS",)), (entry.format("other"), ("CPU", "CUDA"))):
        (found,) = compare_yaml(old, new)
        assert (found.detail, found.keys) == ("dispatch", keys)
    assert compare_yaml(more, old)[0].keys == ("MPS",)
    assert not compare_yaml(more, "- func: gcd(Tensor self) -> Tensor\n")[0].keys


def test_a_removed_row_of_a_dispatch_table_goes_with_its_own_key(
    repository: Path, answer: Answer
) -> None:
    path = f"{NATIVE}/native_functions.yaml"
    edit(
        repository,
        path,
        "    CPU, CUDA: sin_out\n    MPS: sin_out_mps\n",
        "    CPU, CUDA: sin_out\n",
    )
    (reached,) = (one for one in answer().impact.operators if one.name == "sin.out")
    assert reached.keys == ("MPS",)


def test_a_removed_function_counts_by_its_old_text(repository: Path, answer: Answer) -> None:
    path = repository / NATIVE / "cpu/SoftMaxKernel.cpp"
    text = path.read_text()
    at = text.index("static void softmax_kernel_impl(")
    path.write_text(text[:at] + text[text.index("} // anonymous namespace") :])
    found = answer()
    assert [
        (c.what, c.name.rpartition("::")[2]) for c in found.changes if c.kind == "function"
    ] == [("removed", "softmax_kernel_impl")]
    assert "_softmax.out" in _operators(found)


def test_a_removed_registration_reaches_the_operators_of_its_stub(
    repository: Path, answer: Answer
) -> None:
    edit(
        repository,
        f"{NATIVE}/cpu/SoftMaxKernel.cpp",
        "ALSO_REGISTER_AVX512_DISPATCH(softmax_kernel, &softmax_kernel_impl)",
        "",
    )
    found = answer()
    assert [(c.kind, c.what) for c in found.changes] == [("macro use", "removed")]
    assert "_softmax.out" in _operators(found)


def test_untracked_files_and_staged_changes(repository: Path, answer: Answer) -> None:
    (repository / "torch/_decomp/new.py").write_text("def fresh():\n    pass\n")
    assert [c.what for c in answer().changes] == ["added"]
    assert answer(staged=True).changes == ()
    git(repository, "add", "-A")
    assert [c.name for c in answer(staged=True).changes] == ["torch._decomp.new.fresh"]


def test_commit_ranges_and_unknown_revisions(repository: Path, answer: Answer) -> None:
    edit(repository, "torch/_decomp/decompositions.py", "grad_output * output", "output")
    commit(repository, "edit")
    assert answer().changes == ()
    for since in ("HEAD~1", "HEAD~1..HEAD"):
        assert [c.what for c in answer(since).changes] == ["changed"], since
    with pytest.raises(NotFound, match="no commit 'v9'"):
        answer("v9")
    with pytest.raises(NotFound):
        answer("--output=/tmp/x")


def test_a_header_and_a_generator_say_whom_they_concern(repository: Path, answer: Answer) -> None:
    edit(repository, f"{NATIVE}/cpu/SoftmaxKernel.h", "#pragma once", "#pragma once\n#include <x>")
    (repository / "aten/src/ATen/templates/Functions.h").write_text("int changed;\n")
    found = answer()
    assert {c.kind for c in found.changes} == {"header", "template"}
    assert any("all operators that are generated" in line for line in found.impact.unresolved)


def test_the_tests_of_code_generation_that_import_a_generator(
    repository: Path, answer: Answer
) -> None:
    tests = {"model": "from torchgen.model import Variant", "api": "import torchgen.api"}
    texts = {f"tools/test/test_codegen_{name}.py": f"{one}\n" for name, one in tests.items()}
    write(repository, {**texts, "torchgen/model.py": "class Variant: ...\n"})
    assert answer().impact.tests[0].command == "pytest tools/test/test_codegen_model.py"


def test_no_test_of_a_generator_is_lost_behind_those_to_run_now(
    repository: Path, answer: Answer
) -> None:
    texts = {f"tools/test/test_{at}.py": "import torchgen.model\n" for at in range(7)}
    write(repository, {**texts, "torchgen/model.py": "class Variant: ...\n"})
    edit(repository, "tools/autograd/derivatives.yaml", "self: grad", "self: grad * 1")
    tests = answer().impact.tests
    assert {one.path for one in tests} > {*texts}
    assert [one.tier for one in tests] == ["now"] * 5 + ["ci"] * (len(tests) - 5)


def test_a_tree_without_history_says_what_is_missing(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index, pytest.raises(SourceError, match=r"no \.git"):
        affected(index)


def test_a_wheel_has_no_history(wheel: Index) -> None:
    with pytest.raises(SourceError, match="torchnav clone"):
        affected(wheel)


def test_a_changed_test_is_run_by_name(repository: Path, answer: Answer) -> None:
    edit(
        repository,
        "test/test_ops.py",
        "    def test_masked_sin(self, device):\n        pass",
        "    def test_masked_sin(self, device):\n        return",
    )
    found = answer()
    assert [c.kind for c in found.changes] == ["test"]
    commands = [test.command for test in found.impact.tests]
    assert len(commands) == 1
    assert commands[0].startswith("pytest test/test_ops.py -k ")
    assert "TestCommon" in commands[0]
    assert "test_masked_sin" in commands[0]


def test_a_line_of_a_page_leads_to_what_it_documents(repository: Path, answer: Answer) -> None:
    page = repository / "docs/source/torch.rst"
    page.write_text(page.read_text() + "\n.. autofunction:: abs\n\nSee :func:`torch.add` too.\n")
    found = answer()
    named = {(c.kind, c.name) for c in found.changes}
    assert {("documentation", "torch.abs"), ("documentation", "torch.add")} <= named
    assert found.impact.operators == ()


def test_a_docstring_of_an_operator_is_documentation_alone(
    repository: Path, answer: Answer
) -> None:
    path = repository / "torch/_torch_docs.py"
    text = path.read_text()
    at = text.index('"""', text.index("add_docstr(")) + 3
    path.write_text(f"{text[:at]}More of it. {text[at:]}")
    found = answer()
    assert [c.kind for c in found.changes] == ["documentation"]
    assert found.changes[0].name.startswith("torch.")
    assert found.changes[0].detail == "docstring"
    assert found.impact.operators == ()
    guide = repository / "CONTRIBUTING.md"
    guide.write_text("# Building documentation\n\n```bash\ncd docs\nmake html\n```\n")
    (repository / "docs/Makefile").write_text("html:\n\techo\n")
    assert ["make html" in check.command for check in answer().checks].count(True) == 1


def test_a_page_that_names_nothing_is_named_itself(repository: Path, answer: Answer) -> None:
    (repository / "docs/source/notes.md").write_text("Words alone.\n")
    (change,) = answer().changes
    assert (change.kind, change.name) == ("documentation", "docs/source/notes.md")
    assert change.detail == "names no function or class"


def test_code_that_changes_with_its_docstring_is_both(repository: Path, answer: Answer) -> None:
    path = repository / "torch/optim/documented.py"
    path.write_text('def f(x):\n    """Says this."""\n    return x\n')
    commit(repository, "more")
    path.write_text('def f(x):\n    """Says that."""\n    return x + 1\n')
    (change,) = answer().changes
    assert (change.kind, change.detail) == ("python", "code and docstring")
    path.write_text('def f(x):\n    """Says that."""\n    return x\n')
    (change,) = answer().changes
    assert (change.kind, change.detail) == ("python", "docstring")


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ('"cumsum",', '"cumsum",\n        supports_out=False,', "cumsum"),
        ("requires_grad):", "requires_grad, **more):", "softmax"),
    ],
)
def test_what_changes_in_an_opinfo_or_its_inputs_is_tested_by_what_is_made_from_it(
    repository: Path, answer: Answer, old: str, new: str, name: str
) -> None:
    edit(repository, "torch/testing/_internal/common_methods_invocations.py", old, new)
    impact = answer().impact
    first = impact.tests[0]
    assert (first.path, first.tier) == ("test/test_ops.py", "now")
    assert first.reason == f"made from OpInfos that change: {name}"
    assert f"_{name}_cpu" in first.command


def test_no_test_is_named_after_the_settings_of_the_documentation(
    repository: Path, answer: Answer
) -> None:
    files = {"docs/source/conf.py": "left_out = [1]\n", "test/test_docs.py": "def test_x(): ...\n"}
    write(repository, files)
    commit(repository, "Settings")
    edit(repository, "docs/source/conf.py", "[1]", "[]")
    found = answer()
    assert [change.location.path for change in found.changes] == ["docs/source/conf.py"]
    assert found.impact.tests == ()
