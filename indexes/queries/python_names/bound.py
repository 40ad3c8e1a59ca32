"""Python names bound in C++: generated bindings of operators, and bindings in torch/csrc."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

from indexes.model.errors import SourceError
from indexes.model.python import PythonPlace
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.overloads import generated_for
from indexes.queries.python_names.rows import Rows
from indexes.queries.python_names.slots import has_slot, slot_function
from indexes.readers.python.blocks import Text

_FUNCTIONS = "torch._C._VariableFunctions"
_TENSOR = ("TensorBase", "_TensorBase")
_TENSOR_METHODS = "python_variable_methods.cpp"
"""The template of the tensor's method table."""
_ROW = (
    rb"(?:\{\s*|\.\w*def\w*\s*\(\s*|\.value\s*\(\s*|\.attr\s*\(\s*"
    rb'|\bPyModule_AddObject(?:Ref)?\([\w.()]+,\s*)"%s"'
)
"""A row of a method table, or an addition to a module or class."""
_ADDS = b'PyImport_ImportModule("torch")'
"""Functions that add objects to the package itself."""
_DTYPES = ("c10/core/ScalarType%", "torch/csrc/utils/tensor_dtypes%")
_DTYPE = rb"""make_pair\(\s*(?:"\w*",\s*)?"%s\""""
"""The names of a dtype, under which its object is added to torch."""
_WORDS = (
    "SELECT f.path,r.name FROM remarks r JOIN files f ON f.id=r.file WHERE r.kind='words'"
    " AND f.path LIKE 'torch/csrc/%' ORDER BY f.path"
)
_CLASS = (
    rb"""(?:\b(?:\w*class_|enum_)\s*<[^;{]*?>\s*\w*\s*\(\s*\w+,\s*"%s\""""
    rb"""|"torch\._C\.(?:\w+\.)*%s"|_HEAD_INIT\([^()]*\)\s*(?:\.tp_name\s*=\s*)?"torch\.(?:\w+\.)*%s")"""
)
"""A pybind11 class, and the name of a type."""
_MEMBER = rb"""(?:\{\s*(?:\(char ?\*\)\s*)?|[)\s]\.def\w*\s*\(\s*)"%s"\s*,"""
"""A member of a class: a table row, or a call behind ``class_<...>(...)``."""
_WHOLE = rb'(\bPyModuleDef_HEAD_INIT,\s*(?:\.m_name\s*=\s*)?)?"(?:%s)"\s*,'
"""The whole name of a module or type."""
_ADDED = (b".attr", b"PyModule_AddObject")
"""Additions to an object that is named in the call."""
_FUNCTION = rb'(?:\{\s*|\.def\s*\(\s*)"%s"'


