"""A check gets a message; the nearest test gets a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.changes.check_drafts import _message
from indexes.queries.changes.planning import Changes
from tests.indexing import append, opened
from tests.tree_marks import YAML

_FILE = "aten/src/ATen/native/Lonely.cpp"


def test_a_bare_check_gets_a_message(changes: Changes) -> None:
    plan = changes.of_id("error-message/at::native::lonely")
    assert plan is not None
    (step,) = [step for step in plan.steps if step.location.path == _FILE]
    assert step.action == "edit"
    assert "-  TORCH_CHECK(size > 0);" in step.code
    (made,) = [line for line in step.code if line.startswith("+  ")]
    assert made == '+  TORCH_CHECK(size > 0, "lonely: expected size > 0, but got size = ", size);'


def test_a_case_expects_the_words_that_the_message_will_have(tree_copy: Path, cache: Path) -> None:
    kernel = tree_copy / "aten/src/ATen/native/Asked.cpp"
    check = 'TORCH_INTERNAL_ASSERT(\n      self.dim() == 2,\n      "asked(): it wants (two)");'
    body = (
        f"Tensor asked(const Tensor& self) {{\n  {check}\n  TORCH_CHECK(true);\n  return self;\n}}"
    )
    kernel.write_text(f"namespace at::native {{\n{body}\n}}\n")
    append(tree_copy, {YAML: "\n- func: asked(Tensor self) -> Tensor\n"})
    test = "\nclass TestAsked(TestCase):\n    def test_asked(self):\n        torch.asked(1)\n"
    (tree_copy / "test/test_asked.py").write_text(test)
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_id("internal-assert/at::native::asked")
    assert plan is not None
    (added,) = [step for step in plan.steps if step.location.path == "test/test_asked.py"]
    assert 'assertRaisesRegex(RuntimeError, "it wants")' in added.code[0]


def test_kernels_that_run_in_place_of_what_checks_are_read(changes: Changes) -> None:
    plan = changes.of_op("sin", "error-message")
    read = [step for step in plan.steps if step.action == "read"]
    assert any("/mps/" in step.location.path and "MPS" in step.what for step in read)
    assert not any("/mps/" in path for path in plan.files)


def test_without_a_gap_the_places_that_check_are_named(changes: Changes) -> None:
    plan = changes.of_op("whole", "error-message")
    assert next(step.location.path for step in plan.steps if step.action == "edit") == _FILE


def test_layouts_that_check_for_themselves_have_their_tests_and_an_opinfo_a_case(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "test/test_sparse.py").write_text("def test_abs():\n    torch.abs(1)\n")
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("abs", "error-message")
        helper = Changes(index).of_op("_softmax", "error-message")
    (run,) = [one for one in plan.tests if one.why == "it has a kernel for SparseCPU"]
    assert run.command == "pytest test/test_sparse.py -k abs"
    assert any(step.what.startswith("Give its OpInfo an error") for step in plan.steps)
    assert any("which needs it, an error_inputs_func" in s.what for s in helper.steps)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("weight.is_contiguous()", "f: expected weight to be contiguous"),
        ("!x.is_sparse_csr()", "f: expected x not to be sparse csr"),
        ("scale->isFloatingPoint()", "f: expected scale to be floating point"),
        ("x.is_contiguous(format)", "f: expected x to be contiguous (format)"),
        ("info != nullptr", "f: expected info not to be null"),
        ("false", "f: say what is wrong"),
        ("at::isIntegralType(t, /*includeBool=*/true)", "f: expected isIntegralType(t, true)"),
    ],
)
def test_a_message_says_a_plain_question_in_words(condition: str, message: str) -> None:
    assert _message("f: ", condition) == [f'"{message}"']


def test_a_message_says_what_it_got_of_each_side_that_is_no_constant() -> None:
    devices = _message("f: ", "self.device() == out.device()")
    assert devices[1::2] == ["self.device()", "out.device()"]
    assert devices[2] == '" and out.device() = "'
    assert _message("f: ", "self.layout() == c10::kStrided")[1:] == ["self.layout()"]
    assert _message("f: ", "0 < size")[1:] == ["size"]


def test_what_checks_for_another_device_too_is_not_read_once_more(
    tree_copy: Path, cache: Path
) -> None:
    entry = "\n- func: checking(Tensor self) -> Tensor\n  dispatch:\n    CPU, MPS: checking\n"
    cxx = "namespace at::native {\nTensor checking(const Tensor& self) {\n"
    cxx += "  TORCH_CHECK(self.defined());\n  return self;\n}\n}\n"
    append(tree_copy, {YAML: entry, "aten/src/ATen/native/Checking.cpp": cxx})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("checking", "error-message")
    assert not [step for step in plan.steps if "computes it for MPS" in step.what]


def test_a_layout_that_the_check_asks_for_has_its_tests(tree_copy: Path, cache: Path) -> None:
    append(tree_copy, {YAML: "\n- func: asked(Tensor self) -> Tensor\n"})
    body = "Tensor asked(const Tensor& self) { TORCH_CHECK(!self.is_sparse()); return self; }"
    kernel = tree_copy / "aten/src/ATen/native/Asked.cpp"
    kernel.write_text(f"namespace at::native {{\n{body}\n}}\n")
    (tree_copy / "test/test_sparse.py").write_text("def test_it():\n    torch.asked(1)\n")
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("asked", "error-message")
    assert "test/test_sparse.py" in [one.path for one in plan.tests]


CROSSED = """
- func: crossed(Tensor self) -> Tensor

- func: linalg_crossed(Tensor self) -> Tensor
  dispatch:
    CPU: linalg_crossed
"""
CROSSED_BELOW = """namespace at::native {
Tensor linalg_crossed(const Tensor& self) {
  TORCH_CHECK(self.defined(), "self has to be given");
  return self;
}
}
"""
CROSSED_ABOVE = """namespace at::native {
Tensor crossed(const Tensor& self) { return at::linalg_crossed(self); }
}
"""
CROSSED_META = """

@register_meta(aten.linalg_crossed.default)
def linalg_crossed(self):
    torch._check(True)
    return self
"""


def test_what_a_composite_calls_under_its_name_checks_for_it(tree_copy: Path, cache: Path) -> None:
    native, meta = "aten/src/ATen/native", "torch/_meta_registrations.py"
    made = {f"{native}/Crossed.cpp": CROSSED_ABOVE, f"{native}/LinearCrossed.cpp": CROSSED_BELOW}
    append(tree_copy, {YAML: CROSSED, meta: CROSSED_META, **made})
    with opened(tree_copy, cache) as index:
        plan = Changes(index).of_op("crossed", "error-message")
    paths = {step.location.path: step for step in plan.steps}
    assert [*paths][:2] == [*made]
    assert "checks the same in Python" in paths[meta].what
