"""What a change of an operator, a file or a function asks for, beside the source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from indexes.model import Location
from navigator.contribution_view import Row, Section, markdown_lines, sections
from navigator.tui.config import Config
from navigator.tui.place_rows import PlaceRow
from navigator.tui.preview import REASON
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session


class ContributionLoaded(Message):
    """A contribution, prepared, and its checklist in Markdown."""

    def __init__(self, found: tuple[Section, ...], markdown: str) -> None:
        super().__init__()
        self.sections = found
        self.markdown = markdown


class ContributeScreen(PlacesScreen):
    """The places to touch, tests, commands, reviewers and history of one subject."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("C", "copy_command", "Copy command", id="contribute.command"),
        Binding("m", "copy_markdown", "Copy checklist", id="contribute.markdown"),
    ]

    _markdown = ""

    def __init__(self, session: Session, config: Config, subject: str) -> None:
        super().__init__(session, config, f"contribute: {subject}")
        self._subject = subject
        self._commands: dict[PlaceRow, str] = {}

    def on_mount(self) -> None:
        from indexes.query import Index

        super().on_mount()
        session, subject = self.session, self._subject
        index = session.index if session else None
        if not isinstance(index, Index):
            self.places.message = f"nothing can be prepared: {REASON}"
            return
        self.places.message = "looking at tests, includes, owners and history …"
        self.ask("contribution", lambda: _load(index, subject))

    def on_contribution_loaded(self, message: ContributionLoaded) -> None:
        self._markdown = message.markdown
        self.places.message = ""
        self.show_rows(list(self._rows_of(message.sections)))

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
        if self._markdown:
            self.app.copy_to_clipboard(self._markdown)
            self.say("copied the checklist as Markdown")
        else:
            self.say("it is not ready yet")


def _load(index: object, subject: str) -> ContributionLoaded:
    from indexes.contribution import Contributions
    from indexes.query import Index

    assert isinstance(index, Index)
    found = Contributions(index).of(subject)
    return ContributionLoaded(sections(found), "\n".join(markdown_lines(found)) + "\n")
