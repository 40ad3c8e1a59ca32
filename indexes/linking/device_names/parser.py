"""Parses the name of a device kernel, in any tool's spelling, into its parts.

Supported: the Itanium demanglers of GNU and LLVM (kineto, rocprof, ncu), NVIDIA's own (nsys, ncu:
``<unnamed>``, ``(int)4``, ``[lambda() (instance 3)]``) and nvprof's (``int=4``). Brackets are
matched token by token; a truncated name is read as far as it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from indexes.model.regex import regex

ANONYMOUS = "(anonymous)"
LAMBDA = "{lambda}"

_TOKEN = regex(
    r"""\(anonymous\ (?:namespace|class)\) | <unnamed(?:[ -]\w+)*> | \{anonymous\} | `[^']*'
    | _GLOBAL__N_\w* | _INTERNAL_[0-9a-f]+_\w+ | _NV_ANON_NAMESPACE
    | operator\s*(?:\(\s*\)|\[\s*\]|->\*?|<=>|<<=?|>>=|[<>=!]=|&&|\|\||\+\+|--
        |[-+*/%^&|]=?|[~!=,]|<(?=\s*[<(])|>(?=\s*[<(]))
    | '[^']*(?:'|$) | "[^"]*"
    | [~A-Za-z_$][\w$]* | -?\.?\d[\w.]*(?:[eE][+-]?\w+)?
    | :: | -> | && | \.\.\. | \S""",
    re.VERBOSE,
)
_QUALIFIERS = frozenset(
    "const volatile typename struct class enum union static inline noexcept restrict "
    "__restrict__ __restrict extern __global__ __device__ __host__".split()
)
_BUILTIN_WORDS = frozenset(
    "unsigned signed long short int char double float bool void auto".split()
)
_DEEPEST = 60
"""Deepest nesting of brackets; what is deeper is not read."""
_CLOSERS = frozenset(")>]}")
_PAIR = {"(": ")", "<": ">", "[": "]", "{": "}"}
_ANONYMOUS_WORDS = ("(anonymous", "<unnamed", "{anonymous", "`anonymous")


@dataclass(frozen=True, slots=True)
class Part:
    """One component of a qualified name: ``sum_functor<float>``, ``{lambda(int)#1}``."""

    name: str
    """The identifier; ``ANONYMOUS``, ``LAMBDA`` or ``operator()``."""
    arguments: tuple[Type, ...] = ()
    """Template arguments."""
    parameters: tuple[Type, ...] | None = None
    """Function parameters; None for what is not a function."""
    ordinal: int = 0
    """The number of a lambda within its function."""
    cut: bool = False
    """The text ends in this identifier, which may continue."""
    open: bool = False
    """The text ends in its template arguments or parameters."""


@dataclass(frozen=True, slots=True)
class Type:
    """A template argument or parameter type: a qualified name, or a literal without parts."""

    parts: tuple[Part, ...] = ()
    pointer: bool = False
    reference: bool = False
    address: bool = False
    """``&f``: a function or object, not a type."""
    literal: str = ""

    @property
    def name(self) -> str:
        """The last identifier: ``BFloat16``, ``unsigned int``."""
        return self.parts[-1].name if self.parts else ""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A parameter list, or its beginning."""

    types: tuple[Type, ...]
    whole: bool = True


@dataclass(frozen=True)
class KernelName:
    """A whole name. ``parts`` is empty if nothing could be read."""

    parts: tuple[Part, ...]
    cut: bool = False
    """The text ends before the template arguments do."""
    bare: bool = False
    """Only an identifier: no scope, template arguments or parameters."""
    rest: tuple[str, ...] = ()
    """Tokens of the parameter list, which is parsed on demand."""

    @property
    def function(self) -> Part:
        """The ``__global__`` function: the last component."""
        return self.parts[-1]

    def parameters(self) -> Parameters | None:
        """The parameters in the name; None if it has none."""
        return self._parameters

    @cached_property
    def _parameters(self) -> Parameters | None:
        if not self.rest:
            return None
        reader = _Reader(list(self.rest[1:]), ended=False)
        found, closed = reader.types(")")
        return Parameters(found if closed else found[:-1], closed)


def parse(text: str) -> KernelName:
    """Parses ``text``. Never fails: anything but a C++ name gives no parts, or one."""
    trimmed = text.rstrip(" .…")
    dots = len(text.rstrip()) - len(trimmed)
    reader = _Reader(_TOKEN.findall(trimmed), ended=dots > 1 or text.rstrip().endswith("…"))
    found = reader.kernel()
    rest = tuple(reader.tokens[reader.at : reader.end])
    return KernelName(found.parts, reader.cut, reader.end == 1, rest)


def nested(types: Iterable[Type]) -> Iterator[Type]:
    """Every type in ``types``, including those in template arguments."""
    for found in types:
        if found.parts:
            yield found
        for part in found.parts:
            yield from nested(part.arguments)


def parse_type(text: str) -> Type:
    """Parses one type, such as a declared parameter's: ``const T* __restrict__``."""
    return _Reader(_TOKEN.findall(text), ended=False).type()


