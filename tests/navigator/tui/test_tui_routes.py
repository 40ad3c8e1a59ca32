"""Routes as rows, and which of them a call took."""

from __future__ import annotations

from indexes.model.answers import Hop, Route, Way
from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from navigator.tui.chain.route_rows import Ran, route_groups

YAML = Location("native_functions.yaml", 9)
KERNEL = Location("a.cu", 4, 9)


def _route(name: str, *operators: str, line: int = 4, device: str = "CUDA") -> Route:
    via = (Way("op", YAML), *(Way(f"{one}.out", YAML) for one in operators))
    return Route(device, "launch", name, Location("a.cu", line, line + 5), via)


USUAL, OTHER, THROUGH = _route("usual"), _route("other", line=20), _route("mm", "mm", line=40)
ROUTES = (USUAL, OTHER, THROUGH, _route("loop", device="CPU"))


def test_the_kernel_that_was_launched_tells_the_route() -> None:
    assert Ran("op", "CUDA", functions=frozenset({("a.cu", 20)})).route(ROUTES) is OTHER


def test_else_the_operators_that_were_called() -> None:
    assert Ran("op", "CUDA", frozenset({"mm", "empty"})).route(ROUTES) is THROUGH


def test_what_tells_nothing_marks_nothing() -> None:
    assert Ran("op", "CUDA").route(ROUTES) is None
    assert Ran("op", "CUDA", functions=frozenset({("a.cu", 40)})).route(ROUTES) is None


def test_the_only_route_of_a_device_is_the_one() -> None:
    assert Ran("op", "CPU").route(ROUTES) is ROUTES[-1]
    assert Ran("op", "MPS").route(ROUTES) is None


def test_each_route_is_a_group_that_ends_in_what_computes(tree_index: Index) -> None:
    routes, chain = tree_index.routes("softmax.int"), tree_index.chain("softmax.int")
    own = [one for one in routes if one.device == "CUDA"]
    found = route_groups("CUDA", routes, chain, own[0])
    assert len(found) == len(own) > 0
    assert [title.startswith("▶ ran: ") for title in found] == [one is own[0] for one in own]
    groups = [[step for step in steps if isinstance(step, Hop)] for steps in found.values()]
    for route, steps in zip(own, groups, strict=True):
        assert steps[-1].location == route.location
        assert steps[-1].work == "computes"
        assert steps[0].symbol == "softmax.int"
    numbers = [step.id for steps in groups for step in steps]
    assert numbers == list(range(len(numbers)))
