"""The checks of the graph, on the small tree: they are kept, and notice what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.linking.graph import Graph, Node, Step
from indexes.queries.audit.checks import SourceLines
from indexes.queries.audit.graph import (
    BothWays,
    EdgeText,
    PlacedEdge,
    Reached,
    all_edges,
    global_functions,
    led_back,
    told,
)
from indexes.queries.audit.report import chained, drawn
from indexes.queries.index import Index
from tests.indexing import opened

CUDA = """
// __global__ void in_a_comment() {}
const auto text = R"(__global__ void in_a_string() {})";
__global__ void plain(int n) {}
template <typename T>
__global__ void __launch_bounds__(32 * (2), 20)
    bounded(T* out) {
}
__global__ void
#if !defined(USE_ROCM)
C10_LAUNCH_BOUNDS_1(at::cuda::detail::CUDA_NUM_THREADS)
#endif
guarded(const int* in) { run(in); }
__global__ void declared(int n);
static __global__ void spaced
  (int n)
{
}
#define MADE(NAME) \\
  __global__ void NAME##_kernel() {}
"""


def test_global_functions_of_a_text() -> None:
    lines = CUDA.split("\n")
    found = [(name, lines[line - 1].strip()) for name, line in global_functions(CUDA)]
    assert found == [
        ("plain", "__global__ void plain(int n) {}"),
        ("bounded", "bounded(T* out) {"),
        ("guarded", "guarded(const int* in) { run(in); }"),
        ("spaced", "static __global__ void spaced"),
    ]


def test_the_graph_is_the_same_both_ways(tree_index: Index) -> None:
    graph = BothWays(tree_index)
    assert graph.steps > 500
    assert (list(graph.not_up()), list(graph.not_down())) == ([], [])


def test_a_step_that_leads_one_way_alone_is_noticed(
    tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Graph.down

    def some(self: Graph, node: Node) -> Iterator[Step]:
        return (step for step in whole(self, node) if step.lower.what != "mul.out")

    monkeypatch.setattr(Graph, "down", some)
    graph = BothWays(tree_index)
    assert {step.lower.what for step in graph.not_down()} >= {"mul.out"}
    assert list(graph.not_up()) == []


@pytest.fixture(scope="module")
def text(tree_index: Index) -> EdgeText:
    return EdgeText(tree_index)


@pytest.fixture(scope="module")
def call(tree_index: Index) -> PlacedEdge:
    """A plain call in a plain function."""
    edges = (placed for placed in all_edges(tree_index) if not placed.caller.definition.macro)
    return next(one for one in edges if one.edge.kind == "call" and not one.edge.macro)


def test_an_edge_on_its_line_is_right(text: EdgeText, call: PlacedEdge) -> None:
    assert text.problem(call) == ""


def test_an_edge_on_another_line_is_noticed(text: EdgeText, call: PlacedEdge) -> None:
    moved = call.edge._replace(line=call.caller.definition.location.line + 1000)
    assert "the line does not name" in text.problem(call._replace(edge=moved))


def test_a_name_may_stand_on_another_line_of_its_statement(tree_copy: Path, cache: Path) -> None:
    kernel = tree_copy / "aten/src/ATen/native/Split.cpp"
    kernel.write_text(
        "namespace at::native {\n"
        "template <typename T> struct Halver { static void run(T x) {} };\n"
        "void halved(int x) {\n  Halver<\n      int>::run(x);\n}\n}\n"
    )
    with opened(tree_copy, cache) as index:
        (placed,) = [one for one in all_edges(index) if one.edge.symbol == "Halver::run"]
        assert EdgeText(index).problem(placed) == ""
        far = placed.edge._replace(line=1)
        assert "the line does not name run" in EdgeText(index).problem(placed._replace(edge=far))


def test_an_edge_to_another_name_is_noticed(
    text: EdgeText, call: PlacedEdge, tree_index: Index
) -> None:
    other = next(one.caller for one in all_edges(tree_index) if one.caller.id != call.edge.target)
    wrong = call.edge._replace(target=other.id)
    assert f"{other.definition.name} is another name" in text.problem(call._replace(edge=wrong))


def test_launched_functions_lead_back(tree_index: Index) -> None:
    found = led_back(tree_index)
    assert found.operators > 10
    assert found.generated == 0
    told = found.silent + found.reasons
    assert any("cunn_SoftMaxUnused" in one for one in told)


def test_why_a_launched_function_does_not_lead_back_is_said(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "aten/src/ATen/cuda").mkdir(exist_ok=True)
    (tree_copy / "aten/src/ATen/cuda/Sleep.cu").write_text(
        "namespace at::cuda {\n"
        "__global__ void spin_kernel(int64_t n) {}\n"
        "__global__ void unused_kernel(int64_t n) {}\n"
        "void doze(int64_t n) { spin_kernel<<<1, 1>>>(n); }\n"
        'void never_run() { note("never_run"); unused_kernel<<<1, 1>>>(n); }\n}\n'
    )
    module = tree_copy / "torch/csrc/cuda/Module.cpp"
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text("PyObject* THCPModule_doze(PyObject* n) {\n  at::cuda::doze(1);\n}\n")
    with opened(tree_copy, cache) as index:
        told = [one.partition(": ")[2] for one in led_back(index).reasons if "Sleep.cu" in one]
    assert told == [
        "spin_kernel: only THCPModule_doze calls doze",
        "unused_kernel: nothing calls never_run",
    ]


SOFTMAX = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>(float*)"


@pytest.mark.parametrize(
    ("operator", "kernel", "runs"),
    [
        ("_softmax", SOFTMAX, True),
        ("native_layer_norm", SOFTMAX, False),
        ("addmm", "ampere_sgemm_128x64_nn", True),
        ("mul", "ampere_sgemm_128x64_nn", False),
        ("addmm", "Cijk_Ailk_Bljk_SB_MT64x64x16", True),
        ("no_such_operator", SOFTMAX, None),
    ],
)
def test_a_device_kernel_is_reached_from_its_operator(
    operator: str, kernel: str, runs: bool | None, tree_index: Index
) -> None:
    assert Reached(tree_index).runs(operator, tree_index.kernel_name(kernel)) is runs


def test_what_moves_is_told_from_what_computes(tree_index: Index) -> None:
    reached = Reached(tree_index)
    moves = {base for base in ("copy_", "mul", "sum") if reached.moves(base)}
    assert moves == {"copy_"}


def test_kernels_of_a_trace_are_counted_by_operator_and_around_it(tree_index: Index) -> None:
    launched = [(SOFTMAX, ["_softmax", "mul"]), (SOFTMAX, ["copy_", "mul"]), (SOFTMAX, [])]
    own, around = chained(tree_index, "a.json", launched)
    assert (own.counts, around.counts) == ({"right": 1, "not": 1}, {"right": 0, "not": 1})
    assert own.met is False
    assert own.short[0].startswith("1x copy_: ")


def test_steps_are_drawn_by_seed_with_their_text(tree_index: Index) -> None:
    graph, lines = BothWays(tree_index), SourceLines(tree_index)
    steps = graph.drawn(30, 7)
    assert steps == graph.drawn(30, 7) != graph.drawn(30, 8)
    texts = [told(step, tree_index, lines) for step in steps]
    assert len(set(texts)) == 30
    assert any("aten/src/ATen/native/" in text and "operator, " in text for text in texts)
    assert drawn(tree_index, 5, 1).counts == {"drawn": 5, "seed": 1}
