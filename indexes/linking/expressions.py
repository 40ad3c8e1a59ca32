"""``-k`` expressions that select an operator's tests and no others.

pytest's ``-k`` asks whether words are part of a test's name, whatever their case, so ``add``
also selects ``addmm``. PyTorch names a test made for an OpInfo ``TEST_OPINFO_DEVICE_DTYPE``:
``_add_cpu`` is nearer, and still selects ``scatter_add``. So an expression is checked against
all names that its file can have, and what it must not select is taken out of it by name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from indexes.records import dataclass


@dataclass(frozen=True, slots=True)
class Expression:
    """A way to select tests of one file."""

    runner: str
    """``pytest``, or ``unittest`` where only its patterns tell the tests apart."""
    arguments: tuple[str, ...]
    """What follows the file on the command line."""
    also: tuple[str, ...] = ()
    """Other tests that it may select too: no expression tells them apart, or their names are
    only known when the file runs."""


def opinfo_expression(
    wanted: Iterable[str], others: Iterable[str], tests: Iterable[str], named: Iterable[str],
    device: str = "cpu",
) -> Expression:  # fmt: skip
    """Selects the tests of some OpInfos in one file.

    ``wanted`` and ``others`` are names of OpInfos as tests have them, ``tests`` the functions
    that take OpInfos, ``named`` the other test functions of the file."""
    wanted, tests = tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(tests))
    good = {f"{test}_{name}_{device}" for test in tests for name in wanted}
    rest = {f"{test}_{name}_{device}" for test in tests for name in others}
    bad = (rest | {f"{name}_{device}" for name in named}) - good
    terms = _shortest(f"_{name}_{device}" for name in wanted)
    expression = _excluding(terms, good, bad, device)
    if expression is not None:
        return Expression("pytest", ("-k", expression))
    patterns = [f"*.{one}{end}" for one in sorted(good) for end in ("", "_*")]
    arguments = tuple(part for one in patterns for part in ("-k", one))
    return Expression("unittest", arguments)


def _shortest(terms: Iterable[str]) -> list[str]:
    """Without the terms that others are a part of."""
    unique = list(dict.fromkeys(terms))
    return [
        one for one in unique
        if not any(other != one and other.lower() in one.lower() for other in unique)
    ]  # fmt: skip


def _excluding(terms: list[str], good: set[str], bad: set[str], device: str) -> str | None:
    """The terms without the bad names that they select; None when good ones would go too."""
    chosen = " or ".join(terms)
    caught = [one for one in bad if _selects(terms, one)]
    if not caught:
        return chosen
    out = _shortest(sorted({_distinct(terms, one, good) for one in caught}, key=_by_length))
    if "" in out:
        return None
    without = " and ".join(f"not {one}" for one in out)
    return f"({chosen}) and {without}" if len(terms) > 1 else f"{chosen} and {without}"


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text


def _selects(terms: Iterable[str], name: str) -> bool:
    return any(term.lower() in name.lower() for term in terms)


def _distinct(terms: list[str], name: str, good: set[str]) -> str:
    """The shortest part of a name, in whole words, that takes it out and leaves the good in."""
    words = re.split(r"(?<=[^_])_", name)
    for count in range(1, len(words) + 1):
        part = "_".join(words[-count:])
        part = part if count == len(words) else f"_{part}"
        if _selects(terms, part) and part not in terms and not _part_of_any(part, good):
            return part
    return ""


def _part_of_any(part: str, names: set[str]) -> bool:
    return any(part.lower() in name.lower() for name in names)


def named_expression(cls: str, name: str, others: Iterable[tuple[str, str]]) -> Expression:
    """Selects one test function, with all that is made of it for devices and parameters.

    ``others`` are the (class, name) of all tests of the file."""
    terms = [cls, name] if cls else [name]
    wrong = [one for one in others if one != (cls, name) and _both(cls, name, one)]
    out = dict.fromkeys(_apart(cls, name, other) for other in wrong)
    also = tuple(f"{c}.{n}" for c, n in wrong if not _apart(cls, name, (c, n)))
    kept = _shortest(one for one in out if one)
    words = [*terms, *(f"not {one}" for one in kept)]
    return Expression("pytest", ("-k", " and ".join(words)), also)


def _both(cls: str, name: str, other: tuple[str, str]) -> bool:
    return cls.lower() in other[0].lower() and name.lower() in other[1].lower()


def _apart(cls: str, name: str, other: tuple[str, str]) -> str:
    """A word that is in the other test alone; empty when there is none."""
    if other[1].lower() != name.lower():
        return other[1]
    return other[0] if other[0].lower() != cls.lower() else ""
