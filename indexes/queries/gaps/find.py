"""Finds the gaps of a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache

from indexes.model.errors import UsageError
from indexes.queries.contribution.reviewers import Reviewers
from indexes.queries.gaps.kinds import KINDS
from indexes.queries.gaps.model import (
    CONFIDENCES,
    DIFFICULTIES,
    Difficulty,
    Gap,
    GapFilter,
    GapList,
    KeyCount,
    Kind,
    KindCount,
)
from indexes.queries.gaps.requirements import BUILD, MEANS, is_for, needs
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from indexes.source.git_history import History


def find_gaps(
    index: Index, wanted: GapFilter | None = None, owners: bool = True, tree: Tree | None = None
) -> GapList:
    """The matching gaps, most useful first: easy before hard, then those stated by PyTorch's own
    files before those found by rule, then by use; uncertain ones last. Without ``owners`` none are
    added unless a filter needs them, since ten thousand files take a second: see ``with_owners``.
    ``tree``: a cache."""
    wanted = wanted or GapFilter()
    tree = tree or Tree(index)
    add = _Owners(index).add if owners or wanted.owner or wanted.text else _as_it_is
    counts: list[KindCount] = []
    found: list[Gap] = []
    untold: list[tuple[str, str]] = []
    for kind in KINDS:
        if not _is_asked(kind.name, wanted):
            continue
        lacks = _lacks(kind, tree)
        unknown = {} if lacks else kind.unknown(tree)
        untold += _named(tree, unknown, wanted.key)
        lacks = lacks or unknown.get(wanted.key, "")
        gaps = [] if lacks else _of_kind(tree, kind)
        fitting = [gap for gap in map(add, gaps) if fits(gap, wanted)]
        count, possible = len(fitting), _possible(fitting)
        level = _level(fitting) or kind.difficulty
        counts.append(KindCount(kind.name, level, kind.title, count, lacks, possible))
        found += fitting
    keys = _key_counts(found, untold, wanted)
    return GapList(index.info, tuple(counts), tuple(sorted(found, key=_order)), tuple(keys))


def _named(tree: Tree, unknown: Mapping[str, str], name: str) -> list[tuple[str, str]]:
    """The unknown keys in entries, and the one asked for."""
    named = {key for rows in tree.kernels.values() for key in rows} if unknown else ()
    return [(key, reason) for key, reason in unknown.items() if key == name or key in named]


def _is_asked(kind: str, wanted: GapFilter) -> bool:
    return kind in (wanted.kinds or _USUAL)


def _level(gaps: Iterable[Gap]) -> Difficulty | None:
    """The difficulty of all gaps, if it is the same."""
    levels = {gap.difficulty for gap in gaps}
    return levels.pop() if len(levels) == 1 else None


def _possible(gaps: Iterable[Gap]) -> int:
    return sum(gap.confidence == "possible" for gap in gaps)


def _key_counts(
    gaps: Iterable[Gap], untold: Iterable[tuple[str, str]], wanted: GapFilter
) -> Iterator[KeyCount]:
    """Missing kernels by key, most first, then unknown keys with reasons."""
    found: dict[str, list[Gap]] = {}
    for gap in gaps:
        for key in gap.keys if gap.kind == "kernel" else ():
            found.setdefault(key, []).append(gap)
    for key, some in sorted(found.items(), key=lambda one: -len(one[1])):
        yield KeyCount(key, len(some), "", _possible(some))
    for key, reason in untold:
        if wanted.key.lower() in ("", key.lower()):
            yield KeyCount(key, 0, reason)


def with_owners(index: Index, gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    """The gaps with the reviewers of their files."""
    return tuple(map(_Owners(index).add, gaps))


def _as_it_is(gap: Gap) -> Gap:
    return gap


def find_gap(index: Index, wanted: str, tree: Tree | None = None) -> Gap | None:
    """The gap with an id, ``kernel/MPS/gcd``; None if this tree has no such gap."""
    tree = tree or Tree(index)
    kind = next((one for one in KINDS if wanted.startswith(f"{one.name}/")), None)
    if kind is None or _lacks(kind, tree):
        return None
    found = next((gap for gap in _of_kind(tree, kind) if gap.id == wanted), None)
    return _Owners(index).add(found) if found else None


def _of_kind(tree: Tree, kind: Kind) -> list[Gap]:
    """All gaps of a kind, those of one subject numbered by place."""
    counts: Counter[str] = Counter()
    found = []
    gaps = sorted(kind.find(tree), key=lambda gap: (gap.location.path, gap.location.line))
    for gap in gaps:
        placed = _placed(tree, kind, gap)
        counts[placed.id] += 1
        number = counts[placed.id]
        found.append(replace(placed, number=number) if number > 1 else placed)
    return found


def _lacks(kind: Kind, tree: Tree) -> str:
    """Why this tree cannot tell, with the command that helps."""
    lacks = kind.lacks(tree)
    return f"{lacks}: torchnav clone" if lacks and tree.source.kind == "wheel" else lacks


def _placed(tree: Tree, kind: Kind, gap: Gap) -> Gap:
    native = tree.natives[gap.op] if gap.op else None
    name = tree.natives[gap.op].name if gap.op else gap.name
    needed = needs(gap, kind.python)
    return replace(
        gap,
        kind=kind.name,
        name=gap.name or name,
        module=(native.python_module or "") if native else "",
        uses=tree.popularity.get(name, 0),
        needs=needed,
        difficulty=grade(gap, kind, needed),
        effort=effort(gap, kind, needed),
    )


_NAMES = tuple(kind.name for kind in KINDS)
_USUAL = frozenset(kind.name for kind in KINDS if not kind.apart)
"""The default kinds."""


def _order(gap: Gap) -> tuple[object, ...]:
    return (
        gap.confidence == "possible",
        DIFFICULTIES.index(gap.difficulty),
        _NAMES.index(gap.kind),
        not gap.stated,
        -gap.uses,
        gap.size,
        gap.location.path,
        gap.location.line,
    )


class _Owners:
    """Reviewers of a gap's file, and the label for maintainers. A merge rule only says who may
    approve. Cached by file."""

    def __init__(self, index: Index) -> None:
        reviewers = Reviewers(index.source)
        self._of = cache(lambda path: _names(reviewers, path))

    def add(self, gap: Gap) -> Gap:
        return replace(gap, owners=self._of(gap.location.path))


def _names(reviewers: Reviewers, path: str) -> tuple[str, ...]:
    """The reviewers that lists name, each once: a login is ``@albanD`` in one and ``alband`` in
    another."""
    found: dict[str, str] = {}
    for one in reviewers.asked(path):
        for name in one.who if one.rule != "*" else ():
            found.setdefault(name.removeprefix("@").lower(), name)
    return tuple(found.values())


# ------------------------------------------------------------------------------ filter


def parse_filter(text: str) -> GapFilter:
    """Parses a filter: ``easy kind:todo key:MPS module:linalg owner:name no-gpu words``. Raises
    UsageError for an unknown kind."""
    kinds: list[str] = []
    words: list[str] = []
    has: list[str] = []
    named = dict.fromkeys(("key", "module", "owner", "difficulty", "confidence"), "")
    for word in text.split():
        field, colon, value = word.partition(":")
        if word in DIFFICULTIES:
            named["difficulty"] = word
        elif word in MEANS:
            has.append(word)
        elif word in CONFIDENCES:
            named["confidence"] = word
        elif colon and field == "kind":
            kinds += _known_kinds(value)
        elif colon and field in named:
            named[field] = value
        else:
            words.append(word)
    return GapFilter(tuple(kinds), has=tuple(has), text=" ".join(words), **named)


def _known_kinds(value: str) -> list[str]:
    """The kinds with this prefix, which may be incomplete."""
    found = [kind.name for kind in KINDS if kind.name.startswith(value)]
    if not found:
        raise UsageError(f"no kind of gap is named {value}: {', '.join(k.name for k in KINDS)}")
    return found


def fits(gap: Gap, wanted: GapFilter) -> bool:
    """Whether a gap matches a filter."""
    return (
        _is_asked(gap.kind, wanted)
        and (not wanted.confidence or gap.confidence == wanted.confidence)
        and (not wanted.difficulty or gap.difficulty == wanted.difficulty)
        and (not wanted.key or _has_key(gap, wanted.key))
        and (not wanted.module or _is_in(gap, wanted.module))
        and (not wanted.owner or _has_owner(gap, wanted.owner))
        and all(is_for(gap, one) for one in wanted.has)
        and all(word in shown(gap) for word in wanted.text.lower().split())
    )


def _has_key(gap: Gap, key: str) -> bool:
    """By its own key, or the device of its file's folder."""
    key = key.lower()
    return key in (one.lower() for one in gap.keys) or f"/{key}/" in gap.location.path.lower()


