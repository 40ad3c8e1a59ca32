"""What a body calls, launches and passes on by name, with arguments, receivers and conditions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from indexes.model.files import PACK, Branch, Call
from indexes.model.idioms import close
from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.bodies import BY_NAME, SCHEMA, Site, call_sites
from indexes.readers.cxx.brackets import Brackets
from indexes.readers.cxx.branches import (
    RETURNS,
    Branches,
    Directive,
    answers,
    choosing_calls,
    find_arms,
)
from indexes.readers.cxx.expressions import Expressions
from indexes.readers.cxx.lexer import NEVER, flat
from indexes.readers.cxx.local_macros import NO_MACROS, OPAQUE, LocalMacros
from indexes.readers.cxx.local_names import LocalNames, LocalValues, Row
from indexes.readers.cxx.marks import LIST, STANDARD, SWITCHED, UNKNOWN, leads_nowhere, word_mark
from indexes.readers.cxx.passed_names import PassedNames
from indexes.readers.cxx.shaders import HANDED, SHADER, asked_names
from indexes.readers.cxx.signs import CALLED_OBJECT, NO_FUNCTORS, Functors, Signs, class_made

_MOST_ARGUMENTS = 40
_MAKERS = frozenset(("make_unique", "make_shared", "make_intrusive"))
"""Functions that construct an object of their template argument's class."""
_STRING = regex(r'"([^"\\]*)"')
_COMMENT = regex(r"\s*/\*\s*(\w+)\s*=\s*\*/", ASCII)
_CALLED_AGAIN = regex(r"\(\s*\)\s*\(")
CALLED = "()"
"""The receiver of the construction of an object that is called at once."""
LOOP = "loop"
"""The kind of a C++ loop over elements, in a body that has their address."""
_LOOP = regex(
    r"\b(for|while|(?:std::)?mem(?:cpy|move)|std::(?:nth_element|(?:stable_|partial_)?sort|transform"
    r"|accumulate|inner_product|(?:copy|fill)(?:_n)?))\s*\("
)
_WALKED = regex(r"\([^;?]*?\b(\w+)\]?\s*:(?!:)")
"""The head of a ``for`` over a list: ``(const auto& size : sizes)``."""
_WORD, _INDEX = regex(r"\w+"), regex(r"\[([^\[\]]*)\]")
_COLLECTS = regex(
    r"\s*(\{\s*)?(?:[\w.>-]+(?:\.|->)(?:push|emplace)_back|TORCH_\w*CHECK\w*)"
    r"\s*\([^;{}]*\)\s*;(?(1)\s*\})"
)
"""A statement that adds to a list or checks."""
_DATA = frozenset("data_ptr const_data_ptr mutable_data_ptr accessor packed_accessor".split())
_POINTER = regex(
    r"(?:_t|\b[A-Z]{1,2}\d?|\b(?:float|double|int|char|bool|BFloat16|Half))\s*(?:const\s*)?\*|Accessor<",
    ASCII,
)


class Text(NamedTuple):
    """The text around bodies."""

    plain: str
    """Without comments, strings and directives."""
    written: str
    """The original text, of the same length."""
    line: Callable[[int], int]
    directives: Sequence[Directive] = ()
    messages: bool = False
    """Whether ``[x f:y]`` is a message of Objective-C."""
    brief: bool = False
    """Whether only the called functions are wanted, without arguments, as for tests."""
    shaders: str = ""
    """How strings can be names of Metal kernels; empty if they cannot."""
    loops: bool = False
    """Whether a C++ loop can compute; not in code that only launches."""


@dataclass(slots=True)
class Body:
    """The result of reading one body."""

    calls: list[Call] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)


