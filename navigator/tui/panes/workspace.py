"""The panes of a screen, and the keys for the place in the focused pane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from indexes.model.errors import TorchnavError
from navigator.tui.background import ask, complain, say
from navigator.tui.clipboard import copy, show_copied
from navigator.tui.context import Context
from navigator.tui.editor import open_editor
from navigator.tui.history import Visit
from navigator.tui.keys import second_stroke
from navigator.tui.place_rows import PlaceRow, meanings, of_field, of_hit, target_of
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.source.source_view import SourceView
from navigator.tui.widgets.key_bar import KeyBar
from navigator.tui.widgets.pane import MainPane, Pane


class Workspace(Container):
    """A list pane, and a source pane for the chosen item.

    The screen needs a KeyBar too.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit", id="edit"),
        Binding("y", "chord('copy')", "Copy", priority=True, id="copy"),
        Binding("Y", "show_copied", "Show what was copied", show=False, id="copy.show"),
        Binding("c", "app.list('contribute')", "Contribute", id="contribute"),
        Binding("I", "app.list('impact')", "Impact", tooltip="Impact of a change", id="impact"),
        Binding(
            "A",
            "app.list('affected')",
            "Affected",
            tooltip="Affected by your changes",
            id="affected",
        ),
        Binding(
            "P",
            "app.list('new_operator')",
            "New operator",
            tooltip="Plan a new operator",
            id="new_operator",
        ),
        Binding("V", "app.list('compare')", "Diff", tooltip="Compare with a version", id="compare"),
        Binding("M", "app.list('gaps')", "Gaps", tooltip="Openings for a contribution", id="gaps"),
        Binding("B", "blame", "Blame", id="blame"),
        Binding(
            "F", "field", "Field", tooltip="What this field or macro means", show=False, id="field"
        ),
        Binding(
            "slash",
            "search",
            "Search",
            tooltip="Filter; search in the source",
            key_display="/",
            show=False,
            priority=True,
            id="search",
        ),
        Binding("g", "chord('go')", "Go to…", priority=True, id="go"),
    ]

    CHORDS: ClassVar[Mapping[str, Sequence[Binding]]] = {
        "go": (
            Binding("g", "top", "top", id="go.top"),
            Binding("d", "definition", "definition", id="go.definition"),
            Binding("r", "references", "uses", id="go.references"),
        ),
        "copy": (
            Binding("n", "copy('name')", "name", id="copy.copy_name"),
            Binding("p", "copy('place')", "path:line", id="copy.copy_place"),
            Binding("l", "copy('link')", "link to GitHub", id="copy.copy_link"),
        ),
    }

    class Edited(Message):
        """The editor was closed, so a file may have changed."""

    class Offered(Message):
        """There are several places to choose from."""

        def __init__(self, workspace: Workspace, title: str, rows: Sequence[PlaceRow]) -> None:
            super().__init__()
            self.workspace = workspace
            self.title = title
            self.rows = rows

    def __init__(self, context: Context) -> None:
        super().__init__(id="panes")
        self.context = context

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In an input these keys are letters."""
        opens = action in ("chord", "search", "goto", "find")
        return not (opens and isinstance(self.screen.focused, Input))

    @property
    def source(self) -> SourcePane:
        return self.query_one(SourcePane)

    @property
    def main(self) -> MainPane:
        return self.query_one(MainPane)

    @property
    def is_in_source(self) -> bool:
        """Whether the source pane has the focus."""
        return isinstance(self.screen.focused, SourceView)

    # ------------------------------------------------------- what the keys are about

    def here(self) -> Visit | None:
        """The place for ``e`` and ``y``."""
        return self.source.here()

    def name_here(self) -> str:
        """The name for ``y n`` and ``g r``."""
        return self.source.view.name_under_cursor()

    def subject(self) -> str:
        """The subject of ``c`` and ``I``: the cursor's line in source, else the operator."""
        here = self.here()
        if here is not None and here.path is not None and (self.is_in_source or not here.op):
            return f"{here.path}:{here.line}"
        return here.op or "" if here is not None else ""

    def change(self) -> str:
        """The id of the change that ``c`` plans; empty to use the subject."""
        return ""

    def jump(self, visit: Visit) -> None:
        """Go to a place at the user's request."""
        self.source.load(visit)
        self.screen.set_focus(self.source.view)

    def chosen(self, visit: object) -> None:
        """A place was chosen on another screen, or None."""
        if isinstance(visit, Visit):
            self.jump(visit)

    def when_ready(self, do: Callable[[], object]) -> None:
        """Run a function once the subject of the keys is on screen."""
        do()

    # --------------------------------------------------------------------------- panes

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        inside = event.widget.ancestors
        # All at once, since any change of classes restyles all widgets of the screen.
        self.screen.update_classes(
            {f"-in-{pane.NAME}": pane in inside for pane in self.query(Pane)}
        )

    def action_next_pane(self, by: int) -> None:
        """Move the focus to the next widget of the panes."""
        stops = [stop for pane in self.query(Pane) for stop in pane.stops]
        focused = self.screen.focused
        at = stops.index(focused) if focused in stops else -1
        self.screen.set_focus(stops[(at + by) % len(stops)])

    def action_search(self) -> None:
        """Search the source, or focus the input above the list."""
        line = self.main.filter
        if self.is_in_source or line is None:
            self.source.start_search()
        else:
            self.screen.set_focus(line)

    async def action_top(self) -> None:
        if self.screen.focused is not None:
            await self.screen.focused.run_action("first")

    def action_blame(self) -> None:
        self.source.toggle_blame()

    # -------------------------------------------------------------------------- chords

    def action_chord(self, chord: str) -> None:
        """After the first of two strokes, show the second ones in the key bar."""

        async def second(event: events.Key) -> bool:
            self.screen.query_one(KeyBar).show_chord("")
            meant = second_stroke(type(self), chord, event, self.context.config.keys)
            if meant is not None:
                await self.run_action(meant.action)
            return meant is not None or event.key == "escape"

        self.context.next_key = second
        self.screen.query_one(KeyBar).show_chord(chord)

    def on_unmount(self) -> None:
        self.context.next_key = None  # no chord can be finished here

    # --------------------------------------------------------------- editor, clipboard

    def action_edit(self) -> None:
        """Open the place in the user's editor."""
        self.when_ready(self._edit)

    def _edit(self) -> None:
        here = self.here()
        if here is None or here.path is None:
            say(self, "no source is shown that could be edited")
            return
        try:
            file = self.context.file(here.path)
        except TorchnavError as error:
            complain(self, str(error))
            return
        open_editor(self, file, here.line, self.context.config.editor)
        self.source.reread(here.path)
        self.post_message(self.Edited())

    def action_copy(self, what: str) -> None:
        """Copy the name, the place or the link."""
        texts = {"name": self.name_here, "place": self._place_here, "link": self._link_here}
        self.when_ready(lambda: self._copy(texts[what]))

    def action_show_copied(self) -> None:
        show_copied(self, self.context)

    def _copy(self, what: Callable[[], str]) -> None:
        try:
            copy(self, self.context, what())
        except TorchnavError as error:
            complain(self, str(error))

    def _place_here(self) -> str:
        here = self.here()
        return f"{here.path}:{here.line}" if here and here.path else ""

    def _link_here(self) -> str:
        here, session = self.here(), self.context.session
        if session is None or here is None or here.path is None:
            return ""
        link = session.permalink(here.path, here.line, here.end_line)
        if session.info.dirty:
            say(self, "the tree has uncommitted changes: lines may differ on GitHub")
        return link

    # --------------------------------------------------------------------------- names

    def action_definition(self) -> None:
        self._find_definition(self.source.view.name_under_cursor())

    def on_source_view_name_chosen(self, message: SourceView.NameChosen) -> None:
        self._find_definition(message.name)

    def _find_definition(self, name: str) -> None:
        """Go to the definition of a name, or offer several."""
        session = self.context.session
        if not name:
            say(self, "put the cursor on a name in the source first")
        elif session is not None:
            ask(self, "names", lambda: meanings(session, name), lambda rows: self._go(name, rows))

    def _go(self, name: str, rows: Sequence[PlaceRow]) -> None:
        if len(rows) == 1:
            self.jump(target_of(rows[0]))
        elif rows:
            self.post_message(self.Offered(self, f"definitions of {name}", rows))
        else:
            say(self, f"no definition of {name} in this tree")

    def action_field(self) -> None:
        """Offer the documentation of the YAML field or macro on this line."""
        here, session = self.here(), self.context.session
        if here is None or here.path is None:
            say(self, "no source is shown")
        elif session is not None:
            path, line = here.path, here.line
            ask(
                self,
                "names",
                lambda: of_field(session, path, line),
                lambda found: self.post_message(self.Offered(self, *found)),
            )

    def action_references(self) -> None:
        """Offer the uses of a name."""
        name, session = self.name_here(), self.context.session
        if not name:
            say(self, "put the cursor on a name first")
        elif session is not None:
            ask(
                self,
                "names",
                lambda: [of_hit(hit) for hit in session.index.uses(name)],
                lambda rows: self._offer_uses(name, rows),
            )

    def _offer_uses(self, name: str, rows: Sequence[PlaceRow]) -> None:
        if rows:
            self.post_message(self.Offered(self, f"uses of {name}", rows))
        else:
            say(self, f"no use of {name} is known in this tree")
