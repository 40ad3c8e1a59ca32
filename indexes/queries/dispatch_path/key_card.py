"""A dispatch key by name: its comment, what adds it to sets, what is registered for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from indexes.model.dispatch import KeyCard, KeyKind, KeyRegistration, KeyUse, KeyUseKind
from indexes.model.errors import NotFound
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.corpus import Corpus
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.near import near
from indexes.readers.cxx.dispatch_keys import DispatchKeys, RuntimeKey
from indexes.readers.cxx.key_sets import named_sets
from indexes.source.source import Source
from indexes.store.registrations import UNSEEN

_HEADER, _KEY_SETS = "c10/core/DispatchKey.h", "c10/core/DispatchKeySet.h"
_NOTE = regex(r"\bNote:? ?\[[^\]]+\]|\[Note:[^\]]+\]|\bNote:? \[[^\]]+\]")
_IN_NOTE = regex(r"\[(?:Note: ?)?([^\]]+)\]")
_TESTS = regex(r"/tests?/|^test/|_test\.\w+$")
_WORD = regex(r"[A-Za-z]\w*")
_USES: tuple[tuple[KeyUseKind, Any], ...] = (
    ("includes", regex(r"IncludeDispatchKeyGuard|tls_set_dispatch_key_included")),
    ("excludes", regex(r"ExcludeDispatchKeyGuard|tls_set_dispatch_key_excluded")),
    ("set", regex(r"\bconstexpr\b")),
    (
        "asks",
        regex(r"\bhas(?:_all|_any)?\s*\(|tls_is_dispatch_key|[!=]=|\bisSupersetOf\b|^\s*case\b"),
    ),
    ("tensor", regex(r"\bkey_set_?\s*=|TensorImpl|make_tensor|\.add\s*\(")),
)
_ORDER = ("includes", "excludes", "tensor", "removes", "set", "returns", "asks", "names")
_SETTING = ("includes", "excludes")
_LISTS = regex(r"[(\w]\{")
_END = regex(r";|\{[ \t]*\n")
_RETURNED = regex(r"\breturn\s+(?:(?:\w+::)*DispatchKeySet\s*[({]+\s*)?(?:\w+::)*$")
_REMOVED = regex(r"\.remove\s*\(\s*(?:\w+::)*$")
_INITIALISED = regex(r"(\w+)\s*[({]\s*(?:\w+::)*$")
_ASSIGNED = regex(r"(\w+)\s*=\s*(?:\w+::)*$")
_FURTHER = 800
"""Characters behind an assignment in which a guard for the variable is searched."""


class KeyCards:
    """Answers for the dispatch keys of one tree."""

    def __init__(self, index: IndexedTree) -> None:
        self._index = index
        self._source: Source = index.source

    def card(self, name: str) -> KeyCard:
        """The card of ``AutocastCUDA``, ``Autocast`` or ``c10::DispatchKey::CPU``.

        Raises:
            NotFound: The tree has no such key; with similar names.
            SourceError: The tree has no header with dispatch keys.
        """
        wanted = self._known(name.rpartition("::")[2].removesuffix("Bit"))
        runtime = [k for k in self._keys.runtime if wanted in (k.name, k.functionality)]
        own = next((k for k in runtime if k.name == wanted), None)
        where = own.location if own else self._keys.aliases.get(wanted) or self._line(wanted)
        comment, above = self._comment(own.functionality if own else wanted)
        return KeyCard(
            self._index.info,
            wanted,
            self._kind(wanted, own),
            where,
            self._meaning(name, wanted, own),
            comment,
            above,
            tuple(self._notes(comment)),
            len(self._keys.runtime) - self._keys.runtime.index(own) if own else 0,
            () if own and own.name == own.functionality else self._runtime_keys(wanted, runtime),
            self._index.dispatch.fallback(wanted),
            self._ordered(self._uses(wanted, own)),
            tuple(KeyRegistration(*one) for one in self._index.dispatch.registered_for(wanted)),
            UNSEEN if self._source.kind == "wheel" else "",
        )

    @property
    def _keys(self) -> DispatchKeys:
        return self._index.dispatch.keys

    def _known(self, name: str) -> str:
        wanted = self._keys.resolve(name)
        names = {k.name for k in self._keys.runtime} | {k.functionality for k in self._keys.runtime}
        if wanted in names or wanted in self._keys.aliases:
            return wanted
        every = (*names, *self._keys.aliases, *self._keys.synonyms)
        raise NotFound(f"no dispatch key {name} in this tree", near(name, every))

    def _kind(self, wanted: str, own: RuntimeKey | None) -> KeyKind:
        if own is None:
            return "alias" if wanted in self._keys.aliases else "functionality"
        return "per backend" if own.backend else "runtime"

    def _meaning(self, given: str, wanted: str, own: RuntimeKey | None) -> str:
        name = given.rpartition("::")[2]
        if name != wanted and name in self._keys.synonyms:
            return f"{name} is another name for it"
        if own and own.backend:
            return f"the functionality {own.functionality} of tensors on {own.backend}"
        return ""

    def _runtime_keys(self, wanted: str, runtime: list[RuntimeKey]) -> tuple[str, ...]:
        """The keys of an alias by DispatchKeySet.h, or of a functionality."""
        covered = self._index.dispatch.model.covered(wanted)
        order = [key.name for key in reversed(self._keys.runtime)]
        if wanted in self._keys.aliases:
            return tuple(name for name in order if name in covered)
        own = {k.name for k in runtime if k.functionality == wanted}
        return tuple(name for name in order if name in own)

    # ---------------------------------------------------------------------- comments

    @cached_property
    def _lines(self) -> list[str]:
        path = self._source.path_of(_HEADER)
        return self._source.read(path).decode("utf-8", "replace").split("\n")

    def _line(self, name: str) -> Location:
        path = self._source.path_of(_HEADER)
        wanted = regex(rf"^\s*{name}\s*[,=]|\b_\({name},")
        at = next((n for n, line in enumerate(self._lines, 1) if wanted.search(line)), 1)
        return Location(path, at)

    def _comment(self, name: str) -> tuple[str, Location | None]:
        """The comment beside and above an enumerator, or that of its group."""
        start = self._line(name).line - 1
        at = start - 1
        while self._is_enumerator(at):
            at -= 1
        block = self._block(at)
        while block and self._is_of_other(block, name):
            at -= len(block)
            while self._is_enumerator(at):
                at -= 1
            block = self._block(at)
        text = "\n".join([*block, *self._trailing_comment(start)])
        first = at - len(block) + 2 if block else start + 1
        path = self._source.path_of(_HEADER)
        return text, Location(path, first) if text else None

    def _trailing_comment(self, at: int) -> Iterator[str]:
        """The comment on an enumerator's line, with its continuation."""
        _, sign, text = self._lines[at].partition("//")
        while sign:
            yield text.strip()
            at += 1
            before, sign, text = self._lines[at].partition("//")
            sign = "" if before.strip() else sign

    def _is_enumerator(self, at: int) -> bool:
        code = self._lines[at].partition("//")[0].strip()
        return at > 0 and bool(code) and code.endswith(",") and code[:-1].isidentifier()

    def _block(self, at: int) -> list[str]:
        """The lines of a comment that ends at a line; none for a mere ruler."""
        found: list[str] = []
        while at >= 0 and self._lines[at].strip().startswith("//"):
            text = self._lines[at].strip().removeprefix("//").strip()
            found.append(text)
            at -= 1
        return [] if found and found[-1].startswith("~~") else found[::-1]

    def _is_of_other(self, block: list[str], name: str) -> bool:
        """Whether a comment begins with another key."""
        word = _WORD.match(block[0])
        keys = {key.functionality for key in self._keys.runtime}
        return word is not None and word[0] != name and word[0] in keys

    def _notes(self, comment: str) -> Iterator[Location]:
        text = " ".join(comment.split())
        for note in dict.fromkeys(found[0] for found in _NOTE.finditer(text)):
            for name in _IN_NOTE.findall(note):
                if found := self._note(name.strip()):
                    yield found

    def _note(self, name: str) -> Location | None:
        """Where a note begins: a comment with its name and nothing before it."""
        written = regex(
            rf"(?m)^\s*(?://|\*|/\*+)?\s*(?:[Nn]ote|NOTE):? ?\[ ?{re.escape(name)} ?\]|"
            rf"^\s*(?://|\*|/\*+)\s*\[Note: {re.escape(name)}\]"
        )
        for path in self._corpus.files_with(name, "cpp"):
            text = self._corpus.text(path).decode("utf-8", "replace")
            if found := written.search(text):
                return Location(path, text.count("\n", 0, found.end()) + 1)
        return None

    # --------------------------------------------------------------------------- uses

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus(self._index.facts, self._source.content)

    @staticmethod
    def _ordered(uses: Iterator[KeyUse]) -> tuple[KeyUse, ...]:
        once = {use.location: use for use in uses}
        return tuple(sorted(once.values(), key=lambda use: _ORDER.index(use.what)))

    def _uses(self, wanted: str, own: RuntimeKey | None) -> Iterator[KeyUse]:
        names = [wanted, *(s for s, key in self._keys.synonyms.items() if key == wanted)]
        if own and own.functionality != own.name:
            names.append(own.functionality)
        direct = [use for n in names for use in self._mentions(rf"\bDispatchKey::{n}\b", n)]
        yield from direct
        for constant in self._constants(names):
            yield from self._mentions(rf"\b{constant}\b", constant)
        for function in dict.fromkeys(u.function for u in direct if u.what == "returns"):
            name = function.rpartition("::")[2]
            if name:
                found = self._mentions(rf"\b{name}(?=\s*\()", name)
                yield from (use for use in found if use.what in _SETTING)

    def _constants(self, names: list[str]) -> list[str]:
        """The named sets with a key, or containing one of those, in DispatchKeySet.h."""
        path = self._source.locate(_KEY_SETS)
        if path is None:
            return []
        found: list[str] = []
        for name, one in named_sets(self._source.read(path).decode("utf-8", "replace")).items():
            sought = "|".join([*(rf"DispatchKey::{n}" for n in names), *found])
            if "FULL_AFTER" not in one.text and regex(rf"\b(?:{sought})\b").search(one.text):
                found.append(name)
        return found

    def _mentions(self, pattern: str, word: str) -> Iterator[KeyUse]:
        sought = regex(pattern)
        for path in self._corpus.files_with(word, "cpp"):
            if not _TESTS.search(path):
                clean = self._corpus.clean(path)
                for found in sought.finditer(clean):
                    yield self._use(path, clean, found.start())

    def _use(self, path: str, clean: str, at: int) -> KeyUse:
        at = _guarded(clean, at)
        line = clean.count("\n", 0, at) + 1
        around = self._corpus.around(path, line)
        function = around.definition.qualified if around else ""
        return KeyUse(_kind_of(clean, at), _one_line(clean, at), Location(path, line), function)


