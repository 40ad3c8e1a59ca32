"""An operator in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes import Index
from indexes.model.answers import Card, CardLine, Route, Way
from indexes.model.vocabulary import Location
from indexes.queries.card import device_note
from indexes.queries.chains.chain import for_key
from navigator.text.answers import (
    card_line_rows,
    card_lines,
    route_lines,
    shortened_path,
    shortened_way,
)
from tests.indexing import grown, opened
from tests.tree_marks import NATIVE

YAML = "aten/src/ATen/native/native_functions.yaml"


def line(index: Index, operator: str, label: str) -> CardLine:
    return next(one for one in index.card(operator).lines if one.label == label)


def test_each_device_names_what_computes(tree_index: Index) -> None:
    one = line(tree_index, "mul.Tensor", "CUDA")
    assert one.text == "mul_out > mul_stub > mul_kernel_cuda"
    assert str(one.location).endswith("BinaryMulKernel.cu:12")
    assert (one.key, one.opens) == ("2", "torchnav op mul.Tensor --key CUDA")


def test_a_device_without_a_kernel_says_so(tree_index: Index) -> None:
    found = line(tree_index, "cudnn_convolution", "CPU")
    assert found.text == "no CPU kernel in this tree"
    assert (found.key, found.location) == ("1", None)


def test_a_composite_operator_is_differentiable_through_what_it_calls(tree_index: Index) -> None:
    assert line(tree_index, "softmax.int", "grad").text == "SoftmaxBackward0 via _softmax"
    assert "differentiable" in tree_index.card("softmax.int").kind


def test_what_returns_no_tensor_is_not_differentiable(tree_index: Index) -> None:
    assert line(tree_index, "is_floating_point", "grad").text == "not differentiable"


def test_what_changes_a_list_in_place_is_differentiable(tree_index: Index) -> None:
    assert tree_index.card("_foreach_add_.List").kind == "plain, differentiable"


_ELSEWHERE = """
- func: is_whole(Tensor self) -> Tensor

- func: far_off(Tensor self) -> Tensor
  dispatch:
    CPU: far_off_cpu
    XPU: far_off_xpu
    MTIA: far_off_mtia
