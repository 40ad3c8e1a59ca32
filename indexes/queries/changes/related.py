"""Code around a plan's places that may have to follow, and excerpts of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from indexes.model.files import module_name
from indexes.model.python import PythonCall
from indexes.model.vocabulary import Location
from indexes.queries.changes.model import ChangeStep, Neighbour
from indexes.queries.contribution.helpers import header_of, helpers
from indexes.queries.contribution.operator_places import OperatorPlaces
from indexes.queries.contribution.steps import Step
from indexes.queries.gaps.tree import Tree
from indexes.queries.python_names.finding import is_private

_MOST = 30
_MODELS, _SHARED = 3, 2
"""So many neighbours are asked for modules that their functions use, and so many are named."""
_PLAIN_KEYS = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CPU")
KINDS = ("kernel", "error-message")
"""Kinds of changes that other code of the operator often has to follow."""


def related(tree: Tree, op: str, known: Iterable[str]) -> tuple[Step, ...]:
    """The places of an operator in further files, one per file, in the order of work."""
    name = tree.natives[op].name
    overloads = [op, *(one for one in tree.overloads[name] if one != op)]
    places = OperatorPlaces(tree, tree.corpus).of(overloads)
    return tuple(islice(_first_of_files(places, set(known)), _MOST))


def computed(tree: Tree, op: str) -> Iterator[ChangeStep]:
    """What an operator computes, as it stands in C++: where its own kernel is for every back end,
    that of another overload for the CPU too, which it may call."""
    name = tree.natives[op].name
    found: dict[str, ChangeStep] = {}
    for one in (op, *tree.overloads[name]):
        rows = tree.kernels.get(one, {})
        key = next((key for key in _PLAIN_KEYS if key in rows), "")
        wanted = bool(key) and (key == "CPU" or not found)
        for kernel in rows[key].definitions[:1] if wanted else ():
            what = f"Read what {name} computes: the {key} kernel {kernel.name}."
            found.setdefault(kernel.location.path, ChangeStep("read", kernel.location, what))
        if key == "CPU" and found:
            break
    yield from found.values()


def shared_code(tree: Tree, like: Iterable[Location]) -> Iterator[ChangeStep]:
    """Helpers of the models' functions, which the new one may use."""
    facts = tree.index.facts
    for used in helpers(facts, like):
        name, where = used.definition.name, used.definition.location
        why = f"{used.caller} leads to it, and little else does"
        yield ChangeStep("read", where, f"see {name}, which such functions use", why=why)
        if header := header_of(facts, where.path):
            what = f"see what is declared beside {name}"
            yield ChangeStep("read", Location(header, 1), what, why=f"the header of {where.path}")


def shared_modules(tree: Tree, names: Iterable[str]) -> Iterator[ChangeStep]:
    """The private modules whose functions some Python functions call."""
    found: dict[str, dict[str, PythonCall]] = {}
    for name in islice(names, _MODELS):
        card = tree.index.python(name)
        for call in card.calls if card else ():
            module = module_name(call.location.path) if call.location else ""
            if call.location and is_private(module) and not name.startswith(f"{module}."):
                found.setdefault(call.location.path, {}).setdefault(name, call)
    for _, by in sorted(found.items(), key=lambda item: -len(item[1]))[:_SHARED]:
        user, call = next(iter(by.items()))
        what = f"See {call.name.rpartition('.')[2]}, and what stands beside it."
        if call.location:
            yield ChangeStep("read", call.location, what, why=f"{user} calls it")


def _first_of_files(places: Iterable[Step], known: set[str]) -> Iterator[Step]:
    for step in places:
        if step.location.path not in known:
            known.add(step.location.path)
            yield step


_LONGEST = 30
"""Most lines shown by default."""


def neighbour(
    tree: Tree,
    name: str,
    why: str,
    where: Location,
    row: Location | None = None,
    word: str = "",
    most: int = _LONGEST,
) -> Neighbour:
    """A model with its first lines, and the number of further ones."""
    lines = tree.lines_of(where)
    return Neighbour(name, why, where, tuple(lines[:most]), max(0, len(lines) - most), row, word)
