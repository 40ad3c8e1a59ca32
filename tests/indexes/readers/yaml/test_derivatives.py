from pathlib import Path

import pytest
import yaml

from indexes.model.vocabulary import DerivativeEntry, Formula, Problem
from indexes.readers.yaml.derivatives import node_prefix, read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions

ENTRIES = """\
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  # a comment
  self, other: "f(grad, self)
     + at::g(other)"
  result: auto_linear

- name: mul.Scalar(Tensor self, Scalar other) -> Tensor
  dispatch:
    Default:
      self: grad * other
    AutogradNestedTensor:
      self: h(grad)
  output_differentiability: [False, "!x"]
- name: eq(Tensor self, Tensor index) -> Tensor
  self: non_differentiable
  output_differentiability: [False]
- name: mul_out_forward(Tensor self) -> (Tensor out, Tensor aux)
  self: grad
  out: self_t
"""


def read(text: str) -> tuple[tuple[DerivativeEntry, ...], tuple[Problem, ...]]:
    return read_derivatives(text.encode(), "d.yaml")


def formulas(entry: DerivativeEntry) -> list[Formula]:
    return [formula for each in entry.sets for formula in each.formulas]


def test_formulas_with_lines_and_node_names() -> None:
    (tensor, scalar, eq, forward), problems = read(ENTRIES)
    assert not problems
    both, result = formulas(tensor)
    assert both.inputs == ("self", "other")
    assert both.text == "f(grad, self) + at::g(other)"
    assert (both.location.line, both.location.end_line) == (3, 4)
    assert (result.kind, result.text, result.location.line) == ("forward", "auto_linear", 5)
    assert tensor.sets[0].grad_fn == "MulBackward0"
    assert [(s.key, s.grad_fn, s.location.line) for s in scalar.sets] == [
        ("Default", "MulBackward1", 9),
        ("AutogradNestedTensor", "MulBackwardAutogradNestedTensor0", 11),
    ]
    assert scalar.output_differentiability == ("False", "!x")
    assert [(f.kind, f.inputs) for f in formulas(eq)] == [("non_differentiable", ("self",))]
    assert eq.sets[0].grad_fn is None
    assert [f.kind for f in formulas(forward)] == ["gradient", "forward"]
    assert forward.sets[0].grad_fn == "MulOutBackward0"


def test_the_wheel_reads_as_yaml_loads_it(
    packaged: Path, wheel_derivatives: tuple[DerivativeEntry, ...]
) -> None:
    data = (packaged / "autograd/derivatives.yaml").read_bytes()
    lines = data.decode().split("\n")
    loaded = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert len(loaded) == len(wheel_derivatives)
    for raw, entry in zip(loaded, wheel_derivatives, strict=True):
        assert raw["name"] == entry.schema
        assert lines[entry.location.line - 1].startswith("- name:")
        sets = raw.get("dispatch", {"Default": raw})
        assert list(sets) == [each.key for each in entry.sets]
        for each in entry.sets:
            texts = {
                k: v
                for k, v in sets[each.key].items()
                if k not in ("name", "output_differentiability")
            }
            assert texts == {", ".join(f.inputs): f.text for f in each.formulas}
            for formula in each.formulas:
                assert lines[formula.location.line - 1].strip().startswith(formula.inputs[0])


def test_node_names_are_those_of_torch(wheel_derivatives: tuple[DerivativeEntry, ...]) -> None:
    torch = pytest.importorskip("torch")
    exposed = {name for name in dir(torch._C._functions) if "Backward" in name}
    names = {s.grad_fn for entry in wheel_derivatives for s in entry.sets if s.grad_fn}
    assert len(names) > 500
    assert names <= exposed
    assert {name for name in exposed - names if not name.endswith("_copy")} == {
        "CopyBackwards",
        "SendRpcBackward",
        "UndefinedGradBackward",
    }


def test_node_prefix() -> None:
    assert node_prefix("conv2d") == "Conv2DBackward"
    assert node_prefix("_pdist_forward") == "PdistBackward"
    assert node_prefix("acosh_") == "AcoshBackward"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- nam: f(Tensor x) -> Tensor", 1, "without name"),
        ("- name: f", 1, "not a schema"),
        ("- name: f(Tensor x) -> Tensor\n  x: [1]", 2, "not text"),
        ("- name: f(Tensor x) -> Tensor\n  dispatch: 3", 2, "not a mapping"),
        ("- name: f(Tensor x) -> Tensor\n  dispatch:\n    Default: g", 3, "not a mapping"),
        ("- name: f(Tensor x) -> Tensor\n  output_differentiability: no", 2, "not a list"),
        ('- name: f(Tensor x) -> Tensor\n  x: "g(', 2, "not YAML"),
        ("\x00", 1, "not YAML"),
    ],
)
def test_hostile_files_give_a_problem_with_a_line(text: str, line: int, message: str) -> None:
    _, problems = read(text)
    assert problems
    assert (problems[0].line, message in problems[0].message) == (line, True)


def test_a_schema_of_no_operator_is_named() -> None:
    text = b"- name: f(Tensor x) -> Tensor\n  x: grad\n"
    functions, _ = read_native_functions(b"- func: g(Tensor x) -> Tensor\n", "n.yaml")
    entries, problems = read_derivatives(text, "d.yaml", functions)
    assert [e.op for e in entries] == ["f"]
    assert "no operator" in problems[0].message
