"""Reads dispatch keys and sets of keys from c10/core/DispatchKey.h and DispatchKeySet.{h,cpp}.

Newer headers declare the keys of each backend by two list macros, older ones list every key; both
are supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from indexes.model.regex import regex
from indexes.model.vocabulary import Location, Problem
from indexes.readers.cxx.lexer import Lexed, Lines, Macro, lex, strip_comments


@dataclass(frozen=True, slots=True)
class RuntimeKey:
    """A slot of the dispatch table."""

    name: str
    """``SparseCPU``."""
    functionality: str
    """``Sparse``; the key's own name if it is not per backend."""
    backend: str | None
    """``CPU``; None for a key that is not per backend."""
    location: Location


@dataclass(frozen=True, slots=True)
class DispatchKeys:
    """All keys of a tree."""

    runtime: tuple[RuntimeKey, ...] = ()
    """In order of priority, lowest first; ``Undefined`` leads."""
    aliases: Mapping[str, Location] = field(default_factory=dict)
    """Alias keys, which stand for several runtime keys: ``CompositeImplicitAutograd``."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Old names: ``DefaultBackend`` -> ``CompositeExplicitAutograd``."""
    backends: tuple[str, ...] = ()

    def resolve(self, name: str) -> str:
        """The key that a name or synonym stands for."""
        return self.synonyms.get(name, name)


def read_dispatch_keys(data: bytes, path: str) -> tuple[DispatchKeys, tuple[Problem, ...]]:
    """The keys defined in DispatchKey.h; none and a problem if it has no such enum."""
    keys = _Header(lex(data.decode("utf-8", "replace")), path).read()
    if not keys.runtime:
        return keys, (Problem(path, 1, "no enum DispatchKey with keys"),)
    return keys, ()


_ENUM = regex(r"\benum\s+class\s+(?:C10_API\s+)?DispatchKey\b(?:(?!\benum\b)[^;{])*\{")
_ENUMERATOR = regex(r"(?:(\w+)\s*\([^()]*\)\s*(?!\s))?(\w+)?(?:\s*=\s*([^,]+))?")
_LISTED = regex(r"\b_\(\s*(\w+)\s*,\s*(\w*)\s*\)")
_SENTINEL = regex(r"(?:StartOf|EndOf|Num)[A-Z]")


class _Header:
    def __init__(self, lexed: Lexed, path: str) -> None:
        self._lexed = lexed
        self._path = path
        self._line = Lines(lexed.text).at
        self._macros = {macro.name: macro for macro in lexed.macros}
        self._backends = self._listed("C10_FORALL_BACKEND_COMPONENTS")
        self._functionalities = self._listed("C10_FORALL_FUNCTIONALITY_KEYS")

    def read(self) -> DispatchKeys:
        names, synonyms = self._enumerators()
        plain, blocks, aliases = _sorted(names)
        if self._functionalities:
            blocks = {
                full: self._block(prefix) for full, (prefix, _) in self._functionalities.items()
            }
        backends = tuple(self._backends) or tuple(blocks.get("Dense", ()))
        runtime: list[RuntimeKey] = []
        for name, line in plain.items():
            if name in blocks:
                runtime += self._per_backend(name, blocks[name], backends)
            else:
                runtime.append(RuntimeKey(name, name, None, Location(self._path, line)))
        alias_places = {name: Location(self._path, line) for name, line in aliases.items()}
        return DispatchKeys(tuple(runtime), alias_places, synonyms, backends)

    def _per_backend(
        self, functionality: str, block: Mapping[str, int], backends: tuple[str, ...]
    ) -> Iterator[RuntimeKey]:
        for (name, line), backend in zip(block.items(), backends, strict=False):
            yield RuntimeKey(name, functionality, backend, Location(self._path, line))

    def _block(self, prefix: str) -> dict[str, int]:
        return {f"{prefix}{backend}": line for backend, (_, line) in self._backends.items()}

    def _listed(self, macro: str) -> dict[str, tuple[str, int]]:
        """The ``_(Dense, )`` lines of a list macro: name -> (second argument, line)."""
        found: Macro | None = self._macros.get(macro)
        text = self._lexed.text
        if found is None:
            return {}
        end = text.find("\n\n", found.offset)
        listed = _LISTED.finditer(text, found.offset, end if end >= 0 else len(text))
        return {match[1]: (match[2], self._line(match.start())) for match in listed}

    def _enumerators(self) -> tuple[dict[str, int], dict[str, str]]:
        """Enumerators with their lines, in order, and those defined as synonyms."""
        clean = self._lexed.clean
        enum = _ENUM.search(clean)
        names: dict[str, int] = {}
        synonyms: dict[str, str] = {}
        offset = enum.end() if enum else 0
        for part in clean[offset : clean.find("}", offset)].split(",") if enum else ():
            match = _ENUMERATOR.fullmatch(part.strip())
            if match is not None and match[2]:
                value = (match[3] or "").strip()
                if value.isidentifier() and _SENTINEL.match(match[2]) is None:
                    synonyms[match[2]] = value
                else:
                    at = part.index(match[2]) if match[3] else part.rindex(match[2])
                    names[match[2]] = self._line(offset + at)
            offset += len(part) + 1
        return names, synonyms


def _sorted(
    names: Mapping[str, int],
) -> tuple[dict[str, int], dict[str, dict[str, int]], dict[str, int]]:
    plain: dict[str, int] = {}
    blocks: dict[str, dict[str, int]] = {}
    aliases: dict[str, int] = {}
    block: dict[str, int] | None = None
    past_runtime = False
    for name, line in names.items():
        started = re.fullmatch(r"StartOf(\w+)Backends", name)
        if started is not None:
            block = blocks.setdefault(started[1], {})
        elif _SENTINEL.match(name):
            block = None
            past_runtime |= name in ("EndOfRuntimeBackendKeys", "NumDispatchKeys")
        elif past_runtime:
            aliases[name] = line
        else:
            (plain if block is None else block)[name] = line
    return plain, {name: keys for name, keys in blocks.items() if keys}, aliases


_SET = regex(r"\bconstexpr\s+(?:DispatchKeySet|auto)\s+(\w+)\s*=\s*((?:(?!\bconstexpr\b)[^;])*);")
_KEY = regex(r"\bDispatchKey::(\w+)")
_REMOVED = regex(r"\.remove(?:_backend)?\s*\(\s*(?:c10::)?(\w+)::(\w+)\s*\)")
_CASE = regex(r"case\s+DispatchKey::(\w+)\s*:\s*return\s+DispatchKeySet\(DispatchKey::(\w+)\)")


@dataclass(frozen=True, slots=True)
class KeySet:
    """A constant of DispatchKeySet.h as written."""

    keys: tuple[str, ...]
    removed: tuple[str, ...]
    """Keys and backends (``XLABit``) removed from it."""


def read_key_sets(data: bytes, path: str) -> tuple[dict[str, KeySet], dict[str, str]]:
    """The named sets in a file, and the backend key of each autograd key
    (``getBackendKeySetFromAutograd`` in DispatchKeySet.cpp)."""
    text = strip_comments(data.decode("utf-8", "replace"))
    sets = {
        match[1]: KeySet(
            tuple(_KEY.findall(_REMOVED.sub("", match[2]))),
            tuple(name for _, name in _REMOVED.findall(match[2])),
        )
        for match in _SET.finditer(text)
    }
    return sets, dict(_CASE.findall(text))