class _Reader:
    """Recursive descent over the tokens of one name."""

    def __init__(self, tokens: list[str], ended: bool) -> None:
        self.tokens = [*tokens, ""]
        self.end = len(tokens)
        self.at = 0
        self.depth = 0
        self.cut = ended

    def kernel(self) -> Type:
        """The qualified name of a function, up to its parameters."""
        state = _Chain()
        while token := self.tokens[self.at]:
            if token == "(" and state.open_for_parameters and state.parts[-1].name != "decltype":
                self.cut = False
                break
            if token == "," or token in _CLOSERS:
                self.at += 1
            elif not self._step(token, state):
                break
        return state.type()

    def type(self) -> Type:
        """A qualified name up to a closing bracket or comma."""
        state = _Chain()
        while token := self.tokens[self.at]:
            if token == "," or token in _CLOSERS or not self._step(token, state):
                break
        return state.type()

    def _step(self, token: str, state: _Chain) -> bool:
        """Consumes one item of a name; False at its end."""
        if token == "<":
            self.at += 1
            state.arguments(*self.types(">"))
        elif token == "(":
            self._parenthesis(state)
        elif token == "[" or token == "{":
            self._bracket(state)
        elif token == "#" and not state.parts:
            return False
        else:
            self.at += 1
            ends = self.at == self.end and (self.cut or self.depth > 0)
            state.word(token, last=ends)
        return True

    def types(self, closer: str) -> tuple[tuple[Type, ...], bool]:
        """Types separated by commas up to and including ``closer``; and whether it was found."""
        found: list[Type] = []
        self.depth += 1
        if self.depth > _DEEPEST:
            self.at = self.end
        while token := self.tokens[self.at]:
            if token == closer:
                self.at += 1
                self.depth -= 1
                return tuple(found), True
            if token == "," or token in _CLOSERS:
                self.at += 1
                continue
            before = self.at
            found.append(self.type())
            self.at += self.at == before
        self.cut = True
        return tuple(found), False

    def _parenthesis(self, state: _Chain) -> None:
        """Parameters behind a name; else a cast ``(int)4`` or a group ``(*)``, ``(f(int))``."""
        self.at += 1
        inner, closed = self.types(")")
        following = self.tokens[self.at]
        if state.open_for_parameters:
            state.parameters(inner, closed)
        elif not state.parts and len(inner) == 1 and following in (">", ",", "", ")"):
            state.adopt(inner[0])

    def _bracket(self, state: _Chain) -> None:
        """``{lambda(int)#1}`` and ``[lambda(int) (instance 1)]``; other brackets are skipped."""
        closer = _PAIR[self.tokens[self.at]]
        self.at += 1
        word = self.tokens[self.at]
        if word == "lambda" or word == "closure":
            self.at += 1
            state.parts_append(self._lambda(closer))
        else:
            self._skip(closer)

    def _lambda(self, closer: str) -> Part:
        parameters: tuple[Type, ...] = ()
        if self.tokens[self.at] == "(":
            self.at += 1
            parameters, _ = self.types(")")
        ordinal = 0
        while (token := self.tokens[self.at]) and token != closer:
            ordinal = _number(token) or ordinal
            self.at += 1
        self.cut = self.cut or not token
        self.at += bool(token)
        return Part(LAMBDA, parameters=parameters, ordinal=ordinal)

    def _skip(self, closer: str) -> None:
        depth = 1
        opener = {v: k for k, v in _PAIR.items()}[closer]
        while depth and (token := self.tokens[self.at]):
            depth += (token == opener) - (token == closer)
            self.at += 1


