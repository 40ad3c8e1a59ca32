"""A build from nothing: every file is read, every macro use expanded, every row linked."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from indexes.build.operators import read_operators
from indexes.build.whole import Whole
from indexes.source.walk import SourceFile
from indexes.store.index_file import Store
from indexes.store.tables import STORE_VERSION

if TYPE_CHECKING:
    from indexes.build.builder import Builder
    from indexes.build.scan_pool import FileFacts
    from indexes.model.progress import Report


def fill(
    builder: Builder, store: Store, files: dict[str, SourceFile], read: Iterator[FileFacts]
) -> Report:
    """Fills an empty store with all that ``files`` hold; ``read`` gives what is read of them."""
    from indexes.build.builder import READ_KINDS
    from indexes.model.progress import Report

    store.set_meta("scanned_ns", str(time.time_ns()))
    report = Report(files=len(files), cold=True)
    wanted = sum(file.kind in READ_KINDS for file in files.values())
    cpp = sum(file.kind == "cpp" for file in files.values())
    operators = read_operators(store, builder.source)
    whole = Whole(store, operators, builder.has_sources, cpp)
    with contextlib.closing(whole):
        for facts in read:
            report.read += 1
            _keep(builder, store, files[facts.path], facts, whole)
            builder.tell("reading", report.read, wanted)
            whole.go_on()
        builder.tell("expanding macros and linking", 0, 0)
        whole.finish()
    for file in files.values():
        if file.kind not in READ_KINDS:
            _add_file(store, file, builder.hash(file.path))
    store.add_registered_by_helpers()
    store.add_indexes()
    store.set_meta("store_version", STORE_VERSION)
    return report


def _keep(builder: Builder, store: Store, file: SourceFile, facts: FileFacts, whole: Whole) -> None:
    """Keeps what was read of a file."""
    builder.know_hash(file.path, facts.hash)
    number = _add_file(store, file, facts.hash)
    builder.add_facts(store, number, facts)
    if facts.cpp:
        whole.add(number, file.path, facts.cpp, facts.defined)


def _add_file(store: Store, file: SourceFile, digest: bytes) -> int:
    return store.add_file((file.path, file.kind, file.size, file.mtime_ns, file.inode, digest))
