"""Python names: where Python defines them, the operators that they lead to, and public names that a
text may be a slip of the keyboard for: ``torch.nn.Conv2d`` for ``nn.Conv2D``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from indexes.linking.python.paths import Found
from indexes.model.answers import Hit, NameMatch
from indexes.model.python import PythonAnswer, PythonPlace
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.near import near
from indexes.queries.naming.operators import bound_method, leads_to, named_operator, passing_on
from indexes.queries.naming.query import NameQuery
from indexes.queries.overloads import in_order
from indexes.queries.python_names.finding import Finder

_LIKE = 0.85
"""How like the name asked for a whole name must be."""
_PREFIX = "name:"
"""Of the targets by which public names are kept, each by its last part."""


def near_python(path: str, index: IndexedTree, limit: int = 3) -> tuple[str, ...]:
    """The public names, at most so many, that are nearly a dotted one, the likest first."""
    sql = "SELECT DISTINCT target FROM python WHERE target>? AND target<?"
    bounds = (_PREFIX, f"{_PREFIX}\x7f")
    spelled: dict[str, list[str]] = defaultdict(list)
    for target in index.facts.store.column(sql, bounds):
        name = target.removeprefix(_PREFIX)
        spelled[name.casefold()].append(name)
    finder = Finder(index)
    found = {
        public: SequenceMatcher(None, path, public).ratio()
        for folded in near(path.rpartition(".")[2], spelled, 5, 0.8)
        for last in spelled[folded]
        for public in finder.public_names(last)
    }
    like = [
        one for one, ratio in found.items() if ratio >= _LIKE and ("._" in path or "._" not in one)
    ]
    return tuple(sorted(like, key=lambda one: (-found[one], one))[:limit])


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The definition of a name, with the operators that it passes its call on to."""
    for path in query.paths or (query.base,):
        answer = python_names.find(path, index)
        if answer and answer.places:  # a generated binding alone is its operator
            return _match(answer, replace(query, base=path.rpartition(".")[2]), index)
    return None


def find_method(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``x.clone`` and ``loss.backward()`` of a tensor, where nothing is named ``x`` or ``loss``."""
    if not query.paths:
        return None
    module, _, name = query.paths[0].rpartition(".")
    owner = query.paths[-1].rpartition(".")[0]
    if not owner.isidentifier() or python_names.find(module, index):
        return None
    if found := bound_method(owner, name, index.facts):
        return found
    found = find(replace(query, paths=(f"torch.Tensor.{name}",)), index)
    return found and replace(found, note=f"if {owner} is a tensor", confidence="by rule")


def _match(answer: PythonAnswer, query: NameQuery, index: IndexedTree) -> NameMatch:
    places = (*answer.places, *answer.others)
    overloads = answer.operators or leads_to(answer.name, index.facts)
    if overloads and answer.kind == "bound":  # by hand, which may call any overload
        overloads = tuple(dict.fromkeys((*_all_overloads(overloads, index), *overloads)))
    note = _note(answer.name, passing_on(answer.name, index.facts))
    by_hand = answer.kind == "method"  # ``__rdiv__`` of tensors: its body says what it calls
    if not overloads and not by_hand and (method := named_operator(query, index.facts)):
        overloads, note = method.overloads, method.note  # Python's data model: ``__add__``
    hits = tuple(_hit(place, answer) for place in places)
    return NameMatch("python", answer.name, overloads, hits, note, confidence=answer.confidence)


def _all_overloads(names: Iterable[str], index: IndexedTree) -> Iterator[str]:
    for name in dict.fromkeys(name.partition(".")[0] for name in names):
        yield from in_order(index.facts.overloads(name))


def _hit(place: PythonPlace, answer: PythonAnswer) -> Hit:
    """A place, by the kinds that Python has: of what C++ binds only the name is known."""
    if place.kind == "assigned":
        return Hit("attribute", answer.name, place.location, f"{place.name} by another name")
    if place.kind == "bound":
        return Hit("attribute", place.name, place.location, "bound in C++")
    return Hit(place.kind, place.name, place.location)


def _note(path: str, rows: list[Found]) -> str:
    called = dict.fromkeys(fact.target for _, fact in rows if fact.target not in ("", path))
    return f"{path} calls {', '.join(called)}" if called else ""