class _Chain:
    """The components read so far of one qualified name."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.joined = True
        self.open_for_parameters = False
        self.pointer = self.reference = self.address = False
        self.literal = ""

    def word(self, token: str, last: bool) -> None:
        """One token that is no bracket."""
        first = token[0]
        if token == "::":
            self.joined = True
            self.open_for_parameters = False
        elif first.isalpha() or first in "_~$":
            self._identifier(token, last)
        elif token in "*&&":
            self._indirect(token)
        elif first == "'":
            self.parts_append(_llvm_part(token))
        elif token.startswith(_ANONYMOUS_WORDS):
            self._name(ANONYMOUS, False)
        elif not self.parts:
            self.literal = token

    def _identifier(self, token: str, last: bool) -> None:
        if token in _QUALIFIERS:
            self.open_for_parameters = token == "const" and self.open_for_parameters
        elif token.startswith(("_GLOBAL__N_", "_NV_ANON")):
            self._name(ANONYMOUS, False)
        elif token.startswith("_INTERNAL_"):
            self._name("", False)
        elif token.startswith("operator") and "(" in token:
            self._name("operator()", last)
        else:
            self._name(token, last)

    def _indirect(self, token: str) -> None:
        if not self.parts:
            self.address = token == "&"
        self.pointer = self.pointer or token == "*"
        self.reference = self.reference or token[0] == "&"
        self.open_for_parameters = False

    def _name(self, token: str, last: bool) -> None:
        """A new component; without ``::`` before it, what came before was a return type."""
        previous = self.parts[-1].name if self.parts else ""
        if not self.joined and token in _BUILTIN_WORDS and previous.split(" ")[0] in _BUILTIN_WORDS:
            self.parts[-1] = Part(f"{previous} {token}")
            return
        if token.startswith("$_"):
            self.parts_append(Part(LAMBDA, ordinal=_number(token[2:]) + 1))
            return
        self.parts_append(Part(token, cut=last))

    def parts_append(self, part: Part) -> None:
        if not self.joined:
            self.parts.clear()
            self.pointer = self.reference = False
        self.parts.append(part)
        self.joined = False
        self.open_for_parameters = True

    def arguments(self, found: tuple[Type, ...], closed: bool) -> None:
        if self.parts and not self.parts[-1].arguments:
            last = self.parts[-1]
            self.parts[-1] = Part(last.name, found, last.parameters, last.ordinal, open=not closed)

    def parameters(self, found: tuple[Type, ...], closed: bool) -> None:
        last = self.parts[-1]
        self.open_for_parameters = False
        if last.parameters is None or last.name == LAMBDA:
            self.parts[-1] = Part(last.name, last.arguments, found, last.ordinal, open=not closed)

    def adopt(self, inner: Type) -> None:
        """``(f(int))`` after ``&``: the group is the name itself."""
        self.parts = list(inner.parts)
        self.joined = False

    def type(self) -> Type:
        parts = tuple(part for part in self.parts if part.name)
        return Type(parts, self.pointer, self.reference, self.address, self.literal)


def _llvm_part(token: str) -> Part:
    """LLVM's ``'lambda'`` is the first lambda of its function, ``'lambda0'`` the second."""
    word = token.strip("'")
    if not word.startswith("lambda"):
        return Part(word)
    number = word[len("lambda") :]
    return Part(LAMBDA, ordinal=_number(number) + 2 if number else 1)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
