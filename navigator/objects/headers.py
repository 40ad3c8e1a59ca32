"""Reads the headers of a tree that declare the types inside a tensor."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

from indexes.linking.memory_layout import Layouts
from indexes.model.errors import SourceError
from indexes.model.regex import regex
from indexes.readers.cxx.declared_types import DeclaredClass, DeclaredTypes, read_types
from indexes.source.source import Source

_INCLUDE = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([\w./]+\.h)[>"]')
_STARTS = ("c10/core/TensorImpl.h", "c10/core/StorageImpl.h", "torch/csrc/autograd/variable.h")
_WITHOUT = regex(r"ATen/ops/|ATen/[A-Z]\w*(?:Functions|Operators)\b")
"""These thousands of headers declare functions, not types."""
_PLACES = ("", "aten/src/")
_FOLDERS = ("c10/core", "ATen", "ATen/quantized", "ATen/functorch", "ATen/core")
"""Folders of headers that are named after their tensor class."""


class Headers:
    """Reads and caches headers when a name in them is needed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.layouts = Layouts(self.types_with)
        self._types: dict[str, DeclaredTypes] = {}
        self._found: dict[str, DeclaredTypes | None] = {}
        self._texts: dict[str, bytes] = {}

    def declared(self, name: str) -> DeclaredClass | None:
        """The class of this name; None if no header declares it."""
        return self.layouts.declared(name)

    def types_with(self, name: str) -> DeclaredTypes | None:
        """The types of the first header that declares a name, breadth first from TensorImpl.h."""
        if name not in self._found:
            self._found[name] = next(self._with(name), None)
        return self._found[name]

    def _with(self, name: str) -> Iterator[DeclaredTypes]:
        word = re.compile(rf"\b{re.escape(name)}\b".encode())
        paths = [path for path in map(self._locate, _own_headers(name)) if path]
        self._reach(paths or _STARTS)
        for path, text in [*((path, self._texts[path]) for path in paths), *self._texts.items()]:
            if word.search(text):
                types = self._types.get(path) or read_types(text, path)
                self._types[path] = types
                if any(
                    name in one
                    for one in (types.classes, types.enums, types.aliases, types.numbers)
                ):
                    yield types

    def _reach(self, starts: Iterable[str]) -> None:
        """Reads the new headers that these include, nearest first."""
        queue = deque(filter(None, map(self._locate, starts)))
        while queue:
            path = queue.popleft()
            if path in self._texts:
                continue
            try:
                text = self._texts[path] = self.source.read(path)
            except SourceError:
                continue
            named = (one.decode() for one in _INCLUDE.findall(text))
            queue += filter(None, (self._locate(one) for one in named if not _WITHOUT.match(one)))

    def _locate(self, named: str) -> str | None:
        """The path of an included file; None if it is outside of the tree."""
        found = (self.source.locate(f"{place}{named}") for place in _PLACES)
        return next((path for path in found if path), None)


def _own_headers(name: str) -> tuple[str, ...]:
    """Headers named after a class: ``SparseTensorImpl``."""
    return tuple(f"{folder}/{name}.h" for folder in _FOLDERS)
