"""Finds the line that raises an error, by the error's text.

A message is stored as literals with holes for values. It matches a text that has the literals in
their order; the best is the one that explains most of the text, with all equal ones. If no single
message explains much, those near each other in a file count together, since several statements may
build one text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.message_match import Match, covered, letters, may_say
from indexes.queries.pasted import NOT_IMPLEMENTED, Pasted, all_pasted, part_of
from indexes.readers.messages import DISPATCH, HOLE, MAYBE, SHORTEST, VARIABLES, plain
from indexes.store.index_file import Store

_WARNS = regex(r"warn|WARN|[Dd]eprecated")
_LOGS = regex(r"log\b|logger|[Ll]og\.|LOG|print|GRAPH_|skip|debug|writeline")
"""Calls that log or test, and raise nothing."""
_WHOLE, _BEGINNING, _PART, _OPENING = 0.3, 0.45, 0.5, 0.1
"""A message explains at least so much of a text, or so many letters of it: where all of it stands
there, where the text begins with a part of it, where any other part stands there. Less where the
text begins with several words of it, and goes on with the others: behind a colon with what no
source says, as the words of CUDA's runtime."""
_LETTERS = 20
_FEW, _MOST = 10, 0.6
"""Fewer letters are enough of a text only where they are most of it."""
_TOGETHER = 0.6
"""Below this share of the text, other messages beside the best are considered."""
_ALL_BUT_VALUES = 0.8
_NEAR = 90
"""Most lines between two statements that build one text."""
_WORD = 6
"""Fewest letters of a text shorter than any message."""


class Message(NamedTuple):
    """A message of the tree that matches a text."""

    location: Location
    kind: str
    """What gets it: ``TORCH_CHECK``, ``raise ValueError``, ``warnings.warn``."""
    text: str
    """Its literals, with ``...`` for values."""
    covered: int
    """The number of the text's letters in its literals."""
    is_whole: bool
    """Whether all its literals occur; else the text may be part of it."""
    values: tuple[str, ...] = ()
    """The texts in the holes, where known."""

    is_rest: bool = False
    """Whether it continues the message before it."""

    is_alike: bool = False
    """Whether it explains part of the text and contradicts another part."""

    @property
    def does(self) -> str:
        """``warning``, or ``error``."""
        return "warning" if _WARNS.search(self.kind) else "error"


class _Row(NamedTuple):
    """A message of the index."""

    path: str
    line: int
    end_line: int
    kind: str
    said: str


_ROWS = "SELECT f.path,m.line,m.end_line,m.kind,m.text FROM messages m JOIN files f ON f.id=m.file"


