"""Calls not written as such: ``x * y`` of tensors, objects constructed in braces, Objective-C
messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from indexes.model.idioms import VENDOR_NAMESPACES
from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.bodies import Site
from indexes.readers.cxx.expressions import Expressions
from indexes.readers.cxx.lexer import flat
from indexes.readers.cxx.local_names import Row
from indexes.readers.cxx.marks import UNKNOWN, one_letter, type_mark, word_mark

TEMPLATE = r"<[^;(){}<>]*(?:<[^;(){}<>]*(?:<[^;(){}<>]*>[^;(){}<>]*)*>[^;(){}<>]*)*>"
PATH = r"[A-Za-z_]\w*(?:::\w+)*"
_MADE = rf"\s*(?=({PATH}))\1\s*({TEMPLATE})?\s*\{{"
# It begins with a plain set of characters, through which the engine skips.
_SIGN = regex(
    r"([-+*/%&|^<>=!](?:(?<= [-+*/%&|^<>])|(?<= [<>=!])=)) "
    r"(?=(\d[\d.]*|[A-Za-z_]\w*|\()(->|\s?[-+*/%&|^<>=(\[.:])?)",
    ASCII,
)
_UNARY = regex(r"(?:[-+*/%&|^<>=!?:(,{;]|\breturn)\s*([-~])(?=[A-Za-z_(])", ASCII)
_POSTFIX = regex(r"(?:(?:->|\.|::)?[A-Za-z_]\w*)+", ASCII)
_LEFT = regex(r"(?<![\w.>:])(?:[A-Za-z_]\w*|\d[\d.]*)$|[)\]]$", ASCII)
_BESIDE = regex(r"[-+*/%&|^<>)]\s", ASCII)
_NOTHING = regex(r"(?:\w+::)*(?:nullopt|nullptr)\b", ASCII)
_LONGEST_NAME = 160
_OBJECT = regex(r"\{(?:(?<=[\w>]\{)|(?<=[\w>]\s\{)|(?<=\s\s\{))", ASCII)
"""A brace behind a name or its template arguments."""
CALLED_OBJECT = regex(r"\}\s*\(")
_BRACED = regex(rf"[(,=]{_MADE}", ASCII)
_RETURNED = regex(rf"return\b{_MADE}", ASCII)
_STATED = regex(rf"[;{{}})]{_MADE}", ASCII)
"""The start of a statement, where an object matters only if it is called: ``Unique<T>{}(x);``."""
_NO_OBJECT = frozenset("return else do try const mutable noexcept override".split())
_RENAMED = regex(r"\busing\s+(\w+)\s*=\s*(?:typename\s+)?([\w:]+)", ASCII)
"""A name that a body gives to a class."""
_MESSAGE = regex(
    r"(?:\[\s*(?:\([^()]*\)\s*)?([A-Za-z_][\w.]*(?:->\w+|\(\))*)|\])\s+([A-Za-z_]\w*)\s*(?=[:\]])",
    ASCII,
)


class Functors(NamedTuple):
    """The functors that a file defines."""

    classes: Collection[str] = ()
    """The names of classes with an ``operator()``."""
    objects: Mapping[str, str] = {}
    """The class of each object at namespace scope: ``static ReduceAdd reduce_add;``."""


NO_FUNCTORS = Functors()


class Signs:
    """Reads the implicit calls of one body."""

    def __init__(
        self, plain: str, start: int, end: int, known: Expressions, sites: Sequence[Site]
    ) -> None:
        self.plain, self.start, self.end = plain, start, end
        self.known, self.brackets = known, known.brackets
        self.sites = sites

    def signs(self, parameters: str) -> Iterator[Row]:
        """``x * y`` of tensors, as calls of ``operator*``."""
        if "Tensor" not in parameters and not self.sites:
            return
        if not self.sites:
            self.known.declare(parameters)
        if not self.known.declares("T"):
            return
        behind_last = self.start
        for found in _SIGN.finditer(self.plain, self.start, self.end):
            sign, right, behind = found.groups()
            at = found.start()
            if left := _LEFT.search(self.plain, max(self.start, at - _LONGEST_NAME), at - 1):
                begin = max(behind_last, left.start() - 2)
                before = _BESIDE.fullmatch(self.plain, begin, left.start())
                marks = [
                    self._side(left[0], left.start(), before and before[0]),
                    self._side(right, found.start(2), behind),
                ]
                behind_last = found.end()
                if _NOTHING.match(self.plain, found.start(2)):
                    continue  # an optional is compared, not the tensor in it
                if any(mark == "T" or mark[:1] == "." for mark in marks):
                    yield at, f"operator{sign}", "", "call", "", " ".join(marks), ""
        yield from self._unary()

    def _unary(self) -> Iterator[Row]:
        for found in _UNARY.finditer(self.plain, self.start, self.end):
            mark = self.known.mark(found.end(), self._behind(found.end()))
            if mark == "T" or mark[:1] == ".":
                yield found.start(1), f"operator{found[1]}", "", "member", "", "", mark

    def _behind(self, at: int) -> int:
        """Where the operand that starts at an offset ends: ``grad.sum(0)``, ``(a + b)``."""
        while at < self.end:
            if self.plain[at] in "([":
                at = self.brackets.closes.get(at, self.end) + 1
            elif found := _POSTFIX.match(self.plain, at, self.end):
                at = found.end()
            else:
                break
        return min(at, self.end)

    def _side(self, name: str, at: int, beside: str | None) -> str:
        """The mark of an operand. In a longer operand only a tensor is certain."""
        if name in ")]":
            return one_letter(self.known.ending_at(at)[1])
        if name == "(":
            return one_letter(self.known.mark(at, self._behind(at)))
        if beside == ":" and name == "at":
            return self._called_at(at)
        mark = word_mark(name) if name[0].isdecimal() else self.known.declared(name, at)
        goes_on = (beside or "").endswith(("->", ".", ":", "(", "["))
        if mark is None or len(mark) > 1 or (beside and (mark != "T" or goes_on)):
            return UNKNOWN
        return mark

    def _called_at(self, at: int) -> str:
        """The mark of ``at::name(...)`` at an offset, if nothing follows it."""
        site = next((one for one in self.sites if one.start == at), None)
        closed = self.brackets.close(site.opened) if site else -1
        if site is None or closed < 0 or self.plain[closed + 1 : closed + 2] in ".-":
            return UNKNOWN
        return one_letter(self.known.result(site)[1])

    def made(self) -> Iterator[Row]:
        """Objects constructed in braces in an expression: ``f(Sort<128>{}, x)``."""
        for brace in _OBJECT.finditer(self.plain, self.start, self.end):
            stop = brace.end()
            begin = max(self.plain.rfind(char, self.start, stop - 1) for char in ";(){}")
            begin = max(begin, self.start)
            found = _BRACED.search(self.plain, begin, stop) or _RETURNED.search(
                self.plain, begin, stop
            )
            if not found and self._is_called(stop - 1):
                found = _STATED.match(self.plain, begin, stop)
            if not found:
                continue
            path, template = found.groups()
            qualifier, _, name = path.rpartition("::")
            if name not in _NO_OBJECT and type_mark(path) == name:
                arguments = flat(template)[1:-1] if template else ""
                yield found.start(1), name, qualifier, "call", arguments, "", ""

    def _is_called(self, opened: int) -> bool:
        """Whether the object constructed at an offset is called."""
        closed = self.brackets.close(opened)
        return CALLED_OBJECT.match(self.plain, closed, self.end) is not None

    def declared(self, functors: Functors) -> Iterator[Row]:
        """Declared objects of the file's functors and of class templates, constructed without
        parentheses: ``BitwiseAnd<T> f;``."""
        objects = self.known.objects
        renamed = dict(_RENAMED.findall(self.plain, self.start, self.end)) if objects else {}
        for at, type_ in objects.items():
            name, qualifier, template = class_made(type_) or ("", "", "")
            meant = renamed.get(name, "")
            is_vendors = (qualifier or meant).partition("::")[0] in VENDOR_NAMESPACES
            if not is_vendors and (template or meant or name in functors.classes):
                yield at, name, qualifier, "call", flat(template), "", ""

    def messages(self) -> Iterator[Row]:
        """``[graph additionWithPrimaryTensor:x ...]``."""
        for found in _MESSAGE.finditer(self.plain, self.start, self.end):
            receiver, name = found.groups()
            yield found.start(2), name, "", "member", "", "", receiver or UNKNOWN


def class_made(type_: str) -> tuple[str, str, str] | None:
    """Name, qualifier and template arguments of the class in a declaration."""
    mark = type_mark(type_)
    if len(mark) < 2:
        return None
    plain, _, template = type_.partition("<")
    qualifier, _, name = plain.split()[-1].rpartition("::")  # behind const, static, typename
    return name, qualifier, template.rpartition(">")[0]
