"""Recordings of programs that torch.compile compiles: its own work, its graphs, what ran them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from navigator.cli.main import main
from navigator.trace.compiling.answers import kernel_row_of
from navigator.trace.compiling.graphs import compiled_from, graph_of, kernel_named, kernel_of
from navigator.trace.compiling.model import Compilation, Graph
from navigator.trace.groups import gather
from navigator.trace.model import TraceOp
from navigator.trace.readers import read_trace
from navigator.trace.summary import summary_lines
from navigator.trace.table import Table
from navigator.trace.trace import Trace
from navigator.trace.views import VIEWS, no_links
from tests.navigator.trace.programs import MIXED, line_of
from tests.navigator.trace.test_chrome_export import there_and_back

PROGRAMS = Path(__file__).parents[2] / "data" / "compiled_program"


@pytest.fixture(scope="module")
def broken() -> Trace:
    return read_trace(PROGRAMS / "graph_break.json")


@pytest.fixture(scope="module")
def anew() -> Trace:
    return read_trace(PROGRAMS / "recompiled.json")


def named(trace: Trace, words: str) -> list[TraceOp]:
    return [op for op in trace.ops() if words in op.label]


def line(op: TraceOp) -> int | None:
    return op.user.line if op.user else None


def test_all_that_ran_while_compiling_is_below_one_row_for_each_time(broken: Trace) -> None:
    table = broken.table
    times = [broken.op(row) for row in table.compilations]
    assert [op.label for op in times] == [
        "compile step [0/0]",
        "compile torch_dynamo_resume_in_step_at_9 [1/0]",
    ]
    assert [(op.phase, line(op)) for op in times] == [("compile", 6), ("compile", 9)]
    inside = [op for op in broken.ops() if op.phase == "compile"]
    rows = {op.id for op in inside}
    assert {op.id for op in inside if op.parent not in rows} <= table.compilations.keys()
    assert sum(op.kind == "op" and op.id not in table.untimed for op in inside) == 10
    compiling = {group.name: group for group in gather(broken, "operator")}["(compiling)"]
    assert compiling.total_us == pytest.approx(sum(op.duration_us for op in times))


def test_what_the_program_ran_keeps_its_phase_and_its_place(broken: Trace) -> None:
    calls = Counter(op.phase for op in named(broken, "torch.addmm"))
    assert calls == {"forward": 3}  # of three calls of the compiled function
    assert broken.table.unreal_places == {"meta"}
    assert broken.device_types() == ("cpu",)


def test_a_region_leads_to_its_graph_and_a_compiled_backward_to_its_own(broken: Trace) -> None:
    table = broken.table
    graphs = {op.id: graph_of(table, op.id) for op in broken.ops() if op.id not in table.untimed}
    ran = Counter(
        (broken.op(row).label, graph.name) for row, graph in graphs.items() if graph is not None
    )
    assert ran["Torch-Compiled Region: 0/0", "0_forward"] == 3
    assert ran["Torch-Compiled Region: 1/0", "1_forward"] == 3
    assert ran["CompiledFunctionBackward", "0_backward"] == 3
    assert ran["CompiledFunctionBackward", "1_backward"] == 3
    assert ran["aten::mm.out", "0_backward"] == 3
    assert not any(broken.op(row).phase == "compile" for row, graph in graphs.items() if graph)
    paths = {graph.path for graph in table.graphs.values()}
    assert len(paths) == 4
    assert all(path.endswith(".py") for path in paths)


def test_a_backward_that_is_compiled_when_it_runs_is_of_the_graph_that_was_then_made() -> None:
    """As on a device, where a window may end in between."""
    made, lowered = Graph("aot_backward_graph", row=5), Graph("0_backward", is_lowered=True, row=9)
    one, table = (
        Compilation("0/0", graphs=[Graph("0_forward", is_lowered=True, row=2), made]),
        Table(),
    )
    table.add_graphs(one)
    assert table.graphs_of == {("0/0", False): [2], ("0/0", True): [5]}
    one.graphs.append(lowered)
    table.add_graphs(one)
    assert table.graphs_of == {("0/0", False): [2], ("0/0", True): [9]}
    assert table.graphs[5] is made
    assert table.graphs[9] is lowered
    assert table.compilation_of == {2: "0/0", 5: "0/0", 9: "0/0"}


def test_each_kernel_has_a_line_and_its_operators_be_it_of_a_backward(
    broken: Trace, anew: Trace
) -> None:
    for trace, count in ((broken, 7), (anew, 8)):
        kernels = [
            kernel for graph in trace.table.graphs.values() for kernel in graph.kernels.values()
        ]
        assert len(kernels) == count
        for kernel in kernels:
            row = trace.op(kernel.row)
            assert kernel_of(trace.table, row.id) is kernel
            assert line(row) in (6, 8, 11)
            below = [trace.op(child) for child in trace.children(row.id)]
            assert below
            assert {op.kind for op in below} == {"op"}
            assert all(kernel_of(trace.table, op.id) is kernel for op in below)


def test_a_kernel_that_was_timed_is_found_by_its_name(broken: Trace) -> None:
    """With ``cpp.enable_kernel_profile``, and Triton's."""
    graph = next(one for one in broken.table.graphs.values() if one.name == "0_forward")
    (fused,) = (one for one in graph.kernels.values() if one.name.startswith("cpp_"))
    assert kernel_named(graph, fused.name) is fused
    assert kernel_named(graph, f"graph_0_{fused.name}") is fused
    assert kernel_named(graph, f"other_{fused.name}") is None
    region = named(broken, "Torch-Compiled Region: 0/0")[0]
    assert kernel_row_of(broken.table, region.id, fused.name) == fused.row
    assert kernel_row_of(broken.table, None, fused.name) is None


