"""What the widgets of one application share."""

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
from navigator.tui.source.document import Shelf, read_users_source

TakesKey = Callable[[events.Key], Awaitable[bool]]


@dataclass
class Context:
    """The settings and the open index, handed to every pane."""

    opener: Opener
    config: Config = field(default_factory=Config)
    session: Session | None = None
    """What is asked; None until an index or a preview of it is there."""
    users: Shelf = field(default_factory=lambda: Shelf(read_users_source))
    """Files of a traced program: they are named by absolute paths, those of the tree never are."""
    places: LastPlaces = field(default_factory=LastPlaces)
    """Where the reader was when the screen was last left."""
    copied: str = ""
    """What was last put on the clipboard."""
    next_key: TakesKey | None = None
    """Who gets the next key before anybody else, as the second stroke of two; it answers whether
    the key was meant for it."""

    @property
    def index(self) -> Index | None:
        """The index; None while there is at most native_functions.yaml to ask."""
        index = self.session.index if self.session else None
        return index if isinstance(index, Index) else None

    def shelf(self, path: str) -> Shelf | None:
        """Where a file is read from; None while there is no index."""
        if os.path.isabs(path):
            return self.users
        return self.session.shelf if self.session else None

    def file(self, path: str) -> Path:
        """A file on disk, for an editor. Raises SourceError with the reason for none."""
        if not os.path.isabs(path) and self.session is not None:
            return self.session.absolute(path)
        if not os.path.isfile(path):
            raise SourceError(f"{path} is not on this machine")
        return Path(path)
