"""Operators that Python reads from ``torch.ops``, under whichever name."""

from __future__ import annotations

import pytest

from indexes.readers.python.blocks import Text
from indexes.readers.python.references import (
    OperatorString,
    operator_spaces,
    operator_strings,
    operator_uses,
    read_imports,
    space_named,
    with_plain_attributes,
)

HEAD = b"""import torch
import torch as th
from torch._ops import ops as o
from torch.ops import lib
from elsewhere import ops
q = torch.ops.quantized
again = o
of_again = again.quantized
"""


def _uses(line: bytes) -> list[tuple[str, str, bool]]:
    data = with_plain_attributes(HEAD + line)
    spaces = operator_spaces(data, read_imports(data, "a.py"))
    found = operator_uses(Text(data), "linear", lambda owner: space_named(owner, spaces))
    return [(one.operator, one.member, one.called) for one in found if one.line == 9]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"torch.ops.quantized.linear(x)", ("quantized::linear", "", True)),
        (b"th.ops.quantized.linear.default(x)", ("quantized::linear", "default", True)),
        (b"y = torch._ops.ops.quantized.linear", ("quantized::linear", "", False)),
        (b"o.quantized.linear", ("quantized::linear", "", False)),
        (b"q.linear.out", ("quantized::linear", "out", False)),
        (b"of_again.linear(x)", ("quantized::linear", "", True)),
        (b"lib.linear(x)", ("lib::linear", "", True)),
        (b"getattr(torch.ops, 'ns').linear(x)", ("ns::linear", "", True)),
        (b"getattr(getattr(torch.ops, 'ns'), 'linear')(x)", ("ns::linear", "", True)),
    ],
)
def test_uses(line: bytes, expected: tuple[str, str, bool]) -> None:
    assert _uses(line) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        b"ops.quantized.linear(x)",
        b"torch.nn.linear(x)",
        b"q.linear_relu(x)",
        b"# torch.ops.quantized.linear",
        b"y = 'torch.ops.quantized.linear'",
        b"my.torch.ops.quantized.linear(x)",
    ],
)
def test_no_uses(line: bytes) -> None:
    assert _uses(line) == []


def test_strings() -> None:
    text = Text(b'''"""quantized::linear in a docstring"""
check("quantized::linear")
check("torch.ops.quantized.linear.default(x)")  # "quantized::linear"
@torch.library.impl("quantized::linear", "CPU")
expected("""
  quantized::linear(x)
""")
"my_quantized::linear quantized::linear_relu"
''')
    assert list(operator_strings(text, "quantized::linear")) == [
        OperatorString("", 2, False),
        OperatorString("default", 3, False),
        OperatorString("", 4, True),
        OperatorString("", 6, False),
    ]
