"""The first stage of a build: the facts of single files, each from its bytes alone."""

from __future__ import annotations

import gc
import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from operator import attrgetter
from typing import Literal

from indexes.build.workers import forking, in_worker, start_workers, working
from indexes.model.errors import Cancelled, SourceError
from indexes.model.files import PythonFact, RemarkFact, Roots, placed
from indexes.model.vocabulary import Definition, Problem
from indexes.readers.cxx.facts import (
    UNSAID,
    CppFacts,
    DefinitionFact,
    holds_operators,
    read_cpp,
    read_texts,
)
from indexes.readers.cxx.shaders import jiterator_names
from indexes.readers.messages import MessageFact
from indexes.readers.notes import read_notes
from indexes.readers.python.messages import read_messages, read_variables
from indexes.readers.python.module import read_python
from indexes.readers.python.opinfo_tests import TESTING, SuiteFacts, read_suite
from indexes.readers.python.remarks import read_remarks, read_test_imports, read_word_lists
from indexes.readers.python.tests import is_test_file
from indexes.source.files import content_hash
from indexes.source.git import Repository
from indexes.source.source import folder_at
from indexes.source.walk import SourceFile
from indexes.store.rows import (
    Rows,
    cpp_rows,
    message_rows,
    python_rows,
    remark_rows,
    suite_rows,
    test_rows,
)

_READ_KINDS = ("cpp", "python", "test", "page", "yaml")
_TEMPLATES = (".cpp", ".h")
"""C++ templates of torchgen, of which messages are read."""
_FEW = 20
"""With fewer files, no processes are started."""
_MOST_WORKERS = 4
_CHUNK = 24


@dataclass(slots=True)
class FileFacts:
    """The facts of one file."""

    path: str
    hash: bytes
    """Of its content; empty if unreadable."""
    cpp: CppFacts | None = None
    python: list[PythonFact] = field(default_factory=list)
    tests: list[PythonFact] = field(default_factory=list)
    """The tests and classes of a test file."""
    suite: SuiteFacts | None = None
    """What the file says about tests with OpInfos."""
    messages: list[MessageFact] = field(default_factory=list)
    """The messages of a Python file."""
    remarks: list[RemarkFact] = field(default_factory=list)
    """Remarks of a Python file or a page."""
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class FileRows:
    """The rows of one file: plain tuples, which are cheap to send."""

    number: int
    path: str
    hash: bytes
    rows: Rows
    problems: list[Problem]


Numbered = tuple[int, SourceFile]
"""A file with its number in the index."""


def has_reader(file: SourceFile) -> bool:
    """Whether a file is read; others are only watched for changes."""
    return file.kind in _READ_KINDS or (file.kind == "other" and file.path.endswith(_TEMPLATES))


def reading_order(files: Iterable[SourceFile]) -> list[SourceFile]:
    """Files in the order of reading: C++ first, which takes longest."""
    return sorted(files, key=lambda f: (f.kind != "cpp", -f.size, f.path))


Places = tuple[str, Roots]
"""The top of the tree, and its extensions."""


def read_files(
    places: Places, files: Sequence[Numbered], cancelled: Callable[[], bool]
) -> Iterator[FileRows]:
    """The rows of ``files``, in order, read in parallel if there are many.

    Raises Cancelled, and SourceError if a reader process dies.
    """
    read = partial(read_rows, places)
    method = _method() if len(files) > _FEW else None
    if method is None:
        yield from _until(map(read, files), cancelled)
        return
    workers = max(1, min(_MOST_WORKERS, os.cpu_count() or 1))
    stopped = get_context(method).Event()
    readers = start_workers(workers, _start_worker, stopped, method=method)
    with working(readers, "a reader process") as pool:
        try:
            with forking():
                rows = pool.map(partial(_unless_stopped, read), files, chunksize=_CHUNK)
            yield from _until(rows, cancelled)
        finally:
            stopped.set()  # ctrl+c waits for the file that a reader is at, and for no more


def _method() -> Literal["spawn", "fork"] | None:
    """How readers are started; None to read in this process, so that a user's main module is not
    run again."""
    if in_worker.is_set():
        return "spawn"
    # A fork would copy the locks of other threads in whatever state they are.
    return "fork" if hasattr(os, "fork") and threading.active_count() == 1 else None


_stopped: list[Event] = []
"""Set in a reader process when nobody waits for it any more."""


def _start_worker(stopped: Event) -> None:
    _stopped.append(stopped)
    gc.disable()  # readers make nothing that holds itself
    _repository.cache_clear()  # a git process serves one of us alone


