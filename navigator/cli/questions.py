"""What ``torchnav op``, ``find``, ``at`` and ``uses`` ask and write, whoever read the command
line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from indexes.model.errors import NotFound, UsageError
from indexes.model.records import replace
from indexes.model.regex import regex
from indexes.model.typed import TYPE_CHECKING
from navigator.cli.asking import Settings, say, write_json, write_lines

if TYPE_CHECKING:
    from indexes.model.vocabulary import Chain, Hit, Hop, NameMatch
    from indexes.queries.index import Index

FIND_LIMIT = 50
USES_LIMIT = 200
_PLACE = regex(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?:?\Z")


def op(
    settings: Settings, name: str, overload: str | None = None, every: bool = False,
    full: bool = False, key: str | None = None,
) -> None:  # fmt: skip
    """The chains of the overloads that a name means. Raises NotFound."""
    index = settings.index()
    match = index.resolve(name)
    if match.kind == "none":
        raise NotFound(f"nothing is named {name!r} in {_tree(index)}", match.suggestions)
    overloads = _chosen(match, overload)
    shown = overloads if every else overloads[:1]
    alone = len(shown) == 1
    chains = (_only(index.chain(full_name, in_two=alone), key) for full_name in shown)
    if settings.json:
        _write_json(index, match, chains)
    else:
        write_lines(_text(index, match, chains, full))


def find(settings: Settings, text: str, limit: int = FIND_LIMIT) -> None:
    """What has a part of a name. Raises NotFound."""
    index = settings.index()
    hits = index.find(text, limit)
    if not hits:
        raise NotFound(f"nothing matches {text!r}", index.resolve(text).suggestions)
    _write_hits(settings, index, hits, limit)


def uses(settings: Settings, symbol: str, limit: int = USES_LIMIT) -> None:
    """Where a symbol is used. Raises NotFound."""
    index = settings.index()
    hits = index.uses(symbol, limit)
    if not hits:
        raise NotFound(f"no use of {symbol!r} found", index.resolve(symbol).suggestions)
    _write_hits(settings, index, hits, limit)


def at(settings: Settings, place: str) -> None:
    """What stands at ``FILE:LINE``. Raises NotFound and UsageError."""
    path, line = _parse(place)
    index = settings.index()
    relative = _in_tree(path, index.info.root)
    places = index.at(relative, line)
    if not places:
        raise NotFound(f"nothing that the index knows stands at {relative}:{line}")
    if settings.json:
        from indexes.serialize.answers import envelope, place_json

        write_json(envelope(index.info, places=[place_json(one) for one in places]))
    else:
        from navigator.text.answers import place_lines, source_lines

        write_lines([*place_lines(places), *source_lines(index.info)])


def _tree(index: Index) -> str:
    return f"PyTorch {index.info.version}"


def _chosen(match: NameMatch, overload: str | None) -> tuple[str, ...]:
    if overload is None:
        return match.overloads
    wanted = "" if overload == "default" else overload
    found = tuple(name for name in match.overloads if name.partition(".")[2] == wanted)
    if not found:
        raise NotFound(f"{match.text} has no overload {overload!r}", match.overloads)
    return found


def _only(chain: Chain, key: str | None) -> Chain:
    """The chain without what is for other keys or devices than ``key``."""
    if key is None:
        return chain
    dropped: set[int | None] = set()
    kept = []
    for hop in chain.hops:
        if hop.parent in dropped or not _is_for(hop, key):
            dropped.add(hop.id)
        else:
            kept.append(hop)
    unresolved = [one for one in chain.unresolved if not one.keys or key in one.keys]
    return replace(chain, hops=tuple(kept), unresolved=tuple(unresolved))


def _is_for(hop: Hop, key: str) -> bool:
    """Whether a hop is for ``key``, or for every key, as a composite kernel is."""
    named = hop.keys or ((hop.device,) if hop.device else ())
    return not named or key in named or any(name.startswith("Composite") for name in named)


def _write_json(index: Index, match: NameMatch, chains: Iterator[Chain]) -> None:
    from indexes.serialize.answers import chain_json, envelope, match_json

    if not match.overloads:
        write_json(envelope(index.info, match=match_json(match)))
    for chain in chains:
        write_json(chain_json(chain, match.overloads))


def _text(index: Index, match: NameMatch, chains: Iterator[Chain], full: bool) -> Iterator[str]:
    from navigator.text import answers as plaintext

    if match.note:
        yield from plaintext.wrap(match.note, "")
    if not match.overloads:
        yield from plaintext.hit_lines(match.hits)
    shown = set()
    for chain in chains:
        shown.add(chain.op.full_name)
        yield from plaintext.chain_lines(chain, full)
        yield ""
    if others := [name for name in match.overloads if name not in shown]:
        yield from plaintext.overload_lines(others)
    yield from plaintext.source_lines(index.info)


def _parse(place: str) -> tuple[str, int]:
    found = _PLACE.match(place)
    if not found or int(found["line"]) == 0:
        raise UsageError(f"expected FILE:LINE with a line from 1, not {place!r}")
    return found["path"], int(found["line"])


def _in_tree(path: str, root: str) -> str:
    """The path relative to the tree; it need not exist there."""
    here = os.path.abspath(path)
    for place, top in ((here, root), (os.path.realpath(here), os.path.realpath(root))):
        if _is_in(place, top) and (os.path.isabs(path) or os.path.exists(place)):
            return os.path.relpath(place, top).replace(os.sep, "/")
    if os.path.isabs(path):
        raise UsageError(f"{path} is not in the source tree {root}")
    return os.path.normpath(path).replace(os.sep, "/")


def _is_in(place: str, folder: str) -> bool:
    inside = os.path.join(os.path.normcase(folder), "")
    return os.path.normcase(place).startswith(inside)


def _write_hits(settings: Settings, index: Index, hits: Sequence[Hit], limit: int) -> None:
    if len(hits) >= limit:
        say(f"torchnav: these are the first {limit}; --limit gives more")
    if settings.json:
        from indexes.serialize.answers import envelope, hit_json

        write_json(envelope(index.info, hits=[hit_json(hit) for hit in hits]))
    else:
        from navigator.text.answers import hit_lines, source_lines

        write_lines([*hit_lines(hits), *source_lines(index.info)])