class Messages:
    """The messages of a tree, read once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def said(self, text: str) -> tuple[Message, ...]:
        """The messages that a text can be, all equally good ones. For a traceback, the last
        exception, or else one around it."""
        found = (self._said(one) for one in all_pasted(text))
        return next(filter(None, found), ())

    def _said(self, asked: Pasted) -> tuple[Message, ...]:
        asked = asked._replace(text=_bare(asked.text))
        if len(asked.text) < SHORTEST and letters(asked.text) < _WORD:
            return ()
        name = part_of(asked.text, NOT_IMPLEMENTED)
        if name and (dispatched := self._dispatched(name)):
            return _raised_from(dispatched, asked)
        if asked.raised_from:
            there = self._found(asked.text, loosely=True, within=asked.raised_from[0])
            if here := _best(asked, list(there)):
                return _raised_from(here, asked)
        if asked.logged and (here := self._logged(asked)):
            return here
        every = list(self._found(asked.text))
        found = _best(asked, every)
        if found and found[0].is_alike and (begun := _beginning(every)):
            return _raised_from(_best(asked, begun), asked)
        if all(one.is_alike for one in found):  # another may share more words with the text
            found = _best(asked, list(self._found(asked.text, loosely=True))) or found
            found = self._mostly_said(asked, found)
        return _raised_from(found, asked)

    def _logged(self, asked: Pasted) -> tuple[Message, ...]:
        """The messages of the file that logs a record, if the record begins with one."""
        found = self._found(asked.text, loosely=True, within=asked.logged)
        return _best(asked, [one for one in found if one.begins and one.covered >= _LETTERS])

    def _mostly_said(self, asked: Pasted, found: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages of which most sentences are in a text, whatever stands between them in
        another version, if they explain more of it than what was found."""
        text, outside = asked.text, letters(_VALUES.sub("", asked.text))
        every = self._found(text, by_sentence=True)
        whole = [one._replace(covered=covered(text, one.spans), fits=False) for one in every]
        shares = ((one, _BEGINNING if one.begins else _PART) for one in whole)
        other = _best(asked, [one for one, share in shares if one.covered >= share * outside])
        return other if other and other[0].covered > _most_covered(found) else found

    def errors(self) -> Iterator[Message]:
        """All messages that are raised."""
        every = (_message(row, 0, True) for row in self._all)
        return (one for one in every if one.kind and one.does == "error")

    def dispatched(self, name: str) -> tuple[Message, ...]:
        """The dtype dispatches under exactly this name."""
        rows = self._rows("m.kind=? AND m.text=?", DISPATCH, name)
        return tuple(_message(row, letters(name), True) for row in rows)

    @cached_property
    def _all(self) -> list[_Row]:
        return self._rows("m.kind NOT IN (?,?,?,?)", DISPATCH, *VARIABLES)

    def _rows(self, condition: str, *values: str) -> list[_Row]:
        return [_Row(*row) for row in self._store.query(f"{_ROWS} WHERE {condition}", values)]

    def _dispatched(self, name: str) -> tuple[Message, ...]:
        """The dtype dispatches under a name, or one that a macro concatenates: ``#op
        "_vml_cpu"``."""
        if found := self.dispatched(name):
            return found
        joined = "substr(m.text,1,1)='_' AND substr(?,-length(m.text))=m.text"
        rows = self._rows(f"m.kind=? AND {joined}", DISPATCH, name)
        return tuple(_message(row, letters(name), True) for row in rows)

    def _found(
        self, text: str, *, loosely: bool = False, by_sentence: bool = False, within: str = ""
    ) -> Iterator[_Found]:
        """Messages that match a text in part; ``loosely`` also those that only begin so, as another
        version has other words; ``by_sentence``: each sentence for itself; ``within``: the end of
        the only file to consider, or a path that ends with it."""
        for row in self._all:
            if within and not _is_same_end(within, row.path):
                continue
            message = _bare(row.said)
            message = _SENTENCE_END.sub(f". {HOLE}", message) if by_sentence else message
            if (" " in text or text == message) and may_say(message, text):
                match = Match(text, message, loosely=loosely)
                if match.covered * 2 < letters(text) and text in message:
                    yield _Found(row, letters(text), ((0, len(text)),), False, True, True, ())
                elif match.spans:
                    spans = tuple(match.spans)
                    whole, values = match.is_whole, tuple(match.values)
                    begins = match.begins
                    yield _Found(row, match.covered, spans, whole, begins, match.fits, values)


_SENTENCE_END = regex(rf"\. (?=[^{HOLE}{MAYBE}])")


def _is_same_end(one: str, other: str) -> bool:
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")


def _bare(text: str) -> str:
    return text.replace("`", "")


class _Found(NamedTuple):
    """A message with its match."""

    row: _Row
    covered: int
    spans: tuple[tuple[int, int], ...]
    is_whole: bool
    begins: bool
    fits: bool
    values: tuple[str, ...]


def _message(
    row: _Row, covered: int, is_whole: bool, values: tuple[str, ...] = (), is_rest: bool = False
) -> Message:
    path, line, last, kind, said = row
    shown = plain(said.replace(MAYBE, "").replace(HOLE, " ... "))
    return Message(Location(path, line, last), kind, shown, covered, is_whole, values, is_rest)