class Bound:
    """The C++ bindings of one tree."""

    def __init__(self, index: IndexedTree) -> None:
        self._index = index
        self.is_bound = cache(self._is_bound)
        self._read = cache(self._text)
        self._data = cache(self._index.source.content)
        self._sources = cache(self._sources_of)
        self._full = cache(self._full_name)
        self._rows = cache(lambda path: Rows(self._data(path)))

    def _is_bound(self, name: str) -> bool:
        """Whether a name is generated, declared in a stub file, or bound by a table or by
        pybind11."""
        return bool(
            generated_for(name, self._index.facts)
            or self._declared(name)
            or self._dtype(name)
            or self._in_cpp(name)
            or (name.startswith("torch._C._") and self._is_module(name))
        )

    def places(self, name: str) -> tuple[PythonPlace, ...]:
        """Where C++ binds a name, if there is a single place; then where it is declared."""
        if generated_for(name, self._index.facts):
            return ()  # generated: its line is that of the operator
        bound, declared = self._dtype(name) or self._in_cpp(name), self._declared(name)
        if len({place.location.path for place in bound}) > 1 and declared:
            bound = []
        return (*bound[:1], *declared[:1])

    def members(self, name: str) -> Iterator[PythonPlace]:
        """Where C++ defines a member of a class: in its type's table, or by pybind11."""
        row = re.compile(_MEMBER % re.escape(name.encode()))
        for path in self._sources("", name):
            data = self._data(path)
            for found in row.finditer(data):
                owner = self._rows(path).owner(found.end())
                if owner is not None:
                    yield _place(f"{owner}.{name}".lstrip("."), path, data, found.end())

    def _parts(self, name: str) -> tuple[str, str, str]:
        """Module, class and last part of ``torch._C.TensorBase.item``."""
        module, _, last = name.rpartition(".")
        outer, _, owner = module.rpartition(".")
        is_class = owner.lstrip("_")[:1].isupper() or has_slot(last)  # torch.device.__repr__
        is_class = is_class or not (owner.startswith("_") or self._type(module) is None)
        is_class = is_class and owner not in ("_C", "_VariableFunctions")
        return (outer, owner, last) if is_class else (module, "", last)

    # -------------------------------------------------------------------- declarations

    def _declared(self, name: str) -> list[PythonPlace]:
        """The lines of a stub file or its template that declare a name."""
        module, owner, last = self._parts(name)
        wanted = f"{owner}.{last}" if owner else last
        found = []
        for path, text in self._stubs(module):
            lines = [head.line for head in text.heads if head.qualified == wanted]
            if line := next(iter(lines), 0) or _annotated(text, owner, last):
                found.append(PythonPlace("bound", name, Location(path, line)))
        return found

    def _stubs(self, module: str) -> Iterator[tuple[str, Text]]:
        stem = module.replace(".", "/")
        for path in (f"{stem}/__init__.pyi", f"{stem}.pyi"):
            for one in (f"{path}.in", path):  # the template, where there is one
                if text := self._read(one):
                    yield one, text
                    break

    def _text(self, path: str) -> Text | None:
        try:
            return Text(self._index.source.read(path))
        except SourceError:
            return None

    # ---------------------------------------------------------------------------- C++

    def _in_cpp(self, name: str) -> list[PythonPlace]:
        """The lines of torch/csrc and templates of bindings that bind a name: a named type, or else
        every possible table row."""
        module, owner, last = self._parts(name)
        if not owner and (named := self._type(name)):
            return [named]
        found = self._in_homes(name, module, owner, last)
        return found or self._in_slots(name, owner, last) or self._in_tables(name)

    def _type(self, name: str) -> PythonPlace | None:
        """The line with the name of a type."""
        path, found = self._full(name)
        is_type = found is not None and not found[1]
        return _place(name, path, self._data(path), found.start()) if found and is_type else None

    def _is_module(self, name: str) -> bool:
        """Whether C++ or a stub file makes a module of the name."""
        found = self._full(name)[1]
        return bool(found and found[1]) or any(self._stubs(name))

    def _full_name(self, name: str) -> tuple[str, re.Match[bytes] | None]:
        """Where a file of torch/csrc has the whole name of a type or module."""
        named = {re.escape(one.encode()) for one in (name, name.replace("._C.", "."))}
        whole = re.compile(_WHOLE % b"|".join(sorted(named)))
        for path in self._sources("", name.rpartition(".")[2]):
            if found := whole.search(self._data(path)):
                return path, found
        return "", None

    def _in_homes(self, name: str, module: str, owner: str, last: str) -> list[PythonPlace]:
        """The rows for a name in the files of its module; of its class, else of a base class."""
        for one in self._with_bases(owner):
            rows, found = _rows(module, one, last), []
            for path in self._sources(one, last):
                data = self._data(path)
                if _is_home(path, data, module, one):
                    fitting = (m for m in rows.finditer(data) if self._fits(path, m, module, one))
                    found += [_place(name, path, data, m.end()) for m in fitting]
            if found:
                return found
        return []

    def _with_bases(self, owner: str) -> list[str]:
        """A class, then its bases in pybind11, nearest first."""
        order = [owner]
        for one in order:  # grows
            paths = self._literals.get(one, ()) if one else ()
            bases = (base for path in paths for base in self._rows(path).bases(one))
            order += [base for base in dict.fromkeys(bases) if base not in order]
        return order

    def _fits(self, path: str, row: re.Match[bytes], module: str, owner: str) -> bool:
        """Whether a row is for a class or a module, as far as its file says."""
        if path.endswith(_TENSOR_METHODS) or row[0].lstrip().startswith(_ADDED):
            return True
        if owner:
            return self._rows(path).is_member(row.end(), owner)
        if module == _FUNCTIONS or not row[0].startswith((b"{", b".")):  # a class in a module
            return True
        is_exported = row[0].startswith(b".value") and b".export_values()" in self._data(path)
        return is_exported or self._rows(path).is_function(row.end(), module)

    def _in_slots(self, name: str, owner: str, last: str) -> list[PythonPlace]:
        """The function for a special method of a type."""
        if not (owner and has_slot(last)):
            return []
        functions = (
            slot_function(self._data(path), owner, last) for path in self._literals.get(owner, ())
        )
        known = (one for name in functions if name for one in self._index.facts.named(name))
        return [PythonPlace("bound", name, one.definition.location) for one in known]

    def _in_tables(self, name: str) -> list[PythonPlace]:
        """The table rows and pybind11 calls, of any module, for a name of ``torch._C``."""
        module, owner, last = self._parts(name)
        row = re.compile(_FUNCTION % re.escape(last.encode()))
        sources = self._sources("", last) if module == "torch._C" and not owner else ()
        return [
            _place(name, path, data, found.end())
            for path, data in ((path, self._data(path)) for path in sources)
            for found in row.finditer(data)
            if self._rows(path).is_function(found.end(), module)
        ]

    def _dtype(self, name: str) -> list[PythonPlace]:
        module, _, last = name.rpartition(".")
        if module != "torch._C":
            return []
        row = re.compile(_DTYPE % re.escape(last.encode()))
        for path in self._dtypes:
            if match := row.search(self._data(path)):
                return [_place(name, path, self._data(path), match.start())]
        return []

    @cached_property
    def _dtypes(self) -> list[str]:
        paths = (path for like in _DTYPES for path in self._index.facts.paths("cpp", like))
        return [path for path in paths if b"getDtypeNames(" in self._data(path)]

    def _sources_of(self, owner: str, last: str) -> tuple[str, ...]:
        """The files with a literal that ends with a word, and the template of tensor methods."""
        facts = self._index.facts
        templates = facts.paths("other", f"%{_TENSOR_METHODS}") if owner in _TENSOR else ()
        return (*templates, *self._literals.get(last, ()))

    @cached_property
    def _literals(self) -> dict[str, list[str]]:
        """The files of torch/csrc by the last words of their literals."""
        found: dict[str, list[str]] = {}
        for path, words in self._index.facts.store.query(_WORDS):
            for word in words.split():
                found.setdefault(word, []).append(path)
        return found


