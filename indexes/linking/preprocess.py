"""The C preprocessor on a piece of text: macros are replaced as the language says, the arguments
of their uses taken apart.

Arguments are expanded before they are put in place, ``##`` pastes, the result is read
again together with what follows, and no macro is expanded inside itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from indexes.model.regex import regex
from indexes.readers.cxx.lexer import MacroFact

_TOKENS = regex(r'[A-Za-z_]\w*|\.?\d[\w.]*|"(?:[^"\\\n]|\\.)*"|##|\s+|[^\w\s]')
_NONE: frozenset[str] = frozenset()
_ENOUGH = 60_000
"""Tokens after which an expansion is given up: no macro of a sane tree comes near."""

Token = tuple[str, frozenset[str] | None]
"""A token and the macros that it must not be expanded by again; None for one that is no macro,
which is passed over when it is read again with every body that it comes into."""


_NESTS = regex(r"[\"(\[{)\]}]")
_PARTS = regex(r"[\"(\[{)\]},]")


def split_arguments(text: str) -> list[str]:
    """Top-level arguments of a macro use. Angle brackets do not nest for the preprocessor."""
    if not text.strip():
        return []
    if not _NESTS.search(text):
        return [part.strip() for part in text.split(",")]
    parts, depth, start, quoted = [], 0, 0, False
    for found in _PARTS.finditer(text):
        char, at = found[0], found.start()
        if char == '"':
            quoted = quoted if text[at - 1 : at] == "\\" else not quoted
        elif quoted:
            continue
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts


def bind(parameters: list[str], arguments: Sequence[str]) -> dict[str, str] | None:
    """Arguments by parameter name; None when their number is off."""
    if parameters and parameters[-1].endswith("..."):
        named = parameters[:-1]
        rest = ", ".join(arguments[len(named) :])
        if len(arguments) < len(named):
            return None
        variadic = parameters[-1][:-3].strip() or "__VA_ARGS__"
        return {**dict(zip(named, arguments, strict=False)), variadic: rest}
    if len(parameters) == 1 and not arguments:
        return {parameters[0]: ""}
    if len(parameters) != len(arguments):
        return None
    return dict(zip(parameters, arguments, strict=True))


def opened_call(text: str, name: str) -> int:
    """Offset of the parenthesis of the first call of ``name``; -1 where there is none."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        begins = not at or not (text[at - 1].isalnum() or text[at - 1] == "_")
        if begins and text[end:].lstrip().startswith("("):
            return text.index("(", end)
        at = text.find(name, end)
    return -1


_PIECES = regex(
    r'"(?:[^"\\]|\\.)*"|\s*##\s*|#\s*(?=[A-Za-z_])|[A-Za-z_]\w*|\s+|.', re.DOTALL | re.ASCII
)
_pieces = lru_cache(2048)(_PIECES.findall)


def substitute(body: str, raw: Mapping[str, str], expanded: Mapping[str, str]) -> str:
    """A macro's body with its parameters replaced: next to ``#`` and ``##`` by the arguments as
    written, elsewhere by what they expand to."""
    out: list[str] = []
    pieces = ["", *_pieces(body), ""]
    for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        mark = piece.strip()
        if mark == "##" or (mark == "#" and after in raw):
            continue
        if piece not in raw:
            out.append(piece)
        elif before.strip() == "#":
            out.append('"' + raw[piece].replace('"', '\\"') + '"')
        else:
            out.append((raw if "##" in (before.strip(), after.strip()) else expanded)[piece])
    return "".join(out)