def _best(asked: Pasted, found: list[_Found]) -> tuple[Message, ...]:
    text = asked.text
    enough = [one for one in dict.fromkeys(found) if _is_enough(one, asked)]
    telling = [one for one in enough if not _LOGS.search(one.row.kind)] or enough
    most = max((one.covered for one in telling), default=0)
    if parts := _wrapped(telling, asked):
        return tuple(_as_message(one, one is parts[-1]) for one in parts)
    if most < _TOGETHER * letters(text) and (parts := _together(asked, telling, found)):
        few = 2 * covered(text, [span for one in parts for span in one.spans]) < letters(text)
        is_alike = few and " " in text[: parts[0].spans[0][0]].strip()
        return tuple(_as_message(o, o is not parts[0])._replace(is_alike=is_alike) for o in parts)
    best = [one for one in telling if one.covered == most or _says_all(one, most)]
    best.sort(key=lambda one: _likeliness(one, asked, most))
    return tuple(_as_message(one)._replace(is_alike=_is_alike(one, text)) for one in best)


_VALUES = regex(r"'[^'\n]*'|\"[^\"\n]*\"|\[[^\[\]\n]*\]|\([^()\n]*\)")


def _most_covered(found: Iterable[Message]) -> int:
    return max((one.covered for one in found), default=0)


def _beginning(found: Iterable[_Found]) -> list[_Found]:
    """The messages that a text begins with, as whole messages of several words."""
    return [o for o in found if o.is_whole and o.begins and o.fits and o.covered >= _LETTERS]


def _is_alike(one: _Found, text: str) -> bool:
    """Whether a message contradicts the text, or is the lesser part of a sentence in it."""
    is_part = " " in text[: one.spans[0][0]].strip() or _GOES_ON.match(text, one.spans[-1][1] - 2)
    return not one.fits or bool(is_part and 2 * one.covered < letters(text))


_GOES_ON = regex(r"\w?\w \w+ [a-z]+ [a-z]+ ")


def _wrapped(found: Iterable[_Found], asked: Pasted) -> list[_Found]:
    """If the text is one message's part up to a colon, followed by another whole message: the
    latter first."""
    around = [one for one in found if not one.is_whole and one.begins and len(one.spans) == 1]
    for outer in sorted(around, key=lambda one: -one.covered):
        end = outer.spans[0][1]
        inner = [one for one in found if one.is_whole and one.spans[0][0] - end in (0, 1)]
        if inner and asked.text[:end].endswith(":"):
            most = max(one.covered for one in inner)
            best = [one for one in inner if one.covered == most]
            return [*sorted(best, key=lambda one: _likeliness(one, asked)), outer]
    return []


def _says_all(one: _Found, most: int) -> bool:
    """Whether a message explains the whole text with values that another has as literals."""
    return one.is_whole and one.begins and one.covered >= _ALL_BUT_VALUES * most


def _raised_from(found: tuple[Message, ...], asked: Pasted) -> tuple[Message, ...]:
    """The matches in the file named by the C++ stack, or else by the traceback's last frame; else
    those in C++. A function of PyTorch that raises what another made keeps them all."""
    named = asked.raised_from or (asked.frame[:2] if asked.frame else None)
    if named is None:
        return found
    path, line = named
    here = tuple(one for one in found if path.endswith(f"/{one.location.path}"))
    exact = tuple(o for o in here if o.location.line <= line <= o.location.end_line)
    cxx = tuple(one for one in found if not one.location.path.endswith(".py"))
    if asked.raised_from:
        return exact or here or cxx
    return exact or here or (found if "/torch/" in path else cxx or found)


def _as_message(one: _Found, is_rest: bool = False) -> Message:
    return _message(one.row, one.covered, one.is_whole, one.values, is_rest)


def _together(asked: Pasted, strong: Iterable[_Found], found: Iterable[_Found]) -> list[_Found]:
    """Messages near each other in a file that together explain more than any single one, in the
    text's order, with weak ones last."""
    whole = (one for one in found if one.is_whole and one.covered >= SHORTEST)
    files = grouped((one.row.path, one) for one in whole)
    strong = [one for one in strong if one.fits] or list(strong)
    groups = [_neighbours(one, files.get(one.row.path, [])) for one in strong]
    shares = [
        covered(asked.text, [span for one in group for span in one.spans]) for group in groups
    ]
    most = max((one.covered for one in strong), default=0)
    best = [group for group, share in zip(groups, shares, strict=True) if share == max(shares)]
    if not best or max(shares) <= most:
        return []
    group = min(best, key=lambda group: _likeliness(group[0], asked))
    return sorted(group, key=lambda one: (not _is_enough(one, asked), one.spans))


