"""Verdicts on schemas are those of the installed torch, pair by pair."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from indexes.model.schema import Argument, parse_schema
from indexes.model.vocabulary import NativeFunction
from indexes.queries.diff.compatibility import breaks_backward, breaks_forward

torch = pytest.importorskip("torch")
Pair = tuple[str, str]


@pytest.fixture(scope="module")
def arguments(wheel_functions: tuple[NativeFunction, ...]) -> list[Argument]:
    """Every argument of the wheel's operators that torch parses outside of a registration."""
    found = {a for f in wheel_functions for a in parse_schema(f.schema).arguments}
    return sorted((a for a in found if "Dimname" not in a.type), key=str)


def torch_says(new: str, old: str) -> tuple[bool, bool] | None:
    """(backward, forward); None where torch does not parse one of them."""
    try:
        one, other = (torch._C.parse_schema(f"aten::{text}") for text in (new, old))
    except RuntimeError:
        return None
    try:
        backward = one.is_backward_compatible_with(other)
        forward = one.check_forward_compatible_with(other)[0]
    except IndexError:  # more out arguments than there are: torch does not look
        return None
    return backward, forward


def we_say(new: str, old: str) -> tuple[bool, bool]:
    one, other = parse_schema(new), parse_schema(old)
    return not list(breaks_backward(one, other)), not list(breaks_forward(one, other))


def agree(pairs: Iterator[Pair]) -> int:
    """Compares every pair; returns how many torch had a word on."""
    compared = 0
    for new, old in pairs:
        expected = torch_says(new, old)
        if expected is not None:
            compared += 1
            assert we_say(new, old) == expected, (new, old)
    return compared


def test_types_of_arguments_and_returns(arguments: list[Argument]) -> None:
    types = sorted({a.type for a in arguments})
    pairs = list(itertools.product(types, repeat=2))
    assert agree((f"f({a} x) -> Tensor", f"f({b} x) -> Tensor") for a, b in pairs) == len(pairs)
    assert agree((f"f() -> {a}", f"f() -> {b}") for a, b in pairs) == len(pairs)


def test_defaults(arguments: list[Argument]) -> None:
    by_type: dict[str, set[str]] = {"float": {"1", "1.0", "0"}, "Scalar": {"1", "1.0"}}
    for argument in arguments:
        if argument.default is not None:
            by_type.setdefault(argument.type, set()).add(argument.default)
    texts = {
        type_: ["", *(f"={value}" for value in sorted(values))] for type_, values in by_type.items()
    }
    pairs = [
        (f"f({type_} x{a}) -> Tensor", f"f({type_} x{b}) -> Tensor")
        for type_, values in texts.items()
        for a, b in itertools.product(values, repeat=2)
    ]
    assert agree(iter(pairs)) == len(pairs) > 300


def test_arguments_in_any_order(arguments: list[Argument]) -> None:
    assert agree(_shuffled(arguments, 6000)) > 2500


def _shuffled(arguments: list[Argument], count: int) -> Iterator[Pair]:
    dice = random.Random(7)
    for _ in range(count):
        few = dice.sample([str(a) for a in arguments], 4)
        yield _schema(dice, few), _schema(dice, few)


def _schema(dice: random.Random, few: list[str]) -> str:
    listed = dice.sample(few, dice.randint(0, 4))
    if listed and dice.random() < 0.5:
        listed.insert(dice.randint(0, len(listed) - 1), "*")
    returns = dice.choice(
        ["Tensor", "(Tensor, Tensor)", "Tensor(a!)", "Tensor?", "(Tensor x, Tensor y)"]
    )
    return f"f({', '.join(listed)}) -> {returns}"


@pytest.mark.parametrize(
    ("new", "old", "why"),
    [
        ("f(Tensor a, int b=1) -> Tensor", "f(Tensor a) -> Tensor", ""),
        ("f(Tensor a, int b) -> Tensor", "f(Tensor a) -> Tensor", "new argument b has no default"),
        ("f(Tensor a) -> Tensor", "f(Tensor a, int b=1) -> Tensor", "gone: b"),
        ("f(Tensor c) -> Tensor", "f(Tensor a) -> Tensor", "argument a is replaced by c"),
        ("f(int b, int a) -> int", "f(int a, int b) -> int", "argument a is moved"),
        ("f(int a, *, int b) -> int", "f(int a, int b) -> int", "argument b is now keyword-only"),
        ("f(int a, int b) -> int", "f(int a, *, int b) -> int", ""),
        ("f(int a=2) -> int", "f(int a=1) -> int", "default of a: 1 is now 2"),
        ("f(int a) -> (int, int)", "f(int a) -> int", "1 returns are now 2"),
        ("f(Tensor? a) -> Tensor", "f(Tensor a) -> Tensor", ""),
        ("f(Tensor a) -> Tensor", "f(Tensor? a) -> Tensor", "Tensor? is now Tensor"),
    ],
)
def test_what_breaks_is_named(new: str, old: str, why: str) -> None:
    found = [what for what, rule in breaks_backward(parse_schema(new), parse_schema(old)) if rule]
    assert (why in "; ".join(found)) if why else not found
