"""Reads C++ expressions over sets of dispatch keys: ``ks & c10::after_autograd_keyset``.

A set holds names of functionalities: ``Dense`` for ``DispatchKey::CPU``. Backend bits are left out,
as removing keys does not affect them (Note [Removing keys from DispatchKeySet Only Affects
Functionality Keys] in c10/core/DispatchKeySet.h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from indexes.model.regex import VERBOSE, regex
from indexes.readers.cxx.dispatch_keys import DispatchKeys
from indexes.readers.cxx.lexer import Lines, lex

KeyNames = frozenset[str]


class UnknownSetError(Exception):
    """An expression that cannot be read as a set of keys."""


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A constant of a file: ``after_autograd_keyset``."""

    text: str
    line: int


_CONSTANT = regex(
    r"\bconstexpr\s+(?:c10::)?(?:DispatchKeySet|auto)\s+(\w+)\s*(?:=\s*([^;]*)|([({][^;]*));"
)
_TOKEN = regex(
    r"""\s*(?:
      (?P<full>(?:\w+::)*DispatchKeySet::(?:FULL_AFTER|FULL|RAW)\b)
    | (?P<key>(?:\w+::)*DispatchKey::\w+)
    | (?P<set>(?:\w+::)*DispatchKeySet\b)
    | \.(?P<method>add|remove)\s*(?=\()
    | (?P<name>\w+(?:(?:::|\.|->)(?!(?:add|remove)\s*\()\w+)*)
    | (?P<sign>[(){},|&^-])
    | (?P<other>[<>+*/%~!])
    )""",
    VERBOSE,
)
_ASSIGNED = regex(r"(?:\b(\w+)\s*=|\b(return))\s*([^;=]+);")


def named_sets(text: str) -> dict[str, NamedSet]:
    """The constants that a file defines as sets of keys, by name."""
    clean, line = lex(text).clean, Lines(text).at
    return {
        found[1]: NamedSet(found[2] or f"DispatchKeySet{found[3]}", line(found.start()))
        for found in _CONSTANT.finditer(clean)
    }


@dataclass(frozen=True)
class KeyAlgebra:
    """The keys of a tree in order, with the constants of its headers."""

    keys: DispatchKeys
    constants: Mapping[str, NamedSet] = field(default_factory=dict)

    def order(self) -> tuple[str, ...]:
        """The functionalities, lowest priority first."""
        return tuple(dict.fromkeys(key.functionality for key in self.keys.runtime))

    def functionality(self, name: str) -> str:
        """``Dense`` for ``CPU``. Raises UnknownSetError for other than runtime keys."""
        wanted = self.keys.resolve(name)
        for key in self.keys.runtime:
            if wanted in (key.name, key.functionality):
                return key.functionality
        raise UnknownSetError(f"{name} is not a dispatch key of this tree")

    def after(self, key: str) -> KeyNames:
        """The functionalities below that of ``key`` (``DispatchKeySet::FULL_AFTER``)."""
        order = self.order()
        return frozenset(order[: order.index(self.functionality(key))]) - {"Undefined"}

    def all(self) -> KeyNames:
        """``DispatchKeySet::FULL``."""
        return frozenset(self.order()) - {"Undefined"}

    def value(self, text: str, names: Mapping[str, KeyNames] | None = None) -> KeyNames:
        """The set that an expression denotes; ``names`` are the variables in it.

        Raises:
            UnknownSetError: A name is unknown.
        """
        return _Expression(text, self, dict(names or {})).whole()

    def returned(self, body: str, names: Mapping[str, KeyNames] | None = None) -> KeyNames:
        """The result of a function that only assigns sets to variables."""
        known = dict(names or {})
        for name, _, text in _ASSIGNED.findall(body):
            value = self.value(text, known)
            if not name:
                return value
            known[name] = value
        raise UnknownSetError("no set is returned")

    def constant(self, name: str, names: dict[str, KeyNames]) -> KeyNames:
        """A variable, or else a constant, by its last name."""
        last = name.replace("->", ".").replace("::", ".").rpartition(".")[2]
        if last in names:
            return names[last]
        if last not in self.constants:
            raise UnknownSetError(f"{name} is not a known set of keys")
        return self.value(self.constants[last].text)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    offset, end = 0, len(text.rstrip())
    while offset < end:
        found = _TOKEN.match(text, offset)
        if found is None:
            raise UnknownSetError(f"cannot read {text.strip()}")
        kind = found.lastgroup or ""
        yield kind, found[kind]
        offset = found.end()


class _Expression:
    """A recursive descent parser with C++'s precedence: ``-``, ``&``, ``^``, ``|``."""

    def __init__(self, text: str, algebra: KeyAlgebra, names: dict[str, KeyNames]) -> None:
        self._rest = list(_tokens(text))[::-1]
        self._algebra, self._names = algebra, names

    def whole(self) -> KeyNames:
        found = self._of("|^&-")
        if self._rest:
            raise UnknownSetError(f"cannot read {self._rest[-1][1]}")
        return found

    def _next(self, *signs: str) -> bool:
        if self._rest and self._rest[-1] in [("sign", sign) for sign in signs]:
            self._rest.pop()
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._next(sign):
            raise UnknownSetError(f"{sign} is missing")

    def _of(self, signs: str) -> KeyNames:
        if not signs:
            return self._with_methods()
        found = self._of(signs[1:])
        while self._next(signs[0]):
            other = self._of(signs[1:])
            found = _JOINED[signs[0]](found, other)
        return found

    def _with_methods(self) -> KeyNames:
        found = self._single()
        while self._rest and self._rest[-1][0] == "method":
            method = self._rest.pop()[1]
            self._expect("(")
            other = self._of("|^&-")
            self._expect(")")
            found = found | other if method == "add" else found - other
        return found

    def _single(self) -> KeyNames:
        if not self._rest:
            raise UnknownSetError("an expression ends early")
        kind, text = self._rest.pop()
        if kind == "key":
            return frozenset({self._algebra.functionality(text.rpartition("::")[2])})
        if kind == "name":
            return self._algebra.constant(text, self._names)
        if kind == "set" and self._next("(", "{"):
            return self._made()
        if (kind, text) in (("sign", "("), ("sign", "{")):
            return self._listed()
        raise UnknownSetError(f"cannot read {text}")

    def _made(self) -> KeyNames:
        """The arguments of a constructor, up to the closing sign."""
        if not self._rest or self._rest[-1][0] != "full":
            return self._listed()
        which = self._rest.pop()[1].rpartition("::")[2]
        rest = [self._rest.pop()[1] for _ in range(self._closing())]
        self._rest.pop()
        if which == "FULL_AFTER":
            return self._algebra.after(rest[-1].rpartition("::")[2])
        return self._algebra.all() if which == "FULL" else frozenset()

    def _closing(self) -> int:
        depth = 0
        for at, (_, text) in enumerate(reversed(self._rest)):
            depth += (text in "({") - (text in ")}")
            if depth < 0:
                return at
        raise UnknownSetError("a bracket is missing")

    def _listed(self) -> KeyNames:
        found: KeyNames = frozenset()
        while not self._next(")", "}"):
            found |= self._of("|^&-")
            if not self._next(","):
                self._closed_soon()
        return found

    def _closed_soon(self) -> None:
        if not self._rest or self._rest[-1][1] not in (")", "}"):
            raise UnknownSetError("a bracket is missing")


_JOINED: Mapping[str, Callable[[KeyNames, KeyNames], KeyNames]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "-": lambda a, b: a - b,
}