class Preprocessor:
    """Expands text by the macros that ``lookup`` knows."""

    def __init__(self, lookup: Callable[[str], MacroFact | None]) -> None:
        self._lookup = lookup
        self._left = 0
        self._bodies: dict[str, list[Token]] = {}

    def expand(self, text: str) -> str:
        """``text`` with every macro in it expanded; empty when that has no end."""
        self._left = _ENOUGH
        made = self._expand([(t, _NONE) for t in _tokens(text)])
        return "".join(token for token, _ in made) if self._left > 0 else ""

    def _expand(self, tokens: Sequence[Token]) -> list[Token]:
        waiting = list(reversed(tokens))
        out: list[Token] = []
        while waiting and self._left > 0:
            self._left -= 1
            token = waiting.pop()
            text, hidden = token
            if hidden is None or text in hidden:
                out.append(token)
            elif (macro := self._macro(text)) is None:
                out.append((text, None))
            elif macro.parameters is None:
                made = self._replaced(macro, {}, {}, hidden | {text})
                waiting.extend(reversed(made))
            elif (arguments := _arguments(waiting)) is not None:
                waiting.extend(reversed(self._called(macro, arguments, hidden | {text})))
            else:
                out.append(token)
        return out

    def _macro(self, text: str) -> MacroFact | None:
        return self._lookup(text) if text[0].isalpha() or text[0] == "_" else None

    def _called(
        self, macro: MacroFact, arguments: list[list[Token]], hidden: frozenset[str]
    ) -> list[Token]:
        texts = ["".join(t for t, _ in one).strip() for one in arguments]
        if texts == [""] and not macro.parameters:
            texts = []
        raw = bind(macro.parameters or [], texts)
        if raw is None:
            return []
        expanded = {"".join(t for t, _ in one).strip(): self._expand(one) for one in arguments}
        ready = {name: self._ready(text, expanded) for name, text in raw.items()}
        return self._replaced(macro, raw, ready, hidden)

    def _body(self, macro: MacroFact, parameters: Collection[str]) -> list[Token]:
        """The tokens that a macro writes."""
        if macro.name not in self._bodies:
            live = {t for t in _tokens(macro.body) if t in parameters or self._macro(t)}
            self._bodies[macro.name] = [
                (text, _NONE if text in live else None) for text in _tokens(macro.body)
            ]
        return self._bodies[macro.name]

    def _ready(self, text: str, expanded: dict[str, list[Token]]) -> list[Token]:
        """An argument expanded; several at once where ``...`` takes them."""
        if text in expanded:
            return expanded[text]
        return self._expand([(t, _NONE) for t in _tokens(text)])

    def _replaced(
        self,
        macro: MacroFact,
        raw: dict[str, str],
        ready: dict[str, list[Token]],
        hidden: frozenset[str],
    ) -> list[Token]:
        if "#" not in macro.body:
            return _put_in_place(self._body(macro, raw), ready, hidden)
        out: list[Token] = []
        body = _tokens(macro.body)
        for at, text in enumerate(body):
            if text == "#" and _neighbour(body, at, 1) in raw:
                continue
            if _neighbour(body, at, -1) == "#" and text in raw:
                out.append((f'"{raw[text]}"', hidden))
                continue
            if text == "##":
                while out and out[-1][0].isspace():
                    out.pop()
                continue
            pasted = _neighbour(body, at, -1) == "##" or _neighbour(body, at, 1) == "##"
            if _neighbour(body, at, -1) == "##" and text.isspace():
                continue
            made = self._one(text, pasted, raw, ready)
            if _neighbour(body, at, -1) == "##" and out and made:
                head, _ = out.pop()
                made = [(head + made[0][0], _NONE), *made[1:]]
            out += _hidden_from(made, hidden)
        return out

    def _one(
        self, text: str, pasted: bool, raw: dict[str, str], ready: dict[str, list[Token]]
    ) -> list[Token]:
        if text not in raw:
            return [(text, _NONE)]
        if pasted:
            return [(t, _NONE) for t in _tokens(raw[text])]
        return ready[text]


@lru_cache(maxsize=2048)
def _tokens(text: str) -> list[str]:
    return _TOKENS.findall(text)


def _put_in_place(
    body: list[Token], ready: dict[str, list[Token]], hidden: frozenset[str]
) -> list[Token]:
    out: list[Token] = []
    for token in body:
        text, known = token
        if known is None:
            out.append(token)
        elif text in ready:
            out += _hidden_from(ready[text], hidden)
        else:
            out.append((text, hidden))
    return out


def _hidden_from(tokens: Sequence[Token], macros: frozenset[str]) -> list[Token]:
    """Tokens that were made by these macros."""
    return [one if one[1] is None else (one[0], one[1] | macros) for one in tokens]


def _neighbour(body: Sequence[str], at: int, step: int) -> str:
    """The next token that is no space, in one direction."""
    at += step
    while 0 <= at < len(body) and body[at].isspace():
        at += step
    return body[at] if 0 <= at < len(body) else ""


def _arguments(waiting: list[Token]) -> list[list[Token]] | None:
    """Takes ``(a, b)`` off the end of ``waiting``; None, taking nothing, when it isn't there."""
    at = len(waiting) - 1
    while at >= 0 and waiting[at][0].isspace():
        at -= 1
    if at < 0 or waiting[at][0] != "(":
        return None
    found: list[list[Token]] = [[]]
    depth = 1
    for position in range(at - 1, -1, -1):
        text = waiting[position][0]
        depth += (text == "(") - (text == ")")
        if not depth:
            del waiting[position:]
            return found
        if text == "," and depth == 1:
            found.append([])
        else:
            found[-1].append(waiting[position])
    return None
