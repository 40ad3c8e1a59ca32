"""Operators without an entry in native_functions.yaml, on the small tree: what defines each, and
the functions that are registered for it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from indexes.linking.library_operators import INFERRED
from indexes.model.errors import NotFound
from indexes.queries.index import Index
from tests.indexing import line_of
from tests.tree_marks import Spot, marks

OPS = "torch/csrc/distributed/c10d/Ops.cpp"


def _expected_kernels() -> dict[tuple[str, str], set[Spot]]:
    found: dict[tuple[str, str], set[Spot]] = {}
    for mark in marks("runs"):
        ops, keys = (word.split(",") for word in mark.words[:2])
        for op in ops:
            for key in keys:
                found.setdefault((op, key), set()).add(mark.spot)
    return found


def test_each_definition_is_an_operator_at_its_line(tree_index: Index) -> None:
    expected = {mark.words[0]: mark.spot for mark in marks("operator")}
    found = {one.full_name: one.location for one in tree_index.library_operators()}
    assert {name: (at.path, at.line) for name, at in found.items()} == expected


def test_each_registration_leads_to_its_function(tree_index: Index) -> None:
    found: dict[tuple[str, str], set[Spot]] = {}
    for row in tree_index.library_kernel_rows():
        spots = {(d.location.path, d.location.line) for d in row.definitions}
        found.setdefault((row.op, row.key), set()).update(spots)
    assert found == _expected_kernels()


def test_kernels_say_which_line_registers_them(tree_index: Index) -> None:
    rows = {(row.op, row.key): row for row in tree_index.library_kernel_rows()}
    row = rows["c10d::send", "CUDA"]
    assert row.registered is not None
    assert row.registered.line == line_of(tree_index, OPS, "\nREGISTER_C10D_OP(send)") + 1
    assert row.confidence == "by rule"  # macros make it
    assert rows["quantized::add", "QuantizedCPU"].confidence == "exact"
    assert rows["quantized::layer_norm", "QuantizedCPU"].confidence == "by rule"  # in a lambda


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        (
            "c10d::send",
            "c10d::send(Tensor[] tensors, int dst, int tag) -> __torch__.torch.classes.c10d.Work",
        ),
        ("c10d::barrier", "c10d::barrier(Tensor tensor, int timeout) -> ()"),
        (
            "_c10d_functional::all_reduce",
            '_c10d_functional::all_reduce(Tensor input, str group = "a, b") -> Tensor',
        ),
        ("_c10d_functional::is_supported", f"_c10d_functional::is_supported(...) -> {INFERRED}"),
        ("_c10d_functional::wait_tensor", "_c10d_functional::wait_tensor(Tensor tensor) -> Tensor"),
    ],
)
def test_schemas(tree_index: Index, name: str, schema: str) -> None:
    native = tree_index.native(name)
    assert native is not None
    assert native.schema == schema


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("prims::mul", "prims::mul(Tensor self, Tensor other) -> Tensor"),
        (
            "mylib::scale.out",
            "mylib::scale.out(Tensor self, float by, *, Tensor(a!) out) -> Tensor(a!)",
        ),
        ("mylib::sine", "mylib::sine(Tensor x) -> Tensor"),
        (
            "mylib::cube",
            (
                "mylib::cube(Tensor x, SymInt[] sizes, Tensor? bias=None, *, "
                'str name="a", Tensor(a4!)[] out) -> (Tensor, SymInt)'
            ),
        ),
    ],
)
def test_schemas_of_python(tree_index: Index, name: str, schema: str) -> None:
    native = tree_index.native(name)
    assert native is not None
    assert native.schema == schema


def test_a_prim_leads_to_the_operator_that_it_runs(tree_index: Index) -> None:
    rows = [r for r in tree_index.library_kernel_rows() if r.op == "prims::mul"]
    assert [row.calls for row in rows if row.key != "Autograd"] == ["mul.Tensor"]
    symbols = [hop.symbol for hop in tree_index.chain("prims::mul").hops]
    assert "mul.Tensor" in symbols
    devices = {route.device for route in tree_index.routes("prims::mul")}
    assert "CPU" in devices
    ways = tree_index.at(*_kernel_of(tree_index, "mul.Tensor"))
    assert any("mul.Tensor" in place.operators for place in ways)


def test_a_prim_refuses_gradients(tree_index: Index) -> None:
    (grad,) = (one for one in tree_index.card("prims::mul").lines if one.label == "grad")
    assert grad.text == "not differentiable"
    assert grad.note.endswith("torch._prims._make_prim refuses to compute one")


def _kernel_of(index: Index, op: str) -> tuple[str, int]:
    (row, *_) = [r for r in index.kernel_rows() if r.op == op and r.key == "CPU"]
    where = row.definitions[0].location
    return where.path, where.line


def test_the_gradient_is_what_is_registered_for_autograd(tree_index: Index) -> None:
    lines = {line.label: line for line in tree_index.card("mylib::cube").lines}
    assert lines["grad"].text.endswith("._backward")
    lines = {line.label: line for line in tree_index.card("mylib::sine").lines}
    assert lines["grad"].text == "not differentiable"


def test_a_higher_order_operator_is_a_kind_of_its_own(tree_index: Index) -> None:
    (found,) = tree_index.filter("ns:higher_order::")
    assert (found.full_name, found.kind) == ("higher_order::cond", "higher order")
    assert tree_index.resolve("torch.ops.higher_order.cond").overloads == ("higher_order::cond",)
    (first, *_) = tree_index.chain("higher_order::cond").hops
    assert "which has no schema" in first.rule


def test_a_line_of_python_leads_to_the_operator(tree_index: Index) -> None:
    path = "torch/distributed/_operators.py"
    places = tree_index.at(path, line_of(tree_index, path, "def _scale("))
    assert any(place.operators == ("mylib::scale",) for place in places)


def test_what_defines_it_is_said(tree_index: Index) -> None:
    (first, *_) = tree_index.chain("c10d::send").hops
    assert first.rule.startswith("m.def in TORCH_LIBRARY(c10d)")
    native = tree_index.native("_c10d_functional::is_supported")
    assert native is not None
    assert "infers it from the C++ function" in native.defined_by


def test_a_chain_goes_on_below_the_kernel(tree_index: Index) -> None:
    symbols = [hop.symbol for hop in tree_index.chain("c10d::send").hops]
    assert "c10d::ops::sendCPU" in symbols
    assert "at::abs" in symbols


def test_an_operator_that_the_dispatcher_is_asked_for(tree_index: Index) -> None:
    calls = [
        hop
        for hop in tree_index.chain("_c10d_functional::all_reduce").hops
        if hop.role == "call" and hop.symbol == "c10d::send"
    ]
    assert [hop.location.line for hop in calls if hop.location] == [
        line_of(tree_index, OPS, ".findSchemaOrThrow(")
    ]
    assert any(hit.name.endswith("all_reduce") for hit in tree_index.uses("c10d::send"))


@pytest.mark.parametrize("name", ["c10d::send", "torch.ops.c10d.send", "c10d::send.default"])
def test_names(tree_index: Index, name: str) -> None:
    match = tree_index.resolve(name)
    assert (match.kind, match.overloads) == ("operator", ("c10d::send",))


def test_a_namesake_in_another_namespace_is_not_meant(tree_index: Index) -> None:
    assert tree_index.resolve("c10d::add").overloads == ()
    assert tree_index.resolve("quantized::clone").overloads == ()
    assert "quantized::add" not in tree_index.resolve("aten::add").overloads


def test_the_list_is_filtered_by_namespace(tree_index: Index) -> None:
    assert _names(tree_index.filter("ns:c10d::")) == [
        "c10d::send",
        "c10d::monitored_barrier",
        "c10d::barrier",
    ]
    assert "add.Tensor" in _names(tree_index.filter("ns:aten"))
    assert "c10d::send" not in _names(tree_index.filter("ns:aten"))


def _names(found: Iterable[object]) -> list[str]:
    return [getattr(one, "full_name", "") for one in found]


def test_the_line_that_defines_it_and_the_kernel_lead_to_it(tree_index: Index) -> None:
    line = line_of(tree_index, OPS, '"send(Tensor[] tensors, "')
    (place, *_) = tree_index.at(OPS, line)
    assert (place.kind, place.operators) == ("operator", ("c10d::send",))
    inside = tree_index.at(OPS, line_of(tree_index, OPS, "return input.abs();"))
    assert any("_c10d_functional::wait_tensor" in one.operators for one in inside)


def test_the_card(tree_index: Index) -> None:
    card = tree_index.card("c10d::send")
    lines = {line.label: line for line in card.lines}
    assert card.location.path == OPS
    assert "sendCPU" in lines["CPU"].text
    assert lines["Python"].text == "torch.ops.c10d.send"
    assert lines["tests"].text.startswith("none named after it: see callers")


def test_a_kernel_in_which_nothing_computes_is_no_loop(tree_index: Index) -> None:
    routes = {(r.device, r.kind): r for r in tree_index.routes("quantized::layer_norm")}
    assert routes["CPU", "none"].note == "layer_norm_impl: no loop, launch or library in its body"


def test_the_table(tree_index: Index) -> None:
    slots = {slot.key: slot for slot in tree_index.table("c10d::send").slots}
    assert slots["CPU"].kernel == "sendCPU"


def test_unknown_operators_are_refused(tree_index: Index) -> None:
    with pytest.raises(NotFound):
        tree_index.chain("c10d::nothing")
