"""Registrations that TORCH_LIBRARY blocks write, as the index file keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from indexes.linking.facts import LibraryUse
from indexes.linking.registrations import Written, written_registrations
from indexes.model.vocabulary import Location
from indexes.store.lookup import Lookup

UNSEEN = (
    "what C++ registers by hand (batch rules, autocast policies, TORCH_LIBRARY_IMPL) is not in"
    " the installed wheel; `torchnav clone` adds it"
)
_LIBRARY_COLUMNS = (
    "l.op,l.block,l.method,l.arguments,f.path,l.line,l.block_line,l.guard,l.macro_path,l.macro_line"
)


def library_uses(facts: Lookup, where: str = "", given: tuple[str, ...] = ()) -> list[LibraryUse]:
    """Calls on libraries that register something, those made by macros too."""
    rows = facts.store.query(
        f"SELECT {_LIBRARY_COLUMNS} FROM libraries l JOIN files f ON f.id=l.file"
        f" WHERE l.op IS NOT NULL {where} ORDER BY f.path,l.line",
        given,
    )
    return [
        LibraryUse(
            op,
            block,
            method,
            arguments,
            Location(path, line),
            block_line,
            guard,
            Location(macro, macro_line) if macro else None,
        )
        for op, block, method, arguments, path, line, block_line, guard, macro, macro_line in rows
    ]


def written_for(facts: Lookup, op: str) -> tuple[Written, ...]:
    """What TORCH_LIBRARY blocks of the tree register for one operator."""
    uses = library_uses(facts, "AND l.op=?", (op,))
    return tuple(written_registrations(uses, named_macros(facts, uses)))


def named_macros(facts: Lookup, uses: Iterable[LibraryUse]) -> Mapping[str, Mapping[str, str]]:
    """The object-like macros that calls name as their function, AUTOGRAD_FALLBACK, and blocks
    as their key, by the file where they are named."""
    found: dict[str, dict[str, str]] = {}
    known = cache(lambda name: [(p, m) for p, m in facts.store.macros(name) if not m.parameters])
    for use in uses:
        function = use.arguments.rpartition(",")[2].strip()
        key = use.block.split(",")[1].strip() if use.block.count(",") == 2 else ""
        for name in filter(str.isidentifier, (function, key)):
            for path, macro in known(name):
                here = path == use.location.path
                if here or (name == key and macro.body.isidentifier()):
                    found.setdefault(use.location.path, {})[name] = macro.body
    return found
