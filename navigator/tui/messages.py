"""What threads tell the screens. A thread never touches a widget: it posts one of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import Chain, Hit, OperatorSummary, SourceInfo
from navigator.tui.history import Visit
from navigator.tui.place_rows import PlaceRow
from navigator.tui.session import Session
from navigator.tui.source.document import Document

if TYPE_CHECKING:
    from indexes.source.git_history import Blame


class Failed(Message):
    """A question could not be answered."""

    def __init__(self, about: str, error: TorchnavError) -> None:
        super().__init__()
        self.about = about
        self.error = error


class Progressed(Message):
    """The index is so far."""

    def __init__(self, stage: str, done: int, total: int) -> None:
        super().__init__()
        self.stage, self.done, self.total = stage, done, total


class Opened(Message):
    """There is an index to ask."""

    def __init__(self, session: Session, operators: Sequence[OperatorSummary]) -> None:
        super().__init__()
        self.session = session
        self.operators = operators


class Described(Message):
    """What the source is: known a little later than its operators, as git has to be asked."""

    def __init__(self, info: SourceInfo) -> None:
        super().__init__()
        self.info = info


class UpToDate(Message):
    """The index is as the source is now."""


class ChainLoaded(Message):
    """The chain of an operator, and where in it to go."""

    def __init__(self, chain: Chain, visit: Visit) -> None:
        super().__init__()
        self.chain = chain
        self.visit = visit


class Blamed(Message):
    """Who wrote the lines of a file."""

    def __init__(self, path: str, blame: Blame) -> None:
        super().__init__()
        self.path = path
        self.blame = blame


class SourceLoaded(Message):
    """A file, and where in it to go."""

    def __init__(self, document: Document, visit: Visit) -> None:
        super().__init__()
        self.document = document
        self.visit = visit


class Coloured(Message):
    """The colours of a large file are those of all of it now."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document


class Reread(Message):
    """The file that is shown, as it is now."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document


class Defined(Message):
    """Where a name is defined, or what else it leads to."""

    def __init__(self, name: str, rows: Sequence[PlaceRow]) -> None:
        super().__init__()
        self.name = name
        self.rows = rows


class Named(Message):
    """The operators that a name means, best first."""

    def __init__(self, name: str, operators: Sequence[str]) -> None:
        super().__init__()
        self.name = name
        self.operators = operators


class Used(Message):
    """The uses of a name."""

    def __init__(self, name: str, hits: Sequence[Hit]) -> None:
        super().__init__()
        self.name = name
        self.hits = hits


class Resolved(Message):
    """What a typed name means: operators, places, or near names."""

    def __init__(self, text: str, rows: Sequence[PlaceRow], note: str = "") -> None:
        super().__init__()
        self.text = text
        self.rows = rows
        self.note = note


class Found(Message):
    """Search results."""

    def __init__(self, text: str, hits: Sequence[Hit]) -> None:
        super().__init__()
        self.text = text
        self.hits = hits
