"""The stages that follow from the facts of all files. A stage runs if the digest of its inputs or
of its code changed; a cold build has no digests."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from indexes.build.documents import DOCUMENT_FILES, read_documents
from indexes.build.edges import link_edges
from indexes.build.extensions import STAGE as EXTENSIONS
from indexes.build.extensions import extension_inputs, keep_extensions
from indexes.build.library_operators import STAGE as LIBRARY_OPERATORS
from indexes.build.library_operators import (
    keep_library_operators,
    library_inputs,
    library_operator_inputs,
    link_libraries,
)
from indexes.build.links import link_inputs, link_kernels
from indexes.build.macros import expand, macro_rows
from indexes.build.operators import read_operators
from indexes.build.reach import keep_reach, reach_inputs, write_reach
from indexes.build.yaml_files import OPERATOR_FILES
from indexes.linking.python.imports import module_paths, resolve
from indexes.model.files import PythonFact
from indexes.source.source import Source
from indexes.store.index_file import MADE, STAGE_ROOMS, Store, code_digest
from indexes.store.rows import python_rows


@dataclass
class Work:
    """An index that is being brought up to date."""

    store: Store
    source: Source
    scanned: Collection[int]
    """The numbers of the files just read."""
    are_macros_others: bool = False
    """Whether any file's definitions may have changed through macros."""
    leads_elsewhere: bool = False
    """Whether an edge changed."""
    is_written_over: bool = False
    """Whether the operator list lacks what operators reach."""


@dataclass(frozen=True)
class Stage:
    """A part of the index that follows from others."""

    name: str
    says: str
    """The progress text while it runs."""
    inputs: Callable[[Work], Iterable[object]]
    run: Callable[[Work, bool], None]
    """Called with whether the inputs changed."""
    always: bool = False
    """Whether it has work for scanned files even if its inputs did not change."""


def run_stages(work: Work, tell: Callable[[str], None]) -> None:
    """Runs the stages whose inputs changed."""
    code = code_digest(*STAGE_ROOMS)
    for stage in STAGES:
        tell(stage.says)
        now = f"{code} {_digest(stage.inputs(work))}"
        differs = work.store.meta(stage.name) != now
        work.store.set_meta(stage.name, now)  # a stage that learns what it asks for sets it anew
        if differs or stage.always:
            stage.run(work, differs)


def is_current(store: Store) -> bool:
    """Whether all stages were run by this code."""
    code = code_digest(*STAGE_ROOMS)
    return all((store.meta(stage.name) or "").startswith(f"{code} ") for stage in STAGES)


def _digest(inputs: Iterable[object]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for one in inputs:
        digest.update(repr(one).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _files(names: Iterable[str]) -> Callable[[Work], Iterable[object]]:
    """The contents of some files of a tree."""
    listed = tuple(names)

    def inputs(work: Work) -> Iterable[object]:
        paths = [work.source.path_of(name) for name in listed]
        marks = ",".join("?" * len(paths))
        sql = f"SELECT path,hash FROM files WHERE path IN ({marks}) ORDER BY path"
        return work.store.query(sql, paths)

    return inputs


def _expand(work: Work, differs: bool) -> None:
    work.are_macros_others = differs
    expand(work.store, None if differs else work.scanned)


def _link_inputs(work: Work) -> Iterable[object]:
    return work.store.meta("operators"), *link_inputs(work.store)


def _link(work: Work, _: bool) -> None:
    link_kernels(work.store, work.source.kind != "wheel")
    work.is_written_over = True
    _note(work, "links", _link_inputs(work))


def _keep_library_operators(work: Work, _: bool) -> None:
    keep_library_operators(work.store)
    work.is_written_over = True


def _link_extensions(work: Work, _: bool) -> None:
    keep_extensions(work.store, work.source)
    work.is_written_over = True
    _note(work, EXTENSIONS, extension_inputs(work.store))


def _link_libraries(work: Work, _: bool) -> None:
    link_libraries(work.store)
    _note(work, "library kernels", library_inputs(work.store))


def _note(work: Work, stage: str, inputs: Iterable[object]) -> None:
    """Notes the inputs that a stage ended with, since it may add the names it looks up."""
    work.store.set_meta(stage, f"{code_digest(*STAGE_ROOMS)} {_digest(inputs)}")


def _link_edges(work: Work, differs: bool) -> None:
    files = None if differs else work.scanned
    rewritten = None if work.are_macros_others else work.scanned
    work.leads_elsewhere |= link_edges(work.store, files, rewritten)
    if differs:
        gc.collect()  # what the resolver of all bodies kept is large, and holds itself


def _reach(work: Work, differs: bool) -> None:
    if finds := differs or work.leads_elsewhere:
        keep_reach(work.store)
    if finds or work.is_written_over:
        write_reach(work.store)


_HELPERS = (
    "SELECT f.id,f.path,p.kind,p.target,p.symbol,p.line,p.end_line,p.detail FROM python p"
    " JOIN files f ON f.id=p.file WHERE p.kind IN ('deferred','imported')"
    " ORDER BY f.path,p.rowid"
)


def _helper_inputs(work: Work) -> Iterable[object]:
    rows = work.store.query(_HELPERS)
    paths = {path for _, user, _, _, name, *_ in rows for path in (user, *module_paths(name))}
    hashes = work.store.query("SELECT path,hash FROM files WHERE kind='python' ORDER BY path")
    return [*rows, *(row for row in hashes if row[0] in paths)]


def _follow_helpers(work: Work, _: bool) -> None:
    """Stores registrations through helpers in other Python files."""
    work.store.db.execute("DELETE FROM python WHERE made=1")
    numbers: dict[str, int] = {}
    files: dict[str, list[PythonFact]] = {}
    for number, path, *row in work.store.query(_HELPERS):
        numbers[path] = number
        files.setdefault(path, []).append(PythonFact(*row))
    for path, fact in resolve(files, _reader(work)):
        work.store.add(python_rows(numbers[path], [fact], made=1))


def _reader(work: Work) -> Callable[[str], bytes | None]:
    known = {path for (path,) in work.store.query("SELECT path FROM files WHERE kind='python'")}
    return lambda path: work.source.read(path) if path in known else None


STAGES = (
    Stage(
        "operators",
        "reading the YAML files",
        _files(OPERATOR_FILES),
        lambda work, _: read_operators(work.store, work.source),
    ),
    Stage(
        "documents",
        "reading the YAML files",
        _files(DOCUMENT_FILES),
        lambda work, _: read_documents(work.store, work.source),
    ),
    Stage(MADE, "expanding macros", lambda work: macro_rows(work.store), _expand, always=True),
    Stage("links", "linking kernels", _link_inputs, _link),
    Stage("helpers", "following registrations", _helper_inputs, _follow_helpers),
    Stage(
        LIBRARY_OPERATORS,
        "linking kernels",
        lambda work: library_operator_inputs(work.store),
        _keep_library_operators,
    ),
    Stage(
        EXTENSIONS, "linking kernels", lambda work: extension_inputs(work.store), _link_extensions
    ),
    Stage("edges", "linking calls", lambda work: (), _link_edges, always=True),
    Stage(
        "library kernels", "linking calls", lambda work: library_inputs(work.store), _link_libraries
    ),
    Stage("reach", "following calls", lambda work: reach_inputs(work.store), _reach, always=True),
)
