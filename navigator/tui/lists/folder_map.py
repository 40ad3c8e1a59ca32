"""The contents of folders, one level at a time."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.code_map import FolderMap, MapEntry
from indexes.model.vocabulary import Location
from navigator.text.code_map import counts_words
from navigator.tui.context import Context
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import PlaceRow


class FolderMapPane(PlacesPane):
    """A folder with its entry points: Enter goes down, Escape up."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "folders of the tree")
        self._folder = ""

    def begin(self) -> None:
        self._go("")

    def goes_in(self) -> bool:
        row = self.places.current
        if row is None or row.kind != "folder":
            return False
        self._go(f"{self._folder}/{row.name}".strip("/"))
        return True

    def goes_out(self) -> bool:
        if not self._folder:
            return False
        self._go(self._folder.rpartition("/")[0], self._folder.rpartition("/")[2])
        return True

    def _go(self, folder: str, name: str = "") -> None:
        """Show a folder, with the cursor on this name in it."""
        session = self.context.session
        folders = session.code_map if session else None
        if folders is None:
            self.wait("the map is unknown", lambda: self._go(folder, name))
            return
        self.ask(lambda: folders.folder(folder), lambda found: self._show(found, name))

    def _show(self, found: FolderMap, name: str) -> None:
        self._folder = found.path
        self.title = found.path or "folders of the tree"
        rows = list(_rows(found))
        self.show_rows(rows)
        at = next((n for n, row in enumerate(rows) if row.name == name), None)
        if at is not None:
            self.places.move_to(at)


def _rows(found: FolderMap) -> Iterator[PlaceRow]:
    for words in found.words:
        yield PlaceRow(words.location.path.rpartition("/")[2], words.location, "words", words.text)
    for title, kind in (("folders", "folder"), ("files", "file")):
        entries = [entry for entry in found.entries if entry.kind == kind]
        if entries:
            yield PlaceRow(title)
            yield from (_row(entry) for entry in entries)
        if kind == "folder" and found.doors:
            yield PlaceRow("entry points: the files that others refer to most")
            yield from (_row(door) for door in found.doors)


def _row(entry: MapEntry) -> PlaceRow:
    """A folder, at its description or else its entry point."""
    words = entry.words
    at_words = words is not None and entry.kind == "folder"
    where = words.location if words and at_words else Location(entry.door, 1)
    counts = {what: count for what, count in entry.counts.items() if what != "files"}
    if entry.references:
        counts["references"] = entry.references
    contents = counts_words(counts) if counts else ""
    files = counts_words({"files": entry.counts["files"]}) if entry.kind == "folder" else ""
    text = words.text if words else ""
    detail = "  ".join(filter(None, (files, text if files else contents)))
    comment = " · ".join(filter(None, (files, contents, text)))
    return PlaceRow(entry.path.rpartition("/")[2], where, entry.kind, detail, comment=comment)