def _unless_stopped(read: Callable[[Numbered], FileRows], numbered: Numbered) -> FileRows:
    if _stopped[0].is_set():
        raise Cancelled("stopped")
    return read(numbered)


def _until(read: Iterator[FileRows], cancelled: Callable[[], bool]) -> Iterator[FileRows]:
    for facts in read:
        if cancelled():
            raise Cancelled("indexing was cancelled; nothing was changed")
        yield facts


@cache
def _repository(root: str) -> Repository | None:
    return Repository.at(root)


def _content(places: Places, file: SourceFile) -> bytes:
    """The bytes of a file, or of a blob. Raises OSError and SourceError."""
    if file.blob and (repository := _repository(places[0])):
        return repository.blob(file.blob)
    top, path = placed(file.path, *places)
    return folder_at(top).read(path)


def read_rows(places: Places, numbered: Numbered) -> FileRows:
    number, file = numbered
    facts = read_file(places, file)
    if facts.cpp:
        rows = cpp_rows(number, facts.cpp)
    else:
        rows = python_rows(number, facts.python) | test_rows(number, facts.tests)
        rows |= message_rows(number, facts.messages) | remark_rows(number, facts.remarks)
    if facts.suite:
        rows |= suite_rows(number, facts.suite)
    kept = {table: listed for table, listed in rows.items() if listed}
    return FileRows(number, facts.path, facts.hash, kept, facts.problems)


def read_file(places: Places, file: SourceFile) -> FileFacts:
    """The facts of one file of the tree or of an extension, or of a blob of its repository."""
    try:
        data = _content(places, file)
    except (OSError, SourceError) as error:
        return FileFacts(file.path, b"", problems=[Problem(file.path, 0, str(error))])
    facts = FileFacts(file.path, content_hash(data))
    try:
        _read(facts, file.kind, data)
    except Exception as error:  # noqa: BLE001 a reader's own bug must not cost the other files
        words = f"the {file.kind} reader failed: {type(error).__name__}: {error}"
        facts.problems.append(Problem(file.path, 0, words))
    return facts


def _read(facts: FileFacts, kind: str, data: bytes) -> None:
    if kind == "cpp":
        facts.cpp, problems = read_cpp(data, facts.path)
        if holds_operators(facts.path):
            found = jiterator_names(data, facts.path)
            facts.cpp.definitions += _jitted(found, facts.cpp.definitions)
    elif kind == "other":
        facts.messages, problems = read_texts(data), ()
    elif kind == "yaml":
        problems = ()  # the stage of operators reads it whole
    else:
        python, problems = read_python(data, facts.path)
        is_test = is_test_file(facts.path)
        if kind == "python":
            facts.messages = _messages(facts.path, data)
        if is_test:
            facts.remarks = read_test_imports(data)
        else:
            remarks = read_remarks(data, facts.path)
            facts.remarks = [*remarks, *read_word_lists(data, facts.path, remarks)]
        if is_test or facts.path.startswith(TESTING):
            facts.suite = read_suite(data, facts.path)
        for fact in python:
            plain = is_test and fact.kind in ("test", "class") and not (fact.target or fact.detail)
            (facts.tests if plain else facts.python).append(fact)
    if not facts.cpp:
        facts.remarks += read_notes(data.decode("utf-8", "replace"))
    facts.problems += problems


def _messages(path: str, data: bytes) -> list[MessageFact]:
    """The messages of a Python file; of PyTorch's own tests only what they raise."""
    found = read_messages(data)
    if path.startswith(TESTING):
        return [one for one in found if one.kind.startswith(("raise", "assert", "warnings."))]
    return [*found, *read_variables(data, path)]


def _jitted(
    found: Sequence[Definition], definitions: Sequence[DefinitionFact]
) -> list[DefinitionFact]:
    """Kernels that are compiled at run time, under their names then, each in the function that has
    it compiled."""
    functions = sorted((d for d in definitions if d.kind == "function"), key=attrgetter("line"))
    lines = [d.line for d in functions]
    made = []
    for one in found:
        line, last = one.location.line, one.location.end_line
        before = functions[: bisect_right(lines, last)][-1:]
        users = (f"{d.scope}::{d.name}" for d in before if last <= d.end_line)
        place = (one.name, next(users, ""), one.kind, line, line, one.parameters, "", 1)
        made.append(DefinitionFact(*place, *UNSAID, [], []))
    return made
