"""``-k`` expressions that select an operator's tests and no others.

pytest's ``-k`` matches words in a test's name, ignoring case, so ``add`` also selects ``addmm``.
PyTorch names a test made for an OpInfo ``TEST_OPINFO_DEVICE_DTYPE``: ``_add_cpu`` is more precise,
and still selects ``scatter_add``. So an expression is checked against all names that its file can
have, and unwanted tests are excluded by name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.readers.python.opinfo_tests import Parametrized

_LONGEST = 200
"""Most letters of a filter by names that is exact."""
_LEFT_OUT = 3
"""Most tests excluded by name whose names begin with that of the test."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A selection of tests of one file."""

    runner: str
    """``pytest``, or ``unittest`` if only its patterns distinguish the tests."""
    arguments: tuple[str, ...]
    """The command line behind the file."""
    also: tuple[str, ...] = ()
    """Other tests that it may select too: not distinguishable, or unknown before a run."""

    def command(self, path: str) -> str:
        """The command, for the top of the tree."""
        runner = "pytest" if self.runner == "pytest" else "python"
        return shlex.join([runner, path, *self.arguments])


class Made(NamedTuple):
    """A test function that runs for each OpInfo."""

    name: str
    ending: str | None = None
    """What follows the OpInfo's name: the device if None, a parameter, or empty if unknown."""

    def of(self, opinfo: str, device: str) -> str:
        """How the names of an OpInfo's tests begin."""
        return f"{self.name}_{opinfo}_{device if self.ending is None else self.ending}"


def opinfo_expression(
    wanted: Iterable[tuple[Made, str]],
    others: Iterable[tuple[Made, str]],
    named: Iterable[str],
    unknown: Iterable[str] = (),
    device: str = "cpu",
) -> Expression:
    """Selects the tests of some OpInfos in one file.

    ``wanted`` and ``others`` are functions with OpInfos, each with one OpInfo's name; ``named`` the
    other test functions of the file, ``unknown`` those with values unknown before a run. A made
    test never has the name of a handwritten one.
    """
    by_hand = {f"{name}_{device}" for name in named}
    made = ((test, name, test.of(name, device)) for test, name in dict.fromkeys(wanted))
    wanted = tuple((test, name) for test, name, whole in made if whole not in by_hand)
    good = {test.of(name, device) for test, name in wanted}
    bad = ({test.of(name, device) for test, name in others} | by_hand) - good
    terms = _shortest(_terms(wanted, bad, device))
    without = [one for one in dict.fromkeys(unknown) if not _part_of_any(one, good)]
    also = tuple(one for one in dict.fromkeys(unknown) if one not in without)
    expression = _excluding(terms, good, bad, without)
    if expression is not None:
        return Expression("pytest", ("-k", expression), also)
    bad |= {f"_{name}_{device}_" for _, name in wanted} if without else set()
    patterns = dict.fromkeys(p for test, name in wanted for p in _patterns(test, name, bad, device))
    return Expression("unittest", tuple(part for one in sorted(patterns) for part in ("-k", one)))


def _terms(wanted: tuple[tuple[Made, str], ...], bad: set[str], device: str) -> Iterator[str]:
    """Words, one of which every wanted name has."""
    for test, name in wanted:
        if test.ending is None:
            yield f"_{name}_{device}"
        elif test.ending or not _part_of_any(f"_{name}_", bad):
            yield f"_{name}_{test.ending}"
        else:
            yield test.of(name, device)


def _patterns(test: Made, opinfo: str, bad: set[str], device: str) -> tuple[str, ...]:
    """Patterns for unittest, which distinguishes case but has no "not"."""
    ending = device if test.ending is None else test.ending
    short = f"_{opinfo}_{ending}"
    begins = f"*.{test.of(opinfo, device)}" if any(short in one for one in bad) else f"*{short}"
    return (begins, f"{begins}_*") if test.ending is None else (f"{begins}*",)


