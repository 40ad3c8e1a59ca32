"""Variables of public interest: flags, environment variables, entries of configurations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from indexes.model.answers import Hit, NameMatch
from indexes.model.vocabulary import Location
from indexes.queries.naming.context import context_reads
from indexes.queries.naming.query import NameQuery
from indexes.readers.messages import CONFIG, ENVIRONMENT, FLAG
from indexes.readers.python.blocks import triple_quoted
from indexes.store.names import Names

if TYPE_CHECKING:
    from indexes.queries.index import Index

_MOST = 200
_READS = 40
"""Lines that are listed of those that read a variable."""


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """Where a variable is defined, then where it is read."""
    wanted = query.paths or (query.base,)
    named = Names(index.facts.store).variables(query.base, _MOST)
    found = [
        Hit("variable", name, where, kind)
        for kind, name, where in named
        if any(name == one or ("." not in one and name.endswith(f".{one}")) for one in wanted)
    ]
    found += _c10_flags(query.base, index)
    if not found:
        return None
    asked = context_reads([hit for hit in found if hit.detail == FLAG], index)
    hits = tuple(dict.fromkeys((*found, *_reads(found, index), *asked)))
    several = len({hit.name for hit in found}) > 1
    note = f"{len({hit.name for hit in found})} variables have this name" if several else ""
    match = NameMatch("variable", found[0].name, hits=hits, note=note)
    return replace(match, confidence="ambiguous") if several else match


def _c10_flags(name: str, index: Index) -> Iterator[Hit]:
    """``C10_DEFINE_bool(name, false, "...")``."""
    bare = name.removeprefix("FLAGS_")
    sql = (
        "SELECT f.path,u.line,u.name,u.arguments FROM uses u JOIN files f ON f.id=u.file"
        " WHERE u.name GLOB 'C10_DEFINE_*' AND substr(u.arguments,1,?)=?"
    )
    begin = f"{bare},"
    for path, line, macro, arguments in index.facts.store.query(sql, (len(begin), begin)):
        yield Hit("variable", bare, Location(path, line), f"{macro}({arguments})")


def _reads(found: Iterable[Hit], index: Index) -> list[Hit]:
    """Lines of Python, and of C++ for what is defined there, that name a variable; an environment
    variable's own lines are where it is read."""
    own = {(hit.location.path, hit.location.line) for hit in found}
    hits: list[Hit] = []
    for kind in ("python", "cpp"):
        named = [hit for hit in found if hit.detail != ENVIRONMENT and _files(hit) == kind]
        if named:
            word = re.compile("|".join(sorted(set(map(_expression, named)))).encode())
            last = {hit.name.rpartition(".")[2].encode() for hit in named}
            for path in index.facts.paths(kind):
                hits += _lines(index, path, word, last, own)
                if len(hits) >= _READS:
                    return hits[:_READS]
    return hits


def _files(hit: Hit) -> str:
    return "cpp" if _is_c10(hit) else "python"


def _is_c10(hit: Hit) -> bool:
    return hit.detail.startswith("C10_DEFINE_")


def _expression(hit: Hit) -> str:
    """What reads a variable: ``config.debug``, ``triton.cudagraphs``, ``cudnn.allow_tf32``."""
    if _is_c10(hit):
        return rf"\bFLAGS_{hit.name}\b"
    owner, _, name = hit.name.rpartition(".")
    last = owner.rpartition(".")[2]
    if hit.detail == CONFIG:
        last = rf"\w*{last}"  # imported as inductor_config
    return rf"\b{last}\.{name}\b"


def _lines(
    index: Index, path: str, word: re.Pattern[bytes], names: set[bytes], own: set[tuple[str, int]]
) -> Iterator[Hit]:
    data = index.source.read(path)
    if not any(name in data for name in names):
        return
    seen = set(own)
    for found in word.finditer(data):
        start = data.rfind(b"\n", 0, found.start()) + 1
        line = data.count(b"\n", 0, start) + 1
        if (path, line) not in seen and _is_code(path, data, start, found.start()):
            seen.add((path, line))
            text = data[start : data.find(b"\n", found.end())].decode("utf-8", "replace")
            yield Hit("read", found[0].decode(), Location(path, line), text.strip())


def _is_code(path: str, data: bytes, start: int, at: int) -> bool:
    """Whether a word on a line stands neither in a comment nor in a text."""
    if not path.endswith(".py"):
        return b"//" not in data[start:at]
    before = data[start:at]
    if b"#" in before or before.count(b'"') % 2 or before.count(b"'") % 2:
        return False
    return not triple_quoted(data).end_at(at)
