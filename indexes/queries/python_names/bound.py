"""Python names bound in C++: generated bindings of operators, and bindings in torch/csrc."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

from indexes.model.errors import SourceError
from indexes.model.lines import grouped
from indexes.model.python import PythonPlace
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.overloads import generated_for
from indexes.queries.python_names.generated import tensor_type
from indexes.queries.python_names.modules import Modules
from indexes.queries.python_names.rows import CLASS, Rows
from indexes.queries.python_names.slots import has_slot, slot_function
from indexes.readers.python.blocks import Text

_FUNCTIONS = "torch._C._VariableFunctions"
_TENSOR = ("TensorBase", "_TensorBase")
_TENSOR_METHODS = "python_variable_methods.cpp"
"""The template of the tensor's method table."""
_ROW = (
    rb'(?:\{\s*(?:\(char ?\*\)\s*)?"%s"(?=\s*,\s*[^"\s])'
    rb'|(?:(?:\b(?P<on>\w+)\s*)?\.\w*def\w*\s*\(\s*|\.value\s*\(\s*)"%s"(?!\s*")'
    rb'|\b(?P<set>\w+)\.attr\s*\(\s*"%s"\s*\)\s*=(?!=)'
    rb'|\bPyModule_AddObject(?:Ref)?\(\s*(?P<added>\w+)[\w.()]*,\s*"%s")'
)
"""A row of a method table, or an addition to a module or class."""
_LENT = re.compile(rb"\bPyMethodDef\s*\*\s*(\w+)\(\)\s*\{\s*return\b")
"""A function that gives a table to the file of its type."""
_QUOTING = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\((\w+)[^()\n]*\)(?:[^\n]*\\\n)?[^\n]*\.def\w*\([\s\\]*#\2\b",
    re.MULTILINE,
)
"""A macro that binds a name of its argument: ``#define UNARY(n) .def(#n, ...)``."""
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
    rb"""(?:%s\s*\w*\s*\(\s*(?P<of>\w+),\s*"%%s"(?!\s*")"""
    rb"""|"torch\._C\.(?:\w+\.)*%%s"|_HEAD_INIT\([^()]*\)\s*(?:\.tp_name\s*=\s*)?"torch\.(?:\w+\.)*%%s")"""
    % CLASS
)
"""A pybind11 class, and the name of a type."""
_GIVEN = (
    rb"\b(?P<binder>\w+)\s*(?:<[^;{}()]{0,500}>)?\s*"
    rb'\(\s*(?P<to>\w+),\s*(?:\w+,\s*)?"%s"\s*[,)]'
)
"""A call that gives a function a module and a name."""
_BINDS = re.compile(
    rb"(?:%s\s*\w*\s*\(|\bPyModule_AddObject(?:Ref)?\()\s*\w+,\s*[A-Za-z_]\w*\s*[,)]" % CLASS
)
"""A class with the name that the function around is given."""
_MEMBER = rb"""(?:\{\s*(?:\(char ?\*\)\s*)?|[)\s]\.def\w*\s*\(\s*)"%s"\s*,"""
"""A member of a class: a table row, or a call behind ``class_<...>(...)``."""
_WHOLE = rb'(\bPyModuleDef_HEAD_INIT,\s*(?:\.m_name\s*=\s*)?)?"(?:%s)"\s*,'
"""The whole name of a module or type."""


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
        self._modules = Modules(
            self._data, self._holding, lambda path, table: self._rows(path).module_with(table)
        )

    def _is_bound(self, name: str) -> bool:
        """Whether a name is generated, declared in a stub file, or bound by a table or by
        pybind11."""
        return bool(
            generated_for(name, self._index.facts)
            or self._declared(name)
            or self._dtype(name)
            or tensor_type(name.replace("._C.", "."), self._index)
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

    def is_guess(self, name: str) -> bool:
        """Whether a row has a name, and nothing says for which class or module the row is."""
        return not (
            generated_for(name, self._index.facts) or self._dtype(name) or self._declared(name)
        ) and any(place.is_guess for place in self._in_cpp(name)[:1])

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
            rows = _rows(module, one, last)
            found: list[PythonPlace] = []
            for path in self._sources(one, last):
                data = self._data(path)
                if _is_home(path, data, module, one) or self._lends(path, one):
                    found += self._fitting(name, path, rows, module, one)
            found = found or list(self._by_macro(name, one, last))
            if found:
                return _surest(found)
        return []

    def _lends(self, path: str, owner: str) -> bool:
        """Whether a file gives a table to the file of a class."""
        given = _LENT.findall(self._data(path))
        homes = [self._data(one) for one in self._literals.get(owner, ())] if given else ()
        return any(one in data for one in given for data in homes)

    def _by_macro(self, name: str, owner: str, last: str) -> Iterator[PythonPlace]:
        """The uses of macros, in the file of a class, that bind their argument."""
        for path in self._literals.get(owner, ()) if owner else ():
            for macro in dict.fromkeys(one[1] for one in _QUOTING.finditer(self._data(path))):
                use = rb"^[ \t]*%s\(%s\b" % (macro, re.escape(last.encode()))
                for row in re.finditer(use, self._data(path), re.MULTILINE):
                    yield _place(name, path, self._data(path), row.end(), is_guess=True)

    def _fitting(
        self, name: str, path: str, rows: re.Pattern[bytes], module: str, owner: str
    ) -> Iterator[PythonPlace]:
        """The rows of a file that are, or may be, for a class or a module."""
        data = self._data(path)
        for row in rows.finditer(data):
            sure = self._fits(path, row, module, owner)
            if sure is not False:
                yield _place(name, path, data, row.end(), is_guess=sure is None)

    def _with_bases(self, owner: str) -> list[str]:
        """A class, then its bases in pybind11, nearest first; the tensor's has two names."""
        order = [owner, *(one for one in _TENSOR if owner in _TENSOR and one != owner)]
        for one in order:  # grows
            paths = self._literals.get(one, ()) if one else ()
            bases = (base for path in paths for base in self._rows(path).bases(one))
            order += [base for base in dict.fromkeys(bases) if base not in order]
        return order

    def _fits(self, path: str, row: re.Match[bytes], module: str, owner: str) -> bool | None:
        """Whether a row is for a class or a module; None if its file does not say it."""
        if path.endswith(_TENSOR_METHODS):
            return True
        if owner:
            is_set = row["set"] or row["added"]
            return True if is_set else self._rows(path).is_member(row.end(), owner)
        if module == _FUNCTIONS:
            return True
        given = row.groupdict()
        if (binder := given.get("binder")) and not self._binds(binder.decode()):
            return False
        into = next(filter(None, map(given.get, ("on", "set", "added", "of", "to"))), None)
        if into is None and not row[0].startswith((b"{", b".")):  # the whole name of a type
            return row[0].endswith(b'"%s.%s"' % (module.encode(), _last(row[0]))) or None
        sure = self._is_in(path, row, into, module)
        is_class = bool(given.get("of") or given.get("to"))  # may be any module's
        return False if sure is None and is_class and module == "torch._C" else sure

    def _is_in(
        self, path: str, row: re.Match[bytes], into: bytes | None, module: str
    ) -> bool | None:
        """Whether the module of a row is the one that is asked for."""
        rows = self._rows(path)
        opening = None if into else rows.opening(row.end())
        if row[0].startswith(b".value"):
            if opening is None or b".export_values()" not in self._data(path):
                return False
            into = opening[0].rpartition(b"(")[2].partition(b",")[0].strip()
        elif rows.class_of(row["on"]) if row["on"] else not into and rows.owner(row.end()):
            return False
        elif not into and (opening is None or (opening["object"] and row[0][:1] == b"{")):
            return False  # of a list of something else
        if opening and not into and opening["table"]:
            held = self._modules.with_table(path, opening["table"])
        else:
            into = into or (opening["object"] if opening else None)
            held = self._modules.held(path, into, row.start()) if into else ""
        return _is_same(held, module)

    def _binds(self, function: str) -> bool:
        """Whether a function binds a class under the name that it is given."""
        for known in self._index.facts.named(function):
            where = known.definition.location
            lines = self._data(where.path).split(b"\n")[where.line - 1 : where.end_line]
            if _BINDS.search(b"\n".join(lines)):
                return True
        return False

    def _holding(self, word: bytes) -> Iterator[str]:
        """The files of torch/csrc with a word."""
        paths = self._index.facts.paths("cpp", "torch/csrc/%")
        yield from (path for path in paths if word in self._data(path))

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
        rows = _rows(module, "", last)
        sources = self._sources("", last) if module == "torch._C" and not owner else ()
        return _surest(
            [place for path in sources for place in self._fitting(name, path, rows, module, "")]
        )

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
        rows = self._index.facts.store.query(_WORDS)
        return grouped((word, path) for path, words in rows for word in words.split())


def _rows(module: str, owner: str, last: str) -> re.Pattern[bytes]:
    """The pattern for bindings of a name. A class of ``torch._C`` itself has a type with its full
    name, or is a pybind11 class."""
    word = re.escape(last.encode())
    forms = [_ROW % (word, word, word, word)]
    if not owner:
        forms += [_CLASS % (word, word, word), _GIVEN % word]
    return re.compile(b"|".join(forms))


def _surest(found: list[PythonPlace]) -> list[PythonPlace]:
    """The places that are sure, else all."""
    return [place for place in found if not place.is_guess] or found


def _is_same(held: str, module: str) -> bool | None:
    """Whether a module that a variable holds is another; None if it is not known enough."""
    if held and not held.startswith("."):
        return module == ("torch._C" if held == "torch" else held)
    return None if module.endswith(held) else False


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


def _place(name: str, path: str, data: bytes, at: int, is_guess: bool = False) -> PythonPlace:
    return PythonPlace("bound", name, Location(path, data.count(b"\n", 0, at) + 1), is_guess)


def _last(text: bytes) -> bytes:
    return text.rpartition(b".")[2].rstrip(b'"')


def _annotated(text: Text, owner: str, name: str) -> int:
    """The line of ``name: type`` in a class or module; 0 if none."""
    pattern = rb"(?m)^%s%s\s*[:=]" % (b"[ \\t]+" if owner else b"", re.escape(name.encode()))
    spans = [(b.head.line, b.end_line) for b in text.blocks if b.head.qualified == owner]
    for match in re.finditer(pattern, text.data):
        line = text.data.count(b"\n", 0, match.start()) + 1
        if not owner or any(first <= line <= last for first, last in spans):
            return line
    return 0
