"""Finds Python names in the indexed tree."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from indexes.linking.python.modules import Found
from indexes.linking.python.names import Names
from indexes.model.errors import PATH_FOLDERS, SourceError
from indexes.model.files import MARK, module_name
from indexes.model.python import PythonAnswer, PythonNameKind, PythonPlace
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree, kept
from indexes.queries.overloads import generated_for
from indexes.queries.python_names import generated
from indexes.queries.python_names.bound import Bound
from indexes.readers.python.blocks import Text
from indexes.source.files import listed, read_file

PACKAGES = ("torch", "functorch", "torchgen")
_MOST = 12
"""Most definitions of a bare name."""
_GUESS = "this line binds the name; no line says for which class or module"


@kept
def find(text: str, index: IndexedTree) -> PythonAnswer | None:
    """The meaning of a Python name: ``torch.nn.Linear``, ``F.relu``, ``optim.Adam.step``,
    ``DataLoader``; None if Python would find nothing.

    Parameters:
        text: The name. Without the package it is looked up in ``torch`` first, then among all
        public names;
        further matches are in ``others``.
        index: The index of the tree.
    """
    name = text.strip().removesuffix("()")
    parts = name.split(".")
    if len(parts) > PATH_FOLDERS or not all(part.isidentifier() for part in parts):
        return None  # no module is nested so deep
    return finder_of(index).find(name)


def finder_of(index: IndexedTree) -> Finder:
    """The cached finder of a tree."""
    if Finder not in index.made:
        index.made[Finder] = Finder(index)
    finder: Finder = index.made[Finder]
    return finder


class Finder:
    """Finds names in one tree, with cached files."""

    def __init__(self, index: IndexedTree) -> None:
        self._index = index
        self.bound = Bound(index)
        self._beside = _packages_beside(index)
        self.names = Names(self._read, index.source.holds, self.bound.is_bound, self._placed)

    def _placed(self, path: str) -> str:
        """The file of a module, in the tree or an extension."""
        return self._beside.get(path.partition("/")[0].removesuffix(".py"), "") + path

    def _read(self, path: str) -> bytes | None:
        try:
            return self._index.source.read(path)
        except SourceError:
            return None

    def find(self, name: str) -> PythonAnswer | None:
        """As the function ``find``."""
        first, _, rest = name.partition(".")
        if first in PACKAGES or first in self._beside:
            return self._answer(name, self.names.find(name))
        module = self._index.facts.python.imported_as(first)  # ``F``, ``dist``
        for start in filter(None, (f"torch.{first}", module)):
            full = f"{start}.{rest}" if rest else start
            if answer := self._answer(full, self.names.find(full)):
                is_declared = _is_only_declared(answer)
                is_hidden = answer.kind == "bound" and not self._has_page(answer.name)
                public = self._bare(first, rest) if is_declared or is_hidden else None
                if public and (is_declared or self._has_page(public.name)):
                    return with_another(public, answer)  # ``torch.fx.Node``, not ``torch.Node``
                return self._unlisted(name, answer) if is_declared else answer
        return self._bare(first, rest) or self._ending(name)

    def _has_page(self, name: str) -> bool:
        """Whether a page of the documentation has a name."""
        pages = self._index.facts.python.by_target(name)
        return any(fact.kind == "page" for _, fact in pages)

    def _answer(self, name: str, found: Found | None) -> PythonAnswer | None:
        if made := generated.return_type(name, self._index) or self._tensor_type(name):
            return made
        if found is None:
            return generated.written(name, self._index)
        operators: tuple[str, ...] = ()
        if found.kind == "bound":
            operators = generated_for(found.name, self._index.facts)
        places = tuple(self._places(found))
        if found.kind == "bound" and _last(name) != _last(found.name):
            places = tuple(sorted(places, key=lambda one: one.kind != "assigned"))
        if not (places or operators):
            return None
        answer = PythonAnswer(found.kind, name, found.name, places, operators)
        is_guess = found.kind == "bound" and self.bound.is_guess(found.name)
        return replace(answer, confidence="by rule", note=_GUESS) if is_guess else answer

    def _tensor_type(self, name: str) -> PythonAnswer | None:
        """``torch.FloatTensor``, or a member of it."""
        owner, _, member = name.rpartition(".")
        if found := generated.tensor_type(name, self._index):
            return found
        if generated.tensor_type(owner, self._index) is None:
            return None
        tensor = self.find(f"torch.Tensor.{member}")
        return generated.of_tensor_type(name, tensor, self._index)

    def _places(self, found: Found) -> Iterator[PythonPlace]:
        if found.kind == "bound":
            yield from self.bound.places(found.name)
        else:
            yield PythonPlace(found.kind, found.name, found.location)
        if found.assigned:
            yield PythonPlace("assigned", found.name, found.assigned)
        for one in found.made_from:
            yield PythonPlace(one.kind, one.name, one.location)

    # -------------------------------------------------------------------- bare names

    def _bare(self, first: str, rest: str) -> PythonAnswer | None:
        """The meanings of a public name without its module."""
        names = sorted(map(self.shortened, self.public(first)[:_MOST]), key=_rank)
        full = (f"{name}.{rest}" if rest else name for name in names)
        return together(self._answer(name, self.names.find(name)) for name in full)

    def _unlisted(self, name: str, declared: PythonAnswer) -> PythonAnswer:
        """A declaration of a stub file, with definitions in public modules that do not list the
        name."""
        found = _defined(name, self._index) if "." not in name else ()
        public = (one for one in found if one and not is_private(one.name))
        return together((declared, *public)) or declared

    def _ending(self, name: str) -> PythonAnswer | None:
        """Public names that end so, or with modules whose path does: ``fsdp.fully_shard``,
        ``ir.ExternKernel.create``."""
        owner, _, last = name.rpartition(".")
        names = [one for one in self.public(last) if one.endswith(f".{name}")] if owner else []
        for at in reversed([at for at, sign in enumerate(name) if sign == "."]):
            paths = self._index.facts.paths_ending(f"{name[:at].replace('.', '/')}.py")
            names += (f"{module_name(path)}{name[at:]}" for path in paths)
        full = map(self.shortened, dict.fromkeys(names))
        return together(self._answer(one, self.names.find(one)) for one in full)

    def shortened(self, name: str) -> str:
        """The name under which outer packages export it: ``torch.nn.Module``."""
        found = self.names.find(name)
        module, _, last = name.rpartition(".")
        while found and (module := module.rpartition(".")[0]):
            outer = self.names.find(f"{module}.{last}")
            if outer is None or (outer.path, outer.line) != (found.path, found.line):
                break
            name = f"{module}.{last}"
        return name

    def public_names(self, name: str) -> list[str]:
        """The public names that end so, each as short as exported."""
        return list(dict.fromkeys(map(self.shortened, self.public(name))))

    def public(self, name: str) -> list[str]:
        """The names in public modules that end so, shortest first."""
        paths = self.exported.get(name, ())
        return sorted({f"{module_name(path)}.{name}" for path in paths}, key=_rank)

    @cached_property
    def exported(self) -> dict[str, list[str]]:
        """The names that modules export, with the files of those modules."""
        return self._index.facts.python.exported()


@kept
def naming(word: str, index: IndexedTree) -> list[str]:
    """The files that give a function, a parameter, a class or an attribute this name."""
    return index.facts.python.naming(word)


def find_in_modules(name: str, index: IndexedTree) -> PythonAnswer | None:
    """``_lazy_init`` and ``_size_3_t``: non-public definitions and assignments in modules or
    functions, and bindings in ``torch._C``."""
    found = [finder_of(index).find(f"torch._C.{name}"), *_defined(name, index)]
    return together(found[:_MOST])


def _defined(name: str, index: IndexedTree) -> Iterator[PythonAnswer | None]:
    """Top-level definitions first, then those in functions."""
    word = re.escape(name.encode())
    defined = re.compile(rb"\b(?:def|class)[ \t]+%b\b" % word)
    assigned = re.compile(rb"(?m)^%b[ \t]*(?::.+)?=(?!=)" % word)
    inner: list[PythonAnswer] = []
    top: list[str] = []
    for path in naming(name, index):
        data = index.source.content(path)
        if assigned.search(data):
            top.append(f"{module_name(path)}.{name}")
        heads = Text(data).heads if defined.search(data) else ()
        for head in heads:
            full = f"{module_name(path)}.{head.qualified}"
            if head.name == name and head.parent < 0:
                top.append(full)
            elif head.name == name and not heads[head.parent].is_class:
                kind: PythonNameKind = "class" if head.is_class else "function"
                place = PythonPlace(kind, full, Location(path, head.line))
                inner.append(PythonAnswer(kind, full, full, (place,)))
    yield from map(finder_of(index).find, sorted(top, key=_rank))
    yield from inner


def find_star_imported(owner: str, name: str, index: IndexedTree) -> tuple[str, Location] | None:
    """The module of Python's own from which a module of the tree takes a name by a star import,
    and the line of that."""
    found = find(owner, index)
    module = finder_of(index).names.module(found.defined) if found else None
    for star in module.scope.stars if module else ():
        if module and _is_of_python(star, name):
            statement = re.compile(rb"from[ \t]+%b[ \t]+import" % re.escape(star.encode()))
            before = statement.split(module.text.data, 1)[0]
            return star, Location(module.path, before.count(b"\n") + 1)
    return None


def is_of_python(name: str, index: IndexedTree) -> bool:
    """Whether files of the tree import a module of Python's own that has the name:
    ``random.seed``, though there is a ``torch.random``."""
    module, _, rest = name.partition(".")
    stored = index.facts.python
    return _is_of_python(module, rest) and stored.imported_as(module) == module


def _is_of_python(module: str, name: str) -> bool:
    """Whether a file of a module of Python's standard library defines a name; nothing is run. False
    if the library's files cannot be read."""
    spec = find_spec(module) if module in sys.stdlib_module_names else None
    origin = Path(spec.origin or "") if spec else Path()
    files = listed(origin.parent, "*.py") if origin.stem == "__init__" else [origin]
    word = re.escape(name.encode())
    defined = re.compile(rb"(?m)^[ \t]*(?:def|class)[ \t]+%b\b|^%b[ \t]*=" % (word, word))
    with suppress(OSError):
        return any(defined.search(read_file(one)) for one in files if one.suffix == ".py")
    return False


