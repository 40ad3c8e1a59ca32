"""What is read of source files, and how a few are read in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from indexes.build.scan_worker import Contents, answer, decode
from indexes.model.errors import Cancelled
from indexes.readers.cxx.facts import CppFacts
from indexes.source.walk import SourceFile
from indexes.store.packed import Defined

FEW = 24
"""Up to so many files are read in this process: a child costs more than it saves."""


@dataclass(slots=True)
class FileFacts:
    """What was read from one file."""

    path: str
    hash: bytes
    cpp: CppFacts | None
    """All but the definitions, of a C++ file."""
    defined: Defined = field(default_factory=Defined)
    python: list[tuple[Any, ...]] = field(default_factory=list)
    outline: str = ""
    problems: list[list[Any]] = field(default_factory=list)


def read_here(
    root: str, files: list[SourceFile], cancelled: Callable[[], bool]
) -> Iterator[FileFacts]:
    """Facts of ``files``, read in this process. Raises Cancelled."""
    contents = Contents(root)
    for file in files:
        stop_if(cancelled)
        yield unpack(*answer(contents, reader_kind(file), file.path, file.blob))


def stop_if(cancelled: Callable[[], bool]) -> None:
    """Raises Cancelled when that is asked for."""
    if cancelled():
        raise Cancelled("indexing was cancelled; nothing was changed")


def reader_kind(file: SourceFile) -> str:
    """Which reader a file goes to."""
    return "cpp" if file.kind == "cpp" else "python"


def unpack(kind: str, path: str, digest: bytes, packed: bytes) -> FileFacts:
    """Facts as they were encoded by a worker."""
    facts, problems = decode(packed)
    found = FileFacts(path, digest, CppFacts() if kind == "cpp" else None, problems=problems)
    if facts and found.cpp:
        defined, *rows = facts
        found.cpp, found.defined = CppFacts.from_rows(rows), Defined(*defined)
    elif facts:
        found.python, found.outline = facts
    return found
