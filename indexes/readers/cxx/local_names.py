"""The meanings of a body's own names, from ``using`` declarations and assignments, and the literals
and names that it passes to the functions it calls."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from re import Match
from typing import NamedTuple

from indexes.model.files import EMPTY_LIST, GIVEN_SEPARATOR
from indexes.model.idioms import VENDOR_NAMESPACES
from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.branches import Arm, Directive
from indexes.readers.cxx.lexer import ELSE, flat, strip_comments
from indexes.readers.cxx.marks import type_mark

_FUNCTION = regex(r"\busing\s+((?:\w+::)*\w+)::(\w+)\s*;")
_TYPE = regex(
    r"\busing\s+(\w{3,})\s*=\s*(?:typename\s+)?(?=([A-Za-z_][\w:]*))\2\s*(?:<([^;{}]*)>)?\s*;",
    ASCII,
)
"""``using Kernel = Selection<MulOp>;``."""
_IN_PLACE = "operator()"
_RUNS = (_IN_PLACE, "run")
_WORD = regex(r"(?<!::)\b[A-Za-z_]\w*\b(?!\s*::)", ASCII)

_LONGEST = 60
"""Longest argument that is stored, in characters."""
_LONGEST_CONDITION = 900
_LONGEST_VALUE = 500
_LITERAL = r"true|false|-?\.?\d[\w.]*|\"[\w.+-]*\"|(?:\w+::)*\w+"
_VALUE = regex(
    rf"!?\*?(?:{_LITERAL})(?:\.(?:has_value\(\)|defined\(\)|value\(\)|value_or\((?:{_LITERAL})\)))?$",
    ASCII,
)
_NOTHING = regex(r"(?:(?:\w+::)*nullopt|\{\s*\}|(?:at::)?Tensor(?:\(\)|\{\}))$", ASCII)
_DECLARED = regex(r"[;{}]\s*(?:\w+::)*Tensor\s+(?=(\w+(?:\s*,\s*\w+)*))\1\s*;", ASCII)
"""Tensors that are declared without a value: ``Tensor a, b;``."""
_TESTED = regex(r"[?!]|&&|\|\||[<=>]=")
_LONGEST_TEST = 160
_EMPTY = regex(r"(?:\w+::)*\w+ArrayRef(?:\{\}|\(\))$", ASCII)
NOTHING = "nullopt"
_WRAPPED = regex(
    r"(?:std::move|(?:c10::|at::)?(?:SymInt|Scalar)|static_cast<\w+>)\((\w+)\)$", ASCII
)
_ASSIGNED = regex(
    r"(?<![\w.>:])(\w+)\s*(?:(\+\+|--)|((?:[-+*/%|&^]|<<|>>)?=)(?!=))|(?:\+\+|--|[(,]\s*&)(\w+)",
    ASCII,
)
_NARROWING = {"&=": "&&", "|=": "||"}
_AGAIN = regex(r"\s*(\w+)\s*(&&|\|\|)", ASCII)
_LOOSER = {"&&": ("||", "?"), "||": ("?",)}
"""Operators that bind less than the one before them."""
_FURTHER = "..."
"""A further, unknown value."""
_MOST_TERMS = 8
"""Most that is joined with a name; what comes after is one more, unknown."""
_FARTHEST = 20_000
"""How far from its declaration, in characters, what is joined with a name is read."""
_TYPED = regex(r"(?:\w|>|&)\s*$", ASCII)
_NO_TYPE = regex(r"\b(?:return|else|case)\s*$", ASCII)
_NAME = regex(r"(?<![\w.>:\"])[A-Za-z_]\w*(?![\w(\"]|\s*::)", ASCII)
_SCOPE = regex(r"\b(?:\w+::)+", ASCII)
_IF = regex(r"if\s*(?:constexpr\s*)?\((.*)\)$")
_INDEXED = regex(r"(?<=[\w)])\[\w+\]", ASCII)
"""``sizes[0]``."""
_INNERMOST = regex(r"\([^()]*\)")
_NESTED = 3
"""Depth of names that stand for names."""

Row = tuple[int, str, str, str, str, str, str]
"""The place of a call, its name, qualifier, kind, template, arguments and receiver."""


class _Type(NamedTuple):
    """A class that a body renames or instantiates, from an offset on."""

    offset: int
    qualifier: str
    name: str
    template: str

    def runs_by(self, name: str) -> bool:
        """Whether a method runs an object of the class; any method may for a temporary."""
        return name == _IN_PLACE or self.qualifier.partition("::")[0] in VENDOR_NAMESPACES

    def __str__(self) -> str:
        path = f"{self.qualifier}::{self.name}" if self.qualifier else self.name
        return f"{path}<{self.template}>" if self.template else path


class LocalNames:
    """The functions and classes to which a body gives names of its own."""

    def __init__(self, text: str, start: int, end: int) -> None:
        """Reads the declarations between two offsets of a text without comments."""
        self._scopes: Mapping[str, str] = {
            name: scope for scope, name in _FUNCTION.findall(text, start, end)
        }
        self._types: dict[str, list[_Type]] = {}
        for found in _TYPE.finditer(text, start, end):
            qualifier, _, name = found[2].rpartition("::")
            is_number = found[1].endswith("_t") and name[:1].islower()
            if type_mark(found[2]) == name and not is_number:
                template = self._spelled_out(flat(found[3] or ""), found.start())
                one = _Type(found.end(), qualifier, name, template)
                self._types.setdefault(found[1], []).append(one)

    def meant(self, row: Row) -> Row:
        """A call with the body's own names replaced. For a call of an object, as ``Gemm gemm;
        gemm(x)``, the class is called."""
        at, name, qualifier, kind, template, arguments, receiver = row
        if not qualifier and kind in ("call", "launch"):
            if name in self._scopes:
                qualifier = self._scopes[name]
            elif one := self._type(name, at):
                return at, one.name, one.qualifier, kind, one.template, arguments, receiver
        elif name in _RUNS and (one := self._type(receiver, at)) and one.runs_by(name):
            return at, one.name, one.qualifier, "call", one.template, arguments, ""
        template = self._spelled_out(template, at)
        return at, name, qualifier, kind, template, arguments, receiver

    def _spelled_out(self, template: str, at: int) -> str:
        if not self._types or not template:
            return template
        return _WORD.sub(lambda word: str(self._type(word[0], at) or word[0]), template)

    def _type(self, name: str, at: int) -> _Type | None:
        declared: Sequence[_Type] = self._types.get(name, ())
        before = bisect_left(declared, at, key=lambda one: one.offset)
        return declared[before - 1] if before else None


class _Term(NamedTuple):
    """What an assignment joins with what a name was: ``x = x && y``."""

    offset: int
    sign: str
    text: str


class LocalValues:
    """Names that a body sets once, or once for each of two builds."""

    def __init__(
        self, plain: str, written: str, start: int, end: int, directives: Sequence[Directive] = ()
    ) -> None:
        self._plain, self._written = plain, written
        self._start, self._end = start, end
        self._directives = directives
        self._known: dict[str, str] = {}
        """What names stand for that were asked for."""
        self._joined: dict[str, list[_Term]] = {}
        """What is joined later with what names were."""
        self.arms: Sequence[Arm] = ()
        """The branches of the body."""

    @cached_property
    def _assigned(self) -> dict[str, list[int]]:
        """The offsets of each name's assignments; 0 where it is counted or its address is taken."""
        places: dict[str, list[int]] = {}
        for found in _ASSIGNED.finditer(self._plain, self._start, self._end):
            place = found.end(3) if found[3] == "=" else 0
            name = found[1] or found[4]
            if name in places and (sign := self._narrows(name, found)):
                self._join(name, found, sign, places[name][0])
            else:
                places.setdefault(name, []).append(place)
        return places

    def _narrows(self, name: str, found: Match[str]) -> str:
        """The operator if assignments only narrow or only widen a condition: ``x = x && y``."""
        if (found[3] or "") in _NARROWING:
            return _NARROWING[found[3]]
        again = _AGAIN.match(self._plain, found.end(3), self._end) if found[3] == "=" else None
        return again[2] if again and again[1] == name else ""

    def _join(self, name: str, found: Match[str], sign: str, declared: int) -> None:
        terms = self._joined.setdefault(name, [])
        if len(terms) < _MOST_TERMS:
            is_last = len(terms) == _MOST_TERMS - 1
            text = _FURTHER if is_last else self._term(name, found, sign, declared)
            terms.append(_Term(found.start(), sign, text))
        elif sign != terms[0].sign:
            terms[-1] = terms[-1]._replace(sign=sign)

    def _term(self, name: str, found: Match[str], sign: str, declared: int) -> str:
        """What an assignment joins with a name; unknown unless it always runs after the name's
        declaration, or in all builds of a kind."""
        again = _AGAIN.match(self._plain, found.end(3), self._end)
        is_whole = found[3] != "="
        at = found.end(3) if is_whole or again is None else again.end()
        text = self._text_to_semicolon(at)
        is_looser = not is_whole and any(one in text for one in _LOOSER[sign])
        is_near = found.start() - declared < _FARTHEST
        before = self._plain[declared : found.start()].rstrip() if is_near else ""
        is_straight = before[-1:] in (";", "}") and before.count("{") == before.count("}")
        if not text or is_looser or not is_straight:
            return _FURTHER
        builds = self._builds(found.start())
        return f"({' && '.join([*builds, f'({text})'])})" if builds else f"({text})"

    def _builds(self, at: int) -> Sequence[str]:
        """The conditions of the preprocessor in a body at an offset."""
        before = bisect_left(self._directives, at, key=lambda one: one[0])
        around = len(self._directives[0][2]) - 1 if before else 0
        return self._directives[before - 1][2][around:] if before else ()

    def of(self, name: str, at: int) -> str | None:
        """The value of a name at an offset; None if the body does not set it, empty if unknown."""
        if name not in self._assigned:
            return None
        if name not in self._known:
            values = [self._initial(name, place) for place in self._assigned[name]]
            self._known[name] = values[0] if len(values) == 1 else self._of_builds(name, values)
        value, terms = self._known[name], self._joined.get(name, ())
        if not value and not terms:
            return self._when_set(name, at)
        if not value or not terms:
            return value
        signs = {one.sign for one in terms}
        texts = (one.text if one.offset < at else _FURTHER for one in terms)
        known = dict.fromkeys((f"({value})", *texts))
        return f" {signs.pop()} ".join(known) if len(signs) == 1 else ""

    def _of_builds(self, name: str, values: Sequence[str]) -> str:
        places = self._assigned[name]
        between = [one for one in self._directives if places[0] < one[0] < places[-1]]
        if len(values) != 2 or not all(values) or [kind for _, kind, _ in between] != [ELSE]:
            return ""
        return f"{between[0][2][-1]} ? {values[1]} : {values[0]}"

    def _when_set(self, name: str, at: int) -> str:
        """When a flag holds that is false until one assignment, which may be in branches, or one in
        each of two branches of an ``if``."""
        declared, *later = self._assigned[name]
        is_known = len(later) in (1, 2) and all(0 < one < at for one in later)
        if not is_known or self._initial(name, declared) != "false":
            return ""
        around = [[*map(_condition_of, self._around(declared, one))] for one in later]
        if len(later) == 2 and not _exclude_each_other(*around):
            return ""
        ways = [
            (*parts, self._text_to_semicolon(one)) for parts, one in zip(around, later, strict=True)
        ]
        if not all(map(all, ways)):
            return ""
        joined = [" && ".join(f"({one})" for one in parts) for parts in ways]
        return joined[0] if len(joined) == 1 else " || ".join(f"({one})" for one in joined)

    def _around(self, declared: int, place: int) -> Iterator[Arm]:
        """The branches that a declaration is not in, and an assignment is."""
        return (one for one in self.arms if declared < one.start < place < one.end)

    @cached_property
    def _without_value(self) -> dict[str, int]:
        """The names of tensors that are declared without a value, each with the place behind."""
        found = _DECLARED.finditer(self._plain, self._start, self._end)
        return {name.strip(): one.end() for one in found for name in one[1].split(",")}

    def is_nothing(self, name: str, at: int) -> bool:
        """Whether a name is of a tensor without a value, first used at an offset."""
        declared = self._without_value.get(name, at)
        return declared < at and not re.search(rf"\b{name}\b", self._plain[declared:at])

    def _initial(self, name: str, at: int) -> str:
        """The initializer of a declaration; empty if there is none or it is not understood."""
        before = self._plain[max(self._start, at - 160) : at - 1].rstrip().removesuffix(name)
        if not at or not _TYPED.search(before) or _NO_TYPE.search(before):
            return ""
        return self._text_to_semicolon(at)

    def _text_to_semicolon(self, at: int) -> str:
        """The rest of a statement; empty if it is not understood."""
        stop = self._plain.find(";", at, self._end)
        text = flat(strip_comments(self._written[at:stop])) if stop > 0 else ""
        return _cut(text) if _is_plain(text) else ""

    def spelled_out(self, condition: str, at: int) -> str:
        """A condition at an offset with the body's own names replaced; empty if it has none. What
        is joined with names in their values may be so only later."""
        text = condition
        for place in (at, *(0,) * (_NESTED - 1)):
            replaced = _NAME.sub(partial(self._word, place), text)
            if replaced == text or len(replaced) > _LONGEST_CONDITION:
                break
            text = replaced
        return "" if text == condition else text

    def given(self, parts: Iterable[tuple[int, int]]) -> str:
        """The literals and names among arguments; empty if there are none."""
        values = (_value(self._text(*part), self, part[0]) for part in parts)
        return GIVEN_SEPARATOR.join(values).rstrip(GIVEN_SEPARATOR)

    def _text(self, start: int, end: int) -> str:
        text = self._plain[start:end].strip()
        return strip_comments(self._written[start:end]).strip() if text[:1] == '"' else text

    def _word(self, at: int, word: Match[str]) -> str:
        value = self.of(word[0], at)
        if not value:
            return word[0]
        return value if _VALUE.match(value) else f"({value})"


