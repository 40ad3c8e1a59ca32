"""OpInfo entries: which operator, tested under which name, stands where.

An entry is a call of a class whose name ends in ``Info``, with a literal name, in one of the
lists of ``torch/testing/_internal`` (``op_db``, ``python_ref_db``, ``foreach_*_op_db`` ...)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.readers.python.blocks import Spans, Text, code_end, occurrences
from indexes.readers.python.facts import PythonFact, pack

_FOREACH_PREFIX = "_foreach_"
"""``ForeachFuncInfo("add")`` is ``_foreach_add``: its ``__init__`` puts this in front."""


class _Entry(NamedTuple):
    start: int
    """Offset of the line."""
    cls: str
    name: str
    keywords: int
    """Offset past the name: where keyword arguments begin."""
    database: str
    limit: int
    """End of the list it stands in."""


_CALL = regex(
    rb"(?<![\w.])(\w*Info|make_\w*opinfo)\(\s*(?:#[^\n]*\s*)*"
    rb"(?:(?:name\s*=\s*)?(?:\"([^\"\n]+)\"|'([^'\n]+)')\s*[,)])?"
)
_MAKER = regex(rb"def (make_\w*opinfo)\(")
_LIST = regex(rb"\n(\w+)(?:[ \t]*:[^\n=]+)?[ \t]*\+?=[ \t]*[\[(](?=[ \t]*(?:#[^\n]*)?\n)")
_SPREAD = regex(rb"\*[(\[]\s*$")
_LIST_END = regex(rb"\n[\])]")
_LONGEST_CLASS = 60


def is_opinfo_file(path: str, data: bytes) -> bool:
    """Whether a file can hold OpInfo entries: PyTorch's own, not tests that make a few."""
    return "testing/_internal/" in path and b"Info(" in data


def read_opinfo(text: Text) -> list[PythonFact]:
    """The OpInfo entries of a file, one fact for each name that leads to an operator."""
    data = text.data
    entries = list(_entries(data, text.strings))
    texts = list(_texts(data, entries, text.strings))
    explicit = {
        (entry.name, _keyword(written, b"variant_test_name")): _keyword(written, b"aten_name")
        for entry, written, _ in texts
    }
    facts: list[PythonFact] = []
    line, counted = 1, 0
    for entry, written, end in texts:
        line += data.count(b"\n", counted, entry.start)
        counted = entry.start
        end_line = line + data.count(b"\n", entry.start, end)
        facts.extend(_facts(entry, written, explicit, line, end_line))
    return facts


def _entries(data: bytes, strings: Spans) -> Iterator[_Entry]:
    makers = dict(_makers(data))
    limit = 0
    for match in _LIST.finditer(data):
        if match.start() < limit:
            continue
        closing = _LIST_END.search(data, match.end())
        limit = closing.start() if closing else len(data)
        marks = [*occurrences(data, b"Info(", match.end(), limit)]
        marks += [*occurrences(data, b"opinfo(", match.end(), limit)]
        outermost = 0
        for at in sorted(marks):
            start = data.rfind(b"\n", 0, at) + 1
            before = data[start:at]
            indent = len(before) - len(before.lstrip())
            outermost = outermost or indent
            if indent > outermost and not _SPREAD.search(data, max(start - 40, 0), start):
                continue
            entry = _entry(data, at, start, makers)
            if entry and not strings.end_at(at):
                yield entry._replace(database=match[1].decode(), limit=limit)


def _makers(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Functions that make an entry, with the name that they give it (empty when passed in)."""
    for at in occurrences(data, b"def make_"):
        match = _MAKER.match(data, at)
        if match is None or data[at - 1 : at].strip(b"\n"):
            continue
        made = re.compile(rb"return \w*Info\(\s*[\"']([^\"'\n]+)[\"']").search(data, match.end())
        yield match[1], made[1] if made and made.start() - match.end() < _LONGEST_MAKER else b""


def _entry(data: bytes, at: int, start: int, makers: dict[bytes, bytes]) -> _Entry | None:
    before = data[max(start, at - _LONGEST_CLASS) : at]
    name_start = at - (len(before) - len(before.rstrip(_WORD)))
    match = _CALL.match(data, name_start)
    if match is None or b"#" in data[start:name_start]:
        return None
    name = match[2] or match[3] or makers.get(match[1], b"")
    if not name:
        return None
    return _Entry(start, match[1].decode(), name.decode("utf-8", "replace"), match.end(), "", 0)


_LONGEST_MAKER = 1000
_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


def _texts(
    data: bytes, entries: list[_Entry], strings: Spans
) -> Iterator[tuple[_Entry, bytes, int]]:
    """Each entry with the text of its keyword arguments and the offset of its end."""
    for entry, following in zip_longest(entries, entries[1:]):
        limit = min(entry.limit, following.start - 1 if following else entry.limit)
        spread = _SPREAD.search(data, max(limit - 40, entry.start), limit)
        limit = data.rfind(b"\n", 0, spread.start()) if spread else limit
        end = code_end(data, entry.start, limit, strings)
        yield entry, data[entry.keywords : end], end


# --------------------------------------------------------------------------------- facts


def _facts(
    entry: _Entry, text: bytes, explicit: dict[tuple[str, str], str], line: int, end_line: int
) -> Iterator[PythonFact]:
    name = _FOREACH_PREFIX + entry.name if entry.cls.startswith("Foreach") else entry.name
    ref_of = _keyword(text, b"torch_opinfo_name")
    ref_variant = _keyword(text, b"torch_opinfo_variant_name")
    variant = _keyword(text, b"variant_test_name")
    aten_name = explicit[entry.name, variant] or explicit.get((ref_of, ref_variant), "")
    detail = pack(
        cls=entry.cls,
        db=entry.database,
        variant=variant or ref_variant,
        aten_name=aten_name,
        op=_operator(text),
        ref_of=ref_of,
    )
    targets = [_target(aten_name or ref_of or name)]
    targets += [f"torch.{alias}" for alias in _aliases(text)]
    for target in dict.fromkeys(targets):
        yield PythonFact("opinfo", target, name, line, end_line, detail)


def _target(aten_name: str) -> str:
    """``aten_name`` is the operator's name; without one, it is the dotted name as it is."""
    return f"aten::{aten_name}" if aten_name.isidentifier() else f"torch.{aten_name}"


_TEXT = regex(rb"\s*=\s*(?:\"([^\"\n]*)\"|'([^'\n]*)')")


def _keyword(text: bytes, keyword: bytes) -> str:
    """The text given to a keyword argument; comments and longer keywords are passed over."""
    for at in occurrences(text, keyword):
        line = text[text.rfind(b"\n", 0, at) + 1 : at]
        match = _TEXT.match(text, at + len(keyword))
        if match and b"#" not in line and line[-1:] not in _WORD_ENDS:
            return (match[1] or match[2] or b"").decode("utf-8", "replace")
    return ""


_WORD_ENDS = {bytes([one]) for one in _WORD}


def _operator(text: bytes) -> str:
    if b"op=" not in text:
        return ""
    match = re.search(rb"[,(\s]op\s*=\s*(torch\.[\w.]+)\s*[,)]", text)
    return match[1].decode() if match else ""


def _aliases(text: bytes) -> list[str]:
    if b"aliases" not in text:
        return []
    match = re.search(rb"(?<![\w])aliases\s*=\s*[(\[]([^)\]]*)", text)
    return [one.decode() for one in re.findall(rb"[\"']([\w.]+)[\"']", match[1])] if match else []