class Reader:
    """Reads the bodies of one file."""

    def __init__(
        self,
        text: Text,
        here: Collection[str] = (),
        macros: LocalMacros = NO_MACROS,
        functors: Functors = NO_FUNCTORS,
    ) -> None:
        """``here``: the names of the file's functions and stubs."""
        self.text = text
        self.here = here
        self.macros = macros
        self.functors = functors
        self.too_deep: list[int] = []
        """The lines of bodies that nest too deep."""
        self._offsets = [offset for offset, _, _ in text.directives]

    def read(self, start: int, end: int, parameters: str = "", returned: str = "") -> Body:
        """The calls in the body between two offsets; ``returned`` is the mark of its result."""
        if self.text.brief:
            return Body(list(self._called(start, end)))
        sites = call_sites(self.text.plain, start, end)
        returns = answers(self.text.plain, self.text.written, start, end, returned)
        loops = self._loops(start, end, parameters, sites) if self.text.loops else []
        is_empty = not (returns or sites or loops or self.text.messages or "Tensor" in parameters)
        if is_empty and not CALLED_OBJECT.search(self.text.plain, start, end):
            return Body()
        reading = _Reading(self, start, end, sites)
        if reading.brackets.too_deep:
            self.too_deep.append(self.text.line(start))
            return Body()
        rows = [*reading.rows(parameters), *returns, *loops]
        text, directives = self.text, self.directives(start, end)
        if any(NEVER in conditions for _, _, conditions in directives):
            rows = [row for row in rows if not self._is_dead(row[0])]
        rows = sorted(self._as_declared(rows, start, end), key=_OFFSET)
        arms = find_arms(text.plain, text.written, start, end, reading.brackets, directives)
        reading.values.arms = arms
        rows = _with_choosers(rows, list(choosing_calls(text.plain, start, arms)))
        branches = Branches(arms, text.line, reading.values.spelled_out)
        line, branch, given, calls = text.line, branches.at, reading.given, []
        looped: set[int] = set()
        for at, name, qualifier, kind, types, marks, on in rows:
            if kind == RETURNS:
                branches.answer(at, name)
            elif kind != LOOP or branch(at) not in looped:
                place = (line(at), kind, types, marks, on, branch(at), given.get(at, ""))
                calls.append(Call(name, qualifier, *place))
                looped |= {branch(at)} if kind == LOOP else set()
        return Body(calls, branches.needed)

    def _loops(self, start: int, end: int, parameters: str, sites: Sequence[Site]) -> list[Row]:
        """The loops in a body that gets the address of elements or is given it, of which the first
        in each branch counts."""
        if not (_POINTER.search(parameters) or any(site.name in _DATA for site in sites)):
            return []
        loops = _LOOP.finditer(self.text.plain, start, end)
        found = (one for one in loops if not self._walks_list(one.end() - 1))
        return [(one.start(), one[1], "", LOOP, "", "", "") for one in found]

    def _walks_list(self, opened: int) -> bool:
        """Whether a loop only makes a list or checks, or runs over a list that holds no indices."""
        text = self.text.plain
        closed = close(text, opened)
        if _COLLECTS.match(text, closed + 1):
            return True
        walked = _WALKED.match(text, opened, closed)
        if walked is None or "irange" in text[walked.end() : closed]:
            return False
        opened = text.find("{", closed)
        is_block = opened > 0 and not text[closed + 1 : opened].strip()
        ends = close(text, opened, "{}") if is_block else text.find(";", closed)
        indices = _INDEX.findall(text, closed, ends)
        return not any(walked[1] in _WORD.findall(one) for one in indices)

    def _as_declared(self, rows: list[Row], start: int, end: int) -> list[Row]:
        """Calls with names replaced by the body's ``using`` declarations."""
        if self.text.plain.find("using", start, end) < 0:
            return rows
        names = LocalNames(self.text.plain, start, end)
        return [names.meant(row) for row in rows]

    def _called(self, start: int, end: int) -> Iterator[Call]:
        for site in call_sites(self.text.plain, start, end):
            _, at, name, qualifier, kind, template = site
            if kind != "member" and not qualifier.startswith("std"):
                yield Call(name, qualifier, self.text.line(at), kind, flat(template))

    def _is_dead(self, offset: int) -> bool:
        place = bisect_left(self._offsets, offset)
        return place > 0 and NEVER in self.text.directives[place - 1][2]

    def inside(self, text: str, use: Site) -> Reader:
        """A reader of the expansion of a macro use."""
        plain = self.text._replace(plain=text, written=text, directives=())
        macros = self.macros.without(use.name, use.start)
        return Reader(plain, self.here, macros, self.functors)

    def directives(self, start: int, end: int) -> Sequence[Directive]:
        """The conditional directives between two offsets."""
        first, last = bisect_left(self._offsets, start), bisect_left(self._offsets, end)
        return self.text.directives[first:last]


