"""What a change of an operator, a file or a function asks for, beside the source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from indexes.model import Location
from navigator.contribution_view import Row, Section, markdown_lines, sections
from navigator.tui.config import Config
from navigator.tui.place_rows import PlaceRow
from navigator.tui.preview import REASON
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session

if TYPE_CHECKING:
    from indexes.contribution import Contribution, Contributions

_HISTORIES = 4
"""Of how many places the last changes are shown."""


class ContributionLoaded(Message):
    """A contribution, prepared."""

    def __init__(self, found: Contribution) -> None:
        super().__init__()
        self.found = found


class ContributeScreen(PlacesScreen):
    """The places to touch, tests, commands, reviewers and history of one subject."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("C", "copy_command", "Copy command", id="contribute.command"),
        Binding("m", "copy_markdown", "Copy checklist", id="contribute.markdown"),
    ]

    _has_history = False
    _found: Contribution | None = None

    def __init__(self, session: Session, config: Config, subject: str) -> None:
        super().__init__(session, config, f"contribute: {subject}")
        self._subject = subject
        self._commands: dict[PlaceRow, str] = {}

    def on_mount(self) -> None:
        super().on_mount()
        if self.session is None or self.session.contributions is None:
            self.places.message = f"nothing can be prepared: {REASON}"
            return
        self.places.message = "looking at tests, includes, owners and history …"
        self._load(self.session.contributions, histories=0)

    def _load(self, contributions: Contributions, histories: int) -> None:
        """Prepare it; git's part takes longest, and so comes after the rest is on screen."""
        subject = self._subject
        self.ask(
            "contribution",
            lambda: ContributionLoaded(contributions.of(subject, histories=histories)),
        )

    def on_contribution_loaded(self, message: ContributionLoaded) -> None:
        at = self.places.cursor
        self._found = message.found
        self.places.message = ""
        self.show_rows(list(self._rows_of(sections(message.found))))
        self.places.cursor = at  # the history comes last: all rows are where they were
        if not self._has_history and self.session and self.session.contributions:
            self._has_history = True
            self._load(self.session.contributions, _HISTORIES)

    def _rows_of(self, found: tuple[Section, ...]) -> Iterator[PlaceRow]:
        for section in found:
            note = f": {section.note}" if section.note else ""
            yield PlaceRow(f"{section.title}{note}")
            place: Location | None = None
            for row in section.rows:
                place = row.location or place
                yield self._row(row, row.location or place)

    def _row(self, row: Row, place: Location | None) -> PlaceRow:
        """A row without a place of its own stays with the one above."""
        if place is not None and not place.line:
            place = Location(place.path, 1)
        command = f"$ {row.command}" if row.command else ""
        comment = "\n".join(part for part in (row.text.strip(), row.detail, command) if part)
        shown = row.command or row.text
        made = PlaceRow(shown, place, detail="" if row.command else row.detail, comment=comment)
        self._commands[made] = row.command
        return made

    def action_copy_command(self) -> None:
        """Put the command of the row on the clipboard."""
        row = self.places.current
        self.copy(lambda: self._commands.get(row, "") if row else "")

    def action_copy_markdown(self) -> None:
        """Put the whole checklist on the clipboard, as Markdown."""
        if self._found is not None:
            self.app.copy_to_clipboard("\n".join(markdown_lines(self._found)) + "\n")
            self.say("copied the checklist as Markdown")
        else:
            self.say("it is not ready yet")
