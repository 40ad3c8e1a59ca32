"""What is read line by line is what a YAML parser reads."""

from __future__ import annotations

import random

import pytest

from indexes.readers.yaml import nodes as yaml_nodes
from indexes.readers.yaml.lines import Field
from indexes.readers.yaml.nodes import Entry, read_entries

PLAIN = """\
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
"""
PIECES = (
    *(" ", "  ", "\n", ":", ": ", " #", "- ", "\t", "'", '"', "[", "]", "{", "}", ",", "\\", "|"),
    *(">", "&a ", "*a", "!x ", "?", "%", "@", "`", "~", "---\n", "...\n", "\r", "\u2028", "é"),
    *("null", "yes", "- a\n", "  key: value\n", "   deeper: x\n", " : ", "-", "\x01", "0"),
)


def by_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Entry], object]:
    with monkeypatch.context() as patch:
        patch.setattr(yaml_nodes, "_by_lines", lambda *_: None)
        return read_entries(text.encode(), "x.yaml")


def by_content(entries: list[Entry]) -> list[object]:
    """Entries with every line as it counts for readers, wherever it is kept."""
    return [(e.line, e.end_line, [_field(f) for f in e.fields.values()]) for e in entries]


def _field(field: Field) -> object:
    node = field.value
    items = [(i.id, i.text, i.means, i.line or field.line) for i in node.items]
    inner = [_field(f) for f in node.fields]
    return (field.key, field.line, field.last, node.id, node.text, node.means, items, inner)


def test_the_plain_shape_needs_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = by_parser(PLAIN, monkeypatch)
    monkeypatch.setattr(yaml_nodes, "compose", None)
    entries, problems = read_entries(PLAIN.encode(), "x.yaml")
    assert not problems
    assert by_content(entries) == by_content(expected)
    assert [(e.line, e.end_line) for e in entries] == [(2, 10), (12, 19), (20, 30), (31, 34)]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_changed_in_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        text = PLAIN
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            end = at + chance.choice((0, 0, 1, 3))
            text = text[:at] + chance.choice(PIECES) + text[end:]
        expected, told = by_parser(text, monkeypatch)
        entries, problems = read_entries(text.encode(), "x.yaml")
        assert (by_content(entries), problems) == (by_content(expected), told), text


def test_an_unclosed_bracket_is_given_up_at_once() -> None:
    text = f"- func: [{'a' * 50_000}\n"
    assert read_entries(text.encode(), "x.yaml")[1]