_OFFSET = itemgetter(0)


class _Reading:
    """Reads one body."""

    def __init__(
        self,
        reader: Reader,
        start: int,
        end: int,
        sites: Sequence[Site],
        outer: Callable[[str], str | None] | None = None,
    ) -> None:
        self.reader = reader
        self.start = start
        self.end = end
        self.plain = reader.text.plain
        self.sites = sites
        directives = reader.directives(start, end)
        kinds = [(kind, offset) for offset, kind, _ in directives]
        self.brackets = Brackets(self.plain, start, end, kinds)
        self.expressions = Expressions(self.plain, start, end, self.brackets, self.sites, outer)
        self._rows: list[Row] = []
        self._passed = PassedNames(self.plain, self.expressions, reader.here, self._rows)
        self.values = LocalValues(self.plain, reader.text.written, start, end, directives)
        self.given: dict[int, str] = {}
        """By where a call stands, what its arguments are, as far as the source says it."""

    def rows(self, parameters: str) -> list[Row]:
        """The calls of the body, and the names that it passes on."""
        if self.sites:
            self.expressions.declare(parameters)
            for site in self.sites:
                self._site(site)
            self._passed.assigned(self.start, self.end)
        signs = Signs(self.plain, self.start, self.end, self.expressions, self.sites)
        self._rows += [*signs.made(), *signs.signs(parameters)]
        self._rows += signs.declared(self.reader.functors)
        if self.reader.text.messages:
            self._rows += signs.messages()
        if self.reader.text.shaders:
            named = asked_names(self.plain, self.reader.text.written, self.start, self.end)
            how = HANDED if self.reader.text.shaders == HANDED else ""
            self._rows += [(at, name, "", SHADER, "", "", how) for at, name in named]
        return self._rows

    def _site(self, site: Site) -> None:
        opened, start, name, qualifier, kind, template = site
        receiver = self.expressions.receiver(site)[1] if kind == "member" else ""
        parts = self.expressions.brackets.parts(opened)
        if self.plain[start - 1 : start] == "#":
            return  # a part of a name that a macro pastes together
        if name in BY_NAME and (named := self._operator_named(parts)):
            self._rows.append((start, named[0], "", SCHEMA, named[1], "", ""))
            return
        if name in _MAKERS and (made := class_made(template)):
            marks = self._given(parts) if parts else ""
            self._rows.append((start, *made[:2], kind, flat(made[2]), marks, ""))
        if name == OPAQUE or leads_nowhere(name, qualifier, kind, receiver):
            self._passed.in_arguments(parts)
            return
        if (type_ := self.expressions.constructed.get(start)) is not None:
            made = class_made(type_)
            if made is None:
                self._passed.in_arguments(parts)
                return
            name, qualifier, template = made
        given = ""
        if name in self.reader.macros or name.isupper():
            self._macro(site, parts)
        elif self._is_declared(site):
            self._of_declared(site, self.expressions.declared(name, start) or STANDARD, parts)
            return
        elif handed := parts or self._handed_next(opened):
            receiver = receiver or ("" if parts else CALLED)
            given = self._given(handed, lists=kind == "member")
            self.given[start] = self.values.given(handed)
        template = flat(template) if template else ""
        self._rows.append((start, name, qualifier, kind, template, given, receiver))

    def _handed_next(self, opened: int) -> list[tuple[int, int]]:
        """The arguments of an object that a call without arguments makes, and that is called:
        ``Scatter<true>()(x, op)``."""
        again = _CALLED_AGAIN.match(self.plain, opened, self.end)
        return self.expressions.brackets.parts(again.end() - 1) if again else []

    def _is_declared(self, site: Site) -> bool:
        """Whether a site is a declaration: ``vector<int> a(1), b(1);``."""
        plain = site.kind != "member" and not site.qualifier
        return plain and self.expressions.declared(site.name, site.start) is not None

    def _of_declared(self, site: Site, mark: str, parts: Sequence[tuple[int, int]]) -> None:
        """Calls of local variables and parameters, which hide functions: pointers to kernels,
        objects, functions and lambdas."""
        given = self._given(parts) if parts else ""
        if site.kind == "launch":
            self._rows.append((site.start, site.name, "", site.kind, "", given, UNKNOWN))
            return
        self._passed.given_back(parts)
        if len(mark) > 1 and mark[0] != ".":
            self._rows.append((site.start, "operator()", "", "member", "", given, mark))

    def _operator_named(self, parts: Sequence[tuple[int, int]]) -> tuple[str, str] | None:
        """The operator and overload in a lookup by name."""
        written = self.reader.text.written
        found = [one for start, end in parts for one in _STRING.findall(written, start, end)]
        is_named = bool(found) and "::" in found[0]
        return (found[0], found[1] if len(found) > 1 else "") if is_named else None

    def _given(self, parts: Sequence[tuple[int, int]], lists: bool = False) -> str:
        """The marks of arguments, one word each, with names from comments; ``lists`` marks braces
        too."""
        marks = [self._argument(*part) for part in parts[:_MOST_ARGUMENTS]]
        for place, (start, end) in enumerate(parts[:_MOST_ARGUMENTS] if lists else ()):
            if marks[place] != "N" and self.plain[start:end].lstrip()[:1] == "{":
                marks[place] = LIST + marks[place]
        written = self.reader.text.written
        if written.find("/*", parts[0][0], parts[-1][1]) >= 0:
            for place, (start, end) in enumerate(parts[:_MOST_ARGUMENTS]):
                if named := _COMMENT.match(written, start, end):
                    marks[place] = f"{named[1]}={marks[place]}"
        return " ".join(marks)

    def _argument(self, start: int, end: int) -> str:
        text = self.plain[start:end].strip()
        if text.isidentifier():
            mark = self.expressions.declared(text, start)
            if mark is not None:
                return mark if len(mark) == 1 or mark[:1] == "." else UNKNOWN
            if functor := self.reader.functors.objects.get(text):
                self._rows.append((start, functor, "", "call", "", "", ""))
                return functor if functor.isidentifier() else UNKNOWN
            if not self._passed.add_if_here(text, start):
                return word_mark(text)
        elif text.endswith("..."):
            return PACK
        elif text[:1] == '"':
            return "s"
        elif text.isdecimal():
            return "i"
        else:
            self._passed.in_argument(text, start, end)
        return self.expressions.argument(start, end)

    # ------------------------------------------------------------------- macros, messages

    def _macro(self, site: Site, parts: Sequence[tuple[int, int]]) -> None:
        is_expanded = site.name in self.reader.macros and site.kind == "call" and not site.qualifier
        if is_expanded:
            self._expand(site, parts)
        else:
            self._passed.in_arguments(parts)
        self._passed.given_to_macro(parts, is_expanded)

    def _expand(self, site: Site, parts: Sequence[tuple[int, int]]) -> None:
        given = [self.plain[start:end] for start, end in parts]
        outer = partial(self.expressions.declared, at=site.start)
        for text in self.reader.macros.expanded(site.name, given, site.start):
            inner = self.reader.inside(text, site)
            sites = call_sites(text, 0, len(text))
            for row in _Reading(inner, 0, len(text), sites, outer).rows(""):
                self._rows.append((site.start, *row[1:]))


def _with_choosers(rows: list[Row], stretches: Sequence[tuple[int, int]]) -> list[Row]:
    """Marks the calls whose results a ``switch`` uses."""
    if not stretches:
        return rows
    return [
        (*row[:-1], SWITCHED)
        if row[3] == "call" and any(first < row[0] < last for first, last in stretches)
        else row
        for row in rows
    ]
