"""Reads source files in processes of their own: paths in, facts out.

A plain child process rather than a pool: it needs nothing from the program that
starts it, be that a terminal UI with threads or a script without a main guard. It loads
the readers once and forks, one process for each pipe that it is given.
Input: a marshalled list of ``Asked``. Output: batches, each its size in ``SIZE_BYTES`` bytes
and a marshalled list of ``Answer``; an empty batch says that there are no more.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import sys
from typing import TYPE_CHECKING, Any

from indexes.model.errors import SourceError
from indexes.model.vocabulary import Definition
from indexes.readers.cxx.facts import DefinitionFact, holds_operators, read_cpp
from indexes.readers.cxx.jiterator import read as read_jiterator
from indexes.source.files import Folder, content_hash
from indexes.source.git import Repository
from indexes.store.packed import pack_definitions, pack_python

if TYPE_CHECKING:
    from typing import IO, NoReturn


def read_facts(kind: str, path: str, data: bytes) -> list[Any]:
    """``[facts, problems]`` of one file as plain lists."""
    if kind == "cpp":
        cpp, problems = read_cpp(data, path)
        if holds_operators(path):
            cpp.definitions += [_jitted(d) for d in read_jiterator(data, path)[0]]
        defined = tuple(pack_definitions(cpp.definitions))
        return [[defined, *cpp.to_rows()], [[p.line, p.message] for p in problems]]
    from indexes.readers.python.module import read_python

    python, problems = read_python(data, path)
    rows, outline = pack_python(path, python)
    return [[rows, outline], [[p.line, p.message] for p in problems]]


def _jitted(found: Definition) -> DefinitionFact:
    """A kernel that is compiled at run time, under the name it then has."""
    line = found.location.line
    return DefinitionFact(
        found.name, found.scope, found.kind, line, line, found.parameters, "", 1, "", "", "", 0, []
    )


def read_safely(kind: str, path: str, data: bytes) -> list[Any]:
    """``read_facts``, where a failure of the reader itself becomes a problem of the file."""
    try:
        return read_facts(kind, path, data)
    except Exception as error:  # noqa: BLE001 a reader's own bug must not cost the other files
        return [[], [[0, f"the {kind} reader failed: {type(error).__name__}: {error}"]]]


def encode(facts: list[Any]) -> bytes:
    """Facts as they travel, from this process to the one that started it."""
    return marshal.dumps(facts)


def decode(packed: bytes) -> list[Any]:
    """The inverse of ``encode``; raises ValueError, EOFError or TypeError on anything else."""
    facts = marshal.loads(packed)
    if not isinstance(facts, list) or len(facts) != 2:
        raise ValueError("not facts")
    return facts


class Contents:
    """The bytes of files of one tree, or of blobs of its repository."""

    def __init__(self, root: str) -> None:
        self._folder = Folder(root)
        self._repository = Repository.at(root)

    def read(self, path: str, blob: bytes) -> bytes:
        """The blob, or the file where there is none. Raises OSError or SourceError."""
        if blob and self._repository:
            return self._repository.blob(blob)
        return self._folder.read(path)


SIZE_BYTES = 4
Asked = tuple[str, str, bytes]
"""Reader kind, path and blob; a blob is read from git, a path without one from the tree."""
Answer = tuple[str, str, bytes, bytes]
"""Reader kind, path, hash and encoded facts of one file."""
_BATCH_BYTES = 200_000


def main(root: str, pipes: list[int]) -> NoReturn:
    """``serve`` in a process of its own, for what is asked on standard input."""
    serve(root, marshal.load(sys.stdin.buffer), pipes)


def serve(root: str, asked: list[Asked], pipes: list[int]) -> NoReturn:
    """Answers in as many processes as there are pipes, of which this is one, and ends it."""
    import hashlib  # noqa: F401 loaded before the fork, for all

    import indexes.readers.python.module  # noqa: F401

    gc.disable()  # facts are trees of small lists without cycles, and the process is short
    gc.freeze()
    parts = [(asked[start :: len(pipes)], pipe) for start, pipe in enumerate(pipes)]
    children = [child for part in parts[1:] if (child := _fork(root, *part, pipes))]
    _serve(root, *parts[0], pipes)
    for child in children:
        os.waitpid(child, 0)
    os._exit(0)  # nothing is open, and to take the facts apart again would cost time


def _fork(root: str, asked: list[Asked], pipe: int, pipes: list[int]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        _serve(root, asked, pipe, pipes)
        status = 0
    except Exception:  # noqa: BLE001 told to the reader of our last words
        tell_failure()
    finally:
        os._exit(status)


def tell_failure() -> None:
    """Writes the exception that is being handled where our last words are read."""
    import traceback

    with open(2, "w", closefd=False) as words:
        traceback.print_exc(file=words)


def _serve(root: str, asked: list[Asked], pipe: int, pipes: list[int]) -> None:
    for other in pipes:
        if other != pipe:
            os.close(other)
    contents = Contents(root)
    with open(pipe, "wb") as out, contextlib.suppress(BrokenPipeError):
        batch: list[Answer] = []
        size = 0
        for one in asked:
            batch.append(answer(contents, *one))
            size += len(batch[-1][3])
            if size > _BATCH_BYTES:
                _send(out, batch)
                batch, size = [], 0
        if batch:
            _send(out, batch)
        _send(out, [])


def answer(contents: Contents, kind: str, path: str, blob: bytes) -> Answer:
    """What is read from one file, or why it could not be read."""
    try:
        data = contents.read(path, blob)
    except (OSError, SourceError) as error:
        return kind, path, b"", encode([[], [[0, str(error)]]])
    return kind, path, content_hash(data), encode(read_safely(kind, path, data))


def _send(out: IO[bytes], batch: list[Answer]) -> None:
    packed = marshal.dumps(batch)
    out.write(len(packed).to_bytes(SIZE_BYTES, "little"))
    out.write(packed)
    out.flush()
