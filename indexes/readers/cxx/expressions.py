"""Determines the types of a body's names and expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from re import Match

from indexes.model.idioms import VENDOR_NAMESPACES
from indexes.model.regex import ASCII, regex
from indexes.readers.cxx.bodies import Site
from indexes.readers.cxx.brackets import COMMA, Brackets
from indexes.readers.cxx.marks import (
    ELEMENT,
    ELEMENTS,
    ITERATOR,
    LISTS,
    UNKNOWN,
    combined,
    method_mark,
    one_letter,
    parameter_marks,
    prefixed,
    type_mark,
    word_mark,
)

_ANGLES = r"<(?:[^;(){}<>]|<(?:[^;(){}<>]|<[^;(){}<>]*>)*>)*>"
_DECLARATION = (
    # What a look-ahead has found is not tried again in another way.
    r"((?:(?:static|const|constexpr|thread_local|unsigned|typename|struct)\s+)*"
    rf"(?:::)?(?=([A-Za-z_]\w*(?:::\w+)*))\2(?:{_ANGLES}(?:::\w+)?)?(?:\s+const\b)?)"
    r"(?:\s*[&*]+\s*(?:const\s+|__restrict__\s+)?|\s+)"
)
_LOCAL = regex(
    rf"[;{{}}]\s*{_DECLARATION}(?:([A-Za-z_]\w*)\s*(?=([=({{;,\[]))|\[([\w\s,]+)\]\s*(?==))", ASCII
)
_IN_HEAD = rf"\s*\(\s*{_DECLARATION}(?:([A-Za-z_]\w*)\s*(?=([:=]))|\[([\w\s,]+)\]\s*(?=:))"
_FOR = regex(rf"for{_IN_HEAD}", ASCII)
_IF = regex(rf"if{_IN_HEAD}", ASCII)
_LAMBDA = regex(r"\]\s*\(")
_OF_ITSELF = regex(r"[;{})]\s*([A-Za-z_]\w*)\s*=\s*\1\.(\w+)\s*\(", ASCII)
"""``x = x.narrow(0, 1, 2);``."""
_MORE = regex(r",\s*[&*]*\s*([A-Za-z_]\w*)\s*(?=[=,;({\[])", ASCII)
_NO_TYPE = frozenset(
    "return else throw case goto new delete using typedef namespace do co_return co_yield if for"
    " operator public private protected template friend while switch and or not break continue"
    "".split()
)
_CAST = regex(r"(?:static_cast|const_cast|reinterpret_cast|dynamic_cast|checked_cast)\s*<(.*)>\s*$")
_THROUGH = frozenset(("move", "forward", "ref", "cref", "as_const"))
_INITIAL_END = regex(r"[({\[;,)}\]]")
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_PATH = _NAME + ":"
_SPACE = " \t\r\n\f\v"
_LONGEST = 400
"""Longer expressions are left unknown: they contain lambdas. In characters."""

_Scoped = tuple[int, int, str]
"""The extent of a declaration, and its mark."""


class Expressions:
    """Determines the marks of expressions in one body, with caches."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        brackets: Brackets,
        sites: Iterable[Site],
        outer: Callable[[str], str | None] | None = None,
    ) -> None:
        """``outer`` knows the names around a macro whose expansion this is."""
        self.text = text
        self.brackets = brackets
        self._sites = {site.opened: site for site in sites}
        self._names: dict[str, list[_Scoped]] = {}
        self._ended: dict[int, tuple[int, str]] = {}
        self.constructed: dict[int, str] = {}
        """Where a name is declared that looks as if it were called, and its type."""
        self.objects: dict[int, str] = {}
        """Where an object of a class is declared otherwise, and its type."""
        self._start = start
        self._end = end
        self._outer = outer

    def declare(self, parameters: str) -> None:
        """Reads the parameters of the function and the declarations of its body."""
        self._add(parameter_marks(parameters), self._start, self._end)
        text = self.text
        found = [*_LOCAL.finditer(text, self._start, self._end)]
        found += _FOR.finditer(text, self._start, self._end)
        found += _IF.finditer(text, self._start, self._end)
        found += _LAMBDA.finditer(text, self._start, self._end)
        found += _OF_ITSELF.finditer(text, self._start, self._end)
        for match in sorted(found, key=Match.start):
            if not match.re.groups:
                self._lambda(match.start(), match.end() - 1)
            elif match.re.groups == 2:
                mark = self.declared(match[1], match.start()) or ""
                if mark == "T" or mark[:1] == ".":
                    self._add([(match[1], f".{match[2]}")], match.end(), self._end)
            else:
                self._local(match)

    def _add(self, named: Iterable[tuple[str, str]], start: int, end: int) -> None:
        for name, mark in named:
            self._names.setdefault(name, []).append((start, end, mark))

    def _lambda(self, captured: int, opened: int) -> None:
        closed = self.brackets.closes.get(opened, -1)
        body = self.text.find("{", closed, self._end)
        first = self.brackets.opens.get(captured, -1)
        if closed <= opened + 1 or body < 0 or first < 0 or ";" in self.text[closed:body]:
            return
        before = self._before(first)
        if self.text[before] not in _NAME + ")]" or self.text.endswith("return", 0, before + 1):
            named = parameter_marks(self.text[opened + 1 : closed])
            self._add(named, closed, self.brackets.close(body))

    def _local(self, match: Match[str]) -> None:
        type_, path, name, follows, parts = match.groups()
        if path in _NO_TYPE:
            return
        at = match.end()
        end = self.brackets.block_end(match.start())
        if parts:
            self._parts(parts, self._initial(at), at, end)
            return
        mark = type_mark(type_)
        if follows == "(":
            self.constructed[match.start(3)] = type_
        elif path == "auto" and type_.endswith(path) and follows in "=:":
            mark = self._initial(at)
            mark = ELEMENTS.get(mark, UNKNOWN) if follows == ":" else mark
        elif follows == "[":
            mark = LISTS.get(mark, UNKNOWN)
        elif len(mark) > 1:
            self.objects[match.start(3)] = type_
        self._add([(name, mark)], at, end)
        stop = self.text.find(";", at, end)
        if follows != ":" and self.text.find(",", at, stop) >= 0:
            self._more(mark, at, stop + 1, end)

    def _more(self, mark: str, at: int, stop: int, end: int) -> None:
        """Declares the further names in ``int64_t a = f(x, y), b = 2, c;``."""
        while (at := self.brackets.find(COMMA, at, stop)) < stop:
            more = _MORE.match(self.text, at, stop)
            if not more:
                return
            self._add([(more[1], mark)], at, end)
            at = more.end()

    def _parts(self, names: str, whole: str, start: int, end: int) -> None:
        """Declares the names of ``auto [a, b] = at::f(x)``."""
        for place, name in enumerate(names.split(",")):
            mark = f"{whole}#{place}" if whole.startswith(".") else UNKNOWN
            self._add([(name.strip(), mark)], start, end)

    def _initial(self, at: int) -> str:
        """The mark of the expression behind the ``=`` or ``:`` at an offset."""
        stop = self.brackets.find(_INITIAL_END, at + 1, self._end)
        return self.mark(at + 1, stop)

    def declares(self, mark: str) -> bool:
        """Whether the body declares a name with a mark."""
        return any(one == mark for scoped in self._names.values() for _, _, one in scoped)

    def declared(self, name: str, at: int) -> str | None:
        """The mark of a name at an offset; None if the body does not declare it."""
        for start, end, mark in reversed(self._names.get(name, ())):
            if start <= at < end:
                return mark
        return self._outer(name) if self._outer else None

    # ------------------------------------------------------------------------- marks

    def argument(self, start: int, end: int) -> str:
        """The mark of an argument; unknown for types without a mark."""
        if _ITERATOR.match(self.text, start, end):
            return ITERATOR
        return one_letter(self.mark(start, end))

    def mark(self, start: int, end: int) -> str:
        """The mark of the expression between two offsets."""
        text = self.text[start:end]
        plain = text.strip()
        if not plain:
            return UNKNOWN
        start += len(text) - len(text.lstrip())
        if plain.isidentifier():
            return self._name(plain, start)
        first = plain[0]
        if first == '"':
            return "s"
        if first == "{":
            return self._list(start, start + len(plain))
        if first == "[" or len(plain) > _LONGEST:
            return UNKNOWN
        return self._operated(start, start + len(plain))

    def _name(self, name: str, at: int) -> str:
        found = self.declared(name, at)
        return word_mark(name) if found is None else found

    def _list(self, start: int, end: int) -> str:
        """The mark of ``{}``, ``{1, n}``, ``{x, y}``; unknown for nested lists."""
        if self.brackets.closes.get(start) != end - 1:
            return UNKNOWN
        parts = self.brackets.parts(start, end - 1)
        if any(self.text[part[0] : part[1]].lstrip()[:1] == "{" for part in parts):
            return UNKNOWN
        marks = {self.mark(*part) for part in parts}
        if not marks:
            return "N"
        told = {mark for mark in marks if mark != UNKNOWN and mark[:1] != "."}
        return {"i": "I", "T": "L"}.get(told.pop(), UNKNOWN) if len(told) == 1 else UNKNOWN

    def _operated(self, start: int, end: int) -> str:
        """The mark of an expression with operators: of its last operand combined with the rest."""
        text = self.text
        if text[start] in "-.0123456789" and (mark := word_mark(text[start:end])) != UNKNOWN:
            return mark
        begin, mark = self.ending_at(end - 1)
        if begin <= start:
            return mark
        left = text[start:begin].rstrip(_SPACE)
        operator = left[len(left.rstrip("+-*/%&|^!~<>=?:")) :]
        stop = start + len(left) - len(operator)
        if not operator:
            return UNKNOWN
        if stop <= start:
            return prefixed(operator, mark)
        if len(operator) > 1 and operator not in _DOUBLED:  # ``a *-b``
            mark, operator = prefixed(operator[-1], mark), operator[:-1]
        if operator == ":":
            return self._chosen(start, stop, mark)
        return combined(self._operated_left(start, stop), operator, mark)

    def _operated_left(self, start: int, end: int) -> str:
        text = self.text[start:end].rstrip(_SPACE)
        return self.mark(start, start + len(text))

    def _chosen(self, start: int, end: int, other: str) -> str:
        """The common mark of ``a`` and ``b`` in ``c ? a : b``."""
        asked = self.text.rfind("?", start, end)
        mark = self.mark(asked + 1, end) if asked > 0 else UNKNOWN
        known = [one for one in (mark, other) if one not in ("N", UNKNOWN)]
        return min(known, key=len, default=UNKNOWN)  # both are of one type: that which is told best

    def ending_at(self, at: int) -> tuple[int, str]:
        """The start and mark of the operand that ends at an offset."""
        if at not in self._ended:
            self._ended[at] = nothing = (at + 1, UNKNOWN)
            self._ended[at] = self._read_ending(at) or nothing
        return self._ended[at]

    def _read_ending(self, at: int) -> tuple[int, str] | None:
        char = self.text[at]
        if char == ")":
            return self._called(at)
        if char == "]":
            return self._indexed(at)
        if char == "}":
            return self._braced(at)
        if char == '"':
            return max(self.text.rfind('"', self._start, at), self._start), "s"
        if char in _NAME:
            return self._named(at)
        return None

    def _before(self, at: int) -> int:
        if self.text[at - 1] not in _SPACE:
            return at - 1
        line = self.text[max(self._start, at - 200) : at]
        return at - 1 - (len(line) - len(line.rstrip(_SPACE)))

    def _called(self, at: int) -> tuple[int, str] | None:
        opened = self.brackets.opens.get(at)
        if opened is None:
            return None
        if site := self._sites.get(opened):
            return self.result(site)
        before = self._before(opened)
        if self.text[before] == ">":
            begin = max(self._start, before - 120)
            if cast := _CAST.search(self.text[begin : before + 1]):
                mark = self.mark(opened + 1, at) if cast[0][0] == "c" else type_mark(cast[1])
                return begin + cast.start(), mark
        if self.text[before] in _NAME:
            begin, _ = self._named(before)
            if (name := self.text[begin : before + 1]) not in _NO_TYPE:
                return begin, type_mark(name)
        return opened, self.mark(opened + 1, at)

    def _indexed(self, at: int) -> tuple[int, str] | None:
        opened = self.brackets.opens.get(at)
        if opened is None:
            return None
        begin, mark = self.ending_at(self._before(opened))
        return begin, ELEMENTS.get(mark, f"{mark}{ELEMENT}" if mark.startswith(".") else UNKNOWN)

    def _braced(self, at: int) -> tuple[int, str] | None:
        """The mark of ``Tensor{}`` or ``std::vector<int64_t>{1, 2}``."""
        opened = self.brackets.opens.get(at)
        if opened is None:
            return None
        before = self._before(opened)
        if self.text[before] in _NAME:
            begin, _ = self._named(before)
            return begin, type_mark(self.text[begin : before + 1])
        held = self._list(opened, at + 1)
        if (name := self._template_before(before)) is not None:
            begin, _ = self._named(name)
            return begin, type_mark(self.text[begin : before + 1]) or held
        return opened, held

    def _template_before(self, at: int) -> int | None:
        """The end of the name whose template arguments end at an offset."""
        text, depth = self.text, 0
        for here in range(at, max(self._start, at - 120), -1):
            depth += (text[here] == ">") - (text[here] == "<")
            if not depth:
                before = self._before(here)
                return before if here < at and text[before] in _NAME else None
        return None

    def _named(self, at: int) -> tuple[int, str]:
        line = self.text[max(self._start, at - 160) : at + 1]
        begin = at + 1 - (len(line) - len(line.rstrip(_PATH)))
        before = self._before(begin)
        if (owner := self._member_of(before)) is not None:
            return self.ending_at(owner)[0], UNKNOWN
        word = self.text[begin : at + 1]
        return begin, self._name(word, begin) if word else UNKNOWN

    def _member_of(self, at: int) -> int | None:
        """The end of the operand before a ``.`` or ``->``; None if there is neither."""
        text = self.text
        if text[at] == "." and at > self._start:
            return self._before(at)
        if text[at] == ">" and text[at - 1] == "-":
            return self._before(at - 1)
        return None

    def receiver(self, site: Site) -> tuple[int, str]:
        """The start and mark of what a member is called on."""
        at = self._before(site.start)
        if self.text.endswith("template", 0, at + 1):
            at = self._before(at - 7)
        owner = self._member_of(at)
        return (site.start, UNKNOWN) if owner is None else self.ending_at(owner)

    def result(self, site: Site) -> tuple[int, str]:
        """The start of a call, and the mark of its result."""
        if site.kind == "member":
            begin, receiver = self.receiver(site)
            if receiver == "O" and self.brackets.parts(site.opened):
                return begin, receiver  # options.dtype(kFloat) makes further options
            return begin, method_mark(site.name, receiver, site.template)
        if site.qualifier.lstrip(":").startswith("std"):
            return site.start, self._standard(site)
        if VENDOR_NAMESPACES.get(site.qualifier.lstrip(":").partition("::")[0]):
            return site.start, UNKNOWN  # dnnl::matmul is not the operator
        mark = type_mark(site.name)
        if mark == site.name and site.template and site.qualifier:
            mark = type_mark(f"{site.qualifier}<{site.template}>")  # MaybeOwned<Tensor>::borrowed
        if len(mark) == 1 and mark != UNKNOWN:
            return site.start, mark  # Scalar(1)
        return site.start, f".{_operator(site)}"

    def _standard(self, site: Site) -> str:
        closed = self.brackets.close(site.opened)
        if site.name in _THROUGH:
            return self.mark(site.opened + 1, closed)
        whole = f"{site.qualifier}::{site.name}<{site.template}>" if site.template else ""
        return type_mark(whole) or UNKNOWN


_ITERATOR = regex(r"\s*\w+(?:(?:\.|->)\w+(?:\(\))?)*(?:\.|->)(?:begin|end)\(\)\s*$", ASCII)
"""Methods that return iterators, by which std's algorithms are found (argument-dependent lookup):
``sort(x.begin(), x.end())`` is no operator."""
_DOUBLED = frozenset(("&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-="))


def _operator(site: Site) -> str:
    """``add_Tensor`` for ``at::_ops::add_Tensor::call``."""
    if "_ops" in site.qualifier:
        return site.qualifier.rpartition("::")[2]
    return site.name