def test_a_call_of_a_library_leads_to_its_kernel(broken: Trace) -> None:
    graph = next(one for one in broken.table.graphs.values() if one.name == "0_backward")
    (library,) = (one for one in graph.kernels.values() if one.name == "extern_kernels.mm")
    ran = [op for op in named(broken, "aten::mm") if op.id not in broken.table.untimed]
    ran = [op for op in ran if op.phase == "backward"]
    assert len(ran) == 3
    assert {compiled_from(broken.table, op.id) for op in ran} == {library.row}
    region = named(broken, "Torch-Compiled Region: 0/0")[0]
    forward = next(one for one in broken.table.graphs.values() if one.name == "0_forward")
    assert compiled_from(broken.table, region.id) == forward.row
    assert compiled_from(broken.table, forward.row) is None


def test_operators_of_the_compiler_are_none_of_the_program(broken: Trace) -> None:
    operators = set(broken.table.operators())
    assert len(operators) == 95
    assert not any(broken.op(row).phase == "compile" for row in operators)
    lines = list(summary_lines(broken))
    assert "operators  95: 68 forward, 27 backward" in lines
    assert any(one.startswith("compiler   2 times, 7.") for one in lines)
    work = {row["operator"]: row["count"] for row in VIEWS["flops"](broken, no_links).rows}
    assert (work["aten::addmm.out"], work["aten::mm.out"]) == (3, 3)


def view_rows(trace: Trace) -> dict[str, dict[str, object]]:
    view = VIEWS["compiled"](trace, no_links)
    return {str(row["graph"]): dict(row) for row in view.rows}


def test_the_table_of_graphs(broken: Trace, anew: Trace) -> None:
    rows = view_rows(broken)
    assert {name: (row["calls"], row["kernels"], row["breaks"]) for name, row in rows.items()} == {
        "0_forward": (3, 2, 1),
        "0_backward": (3, 3, None),
        "1_forward": (3, 1, 0),
        "1_backward": (3, 1, None),
    }
    assert rows["0_forward"]["function"] == "step"
    assert broken.op(int(str(rows["0_forward"]["op_id"]))).label == "graph 0_forward"
    again = view_rows(anew)
    assert (again["0_forward"]["recompiles"], again["1_forward"]["recompiles"]) == (0, 1)
    assert (again["0_forward"]["calls"], again["1_forward"]["calls"]) == (2, 2)


def test_reasons_are_said_above_the_table(broken: Trace, anew: Trace) -> None:
    notes = VIEWS["compiled"](broken, no_links).notes
    assert "[0/0] graph break: Data-dependent branching /home/me/brk.py:9" in notes
    assert notes[0].startswith("2 times in the compiler, ")
    (reason,) = (one for one in VIEWS["compiled"](anew, no_links).notes if "[0/1]" in one)
    assert "tensor 'x' size mismatch at index 0. expected 4, actual 5" in reason