def _statement(text: str, at: int) -> tuple[str, str]:
    """The start and end of the statement around an offset. Braces that only list keys, or begin a
    variable, do not end it."""
    start = at
    while start and (text[start - 1] not in ";{}" or _LISTS.search(text, max(0, start - 2), start)):
        start -= 1
    end = _END.search(text, at)
    return text[start:at], text[at : end.start() if end else len(text)]


def _kind_of(clean: str, at: int) -> KeyUseKind:
    before, behind = _statement(clean, at)
    if _RETURNED.search(before):
        return "returns"
    if _REMOVED.search(before):
        return "removes"
    for kind, form in _USES:
        if form.search(before + behind):
            return kind
    member = _INITIALISED.search(clean, max(0, at - 60), at)
    for kind, guard in (("includes", "Include"), ("excludes", "Exclude")):
        written = rf"{guard}DispatchKeyGuard\s+{member[1]}\b" if member else "(?!)"
        if re.search(written, clean):
            return kind
    return "names"


def _guarded(clean: str, at: int) -> int:
    """The guard with the variable that is assigned at ``at``; else ``at``."""
    variable = _ASSIGNED.search(clean, max(0, at - 80), at)
    if variable is None:
        return at
    guard = r"(?:IncludeDispatchKeyGuard|ExcludeDispatchKeyGuard|tls_set_dispatch_key_\w+)"
    form = rf"{guard}[^;{{}}]*?\b{variable[1]}\b"
    end = clean.find("\n}", at)
    limit = min(at + _FURTHER, end if end >= 0 else len(clean))
    found = re.compile(form).search(clean, at, limit)
    return found.start() if found else at


def _one_line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[start : end if end >= 0 else len(text)].strip()
