"""What the threads of the trace screen tell it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from navigator.trace.dispatch_path import DispatchPath
from navigator.trace.groups import Group
from navigator.trace.link import OpLink
from navigator.trace.timeline import Timeline
from navigator.trace.trace import Trace
from navigator.tui.history import Visit
from navigator.tui.trace.detail import Launched


class TraceGrown(Message):
    """There are more rows, or there is a trace at last."""

    def __init__(self, trace: Trace, *, done: bool) -> None:
        super().__init__()
        self.trace = trace
        self.done = done


class Printed(Message):
    """The program printed something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Ended(Message):
    """The program has ended."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class Linked(Message):
    """Where a row leads: the chain to show, or the reason why there is none."""

    def __init__(
        self,
        row: int,
        link: OpLink | None,
        launched: tuple[Launched, ...],
        visit: Visit | None,
        reason: str = "",
    ) -> None:
        super().__init__()
        self.row = row
        self.link = link
        self.launched = launched
        self.visit = visit
        self.reason = reason


class Walked(Message):
    """The dispatch path of a row; None for what no dispatcher calls."""

    def __init__(self, row: int, path: DispatchPath | None) -> None:
        super().__init__()
        self.row = row
        self.path = path


class Refined(Message):
    """Rows lead to better answers than before, or to the same ones (None)."""

    def __init__(self, links: object) -> None:
        super().__init__()
        self.links = links


class Matched(Message):
    """The rows that a filter leaves."""

    def __init__(self, text: str, rows: Sequence[int]) -> None:
        super().__init__()
        self.text = text
        self.rows = rows


class Timed(Message):
    """Where the time of a trace went."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self.timeline = timeline


class Noted(Message):
    """What the lines of a file of the user's have run, one note for each line."""

    def __init__(self, path: str, notes: Sequence[str]) -> None:
        super().__init__()
        self.path = path
        self.notes = notes


class Gathered(Message):
    """Groups of rows."""

    def __init__(self, view: str, groups: Sequence[Group]) -> None:
        super().__init__()
        self.view = view
        self.groups = groups
