"""An open index, with a cache of the files read through it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from indexes.model.errors import SourceError
from indexes.model.files import in_extension, inside
from indexes.model.vocabulary import Location, SourceInfo
from indexes.source.permalinks import file_of, permalink
from navigator.tui.history import Visit
from navigator.tui.processes.chains import Answer, Chains, answer_in_process, answer_of
from navigator.tui.processes.indexing import refresh_index
from navigator.tui.processes.preview import Preview
from navigator.tui.source.document import DocumentCache

if TYPE_CHECKING:
    from indexes.model.errors import Progress
    from indexes.queries.changes.planning import Changes
    from indexes.queries.code_map import CodeMap
    from indexes.queries.contribution.plan import Contributions
    from indexes.queries.index import Index
    from indexes.source.git_history import Blame
    from indexes.source.source import Source


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens the requested tree and cache folder."""

    tree: str | None = None
    cache: Path | None = None
    extensions: tuple[tuple[str, str], ...] = ()
    """Folders of extensions, with their names."""

    def sessions(
        self,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> Iterator[Session]:
        """A session that is available at once, then an up-to-date one. Call in a thread.

        The first one is the stale index or, without an index, the operators in YAML. The second one
        is omitted if nothing has changed. Minor errors are reported to ``tell``.
        """
        from indexes.queries.index import Index
        from indexes.source.source import Source

        source = Source.find(self.tree, self.cache, self.extensions)
        is_new = False
        try:
            index = Index.as_left(source, self.cache)
            yield _session(index)
            if index.is_current():
                return
        except SourceError:  # there is none yet, or one of another version
            is_new = True
            Thread(target=lambda: source.info, daemon=True).start()  # asks git meanwhile
            yield Session(Preview(source))
        index = refreshed_index(source, self.cache, progress, cancelled, tell)
        report = index.report
        if is_new or report.cold or report.read or report.removed or report.stale:
            yield _session(index)


def refreshed_index(
    source: Source,
    cache: Path | None,
    progress: Callable[[Progress], None],
    cancelled: Callable[[], bool],
    tell: Callable[[str], None],
) -> Index:
    """An index refreshed in a separate process, or else here. Call in a thread."""
    from indexes.queries.index import Index

    try:
        report = refresh_index(source, cache, progress, cancelled)
    except (OSError, BrokenExecutor) as why:
        tell(f"the indexing process failed ({why}); indexing here instead")
        return Index.open(source, cache, progress=progress, cancelled=cancelled)
    index = Index.as_left(source, cache)
    index.report = report
    return index


def _session(index: Index) -> Session:
    """A session whose chains are computed in a separate process."""
    source = index.source
    in_process = partial(answer_in_process, source.top, source.kind, source.roots, index.cache)
    return Session(index, in_process)


class Session:
    """An index with the files that were read from its tree."""

    def __init__(
        self, index: Index | Preview, in_process: Callable[[str], Answer] | None = None
    ) -> None:
        """``in_process`` computes an operator's answer in another process."""
        self.index = index
        self.documents = DocumentCache(index.read)
        self.chains = Chains(partial(answer_of, index), in_process)

    def close(self) -> None:
        """Stop background work."""
        self.chains.close()

    @property
    def info(self) -> SourceInfo:
        return self.index.info

    @cached_property
    def changes(self) -> Changes | None:
        """Plans changes and caches what it reads. None without an index."""
        from indexes.queries.changes.planning import Changes

        return None if isinstance(self.index, Preview) else Changes(self.index)

    @cached_property
    def contributions(self) -> Contributions | None:
        """Prepares contributions and caches what it reads. None without an index."""
        from indexes.queries.contribution.plan import Contributions

        return None if isinstance(self.index, Preview) else Contributions(self.index)

    @cached_property
    def code_map(self) -> CodeMap | None:
        """The contents of folders, counted once. None without an index."""
        from indexes.queries.code_map import CodeMap

        return None if isinstance(self.index, Preview) else CodeMap(self.index)

    def blame(self, path: str, line: int, end_line: int) -> Blame:
        """The authors of lines in a file, with a note if git can't say."""
        from indexes.source.git_history import History
        from indexes.source.source import Source

        if in_extension(path):
            top = str(file_of(self.info, path))[: -len(inside(path)) - 1]
            return History(Source(top, "checkout")).blame(inside(path), line, end_line)
        return History(Source.find(self.info.root)).blame(path, line, end_line)

    def permalink(self, path: str, line: int, end_line: int = 0) -> str:
        """The GitHub URL of a place. Raises SourceError if there is none."""
        if any("@generated" in head for head in self.documents.document(path).lines[:5]):
            raise SourceError(f"{path} is generated by a build of PyTorch: no repository has it")
        link = permalink(self.info, path, line, end_line)
        if link is None:
            raise SourceError("the commit of this tree is not known, so there is no permalink")
        return link

    def absolute(self, path: str) -> Path:
        """The file on disk, for an editor. Raises SourceError outside the tree."""
        named = file_of(self.info, path)
        root = Path(str(named)[: -len(inside(path)) - 1]).resolve()
        file = named.resolve()
        if not file.is_relative_to(root) or not os.path.isfile(file):
            raise SourceError(f"{path} is not a file of {root}")
        return file


def visit_to(location: Location | None, title: str, op: str | None = None) -> Visit:
    """A place in source, with an operator's chain if given."""
    if location is None:
        return Visit(op=op, title=title)
    return Visit(op, location.path, location.line, location.end_line, title)
