"""Public names for the same thing: a function of ``torch.nn.functional``, the module that calls it,
the method, quantized ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.model.files import module_name
from indexes.model.python import PythonAnswer
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.python_names.finding import finder_of
from indexes.store.registrations import StoredPython


def public_names(stored: StoredPython, name: str, exact: bool = False) -> list[str]:
    """The documented or exported names that correspond to a name:
    ``torch.nn.functional.layer_norm``, ``torch.nn.LayerNorm``, ``torch.Tensor.add_``,
    ``torch.ao.nn.quantized.LayerNorm``.

    Shortest first. ``exact``: only equal spellings.
    """
    rows = [fact for _, fact in stored.of_kinds("docs", "page")]
    pages = {fact.target.rpartition(".")[0] for fact in rows if fact.kind == "page"}
    bare = str if exact else _bare
    names = [*(fact.target for fact in rows), *_exported(stored)]
    alike = [one for one in names if bare(one.rpartition(".")[2]) == bare(name)]
    exported = {one for name in alike for one in _exports(name) if one.rpartition(".")[0] in pages}
    documented = exported.union(fact.target for fact in rows).intersection({*alike, *exported})
    return sorted(documented, key=lambda one: (one.count("."), one))


def _exported(stored: StoredPython) -> Iterator[str]:
    for name, paths in stored.exported().items():
        yield from (f"{module_name(path)}.{name}" for path in paths)


def _exports(name: str) -> Iterator[str]:
    """The names that a module and outer packages may export: ``torch.nn.Linear`` for
    ``torch.nn.modules.linear.Linear``."""
    module, _, last = name.rpartition(".")
    while "." in module:
        yield f"{module}.{last}"
        module = module.rpartition(".")[0]


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def definitions(names: Iterable[str], index: IndexedTree) -> dict[str, Location | None]:
    """Where Python names are defined in Python; None for bindings and other trees."""
    find = finder_of(index).find
    found = ((name, find(name) if _is_name(name) else None) for name in names)
    return {name: _in_python(answer) if answer else None for name, answer in found}


def _is_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _in_python(answer: PythonAnswer) -> Location | None:
    places = (place.location for place in (*answer.places, *answer.others))
    return next((where for where in places if where.path.endswith(".py")), None)