def _rows(module: str, owner: str, last: str) -> re.Pattern[bytes]:
    """The pattern for bindings of a name. A class of ``torch._C`` itself has a type with its full
    name; a pybind11 class may be any module's."""
    word = re.escape(last.encode())
    classes = [_CLASS % (word, word, word)] if not owner and module != "torch._C" else []
    return re.compile(b"|".join([_ROW % word, *classes]))


def _is_home(path: str, data: bytes, module: str, owner: str) -> bool:
    """Whether a file defines a class, or a module of bindings."""
    if path.endswith(_TENSOR_METHODS):
        return True
    if owner:
        word = re.escape(owner.encode())
        return re.search(_CLASS % (word, word, word), data) is not None
    last = module.rpartition(".")[2].encode()
    if module == "torch._C" and _ADDS in data:
        return True
    return any(form % last in data for form in (b'"%s"', b"_C.%s", b'.%s"'))


def _place(name: str, path: str, data: bytes, at: int) -> PythonPlace:
    return PythonPlace("bound", name, Location(path, data.count(b"\n", 0, at) + 1))


def _annotated(text: Text, owner: str, name: str) -> int:
    """The line of ``name: type`` in a class or module; 0 if none."""
    pattern = rb"(?m)^%s%s\s*[:=]" % (b"[ \\t]+" if owner else b"", re.escape(name.encode()))
    spans = [(b.head.line, b.end_line) for b in text.blocks if b.head.qualified == owner]
    for match in re.finditer(pattern, text.data):
        line = text.data.count(b"\n", 0, match.start()) + 1
        if not owner or any(first <= line <= last for first, last in spans):
            return line
    return 0
