"""Declarations of a header that decide the memory layout of classes: bases and data members,
underlying types of enumerations, aliases, and macros that expand to numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from indexes.model.answers import Member
from indexes.model.idioms import split_outside
from indexes.model.regex import regex
from indexes.readers.cxx.lexer import Lines
from indexes.readers.cxx.members import Statement, comment_above, statements
from indexes.readers.cxx.scopes import Found, Scan, scan_text
from indexes.readers.cxx.tensor_impl import data_members

_ENUM = regex(
    r"\benum\s+(?:class\s+|struct\s+)?(?:[A-Z][A-Z0-9_]+\s+)?(\w+)\s*(?::\s*([\w:]+)\s*)?\{"
)
_NUMBER = regex(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d+)\)?[ \t]*$")
_UNION = regex(r"union\s*\{")
_VIRTUAL = regex(r"\b(?:virtual|override)\b")
_ACCESS = regex(r"\b(?:public|private|protected|virtual)\s+")
_STATIC = regex(r"\bstatic\b")


@dataclass(frozen=True, slots=True)
class DeclaredClass:
    """A class with the data members of its objects."""

    name: str
    path: str
    line: int
    bases: tuple[str, ...]
    is_virtual: bool
    """Whether it declares or overrides a virtual function itself."""
    members: tuple[tuple[Member, ...], ...]
    """In order, without static ones; several in one place form an anonymous union."""


@dataclass(frozen=True, slots=True)
class DeclaredTypes:
    """All types of a header by unqualified name; the first of a name counts."""

    classes: dict[str, DeclaredClass] = field(default_factory=dict)
    enums: dict[str, str] = field(default_factory=dict)
    """The underlying type of each enumeration."""
    aliases: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """Macros that expand to a number."""


def read_types(data: bytes, path: str) -> DeclaredTypes:
    """The types that a header declares."""
    text = data.decode("utf-8", "replace")
    scan = scan_text(text)
    lines, numbers = text.split("\n"), Lines(scan.plain)
    found = DeclaredTypes(numbers={name: int(value) for name, value in _NUMBER.findall(text)})
    for one in scan.found:
        if one.kind == "class" and one.end > one.body > 0:
            found.classes.setdefault(one.name, _class(scan, one, numbers, lines, path))
    for match in _ENUM.finditer(scan.plain):
        found.enums.setdefault(match[1], match[2] or "int")
    for name, target, _, _ in scan.aliases:
        if name != target.rpartition("::")[2]:  # else it only brings the name into a scope
            found.aliases.setdefault(name, target)
    return found


def _class(scan: Scan, one: Found, numbers: Lines, lines: list[str], path: str) -> DeclaredClass:
    start = scan.plain.index("{", one.body) + 1
    end = scan.plain.rindex("}", 0, one.end + 1)
    bases = filter(str.strip, split_outside(one.base, angles=True))
    plain = tuple(_ACCESS.sub("", base).strip() for base in bases)
    members = tuple(_groups(scan.plain, start, end, numbers, lines, path))
    is_virtual = _VIRTUAL.search(scan.plain, start, end) is not None
    return DeclaredClass(one.name, path, numbers.at(one.start), plain, is_virtual, members)


def _groups(
    plain: str, start: int, end: int, numbers: Lines, lines: list[str], path: str
) -> Iterator[tuple[Member, ...]]:
    """The members in each place; several for an anonymous union."""
    for statement in statements(plain, start, end):
        union = _UNION.match(statement.text)
        if union is not None:
            inner = statement.offset + union.end()
            close = statement.offset + statement.text.rindex("}")
            parts = (
                m
                for s in statements(plain, inner, close)
                for m in _members(s, numbers, lines, path)
            )
            yield tuple(parts)
            continue
        yield from ((member,) for member in _members(statement, numbers, lines, path))


def _members(statement: Statement, numbers: Lines, lines: list[str], path: str) -> Iterator[Member]:
    for member in data_members(statement, numbers, path):
        if not _STATIC.search(member.type):
            comment = comment_above(lines, member.location.line)
            yield Member(member.name, member.type, comment, member.location, bits=member.bits)
