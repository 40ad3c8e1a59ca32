"""Lists of places with commands to copy, and checklists of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType

from indexes.model.vocabulary import Location
from navigator.text.contribution import Row, Section
from navigator.tui.background import say
from navigator.tui.clipboard import copy
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import PlaceRow


class CommandsPane(PlacesPane):
    """A list of places; ``C`` copies the selected row's command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("C", "copy_command", "Copy command", id="command.copy")
    ]

    def action_copy_command(self) -> None:
        """Copy the selected row's command."""
        row = self.places.current
        copy(self, self.context, row.command if row else "")


class ChecklistPane(CommandsPane):
    """Sections of a contribution; ``m`` copies all of it as Markdown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "copy_markdown", "Copy checklist", id="contribute.markdown")
    ]

    def markdown(self) -> Iterable[str]:
        """The lines of the checklist; empty until it is ready."""
        raise NotImplementedError

    def section_rows(self, found: Iterable[Section]) -> Iterator[PlaceRow]:
        """A heading for each section; rows without a place are shown with the row above."""
        for section in found:
            note = f": {section.note}" if section.note else ""
            yield PlaceRow(f"{section.title}{note}")
            place: Location | None = None
            for row in section.rows:
                place = row.location or place
                yield self._row(row, place)

    def _row(self, row: Row, place: Location | None) -> PlaceRow:
        if place is not None and not place.line:
            place = Location(place.path, 1)
        command = f"$ {row.command}" if row.command else ""
        comment = "\n".join(filter(None, (row.text.strip(), row.detail, command, *row.code)))
        shown = row.command or row.text or next((one for one in row.code if one.strip()), "")
        detail = "" if row.command else row.detail
        return PlaceRow(shown, place, detail=detail, comment=comment, command=row.command)

    def action_copy_markdown(self) -> None:
        """Copy the whole checklist as Markdown."""
        copy_checklist(self, self.markdown())


def copy_checklist(pane: PlacesPane, lines: Iterable[str]) -> None:
    """Copy a checklist as Markdown; without lines, say that it is not ready."""
    text = "\n".join(lines)
    if text:
        pane.app.copy_to_clipboard(f"{text}\n")
        say(pane, "copied the checklist as Markdown")
    else:
        say(pane, "it is not ready yet")
