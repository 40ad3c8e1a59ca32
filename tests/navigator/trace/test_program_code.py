"""Operators and autograd.Functions that a program defines itself lead to the program's lines."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from indexes.queries.index import Index
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.rows import op_row
from navigator.trace.trace import Trace
from navigator.tui.session import Session
from navigator.tui.trace.links import TraceLinks
from tests.navigator.trace.programs import line_of, run

PROGRAM = """\
import functools
import torch
from torch.library import Library, custom_op

library = Library("mylib", "DEF")
library.define("scale(Tensor x, float by) -> Tensor")  # LINE schema


def checked(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner


@torch.library.impl(library, "scale", "CPU")
@checked
def scale_cpu(x, by):  # LINE scale
    return x * by


torch.library.define("mylib2::shift", "(Tensor x) -> Tensor")  # LINE define


@torch.library.impl("mylib2::shift", "cpu")
def shift(x):  # LINE shift
    return x + 1


def shift_backward(ctx, grad):  # LINE shift backward
    return grad


torch.library.register_autograd("mylib2::shift", shift_backward)


@custom_op("mylib3::triple", mutates_args=())
def triple(x: torch.Tensor) -> torch.Tensor:  # LINE triple
    return x * 3


@triple.register_kernel("cpu")
def triple_cpu(x):  # LINE triple cpu
    return x * 3.0


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # LINE forward
        return x * x

    @staticmethod
    def backward(ctx, grad):  # LINE backward
        return grad.neg()


def make(sign):
    class Twin(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * sign

        @staticmethod
        def backward(ctx, grad):
            return grad.neg()

    return Twin


def make_other():
    class Twin(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.neg()

        @staticmethod
        def backward(ctx, grad):
            return grad.neg()

    return Twin


replaced = Library("aten", "IMPL")
replaced.impl("aten::sinc", lambda x: torch.ones_like(x), "CPU")  # LINE replaced

x = torch.ones(4, requires_grad=True)
with torch.no_grad():
    torch.ops.mylib.scale(x, 2.0)
    torch.sinc(x)
    triple(x)
torch.ops.mylib2.shift(x).sum().backward()
Square.apply(x).sum().backward()
twins = [make(1), make_other()]
twins[0].apply(x).sum().backward()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = tmp_path_factory.mktemp("own")
    done = run(folder, PROGRAM)
    assert done.returncode == 0, done.stderr
    return read_trace(folder / "trace.json")


@pytest.fixture(scope="module")
def linker(trace: Trace, wheel: Index) -> Linker:
    return Linker(trace, wheel)


def named(trace: Trace, label: str) -> TraceOp:
    return next(op for op in trace.ops() if op.label == label and op.kind in ("op", "region"))


@pytest.mark.parametrize(
    ("label", "symbol", "schema", "kernel"),
    [
        ("mylib::scale", "scale_cpu", "schema", "scale"),
        ("mylib2::shift", "shift", "define", "shift"),
        ("mylib3::triple", "triple_cpu", "triple", "triple cpu"),
        ("aten::sinc", "<lambda>", "", "replaced"),
        ("Square", "Square.forward", "", "forward"),
    ],
)
def test_leads_to_the_line_that_defines(
    trace: Trace, linker: Linker, label: str, symbol: str, schema: str, kernel: str
) -> None:
    op = named(trace, label)
    row: Any = op_row(trace, op, linker)
    assert row["kernel"]["symbol"] == symbol
    assert row["kernel"]["path"].endswith("/program.py")
    assert row["kernel"]["line"] == line_of(PROGRAM, kernel)
    assert row["resolved"], row["reason"]
    if schema:
        assert row["schema"]["line"] == line_of(PROGRAM, schema)


@pytest.mark.parametrize(
    ("node", "mark"),
    [
        ("SquareBackward", "backward"),
        ("GeneratedBackwardFor_mylib2_shift_defaultBackward", "shift backward"),
    ],
)
def test_a_node_leads_to_the_function_of_its_backward(
    trace: Trace, linker: Linker, node: str, mark: str
) -> None:
    op = next(op for op in trace.ops() if op.name == node)
    found = linker.link(op).node
    assert found is not None
    assert found.definition is not None
    assert found.definition.location.line == line_of(PROGRAM, mark)


def test_classes_of_one_name_are_all_given(trace: Trace, linker: Linker) -> None:
    """The trace has only the name: which of the two ran cannot be told."""
    op = next(op for op in trace.ops() if op.name == "TwinBackward")
    node = linker.link(op).node
    assert node is not None
    assert node.definition is None
    assert node.reason.count("program.py") == 2, node.reason


def test_a_trace_without_definitions_says_so(trace: Trace, wheel: Index) -> None:
    bare = copy.copy(trace)
    bare.meta = replace(trace.meta, definitions=False)
    bare.table = copy.copy(trace.table)
    bare.table.definitions = []
    link = Linker(bare, wheel).link(named(trace, "mylib::scale"))
    assert "this trace does not say what the program defines" in link.reasons[0]


def test_the_screen_opens_the_programs_line(trace: Trace, wheel: Index) -> None:
    session = cast("Session", SimpleNamespace(index=wheel))
    links = TraceLinks(trace, session, None)
    visit = links.answer(named(trace, "mylib::scale").id).visit
    assert visit is not None
    assert visit.path is not None
    assert (Path(visit.path).name, visit.line) == ("program.py", line_of(PROGRAM, "scale"))


def test_operators_of_torch_are_left_out_and_its_functions_are_not(trace: Trace) -> None:
    """An operator of torch stands in the index; a class of torch may be private."""
    definitions = trace.table.definitions
    functions = {one for one in definitions if one.kind in ("forward", "backward")}
    others = {one.location.path for one in definitions if one not in functions}
    assert all(path.endswith("/program.py") for path in others), others
    assert "_DDPSinkBackward" in {one.name for one in functions}
    assert "GeneratedBackwardFor_mylib2_shift_default" not in {one.name for one in functions}