"""

_WHOLE = """
namespace at::native {
Tensor is_whole(const Tensor& self) { return at::eq(self, self.abs()); }
}
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The small tree with an operator whose kernels are in none of its files."""
    with grown(tmp_path_factory, {YAML: _ELSEWHERE, f"{NATIVE}Elsewhere.cpp": _WHOLE}) as index:
        yield index


def test_a_composite_operator_that_compares_at_the_end_is_not_differentiable(
    elsewhere: Index,
) -> None:
    assert elsewhere.card("is_whole").kind == "composite, not differentiable"
    one = line(elsewhere, "is_whole", "grad")
    assert (one.text, one.note) == ("not differentiable via eq.Tensor", "")


def test_a_kernel_that_the_tree_lacks_is_named(elsewhere: Index) -> None:
    lines = {one.label: one for one in elsewhere.card("far_off").lines}
    assert lines["CPU"].text == "far_off_cpu: not in this tree"
    assert lines["XPU"].text == "far_off_xpu: not in this tree"
    assert lines["XPU"].note == "also MTIA · extensions: --with DIR"


def test_a_key_whose_kernel_the_tree_lacks_has_one(elsewhere: Index) -> None:
    whole = elsewhere.chain("far_off")
    none, named = for_key(whole, "HPU"), for_key(whole, "XPU")
    assert [one.message.partition(":")[0] for one in none.problems] == ["no kernel for HPU"]
    assert not named.problems
    assert "far_off_xpu" in [one.symbol for one in named.unresolved]


def test_a_long_card_loses_second_rows_from_below() -> None:
    place = Location("aten/src/ATen/native/cuda/" + "Long" * 8 + ".cu", 12)
    ways = [CardLine(one, " > ".join(["step"] * 20 + ["ends"]), place) for one in ("CPU", "CUDA")]
    others = [CardLine(f"x{n}", "one row") for n in range(12)]
    card = Card("relu(Tensor self) -> Tensor", "plain", place, (*ways, *others))
    rows = list(card_lines(card))
    assert len(rows) == 16
    assert [row[:6].strip() for row in rows[1:5]] == ["CPU", "", "CUDA", "x0"]
    assert "ends" in rows[3]


def test_the_line_of_a_step_stays_whole() -> None:
    for length in range(1, 120):
        way = Location(f"aten/src/{'Folder/' * (length % 7)}Kernel.cu", 10000 + length)
        route = Route("CUDA", "launch", "f" * length, way, (), ("a", "b"))
        (line,) = route_lines([route], 3)
        assert len(line) <= 80
        assert f"Kernel.cu:{way.line}" in line.split() or f"/Kernel.cu:{way.line} " in f"{line} "


def test_other_ways_that_end_in_one_file_are_counted() -> None:
    entry = Way("entry", Location("a.cpp", 9))

    def route(name: str, path: str) -> Route:
        return Route("CPU", "loop", name, Location(path, 1), (entry,))

    many = [route(f"run_{n}", "many.h") for n in range(6)]
    few = [route(f"go_{n}", "few.h") for n in range(2)]
    lines = list(route_lines([route("usual", "a.cpp"), *many, *few], 20))
    assert [" ".join(line.split()) for line in lines[:3]] == [
        "CPU else > run_0 many.h:1 5 more in this file",
        "CPU else > go_0 few.h:1",
        "CPU else > go_1 few.h:1",
    ]


def test_every_card_fits(tree_index: Index) -> None:
    for one in tree_index.operators():
        routes = tree_index.routes(one.full_name)
        lines = list(card_lines(tree_index.card(one.full_name, routes)))
        assert len(lines) <= 16, one.full_name
        assert all(len(text) <= 80 for text in lines), one.full_name
        tree = list(route_lines(routes, 20))
        assert len(tree) <= 20
        assert all(len(text) <= 80 for text in tree), one.full_name


def test_every_usual_way_is_named_on_its_card(tree_index: Index) -> None:
    for one in tree_index.operators():
        routes = tree_index.routes(one.full_name)
        lines = list(card_lines(tree_index.card(one.full_name, routes)))
        for device in ("CPU", "CUDA", "MPS"):
            route = next((r for r in routes if r.device == device and r.kind != "none"), None)
            head = next((n for n, text in enumerate(lines) if text.startswith(f" {device} ")), None)
            if route and head is not None:
                said = " ".join(lines[head : head + 2])
                assert route.steps[-1] in said
                assert str(route.location).rpartition("/")[2] in said


def test_a_card_counts_the_conditions_that_it_does_not_show() -> None:
    short, long = "not (n == 0)", "n > 0 && " * 9
    place = Location("a.cpp", 1)

    def note(*conditions: str) -> str:
        return device_note([Route("CPU", "loop", "run", place, (), conditions)])

    assert note(short) == short
    assert note(short, long) == note(long, short) == f"{short} and 1 more"
    assert note(long, long) == "2 conditions"
    assert note(long) == "1 condition"
    assert note() == ""


def test_a_note_counts_the_parts_that_do_not_fit() -> None:
    place = Location("a.cpp", 1)
    line = CardLine("CUDA", "x" * 60, place, "not contiguous · else run_else · 3 more")

    def note(room: int) -> str:
        return [row.note for row in card_line_rows(line, room)][-1]

    assert note(60) == "not contiguous · else run_else · 3 more"
    assert note(40) == "not contiguous · 4 more"
    assert note(20) == "5 more"


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (30, "a_way > b_way > c_way > ends"),
        (26, "a_way > ... > c_way > ends"),
        (20, "a_way > ... > ends"),
        (12, "... > ends"),
        (4, "ends"),
    ],
)
def test_a_way_is_shortened_in_its_middle(room: int, shown: str) -> None:
    assert shortened_way("a_way > b_way > c_way > ends", room) == shown


def test_a_path_is_shortened_at_its_front() -> None:
    assert shortened_path("aten/src/ATen/native/Copy.cpp:17", 22) == ".../native/Copy.cpp:17"
    assert shortened_path("aten/src/ATen/native/Copy.cpp:17", 5) == "Copy.cpp:17"


def test_a_python_kernel_that_takes_over_stands_below_its_device(tree_index: Index) -> None:
    lines = [one for one in tree_index.card("nonzero").lines if one.label == "CUDA"]
    assert [one.text for one in lines][1:] == ["if _nonzero_cond() holds > _nonzero_impl"]
    assert str(lines[1].location) == "torch/_native/ops/nonzero/triton_impl.py:11"
    assert "in Python, under conditions" in "\n".join(card_lines(tree_index.card("nonzero")))
    assert [one.text for one in tree_index.card("nonzero").lines if one.label == "XPU"]


def test_what_people_read_in_python_comes_before_a_binding_without_source(
    tree_copy: Path, cache: Path
) -> None:
    """As in wheels up to 1.13, which hold no templates of bindings."""
    for template in tree_copy.rglob("python_*.cpp"):
        template.unlink()
    with opened(tree_copy, cache) as index:
        one = line(index, "relu", "Python")
    assert (one.text, one.note) == ("torch.nn.functional.relu", "torch.relu, torch.Tensor.relu")
    assert str(one.location).startswith("torch/nn/functional.py:")


def test_what_a_wheel_lacks_is_not_said_to_be_missing(wheel: Index) -> None:
    lines = {one.label: one for one in wheel.card("column_stack.out").lines}
    assert lines["grad"].text == "gradient unknown"
    assert lines["tests"].text.startswith("not in this source")
