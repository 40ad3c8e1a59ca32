"""Reads source files in a process of its own: paths in, facts out.

A plain child process rather than a pool: it needs nothing from the program that
starts it, be that a terminal UI with threads or a script without a main guard.
Input: ``kind NUL path NUL blob-hex`` lines; a blob is read from git, a path without one from
the tree. Output for each file: a header ``kind NUL path NUL
hash-hex NUL size`` and a newline, then ``size`` bytes of facts.
"""

from __future__ import annotations

import gc
import hashlib
import marshal
import sys
from typing import TYPE_CHECKING, Any

from indexes.model import Definition
from indexes.readers.cpp_facts import DefinitionFact, read_cpp
from indexes.readers.jiterator import read as read_jiterator
from indexes.readers.python_facts import to_rows

if TYPE_CHECKING:
    from indexes.git_objects import Blobs


def content_hash(data: bytes) -> bytes:
    """The name of a content, the same wherever the file stands: git's name for the blob, so
    that contents of a commit are known without reading them."""
    blob = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    blob.update(data)
    return blob.digest()


def read_facts(kind: str, path: str, data: bytes) -> list[Any]:
    """``[facts, problems]`` of one file as plain lists."""
    if kind == "cpp":
        cpp, problems = read_cpp(data, path)
        cpp.definitions += [_jitted(d) for d in read_jiterator(data, path)[0]]
        return [cpp.to_rows(), [[p.line, p.message] for p in problems]]
    from indexes.readers.python import read_python

    python, problems = read_python(data, path)
    return [to_rows(python), [[p.line, p.message] for p in problems]]


def _jitted(found: Definition) -> DefinitionFact:
    """A kernel that is compiled at run time, under the name it then has."""
    line = found.location.line
    return DefinitionFact(
        found.name,
        found.scope,
        found.kind,
        line,
        line,
        found.parameters,
        "",
        True,
        "",
        "",
        "",
        0,
        [],
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
        self._root = root
        self._blobs: Blobs | None = None

    def read(self, path: str, blob: bytes) -> bytes:
        """The blob, or the file where there is none. Raises OSError."""
        if blob:
            self._blobs = self._blobs or _blobs(self._root)
            return self._blobs.read(blob)
        with open(f"{self._root}/{path}", "rb") as file:
            return file.read()


def _blobs(root: str) -> Blobs:
    from indexes.git_objects import Blobs

    return Blobs(root)


def main(root: str) -> None:
    """Answers for every path on standard input until it ends."""
    gc.disable()  # facts are trees of small lists without cycles, and the process is short
    out = sys.stdout.buffer
    contents = Contents(root)
    for line in sys.stdin:
        kind, path, blob = line.rstrip("\n").split("\0")
        try:
            data = contents.read(path, bytes.fromhex(blob))
        except OSError as error:
            packed, digest = encode([[], [[0, str(error)]]]), b""
        else:
            packed, digest = encode(read_safely(kind, path, data)), content_hash(data)
        out.write(f"{kind}\0{path}\0{digest.hex()}\0{len(packed)}\n".encode())
        out.write(packed)
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
