"""C++ functions for Python's special methods: the slots of ``PyTypeObject``, by their order in
CPython's ``object.h``."""

from __future__ import annotations

import re

from indexes.model.idioms import split_arguments

_FIELDS = (
    *("name", "basicsize", "itemsize", "dealloc", "vectorcall_offset", "getattr", "setattr"),
    *("as_async", "repr", "as_number", "as_sequence", "as_mapping", "hash", "call", "str"),
    *("getattro", "setattro", "as_buffer", "flags", "doc", "traverse", "clear", "richcompare"),
    *("weaklistoffset", "iter", "iternext", "methods", "members", "getset", "base", "dict"),
    *("descr_get", "descr_set", "dictoffset", "init", "alloc", "new"),
)
"""``tp_...``; the head is a macro without a comma behind it."""
_COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_SLOTS = {
    **{f"__{name}__": name for name in ("repr", "hash", "call", "str", "iter", "init", "new")},
    **dict.fromkeys(("__getattr__", "__getattribute__"), "getattro"),
    **dict.fromkeys(("__setattr__", "__delattr__"), "setattro"),
    **dict.fromkeys(_COMPARED, "richcompare"),
    "__next__": "iternext",
}
_MAPPING = {"__len__": 0, "__getitem__": 1, "__setitem__": 2, "__delitem__": 2}
"""Members of ``PyMappingMethods``."""
_TYPE = rb'\bPyTypeObject\s+(\w+)\s*=?\s*\{([^;"]{0,500}"(?:\w+\.)*%s")'
_END = re.compile(rb"\}\s*;")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CAST = re.compile(r"\(\w+\)\s*|&\s*")
_FUNCTION = re.compile(r"(?!nullptr\b|NULL\b)[A-Za-z_]\w*")


def has_slot(name: str) -> bool:
    return name in _SLOTS or name in _MAPPING


def slot_function(data: bytes, owner: str, name: str) -> str:
    """The function for a special method in a C++ type; empty if none.

    Parameters:
        data: The file with the type.
        owner: The last part of the type's name in Python: ``TensorBase``.
        name: ``__getitem__``.
    """
    found = re.search(_TYPE % re.escape(owner.encode()), data)
    end = _END.search(data, found.end()) if found else None
    if found is None or end is None:
        return ""
    fields = dict(zip(_FIELDS, _parts(data[found.start(2) : end.start()]), strict=False))
    if name in _MAPPING:
        table = _table(data, _symbol(fields.get("as_mapping", "")))
        return _symbol(dict(enumerate(table)).get(_MAPPING[name], ""))
    return _symbol(_assigned(data, found[1], name) or fields.get(_SLOTS.get(name, ""), ""))


def _table(data: bytes, name: str) -> list[str]:
    found = re.search(rb"\b%s\s*=?\s*\{([^;}]*)\}" % name.encode(), data) if name else None
    return _parts(found[1]) if found else []


def _assigned(data: bytes, type_name: bytes, name: str) -> str:
    """A slot assigned before the type is ready: ``Type.tp_init = init;``."""
    slot = _SLOTS.get(name, "").encode()
    found = re.search(rb"\b%s\.tp_%s\s*=\s*([^;]+);" % (type_name, slot), data) if slot else None
    return found[1].decode() if found else ""


def _parts(text: bytes) -> list[str]:
    return split_arguments(_COMMENT.sub("", text.decode(errors="replace")))


def _symbol(value: str) -> str:
    """The name of a function or table, without a cast; empty for anything else."""
    name = _CAST.sub("", value.strip())
    return name if _FUNCTION.fullmatch(name) else ""