def _is_in(gap: Gap, module: str) -> bool:
    folder = module.strip("/")
    path = f"/{gap.location.path}"
    return module == gap.module or f"/{folder}/" in path or path.endswith(f"/{folder}")


def _has_owner(gap: Gap, owner: str) -> bool:
    owner = owner.lower().lstrip("@")
    return any(owner in one.lower() for one in gap.owners)


def shown(gap: Gap) -> str:
    """What is shown of a gap in lower case, for text filters."""
    words = (
        gap.kind,
        gap.id,
        gap.difficulty,
        gap.name,
        gap.what,
        gap.rule,
        str(gap.location),
        gap.module,
    )
    return " ".join((*words, *gap.keys, *gap.owners)).lower()


# --------------------------------------------------------------------------------- age


def with_ages(index: Index, gaps: Iterable[Gap], today: date) -> tuple[tuple[Gap, ...], str]:
    """The gaps with the age of their lines, and what the history lacks. git is called once for
    each. No age is given for a line that a shallow history may only have added."""
    history = History(index.source)
    note = ""
    aged = []
    for gap in gaps:
        blame = history.blame(gap.location.path, gap.location.line, gap.location.line)
        note = note or blame.note
        change = blame.lines[0].change if blame.lines else None
        known = change is not None and not change.at_cut
        days = (today - date.fromisoformat(change.date)).days if change and known else None
        aged.append(replace(gap, age_days=days))
    return tuple(aged), note


_NEEDED = {BUILD: "a build", "cuda": "an NVIDIA GPU", "mac": "a Mac", "rocm": "an AMD GPU"}


def grade(gap: Gap, kind: Kind, needs: Sequence[str]) -> Difficulty:
    """The difficulty of the kind or the gap; easy only if small and without rare devices."""
    level = gap.difficulty if kind.graded else kind.difficulty
    is_large = bool(kind.few) and gap.size > kind.few
    is_apart = any(one != BUILD for one in needs)
    return "medium" if level == "easy" and (is_large or is_apart) else level


def effort(gap: Gap, kind: Kind, needs: Sequence[str]) -> str:
    """The effort in words: ``3 places, needs a build and a Mac``."""
    what, _, where = kind.unit.partition(" ")
    one = what.removesuffix("s") if gap.size == 1 else what
    amount = [f"{gap.size:,} {one} {where}".rstrip()] if gap.size and kind.unit else []
    needed = " and ".join(_NEEDED.get(one, one) for one in needs)
    return ", ".join([*amount, *([f"needs {needed}"] if needed else [])])