def _cut(text: str) -> str:
    """A value that is not too long; of a long conjunction its first parts. Empty for another."""
    if len(text) < _LONGEST_VALUE:
        return text
    outer, inner = "", text
    while outer != inner:
        outer, inner = inner, _INNERMOST.sub("", inner)
    head, sign, _ = text[:_LONGEST_VALUE].rpartition(" && ")
    while sign and head.count("(") != head.count(")"):
        head, sign, _ = head.rpartition(" && ")
    is_joined = sign and not any(one in outer for one in _LOOSER["&&"])
    return f"{head} && {_FURTHER}" if is_joined else ""


def _condition_of(arm: Arm) -> str:
    """The condition of a branch; empty if it is a case or cut."""
    text = found[1] if (found := _IF.match(arm.text)) else arm.text
    if arm.arm == "case" or text.endswith(_FURTHER):
        return ""
    return text if arm.arm in ("then", "#if") else f"!({text})"


def _exclude_each_other(conditions: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two places are in the two branches of one ``if``."""
    negated = {f"!({one})" for one in conditions} | {f"!({one})" for one in others}
    return not negated.isdisjoint((*conditions, *others))


def _is_plain(text: str) -> bool:
    text = _INDEXED.sub("", text)
    if any(char in text for char in "{}[];"):
        return False
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0 or (char == "," and not depth):
            return False
    return not depth


def _value(text: str, names: LocalValues, at: int) -> str:
    if len(text) > _LONGEST:
        return ""
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1]
    if text.isidentifier() and (local := names.of(text, at)) is not None:
        text = local
        if _TESTED.search(text):
            test = names.spelled_out(text, at) or text
            return test if len(test) < _LONGEST_TEST and GIVEN_SEPARATOR not in test else ""
    elif text.isidentifier() and names.is_nothing(text, at):
        return NOTHING
    elif text[:1] != "*" and any(names.of(word, at) is not None for word in _NAME.findall(text)):
        return ""  # but ``*bias`` is what ``bias`` holds
    if _NOTHING.match(text):
        return NOTHING
    if _EMPTY.match(text):
        return EMPTY_LIST
    return _SCOPE.sub("", text) if _VALUE.match(text) else ""