def _shortest(terms: Iterable[str]) -> list[str]:
    """The terms without those that contain another."""
    unique = list(dict.fromkeys(terms))
    return [
        one
        for one in unique
        if not any(other != one and other.lower() in one.lower() for other in unique)
    ]


def _excluding(terms: list[str], good: set[str], bad: set[str], without: list[str]) -> str | None:
    """The terms without unwanted names that they select; None if that excludes wanted ones."""
    chosen = " or ".join(terms)
    caught = {_distinct(terms, one, good) for one in bad if _selects(terms, one)}
    if "" in caught:
        return None
    out = _shortest([*sorted(caught, key=_by_length), *without])
    if not out:
        return chosen
    words = " and ".join(f"not {one}" for one in out)
    return f"({chosen}) and {words}" if len(terms) > 1 else f"{chosen} and {words}"


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text


def _selects(terms: Iterable[str], name: str) -> bool:
    return any(term.lower() in name.lower() for term in terms)


def _distinct(terms: list[str], name: str, good: set[str]) -> str:
    """The shortest part of a name, in whole words, that excludes it but no wanted one."""
    words = re.split(r"(?<=[^_])_", name)
    for count in range(1, len(words) + 1):
        part = "_".join(words[-count:])
        part = part if count == len(words) else f"_{part}"
        if _selects(terms, part) and part not in terms and not _part_of_any(part, good):
            return _without_ending(terms, part, good)
    return ""


def _without_ending(terms: list[str], part: str, good: set[str]) -> str:
    """The part without what follows an OpInfo's name, if that is enough: ``_log_softmax`` says as
    much as each name of its tests."""
    stems = {one.rpartition("_")[0].lower() for one in terms}
    ends = [at for at, sign in enumerate(part) if sign == "_" and at > 0]
    shorter = (part[:at] for at in ends if part[at - 1] != "_")
    fits = (one for one in shorter if any(stem in one.lower()[1:] for stem in stems))
    return next((one for one in fits if not _part_of_any(one, good)), part)


def _part_of_any(part: str, names: set[str]) -> bool:
    return any(part.lower() in name.lower() for name in names)


def named_expression(
    cls: str, name: str, others: Iterable[tuple[str, str]], path: str = ""
) -> Expression:
    """Selects one test function with all tests made from it.

    ``others`` are the (class, name) of all tests of the file. pytest also matches the file's name:
    a test whose name is part of that is selected by unittest's patterns.
    """
    terms = [cls, name] if cls else [name]
    wrong = [one for one in others if one != (cls, name) and _both(cls, name, one)]
    if name.lower() in path.rpartition("/")[2].lower():
        begins = f"*.{cls}*.{name}"
        also = tuple(f"{c}.{n}" for c, n in wrong if c.startswith(cls) and _longer(n, name))
        return Expression("unittest", ("-k", begins, "-k", f"{begins}_*"), also)
    left_out = _left_out(cls, name, wrong)
    if len(left_out) > _LEFT_OUT:  # readable before exact: cases of the same test run too
        left_out = _left_out(cls, name, [one for one in wrong if not _longer(one[1], name)])
    also = tuple(".".join(one) for one in wrong if not _selects(left_out, " ".join(one)))
    words = [*terms, *(f"not {one}" for one in left_out)]
    return Expression("pytest", ("-k", " and ".join(words)), also)


def _left_out(cls: str, name: str, wrong: Iterable[tuple[str, str]]) -> list[str]:
    """The words that exclude other tests."""
    return _shortest(filter(None, dict.fromkeys(_apart(cls, name, other) for other in wrong)))


def joined(expressions: Sequence[Expression]) -> Expression:
    """Selects what any of the expressions selects, all for the same file and runner."""
    first = expressions[0]
    texts = dict.fromkeys(e.arguments[1] for e in expressions if e.runner == first.runner)
    wider = [t for t in texts if not any(t != u and t.startswith(u) for u in texts)]
    if len(wider) == 1 == len({one.runner for one in expressions}) and first.runner == "pytest":
        return next(one for one in expressions if one.arguments[1] == wider[0])
    also = tuple(dict.fromkeys(name for one in expressions for name in one.also))
    if any(one.runner != first.runner for one in expressions):
        return Expression("pytest", (), also)
    if first.runner == "unittest":
        parts = [part for one in expressions for part in one.arguments]
        return Expression(first.runner, tuple(parts), also)
    return Expression(first.runner, ("-k", " or ".join(f"({text})" for text in wider)), also)


