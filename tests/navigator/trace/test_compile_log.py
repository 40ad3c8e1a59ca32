"""What torch.compile made of a program, from its log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.model.vocabulary import Location
from navigator.trace.compiling.model import Graph, Kernel, Node, kernels_of_nodes
from navigator.trace.model import StackFrame, TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.readers.compile_log import CompileLog
from navigator.trace.summary import summary_lines
from navigator.trace.trace import Trace

LOGS = Path(__file__).parents[2] / "data" / "torch_trace"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return read_trace(LOGS)


def rows(trace: Trace) -> Iterator[TraceOp]:
    return (trace.op(row) for row in range(len(trace)))


def named(trace: Trace, words: str) -> list[TraceOp]:
    return [op for op in rows(trace) if words in op.label]


def below(trace: Trace, op: TraceOp) -> list[str]:
    return [one.label for one in rows(trace) if one.parent == op.id]


def test_each_compilation_is_a_row_at_the_line_of_its_function(trace: Trace) -> None:
    first, again = named(trace, "compile step")
    assert (first.label, again.label) == ("compile step [0/0]", "compile step [0/1]")
    assert first.user is not None
    assert (first.user.path, first.user.line) == ("/home/me/prog.py", 6)


def test_a_graph_break_and_a_second_compilation_have_their_reasons(trace: Trace) -> None:
    broken = named(trace, "graph break")[0]
    assert broken.label == "graph break: Data-dependent branching"
    assert broken.user is not None
    assert broken.user.line == 8
    (anew,) = named(trace, "recompiled")
    assert "tensor 'x' size mismatch at index 0. expected 8, actual 9" in anew.label
    assert trace.op(anew.parent or 0).label == "compile step [0/1]"


@pytest.mark.parametrize("several", [False, True])
def test_a_reason_is_one_message_at_the_line_of_its_stack(several: bool) -> None:
    reason = """0/0: k == 1      # h = x * k  # prog.py:8 in step
User stack trace:
  File "/home/me/prog.py", line 20, in run
    step(x)
  File "/home/me/prog.py", line 8, in step
    h = x * k
