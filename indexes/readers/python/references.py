"""Uses of a name in the code of a Python file, with the file's imports resolved.

Works by lines instead of a parser, since half of the tests may use a name. Operators are recognised
by the file's names for ``torch.ops`` and its namespaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from indexes.model.files import module_name
from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.readers.python.blocks import SHORT_STRING, Spans, Text, occurrences

_IMPORT = regex(rb"[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n]+)")
_NAMED = regex(r"(\w+)(?:\s+as\s+(\w+))?").findall
_COMMENT = regex(r"#[^\n]*")


class Use(NamedTuple):
    """A name that is read."""

    name: str
    """``torch._decomp.decompositions.softmax`` by the imports; ``.add`` for a method."""
    line: int
    called: bool
    owner: str = ""
    """The text before the name: ``self.optimizer``."""


def read_imports(data: bytes, path: str) -> dict[str, str]:
    """The names bound by imports: name -> dotted path, including those in functions."""
    found: dict[str, str] = {}
    # Of ``try: from . import x``, ``except: import x`` the package's own counts.
    for match in sorted(_statements(data), key=lambda one: one[1] is not None):
        listed = _COMMENT.sub("", match[2].decode("utf-8", "replace")).strip("() \n")
        if match[1]:
            origin = _origin(match[1].decode("utf-8", "replace"), path)
            found.update((bound or name, f"{origin}.{name}") for name, bound in _NAMED(listed))
            continue
        for name, _, bound in (part.strip().partition(" as ") for part in listed.split(",")):
            if name:
                top = name.partition(".")[0]
                found[bound.strip() or top] = name if bound else top
    return found


def _statements(data: bytes) -> Iterator[re.Match[bytes]]:
    """The imports. Faster than one search from every line."""
    end = 0
    for at in occurrences(data, b"import"):
        begin = data.rfind(b"\n", 0, at) + 1
        if begin >= end and (match := _IMPORT.match(data, begin)):
            end = match.end()
            yield match


def _origin(written: str, path: str) -> str:
    """The module in a ``from`` import, with relative ones resolved."""
    level = len(written) - len(written.lstrip("."))
    if not level:
        return written
    module = module_name(path)
    package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [written[level:]])])


_OWNER = regex(rb"(?:^|[^\w.])((?:\w+\.)*|[\w.]*[)\]]\.)$")
_LONGEST_OWNER = 120
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def uses_of(text: Text, path: str, name: str, imports: dict[str, str]) -> Iterator[Use]:
    """The uses of ``name`` in a file, without its own definition and imports."""
    data, word = text.data, name.encode()
    listed = _listed_imports(data)
    line_of = LineCount(data)
    for at in occurrences(data, word):
        end = at + len(word)
        if data[end : end + 1] in _ENDS or (at and data[at - 1] in _WORD):
            continue
        begin = data.rfind(b"\n", 0, at) + 1
        before = data[begin:at]
        owner = _OWNER.search(before[-_LONGEST_OWNER:])
        if (
            owner is None
            or listed.end_at(at)
            or _is_no_code(before)
            or _defines(before)
            or text.strings.end_at(at)
            or (not owner[1] and _ASSIGNED.match(data, end))
        ):
            continue
        written = owner[1].decode("utf-8", "replace")
        dotted = _dotted(written, name, path, imports)
        called = data[end : end + 8].lstrip()[:1] == b"("
        yield Use(dotted, line_of(at), called, written.rstrip("."))


def _is_no_code(before: bytes) -> bool:
    if b"'" in before or b'"' in before:
        before = SHORT_STRING.sub(b"", before)
    if _FORMATTED.search(before):
        return False
    return any(mark in before for mark in (b"#", b"'", b'"'))


_FORMATTED = regex(rb"\b[rR]?[fF][rR]?([\"'])(?:(?!\1)[^#])*\{[^{}]*\Z")
"""An f-string up to an expression in it."""


@lru_cache(8)
def _listed_imports(data: bytes) -> Spans:
    """The names in ``from x import (a, b)``, cached."""
    found = (match for match in _statements(data) if match[2].startswith(b"("))
    return Spans([match.span(2) for match in found])


_ENDS = frozenset(bytes([one]) for one in _WORD)
_ASSIGNED = regex(rb"[ \t]*=(?![=}])")
"""After a name that is assigned, or that names an argument; ``{x=}`` in an f-string reads ``x``."""


def _defines(before: bytes) -> bool:
    stripped = before.strip()
    return stripped.startswith((b"import ", b"from ")) or stripped in (
        b"def",
        b"class",
        b"async def",
    )


def _dotted(written: str, name: str, path: str, imports: dict[str, str]) -> str:
    parts = written.rstrip(".").split(".") if written else []
    if not parts:
        return imports.get(name) or f"{module_name(path)}.{name}"
    root = imports.get(parts[0])
    if root is None or not parts[0].isidentifier():
        return f".{name}"
    return ".".join([root, *parts[1:], name])


# ------------------------------------------------------------------------------ operators


class OperatorUse(NamedTuple):
    """An operator read from ``torch.ops``."""

    operator: str
    """``quantized::linear``."""
    member: str
    """The overload or attribute taken of it; empty for none."""
    line: int
    called: bool


_OPS = ("torch.ops", "torch._ops.ops")
_GETATTR = regex(rb"getattr\(\s*([\w.]+)\s*,\s*[\"'](\w+)[\"']\s*(?:,[^()\n]*)?,?\s*\)")
_OWNS = regex(rb"(?<![\w.])(?:\w+\s*\.)*\w+\s*\Z")
_MEMBERS = regex(rb"(?!\w)(?:\s*\.\s*(\w+))?(\s*\()?")
_BOUND = regex(rb"([\w.]+)[ \t]*=[ \t]*\Z")
_SPACE = regex(rb"(?:\.(\w+))?[ \t]*(?=[\n#]|\Z)")


def with_plain_attributes(data: bytes) -> bytes:
    """The source with ``x.name`` for ``getattr(x, "name")``, on the same lines."""
    for _ in range(2 * (b"getattr(" in data)):
        data = _GETATTR.sub(_plain_attribute, data)
    return data


def _plain_attribute(found: re.Match[bytes]) -> bytes:
    return found[1] + b"." + found[2] + b"\n" * found[0].count(b"\n")


def operator_spaces(data: bytes, imports: dict[str, str]) -> dict[str, str]:
    """The file's names for ``torch.ops`` and namespaces in it: ``{"ops": "", "aten": "aten"}``.

    Parameters:
        data: The source, as :func:`with_plain_attributes` gives it.
        imports: What its imports bind.
    """
    spaces = dict.fromkeys(_OPS, "")
    for name, origin in imports.items():
        for ops in _OPS:
            if ops.startswith(f"{origin}."):
                spaces[name + ops.removeprefix(origin)] = ""
            elif f"{origin}.".startswith(f"{ops}."):
                spaces[name] = origin.removeprefix(ops).lstrip(".")
    names: set[str] = set()
    for _ in range(2):  # the second round finds what is made of the names of the first
        new = [one for one, space in spaces.items() if not space and one not in names]
        names.update(new)
        for name in new:
            spaces.update(_assigned(data, name))
    return spaces


def _assigned(data: bytes, ops: str) -> Iterator[tuple[str, str]]:
    """The names to which a file assigns ``torch.ops`` or a namespace of it."""
    for at in occurrences(data, ops.encode()):
        bound = _BOUND.search(data, data.rfind(b"\n", 0, at) + 1, at)
        space = _SPACE.match(data, at + len(ops))
        if bound and space:
            yield bound[1].decode(), (space[1] or b"").decode()


def space_named(owner: str, spaces: Mapping[str, str]) -> str | None:
    """The namespace that a dotted name stands for, by :func:`operator_spaces`; None for none."""
    outer, _, last = owner.rpartition(".")
    return last if spaces.get(outer) == "" else spaces.get(owner) or None


def operator_uses(
    text: Text, name: str, space_of: Callable[[str], str | None]
) -> Iterator[OperatorUse]:
    """The operators of a name that the code of a file reads from ``torch.ops``.

    Parameters:
        text: The file, as :func:`with_plain_attributes` gives it.
        space_of: Gives the namespace that a dotted name stands for.
    """
    data, line_of = text.data, LineCount(text.data)
    for at in occurrences(data, f".{name}".encode()):
        members = _MEMBERS.match(data, at + 1 + len(name))
        owner = members and _OWNS.search(data, max(0, at - _LONGEST_OWNER), at)
        space = owner and space_of(b"".join(owner[0].split()).decode("utf-8", "replace"))
        if not (members and owner and space) or text.strings.end_at(owner.start()):
            continue
        begin = data.rfind(b"\n", 0, owner.start()) + 1
        if not _is_no_code(data[begin : owner.start()]):
            member, line = (members[1] or b"").decode(), line_of(owner.start())
            yield OperatorUse(f"{space}::{name}", member, line, bool(members[2]))


class OperatorString(NamedTuple):
    """A string literal that names an operator."""

    member: str
    """The overload or attribute that it names; empty for none."""
    line: int
    registers: bool
    """Whether it defines or registers something for the operator."""


_OVERLOAD = regex(rb"(?:\.(\w+))?(?!\w|::)")
_QUALIFIED = _WORD | frozenset(b":")
_REGISTERS = regex(rb"\b(?:impl|define|custom_op|triton_op|register)\w*\(\s*[rRuU]?[\"']?$")


def operator_strings(text: Text, operator: str) -> Iterator[OperatorString]:
    """The literals with ``"quantized::linear"`` or ``ops.quantized.linear``, except docs."""
    data, line_of = text.data, LineCount(text.data)
    spellings = (operator.encode(), f"ops.{operator.replace('::', '.')}".encode())
    places = [(at, at + len(one)) for one in spellings for at in occurrences(data, one)]
    for at, end in sorted(places):
        found = _OVERLOAD.match(data, end)
        if not found or data[at - 1] in _QUALIFIED or not _in_literal(text, at):
            continue
        registers = _REGISTERS.search(data[max(0, at - _LONGEST_OWNER) : at]) is not None
        yield OperatorString(found[1].decode() if found[1] else "", line_of(at), registers)


def _in_literal(text: Text, at: int) -> bool:
    data = text.data
    if end := text.strings.end_at(at):
        start = next(begin for begin, ended in text.strings.spans if ended == end)
        before = data[max(0, start - _LONGEST_OWNER) : start].rstrip(b"rRfFbBuU").rstrip()
        return before[-1:] in _VALUE_BEFORE
    before = SHORT_STRING.sub(b"", data[data.rfind(b"\n", 0, at) + 1 : at])
    quotes = [before.find(mark) for mark in (b"'", b'"') if mark in before]
    return bool(quotes) and b"#" not in before[: min(quotes)]


_VALUE_BEFORE = (b"(", b",", b"=", b"[", b"{", b"+", b"%", b"n")
"""Text before a string that is a value; ``n`` ends ``return`` and ``in``."""