def readable(
    exact: Expression, names: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]
) -> Expression:
    """An expression; in place of a long one the names by class, which may run more tests of such
    names."""
    if exact.runner != "pytest" or len(" ".join(exact.arguments)) <= _LONGEST:
        return exact
    terms = {cls: _named(found) for cls, found in grouped(names).items()}
    texts = [" and ".join(filter(None, (cls, _either(some)))) for cls, some in terms.items()]
    text = texts[0] if len(texts) == 1 else " or ".join(f"({one})" for one in texts)
    also = [
        f"{cls}.{name}"
        for cls, name in others
        if any(own in cls and any(term in name for term in some) for own, some in terms.items())
    ]
    return Expression(exact.runner, ("-k", text), tuple(also))


def _named(names: Sequence[str]) -> list[str]:
    """What all names begin with, if that says more than "test"; else those without longer ones."""
    columns = zip(*(name.split("_") for name in names), strict=False)
    head = [column[0] for column in takewhile(lambda some: len({*some}) == 1, columns)]
    if len(head) > 1:
        return ["_".join(head)]
    return [one for one in names if not any(other != one and other in one for other in names)]


def _either(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({' or '.join(terms)})"


def _longer(other: str, name: str) -> bool:
    return other == name or other.startswith(f"{name}_")


def _both(cls: str, name: str, other: tuple[str, str]) -> bool:
    """Whether the words also select the other test, with a device behind its name."""
    return cls.lower() in other[0].lower() and name.lower() in f"{other[1]}_".lower()


def _apart(cls: str, name: str, other: tuple[str, str]) -> str:
    """A word only in the other test's name; empty if there is none."""
    if other[1].lower() not in name.lower():
        return other[1]
    return other[0] if other[0].lower() not in cls.lower() else ""


# ----------------------------------------------------------------- names by parameters

_STARTS = regex(r"[A-Za-z_][\w.]*")
_WRITTEN_OUT = ("range", "torch", "itertools.product", "product", "True", "False")
"""Functions whose values are numbers, dtypes, or tuples of their literal arguments."""
_COMPREHENSION = regex(r"\bfor\b[^\]]*\bin\b")


def varied_names(
    one: Parametrized, opinfos: Iterable[str], modules: Iterable[str], lists: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Names of its tests that end like those of OpInfos; None if unknown before a run.

    ``modules`` are the names of ModuleInfos in tests, ``lists`` the source of variables of the
    file.
    """
    if one.decorator == "modules":
        return tuple(f"{one.name}_{module}" for module in modules) or None
    values = _written(one.values, lists) if one.decorator == "parametrize" else one.values
    if values is None:
        return None
    between = f"{one.argument}_" if one.argument else ""
    return tuple(f"{one.name}_{between}{name}" for name in opinfos if _has(values, name))


def _has(values: str, opinfo: str) -> bool:
    quote = "" if "name_fn" in values else "[\"']"
    return bool(re.search(rf"(?<![A-Za-z0-9_]){quote}{re.escape(opinfo)}{quote}(?!\w)", values))


def _written(arguments: str, lists: Mapping[str, str]) -> str | None:
    """The literal values of ``@parametrize``; None for computed ones."""
    values = arguments.partition('",')[2] or arguments.partition("',")[2]
    values = values.strip().removeprefix("list(")
    head = _STARTS.match(values)
    if head and head[0] in lists:
        values = lists[head[0]] + values
        head = _STARTS.match(lists[head[0]].strip())
    if head and not head[0].startswith(_WRITTEN_OUT):
        return None
    computed = _COMPREHENSION.search(values) and "range(" not in values
    return None if computed else values
