"""TODO and FIXME comments in kernels."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree

_WORD = regex(r"(?:TODO|FIXME)\b(?<!\wTODO)(?<!\wFIXME)[^\n]*")
"""A literal first: the engine then skips to it, which a word's beginning would not let it."""
_LEAD = regex(r"(?:[^\"\n]|\"(?:[^\"\\\n]|\\.)*\")*?(//+)|[^\S\n]*(\*|/\*)")
"""What begins a comment on a line, outside of strings."""
_NEXT = regex(r"\n[^\S\n]*//+[^\S\n]*([^\n]*)")
_OTHER = regex(r"TODO|FIXME|NOLINT|clang-format")
_LONGEST = 200


def notes(text: str) -> Iterator[tuple[int, str]]:
    """(line, words) of the comments that hold TODO or FIXME, with the lines that go on."""
    line, counted, done = 1, 0, 0
    for match in _WORD.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        lead = _LEAD.match(text, start, match.start())
        if match.start() < done or lead is None:
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        words, done = _whole(text, text[lead.end() : match.end()].strip(), match.end(), lead[1])
        yield line, words


def _whole(text: str, words: str, end: int, lead: str | None) -> tuple[str, int]:
    """The comment to its end, or until it is long enough to understand."""
    while lead and len(words) < _LONGEST:
        following = _NEXT.match(text, end)
        if following is None or not following[1] or _OTHER.match(following[1]):
            break
        words, end = f"{words} {following[1].strip()}", following.end()
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}...", end


def find(tree: Tree) -> Iterator[Gap]:
    """One gap for each comment."""
    for path in tree.native_files:
        text = tree.text(path)
        if "TODO" not in text and "FIXME" not in text:
            continue
        for line, words in notes(text):
            yield _gap(tree, path, line, words)


def _gap(tree: Tree, path: str, line: int, words: str) -> Gap:
    function = tree.function_at(path, line)
    op = tree.operator_of(function)
    place, name = Location(path, line), function.name if function else path.rpartition("/")[2]
    subject = subject_of(function) if function else path
    rule = f"a {'FIXME' if 'FIXME' in words else 'TODO'} that the authors left in a kernel file"
    return Gap(place, words, rule, (place,), op, name, subject, stated=True)


KINDS = (Kind("todo", "easy", "TODO and FIXME in kernels", find, Tree.lacks_kernels, apart=True),)
