"""Reads the data members of a tensor and their accessors from c10/core/TensorImpl.h."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from indexes.model.answers import Member
from indexes.model.regex import regex
from indexes.model.vocabulary import Location, Problem
from indexes.readers.cxx.lexer import Lines
from indexes.readers.cxx.members import (
    FUNCTION_POINTER,
    Statement,
    class_body,
    comment_above,
    is_function,
    is_type,
    statements,
)
from indexes.readers.cxx.scopes import Scan, scan_text

_ATTRIBUTE = regex(r"\[\[[^\]]*\]\]|\balignas\s*\([^()]*\)|\b[A-Z][A-Z0-9_]+\s*\([^()]*\)")
_DECLARATOR = regex(
    r"(?P<type>.*[\s*&>])?(?P<name>[A-Za-z_]\w*)\s*(?P<array>(?:\[[^\]]*\]\s*)*)"
    r"(?:(?<!:):(?!:)\s*(?P<bits>\w+)\s*)?",
    re.S,
)
_WORD = regex(r"[A-Za-z_]\w*")
_CLASS = "TensorImpl"


def read_members(data: bytes, path: str) -> tuple[tuple[Member, ...], tuple[Problem, ...]]:
    """The data members of TensorImpl in file order, each with its accessors in this file.

    Those are the member functions whose bodies read or set it; without any, the declarations named
    after it (``autograd_meta``, ``set_autograd_meta``).
    """
    text = data.decode("utf-8", "replace")
    scan = scan_text(text)
    body = class_body(scan, _CLASS)
    if body is None:
        return (), (Problem(path, 1, f"no definition of class {_CLASS}"),)
    lines = text.split("\n")
    numbers = Lines(scan.plain)
    members = [
        replace(member, comment=comment_above(lines, member.location.line))
        for statement in statements(scan.plain, *body)
        for member in data_members(statement, numbers, path)
    ]
    if not members:
        return (), (Problem(path, 1, f"class {_CLASS} has no data members"),)
    declared = _declarations(scan, numbers, body, path)
    accessed = _accessed(members, scan, path)
    return tuple(m if m.accessors else _named_after(m, declared) for m in accessed), ()


def with_accessors(members: Iterable[Member], data: bytes, path: str) -> tuple[Member, ...]:
    """Adds accessors defined in another file (TensorImpl.cpp)."""
    scan = scan_text(data.decode("utf-8", "replace"))
    return _accessed(members, scan, path)


_DECLARED_NAME = regex(r"([A-Za-z_]\w*)\s*\(")


def _declarations(
    scan: Scan, numbers: Lines, body: tuple[int, int], path: str
) -> dict[str, list[Location]]:
    """The places where member functions are declared without a body, by name."""
    declared: dict[str, list[Location]] = {}
    for statement in statements(scan.plain, *body):
        name = _DECLARED_NAME.search(statement.text)
        if name is not None and is_function(statement.text) and "}" not in statement.text:
            where = Location(path, numbers.at(statement.offset + name.start()))
            declared.setdefault(name[1], []).append(where)
    return declared


def _named_after(member: Member, declared: dict[str, list[Location]]) -> Member:
    base = member.name.rstrip("_")
    names = [
        name for name in (base, f"set_{base}", f"mutable_{base}") for _ in declared.get(name, ())
    ]
    places = [place for name in dict.fromkeys(names) for place in declared[name]]
    return replace(member, accessors=tuple(places), accessor_names=tuple(names))


def data_members(statement: Statement, numbers: Lines, path: str) -> list[Member]:
    """The data members that a statement declares; several for ``int a, b;``."""
    text = _ATTRIBUTE.sub(lambda m: " " * len(m[0]), statement.text)
    if is_type(text) or is_function(text):
        return []
    pointer = FUNCTION_POINTER.search(text)
    if pointer is not None:
        type_ = f"{text[: pointer.start()]}(*)({text[pointer.end() :]}"
        named = [(pointer[1], type_, pointer.start(1), "")]
    else:
        named = _named(text)
    made = []
    for name, type_, at, width in named:
        place = Location(path, numbers.at(statement.offset + at))
        bits = int(width) if width.isdecimal() else None
        made.append(Member(name, " ".join(type_.split()), "", place, bits=bits))
    return made


def _named(text: str) -> list[tuple[str, str, int, str]]:
    """(name, type, offset, width) of each declarator; those after a comma share the type."""
    found: list[tuple[str, str, int, str]] = []
    shared = ""
    for part, offset in _declarators(text):
        match = _DECLARATOR.fullmatch(part.rstrip())
        type_ = (match["type"] or "").strip() if match else ""
        if match is not None and (type_ or shared):
            shared = type_ or shared
            type_ = shared + "".join(match["array"].split())
            found.append((match["name"], type_, offset + match.start("name"), match["bits"] or ""))
    return found


def _declarators(text: str) -> list[tuple[str, int]]:
    """``T a = 1, b{2}`` as ``("T a", 0)`` and ``(" b", 8)``, without initializers."""
    parts: list[tuple[str, int]] = []
    depth = begin = 0
    end: int | None = None
    for at, char in enumerate(text):
        if char in "=" + "{" and depth == 0 and end is None:
            end = at
        depth += (char in "<({[") - (char in ">)}]")
        if char == "," and depth == 0:
            parts.append((text[begin : at if end is None else end], begin))
            begin, end = at + 1, None
    parts.append((text[begin : len(text) if end is None else end], begin))
    return parts


def _accessed(members: Iterable[Member], scan: Scan, path: str) -> tuple[Member, ...]:
    result = {member.name: member for member in members}
    numbers = Lines(scan.plain)
    for function in scan.found:
        if function.end and function.kind != "class" and function.scope.split("::")[-1] == _CLASS:
            where = Location(path, numbers.at(function.start), numbers.at(function.end))
            for name in {*_WORD.findall(scan.plain, function.start, function.end)} & result.keys():
                member = result[name]
                places, names = (*member.accessors, where), (*member.accessor_names, function.name)
                result[name] = replace(member, accessors=places, accessor_names=names)
    return tuple(result.values())
