"""What a Python file says, or shows, of itself: that its functions have no types, which internal
functions of torch it calls."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.files import RemarkFact
from indexes.model.regex import MULTILINE, regex

_MARK = regex(r"^#\s*(?:mypy|pyrefly|pyre):\s*(allow-untyped-defs|ignore-errors)\b", MULTILINE)
_CALLS = (regex(r"torch\.(?<!\wtorch\.)(_[a-z]\w*)\("), regex(r"_VF\.(?<!\w_VF\.)(\w+)\("))
"""Literals first: the engine skips to them."""
_INTERNAL = regex(r"/_|^torch/testing/")


def read_mark(text: str) -> Iterator[RemarkFact]:
    """The comment by which a type checker passes over a file, with the size of the file."""
    found = _MARK.search(text) if "# mypy:" in text or "# py" in text else None
    if found:
        lines, functions = size_of(text)
        place = text.count("\n", 0, found.start()) + 1
        yield RemarkFact("untyped", found[1], place, f"{lines} {functions}")


def size_of(text: str) -> tuple[int, int]:
    """How many lines and functions a file has."""
    return text.count("\n"), text.count(" def ") + text.count("\ndef ")


def read_internal_calls(text: str, path: str) -> Iterator[RemarkFact]:
    """The functions ``torch._name(...)`` and ``_VF.name(...)`` that PyTorch's own modules call,
    without those that are internal themselves."""
    if path.startswith("torch/") and not _INTERNAL.search(path):
        for name in dict.fromkeys(name for call in _CALLS for name in call.findall(text)):
            yield RemarkFact("internal call", name, 0)
