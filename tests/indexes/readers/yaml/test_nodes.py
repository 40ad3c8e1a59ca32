"""What is read has its lines, with either of PyYAML's parsers, and nothing makes a reader fail."""

from __future__ import annotations

import random

import pytest
import yaml

from indexes.readers.project.review import read_labeler, read_merge_rules
from indexes.readers.yaml import nodes
from indexes.readers.yaml.derivatives import read_deprecated, read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.readers.yaml.nodes import Field, read_entries

TEXT = """\
# a comment: with - signs
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  device_check: NoCheck   # TensorIterator
  variants: function, method
  dispatch:
     # of three spaces more
     SparseCPU, SparseCUDA: add_sparse
     MkldnnCPU: mkldnn_add
  tags: [core, "pointwise"]
  structured: True

- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch: # of keys
    Default:
      self, other: "mul_tensor_backward(grad, other, self.scalar_type())"
      result: -grad * other_t
    AutogradNestedTensor:
      self: 'grad: nested'
  output_differentiability: ["!dtype || isDifferentiableType(*dtype)", False]
- func: max.dim_max(Tensor self, int dim) -> Tensor
  precomputed:
    - dim -> int dim

    - int valid # more
  result: "apply(
               self_t, # no comment
             + target_t: all,
          "   # of both
  dispatch:
    CPU: max_out
- func: nothing(Tensor self) -> Tensor
  dispatch: {}
  autogen: null
  tags: []

# the end
"""
PIECES = (
    *(" ", "  ", "\n", ":", ": ", " #", "- ", "\t", "'", '"', "[", "]", "{", "}", ",", "\\", "|"),
    *(">", "&a ", "*a", "!x ", "?", "%", "@", "`", "~", "---\n", "...\n", "\r", "\u2028", "é"),
    *("null", "yes", "- a\n", "  key: value\n", "   deeper: x\n", " : ", "-", "\x01", "\x00", "0"),
)


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either of PyYAML's parsers."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML without libyaml")
    monkeypatch.setattr(nodes, "_LOADER", getattr(yaml, request.param))


def lines_of(field: Field) -> tuple[int, int]:
    return field.line, field.value.last


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("end", ["", "\n", "\n  # more\n\n"])
def test_entries_and_values_have_their_lines(end: str) -> None:
    entries, problems = read_entries((TEXT.rstrip("\n") + end).encode(), "x.yaml")
    assert not problems
    assert [(e.line, e.end_line) for e in entries] == [(2, 10), (12, 19), (20, 30), (31, 34)]
    add, mul, largest, nothing = (entry.fields for entry in entries)
    assert lines_of(add["dispatch"]) == (5, 8)
    assert [lines_of(one) for one in (mul["dispatch"].value.fields or {}).values()] == [
        (14, 16),
        (17, 18),
    ]
    assert lines_of(largest["precomputed"]) == (21, 24)
    assert lines_of(largest["result"]) == (25, 28)
    assert largest["result"].value.text == "apply( self_t, # no comment + target_t: all, "
    assert nothing["autogen"].value.is_null
    assert nothing["dispatch"].value.fields == {}


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_changed_no_reader_fails(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        data = _changed(TEXT, chance).encode()
        functions, problems = read_native_functions(data, "x.yaml")
        _, more = read_derivatives(data, "x.yaml", functions)
        _, others = read_deprecated(data, "x.yaml")
        read_merge_rules(data, "x.yaml")
        read_labeler(data, "x.yaml")
        last = len(data.splitlines()) + 2
        assert all(0 < one.line <= last for one in (*problems, *more, *others)), data


def _changed(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 0, 1, 3, 40)) :]
    return text


def test_an_unclosed_bracket_is_given_up_at_once() -> None:
    text = f"- func: [{'a' * 50_000}\n"
    assert read_entries(text.encode(), "x.yaml")[1]


def test_a_file_that_is_not_yaml_is_read_entry_by_entry() -> None:
    entries, problems = read_entries(b"- a: 1\n- b: [\n- c: 2\n", "x.yaml")
    assert [list(entry.fields) for entry in entries] == [["a"], ["c"]]
    assert [problem.line for problem in problems] == [3]


def test_what_is_wrong_before_the_first_entry_is_told() -> None:
    entries, problems = read_entries(b"...\n}\n- a: 1\n", "x.yaml")
    assert len(entries) == 1
    assert problems