def find_inner(name: str, index: IndexedTree) -> PythonAnswer | None:
    """Functions inside functions, by module or enclosing definition:
    ``torch._dynamo.eval_frame._fn``, ``Context.__call__._fn``."""
    owner, _, last = name.rpartition(".")
    found = [one for one in _defined(last, index) if one]
    fitting = (
        one
        for one in found
        if f".{one.defined}".endswith(f".{name}") or one.defined.startswith(f"{owner}.")
    )
    return together(list(fitting)[:_MOST])


def together(found: Iterable[PythonAnswer | None]) -> PythonAnswer | None:
    """The first answer with the places of the others."""
    answers: dict[tuple[str, int], PythonAnswer] = {}
    for answer in found:
        if answer and (where := answer.location):
            answers.setdefault((where.path, where.line), answer)
    if not answers:
        return None
    best, *others = answers.values()
    places = tuple(PythonPlace(o.kind, o.name, o.location) for o in others if o.location)
    return replace(best, others=places, confidence="ambiguous" if places else "by rule")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _is_only_declared(answer: PythonAnswer) -> bool:
    """Whether only a stub file has a C++ name: ``torch.Module``, which is not public."""
    return answer.kind == "bound" and all(
        place.location.path.endswith((".pyi", ".pyi.in")) for place in answer.places
    )


def with_another(answer: PythonAnswer, other: PythonAnswer) -> PythonAnswer:
    others = (*answer.others, *other.places, *other.others)
    return replace(answer, others=others, confidence="ambiguous")


_LAID_OUT = regex(r"(@[^/]+/(?:src/|python/)?)(\w+)(?:/__init__)?\.py")
"""Where extensions have their packages, and top-level modules."""


def _packages_beside(index: IndexedTree) -> dict[str, str]:
    """The packages of extensions, by name, with their folders."""
    sql = f"SELECT path FROM files WHERE kind='python' AND path LIKE '{MARK}%' ORDER BY path"
    paths = index.facts.store.column(sql) if index.source.roots else ()
    found = filter(None, map(_LAID_OUT.fullmatch, paths))
    return {match[2]: match[1] for match in found if match[2] not in _NO_PACKAGES}


_NO_PACKAGES = frozenset((*PACKAGES, "setup", "conftest", "__init__"))


def is_private(name: str) -> bool:
    """Whether a part of a dotted name begins with an underscore."""
    return any(part.startswith("_") for part in name.split("."))


def _rank(name: str) -> tuple[bool, int, str]:
    return is_private(name), name.count("."), name
