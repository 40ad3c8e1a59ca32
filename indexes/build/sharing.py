"""An index as one file to share: checked by content and brought up to date on import.

The file is an identifying line, a line of JSON (``Label``), and the compressed database. It may
come from anywhere, so nothing is trusted: its schema must be ours word for word, its values of our
types, and its facts of a file count only if the tree has the same bytes under the same path.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from indexes.build.builder import Builder
from indexes.build.nearest import ENOUGH
from indexes.model.errors import SHARED_INDEX_BYTES, Report, SourceError
from indexes.source.aside import written_aside
from indexes.source.files import open_file
from indexes.source.walk import SourceFile
from indexes.store.checking import check_index
from indexes.store.index_file import Store, index_version

_MAGIC = b"torchnav index 1\n"
_LABEL_BYTES = 4096
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Label:
    """The header of a shared file."""

    store: str
    """Version of the tables and readers."""
    tree: str
    """A hash over paths and hashes of all indexed files."""
    files: int
    size: int
    """Bytes of the database."""
    digest: str
    """Hash of the database."""
    version: str
    """PyTorch's, from version.txt."""
    commit: str | None


def tree_name(files: Iterable[tuple[str, bytes]]) -> str:
    """The hash of a tree's contents, independent of where it is."""
    named = hashlib.blake2b(digest_size=16)
    for path, blob in sorted(files):
        named.update(path.encode("utf-8", "surrogateescape") + b"\0" + blob + b"\n")
    return named.hexdigest()


# ----------------------------------------------------------------------------- export


def export_index(builder: Builder, into: Path) -> tuple[Path, Label]:
    """Writes the index of the builder's tree to ``into``; in a folder, under the name of its
    contents. Raises SourceError."""
    try:
        with written_aside(builder.path) as database:
            with contextlib.closing(Store(builder.path)) as store:
                files = store.query("SELECT path,hash FROM files")
                store.db.execute("VACUUM INTO ?", (str(database),))
            label = _label(builder, database, files)
            path = into / shared_name(label.tree) if os.path.isdir(into) else into
            _write(path, label, database)
    except (OSError, sqlite3.Error) as error:
        raise SourceError(f"cannot export the index to {into}: {error}") from error
    return path, label


def shared_name(tree: str) -> str:
    """The name of a shared file in a folder."""
    return f"torchnav-{index_version()}-{tree}.index"


def _label(builder: Builder, database: Path, files: list[tuple[str, bytes]]) -> Label:
    info = builder.source.info
    with open_file(database, None) as opened:
        digest = hashlib.blake2b(digest_size=16)
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    size = database.stat().st_size
    return Label(
        index_version(),
        tree_name(files),
        len(files),
        size,
        digest.hexdigest(),
        info.version,
        info.commit,
    )


def _write(path: Path, label: Label, database: Path) -> None:
    """Writes aside and renames, so that nobody reads half of it."""
    with written_aside(path) as aside:
        with aside.open("wb") as out, open_file(database, None) as data:
            out.write(_MAGIC + json.dumps(asdict(label)).encode() + b"\n")
            packer = zlib.compressobj(6)
            while chunk := data.read(_CHUNK):
                out.write(packer.compress(chunk))
            out.write(packer.flush())
        aside.chmod(0o644)
        aside.replace(path)


# ----------------------------------------------------------------------------- import


def import_index(builder: Builder, path: Path) -> Report:
    """Makes a shared file the index of the builder's tree, reading files with another content.

    From a folder, the file of exactly these contents is taken, or else the newest. Raises
    SourceError in one line for anything that is not an index of this torchnav version, or has too
    little in common with the tree; the old index stays then.
    """
    files = builder.files()
    file = _chosen(builder, path, files)
    with builder.aside() as aside:
        try:
            with open_file(file, None) as opened:
                label = read_label(opened, file)
                _unpack(opened, label, aside, file)
        except OSError as error:
            raise SourceError(f"cannot read {file}: {error.strerror or error}") from error
        check_index(aside, file)
        _compare(builder, aside, files, file)
        return builder.bring_up_copy(aside, files)


def _chosen(builder: Builder, path: Path, files: Mapping[str, SourceFile]) -> Path:
    if not os.path.isdir(path):
        return path
    exact = path / shared_name(tree_name((name, builder.hash(name)) for name in files))
    if exact.is_file():
        return exact
    found = [p for p in path.glob(f"torchnav-{index_version()}-*.index") if p.is_file()]
    if not found:
        raise SourceError(f"{path} holds no index of this torchnav version")
    return max(found, key=lambda p: p.stat().st_mtime)


def read_label(opened: IO[bytes], file: Path) -> Label:
    """The label of a shared file, leaving it at its database. Raises SourceError."""
    if opened.read(len(_MAGIC)) != _MAGIC:
        raise SourceError(f"{file} is not a shared index: see torchnav index --export")
    try:
        label = Label(**json.loads(opened.readline(_LABEL_BYTES)))
    except (ValueError, TypeError, RecursionError) as error:
        raise SourceError(f"{file} is damaged: its label cannot be read") from error
    if label.store != index_version():
        raise SourceError(f"{file} was made by another version of torchnav")
    if not _is_size(label.size):
        raise SourceError(f"{file} is damaged: its label claims {str(label.size)[:20]} bytes")
    return label


def _is_size(value: object) -> bool:
    return isinstance(value, int) and 0 < value <= SHARED_INDEX_BYTES


def _unpack(opened: IO[bytes], label: Label, into: Path, file: Path) -> None:
    unpacker, digest, size = zlib.decompressobj(), hashlib.blake2b(digest_size=16), 0
    with into.open("wb") as out:
        waiting = opened.read(_CHUNK)
        while waiting and size <= label.size:
            try:
                data = unpacker.decompress(waiting, _CHUNK)
            except zlib.error as error:
                raise SourceError(f"{file} is damaged: {error}") from error
            size += len(data)
            digest.update(data)
            out.write(data)
            waiting = unpacker.unconsumed_tail or opened.read(_CHUNK)
    if (size, digest.hexdigest()) != (label.size, label.digest):
        raise SourceError(f"{file} is damaged: its content does not match its label")


def _compare(builder: Builder, database: Path, files: Mapping[str, SourceFile], file: Path) -> None:
    with contextlib.closing(Store(database)) as store:
        theirs = set(store.query("SELECT path,hash FROM files"))
    same = sum((path, builder.hash(path)) in theirs for path in files)
    if same < ENOUGH * len(files):
        raise SourceError(
            f"{file} is the index of another tree: it has {same:,} of {len(files):,} files in"
            " common with this one; to build its own: torchnav index"
        )