def _neighbours(first: _Found, others: list[_Found]) -> list[_Found]:
    group, taken = [first], list(first.spans)
    for one in sorted(others, key=lambda one: -one.covered):
        near = abs(one.row.line - first.row.line) <= _NEAR
        if near and not any(_overlap(span, other) for span in one.spans for other in taken):
            group.append(one)
            taken += one.spans
    return group


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _is_enough(one: _Found, asked: Pasted) -> bool:
    share = _WHOLE if one.is_whole else _BEGINNING if one.begins else _PART
    parts = [asked.text[start:end].strip() for start, end in one.spans]
    if one.is_whole and one.begins and any(map(_SEVERAL.search, parts)):
        share = _OPENING
    count = letters(asked.text)
    few = SHORTEST if share == _OPENING and one.row.said.endswith(":") else _FEW
    if few == SHORTEST:  # what stands behind the colon may be as long as it likes
        share = 0.0
    least = max(share * count, min(few, _MOST * count))
    return one.covered >= min(_LETTERS, least)


def _likeliness(one: _Found, asked: Pasted, most: int = 0) -> tuple[bool | int | str, ...]:
    """Sort key, smaller is likelier; ``most`` is the best match's number of letters."""
    path, line, _, kind, said = one.row
    named = any(place.endswith(_tail(path)) for place, *_ in asked.places)
    aside = path.startswith(_ASIDE) or _is_of_other_device(path, asked.text)
    characters = sum(end - start for start, end in one.spans)
    start, end = one.spans[-1]
    behind = said.partition(asked.text[start:end].strip())[2].lstrip(" ")
    nested = path.count("/")  # what many call stands nearer to the top
    rest = (
        one.covered < most,
        not one.is_whole,
        not one.fits,
        behind[:1] not in ("", HOLE),  # rather a value follows than other words
        -characters,
        len(said),
        nested,
        path,
        line,
    )
    return not named, not _can_raise(kind, asked.raised), aside, *rest


_ASIDE = (
    *("torch/csrc/api/", "torch/testing/_internal/"),
    *("torch/_decomp/", "torch/_refs/", "torch/_prims", "torch/_meta_registrations"),
    *("torch/_subclasses/", "torch/jit/_shape_functions"),
)
"""The C++ frontend, PyTorch's own tests, and copies of kernels' messages in meta functions."""
_DEVICE = regex(r"/(metal|miopen|mkldnn|mps|mtia|nested|quantized|sparse|vulkan|xpu)/")
"""Folders for devices, layouts and tensors that few programs have."""


def _is_of_other_device(path: str, text: str) -> bool:
    found = _DEVICE.search(path)
    return found is not None and found[1] not in text.lower()


def _can_raise(kind: str, raised: str) -> bool:
    return not raised or raised.endswith(_exception_of(kind))


_SEVERAL = regex(r"[ _]")
"""Between words or their parts."""
_MACRO = regex(r"(?:TORCH_CHECK|_check)(?:_([A-Za-z_]+))?\Z")
"""``TORCH_CHECK_NOT_IMPLEMENTED``, ``torch._check_type``: the end names the class."""
_OTHERS = ("with", "msg", "is_size", "tensor_all")


def _exception_of(kind: str) -> str:
    """The Python exception class that a statement raises; empty if open."""
    raises, _, name = kind.rpartition(" ")
    if raises.startswith("raise"):
        return name.rpartition(".")[2]
    if kind == "assert":
        return "AssertionError"
    if _WARNS.search(kind):
        return "Warning"
    if not (found := _MACRO.search(kind)):
        return "RuntimeError" if "ASSERT" in kind or "runtime_error" in kind else ""
    words = (found[1] or "runtime").lower()
    return "" if words in _OTHERS else "".join(map(str.capitalize, words.split("_"))) + "Error"


def _tail(path: str) -> str:
    """The end of a path that an installed file has in common with it."""
    return path.removeprefix("aten/src/").removeprefix("torch/csrc/")