def test_a_region_that_runs_inside_of_another_counts_once(broken: Trace) -> None:
    regions = [op for op in broken.ops() if op.label.startswith("Torch-Compiled Region")]
    outer = sum(op.duration_us for op in regions if op.label.endswith("0/0"))
    rows = view_rows(broken)
    both = [rows[name]["total_us"] for name in ("0_forward", "1_forward")]
    inside = [op for op in regions if op.label.endswith("1/0") and op.parent is not None]
    assert inside or sum(map(float, map(str, both))) == pytest.approx(
        sum(op.duration_us for op in regions)
    )
    assert outer >= float(str(rows["0_forward"]["total_us"]))


def test_reading_an_export_gives_the_same_rows(broken: Trace, anew: Trace, tmp_path: Path) -> None:
    for trace in (broken, anew):
        there_and_back(trace, tmp_path)


def chrome(tmp_path: Path, events: Iterable[tuple[str, str, float, float]]) -> Trace:
    """A profile of (category, name, start, duration)."""
    file = tmp_path / "profile.json"
    rows = [
        {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": length}
        for cat, name, start, length in events
    ]
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": rows}))
    return read_trace(file)


def test_profiles_of_others_tell_by_what_the_compiler_times(tmp_path: Path) -> None:
    """Up to 2.7 by the end of a name; later by a block that says of which step it tells."""
    old = [
        ("cpu_op", "aten::ones", 0.0, 5.0),
        ("user_annotation", "_compile.compile_inner (dynamo_timed)", 10.0, 100.0),
        ("cpu_op", "aten::mul", 20.0, 5.0),
        ("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 30.0, 9.0),
        ("cpu_op", "MulBackward0", 31.0, 7.0),
        ("cpu_op", "aten::mul", 120.0, 5.0),
    ]
    trace = chrome(tmp_path, old)
    assert [op.phase for op in trace.ops()] == ["forward", *4 * ["compile"], "forward"]
    assert trace.table.compilations == {1: ""}
    new = [
        ("cpu_op", "dynamo", 10.0, 100.0),
        ("user_annotation", "dynamo_data: compile_id=3/1", 11.0, 1.0),
        ("cpu_op", "entire_frame_compile", 13.0, 90.0),
        ("user_annotation", "entire_frame_compile_data: fn_name=f, compile_id=3/1", 14.0, 1.0),
        ("cpu_op", "aten::mul", 20.0, 5.0),
        ("cpu_op", "aten::mul", 120.0, 5.0),
    ]
    trace = chrome(tmp_path, new)
    assert [op.phase for op in trace.ops()] == [*5 * ["compile"], "forward"]
    assert trace.table.compilations == {0: "3/1"}
    (row,) = VIEWS["compiled"](trace, no_links).rows
    assert (row["compilation"], row["graph"]) == ("3/1", None)
    trace.table.compilations[5] = ""  # a thread that helps
    assert trace.table.compiler_rows() == [0]


def test_a_compilation_that_several_windows_see_is_one_row(tmp_path: Path) -> None:
    """The rows of a recording come in windows: a compilation may begin in one and end in another,
    or not at all where the program was killed."""
    text = (PROGRAMS / "recompiled.json").read_text().splitlines()
    at = next(n for n, one in enumerate(text) if '"torchnav_ops"' in one)
    window = '{"ph":"M","name":"torchnav_window","pid":1,"tid":0,"args":{"window":1}},'
    split = tmp_path / "split.json"
    split.write_text("\n".join([*text[: at + 1], window, *text[at + 1 :]]))
    whole = read_trace(PROGRAMS / "recompiled.json")
    trace = read_trace(split)
    phases = [Counter(op.phase for op in one.ops()) for one in (trace, whole)]
    assert phases[0] == phases[1]
    assert len(trace.table.compilations) == len(whole.table.compilations)
    end = next(n for n, one in enumerate(text) if '"torchnav_compile_end"' in one)
    (tmp_path / "cut.json").write_text("\n".join(text[:end]) + "\n")
    cut = read_trace(tmp_path / "cut.json")
    assert [cut.op(row).label for row in cut.table.compilations] == ["compile step [0/0]"]
    assert not cut.meta.complete


def test_rows_of_json_lead_from_a_run_to_its_graph_and_from_a_kernel_to_source(
    small_tree: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(PROGRAMS / "graph_break.json")
    assert main([*small_tree, "export", "trace", file, "--json"]) == 0
    rows = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    by_id = {row["id"]: row for row in rows if row["kind"] not in ("device_kernel", "allocation")}
    told = [row for row in by_id.values() if row.get("compiled")]
    roles = Counter(row["compiled"]["role"] for row in told)
    assert (roles["compilation"], roles["graph"], roles["kernel"]) == (2, 4, 7)
    for row in told:
        about = row["compiled"]
        if about["role"] == "run":
            assert by_id[about["graph_id"]]["compiled"]["role"] == "graph"
        if about["role"] == "operator":
            assert by_id[about["graph_id"]]["compiled"]["role"] == "graph"
        if about["role"] == "kernel":
            assert row["user"]
            assert about["lines"]
            assert all(by_id[one]["parent"] == row["id"] for one in about["operator_ids"])


def test_a_program_recorded_now(mixed: Trace) -> None:
    """Without Inductor: what is compiled is the graph of AOTAutograd."""
    table = mixed.table
    (compilation,) = (row for row in table.compilations if table.compilations[row] == "0/0")
    assert mixed.op(compilation).label == "compile compiled [0/0]"
    inside = {row for row in range(len(mixed)) if mixed.op(row).phase == "compile"}
    assert "aten::sin" in {mixed.op(row).name for row in inside - table.untimed}
    regions = named(mixed, "Torch-Compiled Region: 0/0")
    assert len(regions) == 3
    (graph,) = {one.row for op in regions if (one := graph_of(table, op.id))}
    below = [mixed.op(row).name for row in table.descendants(graph)]
    assert below == ["aten::sin", "aten::cos", "aten::add"]
    lines = {line(mixed.op(row)) for row in table.descendants(graph)}
    assert lines == {line_of(MIXED, "compiled")}
    ran = [op for op in named(mixed, "aten::cos") if compiled_from(table, op.id) == graph]
    assert {op.phase for op in ran} == {"forward"}


def test_rows_of_a_log_say_what_they_are_too(
    small_tree: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main([*small_tree, "export", "trace", str(PROGRAMS.parent / "torch_trace"), "--json"]) == 0
    )
    rows = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    roles = Counter(row["compiled"]["role"] for row in rows if row.get("compiled"))
    assert (roles["graph"], roles["kernel"], roles["run"]) == (4, 10, 0)
    operators = [row for row in rows if row["kind"] == "op"]
    assert roles["operator"] >= len(operators) > 40
    assert any(row.get("inductor") for row in operators)


def test_a_call_that_compiles_is_around_what_an_earlier_window_has_of_it(tmp_path: Path) -> None:
    """The compilation ends in a window before that of the call, which begins before it."""
    lines = (PROGRAMS / "graph_break.json").read_text().splitlines()
    at = next(n for n, one in enumerate(lines) if '"torchnav_compile_begin"' in one)
    begin = json.loads(lines[at].rstrip(","))
    end = json.loads(next(one for one in lines if '"torchnav_compile_end"' in one).rstrip(","))
    base = json.loads(next(one for one in lines if '"torchnav_run"' in one).rstrip(","))["args"]
    start = begin["args"]["at_ns"] - base["base_ns"]
    length = end["args"]["at_ns"] - begin["args"]["at_ns"]
    calls = {"count": 1, "closed": True, "call": [1], "called": [9000], "start": [start - 500]}
    called = {"called": 9000, "function": "torch.compile", "stack": 1}
    made = [
        told("called", called),
        told("calls", calls | {"duration": [length + 10_000]}, begin["tid"]),
    ]
    window = told("window", {"window": 1})
    header = [lines[0]] + [
        one for one in lines[1:at] if '"torchnav_run"' in one or '"torchnav_stack"' in one
    ]
    path = tmp_path / "late.json"
    ended = json.dumps(end) + ","
    path.write_text("\n".join([*header, lines[at], window, ended, *made, window]))
    trace = read_trace(path)
    (compilation,) = trace.table.compilations
    parent = trace.op(compilation).parent
    assert parent is not None
    assert (trace.op(parent).name, trace.op(parent).phase) == ("torch.compile", "forward")
    assert list(trace.roots()) == [parent]


def told(name: str, args: dict[str, object], thread: int = 0) -> str:
    event = {"ph": "M", "name": f"torchnav_{name}", "pid": 14524, "tid": thread, "args": args}
    return json.dumps(event) + ","
