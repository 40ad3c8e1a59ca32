"""Registrations that TORCH_LIBRARY blocks write, as the index file keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from indexes.linking.facts import LibraryUse
from indexes.linking.registrations import Written, written_registrations
from indexes.model.vocabulary import Location
from indexes.readers.cxx.idioms import library_block
from indexes.store.lookup import Lookup

UNSEEN = (
    "what C++ registers by hand (batch rules, autocast policies, TORCH_LIBRARY_IMPL) is not in"
    " the installed wheel; `torchnav clone` adds it"
)
_LIBRARY_COLUMNS = (
    "l.op,l.block,l.method,l.arguments,f.path,l.line,l.block_line,l.guard,l.macro_path,l.macro_line"
)


def library_uses(
    facts: Lookup, *, op: str | None = None, path: str | None = None, word: str | None = None
) -> list[LibraryUse]:
    """Calls on libraries that register something, those made by macros too: all, or those for an
    operator, in a file, or with a word in their arguments."""
    given = {"l.op=?": op, "f.path=?": path, "instr(l.arguments,?)": word}
    wanted = {condition: value for condition, value in given.items() if value is not None}
    where = " AND ".join(["l.op IS NOT NULL", *wanted])
    rows = facts.store.query(
        f"SELECT {_LIBRARY_COLUMNS} FROM libraries l JOIN files f ON f.id=l.file"
        f" WHERE {where} ORDER BY f.path,l.line",
        tuple(wanted.values()),
    )
    uses = []
    for name, block, method, arguments, file, line, block_line, guard, macro, at in rows:
        place, made_by = Location(file, line), Location(macro, at) if macro else None
        uses.append(LibraryUse(name, block, method, arguments, place, block_line, guard, made_by))
    return uses


def written_for(facts: Lookup, op: str) -> tuple[Written, ...]:
    """What TORCH_LIBRARY blocks of the tree register for one operator."""
    uses = library_uses(facts, op=op)
    return tuple(written_registrations(uses, named_macros(facts, uses)))


def named_macros(facts: Lookup, uses: Iterable[LibraryUse]) -> Mapping[str, Mapping[str, str]]:
    """The object-like macros that calls name as their function, AUTOGRAD_FALLBACK, and blocks
    as their key, by the file where they are named."""
    found: dict[str, dict[str, str]] = {}
    known = cache(lambda name: [(p, m) for p, m in facts.store.macros(name) if not m.parameters])
    for use in uses:
        function = use.arguments.rpartition(",")[2].strip()
        key = library_block(use.block).key
        for name in filter(str.isidentifier, (function, key)):
            for path, macro in known(name):
                here = path == use.location.path
                if here or (name == key and macro.body.isidentifier()):
                    found.setdefault(use.location.path, {})[name] = macro.body
    return found
