"""Python names that no file of the tree binds: named tuples that torchgen generates, types that C++
makes when torch starts, and modules that a build writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from indexes.linking.python.paths import bindings
from indexes.model.python import PythonAnswer, PythonNameKind, PythonPlace
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.overloads import in_order

_RETURNED = regex(r"torch\.(?:_C\._)?return_types\.(\w+)(?:\.(\w+))?")
_TYPE = regex(r"(torch(?:\.\w+)*)\.([A-Z]\w*)Tensor")
_CASE = regex(r'case\s+(?:\w+::)*Backend::(\w+):\s*return\s+"([\w.]+)"')
_WORD = regex(r"\b(Backend|ScalarType)::(\w+)")
_SKIPPED = regex(r"if\s*\(([^{;]*)\)\s*\{\s*continue;")


def return_type(name: str, index: IndexedTree) -> PythonAnswer | None:
    """``torch.return_types.max`` and its fields: an operator that returns several named values has
    a named tuple (generate_return_type_definition_and_registrations in gen_python_functions.py)."""
    match = _RETURNED.fullmatch(name)
    if match is None:
        return None
    found = list(_returning(match[1], index))
    fields = {field: one for one, names in reversed(found) for field in names}
    if not found or (match[2] and match[2] not in fields):
        return None
    first = fields[match[2]] if match[2] else found[0][0]
    names = ", ".join(found[0][1])
    note = f"a named tuple ({names}) that torchgen generates from the returns of {first.full_name}"
    kind: PythonNameKind = "attribute" if match[2] else "class"
    place = PythonPlace(kind, name, first.location)
    operators = in_order(one for one, _ in found)
    return PythonAnswer(kind, name, name, (place,), operators, confidence="by rule", note=note)


def _returning(type_name: str, index: IndexedTree) -> Iterator[tuple[NativeFunction, list[str]]]:
    """The overloads with a binding that return a named tuple, and its fields."""
    for base in dict.fromkeys((type_name, type_name.removesuffix("_out"))):
        for one in index.facts.overloads(base):
            schema = parse_schema(one.schema)
            names = [returned.name or "" for returned in schema.returns]
            written = "_out" if any(a.is_out for a in schema.arguments) else ""
            if len(names) > 1 and all(names) and base + written == type_name and bindings(one):
                yield one, names


def tensor_type(name: str, index: IndexedTree) -> PythonAnswer | None:
    """``torch.cuda.FloatTensor``: one type for each pair that ``all_declared_types`` lists."""
    match = _TYPE.fullmatch(name)
    made = _function("initialize_aten_types", index) if match else None
    if match is None or made is None or (match[1], match[2]) not in set(_declared(index)):
        return None
    note = "a type for each of all_declared_types, with the members of torch.Tensor"
    place = PythonPlace("bound", name, made)
    return PythonAnswer("bound", name, name, (place,), confidence="by rule", note=note)


def _declared(index: IndexedTree) -> Iterator[tuple[str, str]]:
    """The modules and dtypes with a type: ``torch.sparse``, ``Float``."""
    listed, named = (_body(one, index) for one in ("all_declared_types", "backend_to_string"))
    skipped = [set(_WORD.findall(condition)) for condition in _SKIPPED.findall(listed)]
    words = _WORD.findall(_SKIPPED.sub("", listed))
    for backend, module in _CASE.findall(named):
        for kind, dtype in words:
            pair = {("Backend", backend), ("ScalarType", dtype)}
            is_listed = kind == "ScalarType" and ("Backend", backend) in words
            if is_listed and not any(pair <= one for one in skipped):
                yield module, dtype


def _function(name: str, index: IndexedTree) -> Location | None:
    return next((known.definition.location for known in index.facts.named(name)), None)


def _body(name: str, index: IndexedTree) -> str:
    where = _function(name, index)
    lines = index.source.text(where.path).split("\n") if where else []
    return "\n".join(lines[where.line - 1 : where.end_line]) if where else ""


def written(name: str, index: IndexedTree) -> PythonAnswer | None:
    """``torch.version`` and ``torch.version.cuda``: the line of a tool that writes the module, or
    the name into it, when torch is built."""
    module, _, last = name.rpartition(".")
    value = rb"""\bwrite\(\s*[rf]?["']%b\s*[:=]""" % re.escape(last.encode())
    found = _in_tools(name, b"", index) or _in_tools(module, value, index)
    if found is None:
        return None
    written_file, where = found
    kind: PythonNameKind = "attribute" if written_file == module else "module"
    note = f"a build writes {written_file.replace('.', '/')}.py, here"
    place = PythonPlace(kind, name, where)
    return PythonAnswer(kind, name, name, (place,), confidence="by rule", note=note)


def _in_tools(module: str, line: bytes, index: IndexedTree) -> tuple[str, Location] | None:
    """Where a tool names the file of a module of torch, and then has a line."""
    package, _, stem = module.partition(".")
    if package != "torch" or not stem or "." in stem:
        return None
    file = re.compile(rb"""\btorch["' /]+%b\.py\b""" % re.escape(stem.encode()))
    for path in (f"tools/{one}" for one in index.source.listed("tools") if one.endswith(".py")):
        data = index.source.content(path)
        named = file.search(data)
        if found := re.compile(line).search(data, named.start()) if named else None:
            return module, Location(path, data.count(b"\n", 0, found.start()) + 1)
    return None


def of_tensor_type(
    name: str, tensor: PythonAnswer | None, index: IndexedTree
) -> PythonAnswer | None:
    """A member of ``torch.FloatTensor``, by that of ``torch.Tensor``; one with a generated binding
    is its operator's."""
    if tensor is None:
        return None
    entry = next(filter(None, map(index.facts.native, tensor.operators)), None)
    places = (PythonPlace("bound", tensor.name, entry.location),) if entry else ()
    note = "types such as this have the members of torch.Tensor"
    return replace(tensor, name=name, places=tensor.places or places, note=note)
