"""What every screen with a source pane can do: show, search, follow names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from navigator.tui.config import Config
from navigator.tui.debounce import Debounce, Pause
from navigator.tui.history import Visit
from navigator.tui.messages import Blamed, Coloured, Defined, Failed, Reread, SourceLoaded, Used
from navigator.tui.place_rows import PlaceRow, meanings, of_hit, target_of
from navigator.tui.screens.chords import member, opener, typing
from navigator.tui.screens.taking import Edited, TakingScreen
from navigator.tui.session import Session
from navigator.tui.source.document import Document
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.source.source_view import SourceView

_AROUND = 150
"""Lines before and behind the cursor whose blame is asked for at once."""


class SourceScreen(TakingScreen):
    """A screen with a source pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "contribute", "Contribute", id="contribute"),
        Binding("I", "impact", "Impact", tooltip="Impact: who uses it", id="impact"),
        Binding("A", "affected", "Affected", tooltip="Affected by your work", id="affected"),
        Binding(
            "P", "new_operator", "New operator", tooltip="Plan a new operator", id="new_operator"
        ),
        Binding("V", "compare", "Diff", tooltip="Compare with a version", id="compare"),
        Binding("M", "gaps", "Gaps", tooltip="What is missing", id="gaps"),
        Binding("B", "blame", "Blame", id="blame"),
        typing("slash", "search", "Search", key_display="/", show=False),
        opener("go", "g", "Go to…"),
        member("go", "g", "top", "top"),
        member("go", "d", "definition", "definition"),
        member("go", "r", "references", "uses"),
    ]

    def __init__(self, session: Session | None, config: Config) -> None:
        super().__init__(session, config)
        self._blame_soon = Debounce(self, 0.2)
        self._colour_soon = Pause(self, 0.1)

    @property
    def source(self) -> SourcePane:
        return self.query_one(SourcePane)

    @property
    def is_in_source(self) -> bool:
        """Whether the keys go to the source pane."""
        return isinstance(self.focused, SourceView)

    # ------------------------------------------------------------------------- showing

    def load(self, visit: Visit) -> None:
        """Show a place in the source pane."""
        session, path = self.session, visit.path
        if session is not None and path is not None and not self.show_at_hand(visit):
            self.expected, line = visit, max(visit.line, 1)
            self.ask("source", lambda: SourceLoaded(session.shelf.document(path, line), visit))

    expected: Visit | None = None
    """The place that is on its way into the source pane: keys already mean it."""

    def show_at_hand(self, visit: Visit) -> bool:
        """Show a place in a file that was read already; whether it was."""
        path = visit.path
        shelf, line = self.session and self.session.shelf, max(visit.line, 1)
        document = shelf.at_hand(path, line) if shelf and path else None
        if document is None:
            return False
        self.workers.cancel_group(self, "source")
        self.show_source(document, visit)
        return True

    def on_source_loaded(self, message: SourceLoaded) -> None:
        if message.visit is self.expected:
            self.show_source(message.document, message.visit)

    def show_source(self, document: Document, visit: Visit) -> None:
        """Show a place in a file that has been read."""
        self.expected = None
        self.source.show(document, max(visit.line, 1), visit.end_line)
        if not document.is_parsed:
            self._colour_soon(lambda: self.ask("colours", lambda: _parsed(document)))
        if self._blames:
            self._ask_blame()

    def on_coloured(self, message: Coloured) -> None:
        if self.source.view.document is message.document:
            self.source.view.refresh()

    def on_failed(self, message: Failed) -> None:
        if message.about == "source":
            self.expected = None
            self.source.show_message(str(message.error))

    def show_no_source(self, reason: str) -> None:
        """Show why there is no source to show."""
        self.expected = None
        self.workers.cancel_group(self, "source")
        self.source.show_message(reason)

    def here(self) -> Visit | None:
        if self.expected is not None:
            return self.expected
        view = self.source.view
        return Visit(path=view.path, line=view.line) if view.path else None

    def name_here(self) -> str:
        return self.source.view.name_under_cursor()

    def jump(self, visit: Visit) -> None:
        """Go to a place because the reader asked for it."""
        self.load(visit)
        self.set_focus(self.source.view)

    def on_edited(self, message: Edited) -> None:
        session, path = self.session, message.path
        if session is not None and self.source.view.path == path:
            self.ask("edited", lambda: Reread(session.shelf.document(path)))

    def on_reread(self, message: Reread) -> None:
        if self.source.view.path == message.document.path:
            self.source.view.replace(message.document)

    # --------------------------------------------------------------------------- blame

    _blames = False
    """Whether the reader wants to see who wrote the lines."""

    def action_blame(self) -> None:
        """Who wrote each line, beside the source; once more takes it away."""
        self._blames = not self._blames
        if self._blames:
            self.say("asking git who wrote these lines …")
            self._ask_blame()
        else:
            self.source.view.show_blame(())

    def _ask_blame(self) -> None:
        """Ask for the lines around the cursor: git takes long for a whole file."""
        session, view = self.session, self.source.view
        path, line = view.path, view.line
        if session is None or path is None or line in view.blamed:
            return
        start, end = max(1, line - _AROUND), min(line + _AROUND, len(view.lines))
        self.ask("blame", lambda: Blamed(path, session.blame(path, start, end)))

    def on_source_view_cursor_moved(self) -> None:
        if self._blames:
            self._blame_soon(self._ask_blame)

    def on_blamed(self, message: Blamed) -> None:
        if not self._blames or self.source.view.path != message.path:
            return
        self.source.view.show_blame(message.blame.lines)
        if message.blame.note and message.blame.note != self._blame_note:
            self._blame_note = message.blame.note
            self.say(message.blame.note)

    _blame_note = ""
    """What was last said about it, so that moving about does not repeat it."""

    # ----------------------------------------------------------------- a contribution

    def subject_here(self) -> str:
        """What ``c`` is about: in the source the line of the cursor, else the operator."""
        here = self.here()
        if here is not None and here.path is not None and (self.is_in_source or not here.op):
            return f"{here.path}:{here.line}"
        return here.op or "" if here is not None else ""

    def action_contribute(self) -> None:
        """What a change of this place, or of this operator, asks for."""
        from navigator.tui.screens.contribute import ContributeScreen

        subject = self.subject_here()
        if self.session is None or not subject:
            self.say("choose an operator or a place in source first")
        else:
            screen = ContributeScreen(self.session, self.config, subject)
            self.app.push_screen(screen, self._chosen)

    def action_impact(self) -> None:
        """Who uses this place, or this operator, and what is reached if it changes."""
        from navigator.tui.screens.impact import ImpactScreen

        subject = self.subject_here()
        if self.session is None or not subject:
            self.say("choose an operator or a place in source first")
        else:
            self.app.push_screen(ImpactScreen(self.session, self.config, subject), self._chosen)

    def action_affected(self) -> None:
        """What uncommitted work, or a range of commits, reaches."""
        from navigator.tui.screens.affected import AffectedScreen

        if self.session is not None:
            self.app.push_screen(AffectedScreen(self.session, self.config), self._chosen)

    def action_new_operator(self) -> None:
        """Where a new operator must be added."""
        from navigator.tui.screens.new_operator import NewOperatorScreen

        if self.session is not None:
            self.app.push_screen(NewOperatorScreen(self.session, self.config), self._chosen)

    def action_compare(self) -> None:
        """What differs from another version to this tree."""
        from navigator.tui.screens.compare import CompareScreen

        if self.session is not None:
            self.app.push_screen(CompareScreen(self.session, self.config), self._chosen)

    def action_gaps(self) -> None:
        """What is missing in this tree."""
        from navigator.tui.screens.gaps import GapsScreen

        if self.session is not None:
            self.app.push_screen(GapsScreen(self.session, self.config), self._chosen)

    # --------------------------------------------------------------------------- search

    def action_search(self) -> None:
        self.source.start_search()

    async def action_top(self) -> None:
        if self.focused is not None:
            await self.focused.run_action("first")

    # --------------------------------------------------------------------------- names

    def action_definition(self) -> None:
        self.find_definition(self.source.view.name_under_cursor())

    def on_source_view_name_chosen(self, message: SourceView.NameChosen) -> None:
        self.find_definition(message.name)

    def find_definition(self, name: str) -> None:
        """Go to where a name is defined, or offer all places."""
        session = self.session
        if not name:
            self.say("put the cursor on a name in the source first")
        elif session is not None:
            self.ask("names", lambda: Defined(name, meanings(session, name)))

    def on_defined(self, message: Defined) -> None:
        if not message.rows:
            self.say(f"no definition of {message.name} in this tree")
        elif len(message.rows) == 1:
            self.jump(target_of(message.rows[0]))
        else:
            self.offer(f"definitions of {message.name}", message.rows)

    def action_references(self) -> None:
        name, session = self.name_here(), self.session
        if not name:
            self.say("put the cursor on a name first")
        elif session is not None:
            self.ask("names", lambda: Used(name, session.index.uses(name)))

    def on_used(self, message: Used) -> None:
        if message.hits:
            self.offer(f"uses of {message.name}", [of_hit(hit) for hit in message.hits])
        else:
            self.say(f"no use of {message.name} is known in this tree")

    def offer(self, title: str, rows: Sequence[PlaceRow]) -> None:
        """Let the reader choose among places, and go to the chosen one."""
        from navigator.tui.screens.places import PlacesScreen

        screen = PlacesScreen(self.session, self.config, title, rows)
        self.app.push_screen(screen, self._chosen)

    def _chosen(self, visit: object) -> None:
        if isinstance(visit, Visit):
            self.jump(visit)


def _parsed(document: Document) -> Coloured:
    document.parse()
    return Coloured(document)