"""
    text = json.dumps([reason, "0/1: k == 2"], indent=0) if several else reason
    log = CompileLog()
    header = {"artifact": {"name": "recompile_reasons"}, "frame_id": 0, "frame_compile_id": 2}
    log.add(header, text.split("\n"))
    notes = log.compilations["0/2"].notes
    wanted = ["recompiled, guard of 0/0: k == 1", "recompiled, guard of 0/1: k == 2"]
    assert [note.text for note in notes] == wanted[: 1 + several]
    assert notes[0].frame == StackFrame(Location("/home/me/prog.py", 8), "step")


def test_guards_are_folded_below_one_row(trace: Trace) -> None:
    guards = named(trace, "guards: ")[0]
    assert int(guards.label.split()[-1]) == len(below(trace, guards))
    assert any("check_tensor(L['x']" in text for text in below(trace, guards))


def test_a_kernel_has_its_operators_and_each_its_line(trace: Trace) -> None:
    kernel = named(trace, "kernel cpp_fused_gelu_gt_mul_sum_0")[0]
    assert kernel.label == "kernel cpp_fused_gelu_gt_mul_sum_0"
    assert below(trace, kernel) == [
        "aten::mul.Tensor",
        "aten::mul.Tensor",
        "aten::erf",
        "aten::add.Tensor",
        "aten::mul.Tensor",
        "aten::mul.Tensor",
        "aten::sum",
        "aten::gt.Scalar",
    ]
    lines = {op.label: op.user.line for op in rows(trace) if op.parent == kernel.id and op.user}
    assert (lines["aten::erf"], lines["aten::sum"]) == (7, 8)


def test_what_the_log_does_not_tell_is_said_to_be_open(trace: Trace) -> None:
    """In version 2.13 the first backward graph has user lines for each kernel, and no nodes."""
    graph = named(trace, "graph 0_backward")[0]
    fused, library, total, several, *views = below(trace, graph)
    assert fused == "kernel cpp_fused_gelu_gelu_backward_mul_0 (operators by their line)"
    assert library == "kernel extern_kernels.mm (operator by its name)"
    assert total == "kernel cpp_fused_sum_1 (operators by their line)"
    assert several == "one of cpp_fused_gelu_gelu_backward_mul_0, cpp_fused_sum_1"
    assert views == []
    assert "which kernel computes some operators" in trace.meta.lacks


def test_a_log_without_provenance_says_how_it_tells_more(tmp_path: Path) -> None:
    entries = next(LOGS.glob("*.log")).read_text().split("\nV")
    kept = [one for one in entries if "provenance" not in one.split("\n")[0]]
    text = re.sub(r".*# \[Provenance debug handles\].*\n", "", "\nV".join(kept))
    (tmp_path / "some.log").write_text(text)
    assert any("INDUCTOR_PROVENANCE" in one for one in read_trace(tmp_path).meta.lacks)


def test_the_summary_is_what_the_compiler_says(trace: Trace) -> None:
    lines = [line.strip() for line in summary_lines(trace)]
    assert "graph break: Data-dependent branching  /home/me/prog.py:8" in lines
    kernel = lines.index("kernel cpp_fused_gelu_gt_mul_sum_0  /home/me/prog.py:7")
    assert lines[kernel + 1].startswith("mul.Tensor, mul.Tensor, erf, add.Tensor")
    assert not any("check_tensor" in line for line in lines)


def test_every_operator_of_the_last_graphs_is_there_once(trace: Trace) -> None:
    text = next(LOGS.glob("*.log")).read_text()
    assert 'inductor_post_grad_graph"' in text
    graphs = text.split('"inductor_post_grad_graph"')[1:]
    bodies = [graph.split("\nV")[0] for graph in graphs]
    wanted = sum(body.count(" = torch.ops.") for body in bodies)
    assert sum(op.kind == "op" for op in rows(trace)) == wanted


def test_without_inductor_the_graphs_of_autograd_are_shown(tmp_path: Path) -> None:
    log = next(LOGS.glob("*.log")).read_text()
    entries = log.split("\nV")
    kept = [one for one in entries if "inductor" not in one.split("\n")[0]]
    (tmp_path / "some.log").write_text("\nV".join(kept))
    assert named(read_trace(tmp_path), "graph aot_forward_graph")


def test_a_log_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "of_a_colleague.txt"
    file.write_bytes(next(LOGS.glob("*.log")).read_bytes())
    assert named(read_trace(file), "compile step")


@pytest.mark.parametrize("end", range(100, 34_000, 3_001))
def test_a_log_cut_anywhere_is_read_up_to_there(tmp_path: Path, end: int) -> None:
    (tmp_path / "cut.log").write_text(next(LOGS.glob("*.log")).read_text()[:end])
    assert read_trace(tmp_path).meta.format == "TORCH_TRACE"


def test_nodes_that_no_kernel_is_of_the_line_of_have_none() -> None:
    graph = Graph("0_forward", [Node("view", "aten::view", "", "", None)])
    graph.kernels["k:1"] = Kernel("k")
    assert kernels_of_nodes(graph) == {}


def test_a_kernel_of_no_operator_is_made_for_the_one_that_reads_what_it_writes() -> None:
    graph = Graph("0_forward", [Node("mm", "aten::mm", "", "f32[4]", None)])
    graph.kernels["copy:1"] = copies = Kernel("copy", nodes=("primals_1",), feeds="mm:2")
    graph.kernels["mm:2"] = multiplies = Kernel("mm", nodes=("mm",), feeds="copy:1")
    assert graph.fed_by(copies) is multiplies
    assert graph.fed_by(multiplies) is None
    for kernel in graph.kernels.values():
        kernel.nodes = None  # a log without provenance
    assert graph.fed_by(copies) is None


def test_calls_of_a_library_compute_the_nodes_of_its_name_and_no_others() -> None:
    frame = StackFrame(Location("prog.py", 8), "step")
    names = ("mm", "mm_1", "sum_1")
    graph = Graph("0_backward")
    graph.nodes = [Node(one, f"aten::{one.partition('_')[0]}", "", "", frame) for one in names]
    for handle in ("extern_kernels.mm:1", "extern_kernels.mm:2", "cpp_fused_sum_0:3"):
        graph.kernels[handle] = Kernel(handle.partition(":")[0], frames=(frame,))
    calls = ("extern_kernels.mm:1", "extern_kernels.mm:2")
    found = kernels_of_nodes(graph)
    assert found == {"mm": calls, "mm_1": calls, "sum_1": ("cpp_fused_sum_0:3",)}
