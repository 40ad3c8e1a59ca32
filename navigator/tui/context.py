"""State shared by the widgets of an application."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from textual import events

from indexes.model.errors import SourceError
from indexes.queries.index import Index
from navigator.tui.config import Config
from navigator.tui.history import LastPlaces
from navigator.tui.session import Opener, Session
from navigator.tui.source.document import DocumentCache, read_users_source

TakesKey = Callable[[events.Key], Awaitable[bool]]


@dataclass
class Context:
    """The settings and the open index, passed to every pane."""

    opener: Opener
    config: Config = field(default_factory=Config)
    session: Session | None = None
    """The session to query; None until there is an index or a preview."""
    users: DocumentCache = field(default_factory=lambda: DocumentCache(read_users_source))
    """Files of a traced program, which have absolute paths, unlike those of the tree."""
    places: LastPlaces = field(default_factory=LastPlaces)
    """The last places of earlier runs."""
    copied: str = ""
    """The last copied text."""
    next_key: TakesKey | None = None
    """Gets the next key before anything else, as the second stroke of a chord; returns whether it
    accepts it."""

    @property
    def index(self) -> Index | None:
        """The index; None while there is only native_functions.yaml."""
        index = self.session.index if self.session else None
        return index if isinstance(index, Index) else None

    def documents(self, path: str) -> DocumentCache | None:
        """The cache to read a file from; None without an index."""
        if os.path.isabs(path):
            return self.users
        return self.session.documents if self.session else None

    def file(self, path: str) -> Path:
        """A file on disk, for an editor. Raises SourceError if there is none."""
        if not os.path.isabs(path) and self.session is not None:
            return self.session.absolute(path)
        if not os.path.isfile(path):
            raise SourceError(f"{path} is not on this machine")
        return Path(path)
