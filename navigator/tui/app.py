"""The terminal application: start-up, themes, keys, the command palette."""

from __future__ import annotations

import io
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from inspect import isclass
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from rich.console import Console
from textual import events
from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import Hit, Hits, Provider
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Input

import navigator.tui
from indexes.model.vocabulary import OperatorSummary
from indexes.source.source import cache_folder
from navigator.tui.background import say
from navigator.tui.clipboard import copy_to_tmux
from navigator.tui.config import Config, config_path, load_config
from navigator.tui.context import Context
from navigator.tui.history import LastPlaces, Visit, state_file
from navigator.tui.keys import Key, keys_of, unknown_ids
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.panes.chain_workspace import ChainWorkspace
from navigator.tui.panes.workspace import Workspace
from navigator.tui.screens.browser import BrowserScreen
from navigator.tui.screens.goto import GotoScreen
from navigator.tui.screens.help import LEGEND, HelpScreen
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Opener
from navigator.tui.text import clean, one_line, shorten
from navigator.tui.widgets.filter_input import ENTER, EarlyKeys, FilterInput
from navigator.tui.widgets.line_list import LineList

LIMIT = 30


class OperatorCommands(Provider):
    """Operators in the command palette, which open their chain."""

    async def search(self, query: str) -> Hits:
        for workspace in self.screen.query(ChainWorkspace):
            session = workspace.context.session
            found = session.index.filter(query)[:LIMIT] if session is not None else ()
            for at, operator in enumerate(found):
                yield _hit(workspace, operator, score=0.5 - at / 1000)


def _hit(workspace: ChainWorkspace, operator: OperatorSummary, score: float) -> Hit:
    name = clean(operator.full_name)
    visit = Visit(op=operator.full_name, title=operator.full_name)
    words = shorten(clean(operator.schema), 100)
    return Hit(score, name, partial(workspace.jump, visit), text=name, help=words)


_AGAIN_S = 3.0
"""Seconds within which a second ctrl+c quits."""
EXIT_INTERRUPTED = 130


class TorchnavApp(App[int]):
    """torchnav in a terminal."""

    TITLE = "torchnav"
    CSS_PATH = "screens/browser.tcss"
    """The default screen's style sheet, which Textual does not load with the screen."""
    COMMANDS = App.COMMANDS | {OperatorCommands}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "help", "Help", key_display="?", id="help", priority=True),
        Binding(
            "ctrl+z",
            "suspend_process",
            "Suspend (fg resumes)",
            show=False,
            id="suspend",
            priority=True,
        ),
    ]

    def __init__(
        self,
        opener: Opener,
        config: Config,
        op: str | None = None,
        places: LastPlaces | None = None,
    ) -> None:
        """``op`` is an initial name; ``places`` stores the last places."""
        super().__init__()
        self.context = Context(opener, config, places=places or LastPlaces())
        self._op = op
        self._interrupted = -_AGAIN_S

    def on_index_progress_opened(self) -> None:
        """Screens above the browser may show less than the new index has."""
        for screen in self.screen_stack:
            if isinstance(screen, PlacesScreen | GotoScreen):
                screen.index_opened()

    def get_default_screen(self) -> Screen[Any]:
        return BrowserScreen(self.context, self._op)

    def on_mount(self) -> None:
        config = self.context.config
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.set_keymap(dict(config.keys))
        if config.theme in self.available_themes:
            self.theme = config.theme
        elif config.theme:
            self._complain(f"no theme is called {config.theme!r}")
        for name in unknown_ids(_classes_with_keys(), config.keys) if config.keys else ():
            self._complain(f"config.toml: no key has the id {name!r}; ? shows the ids")

    def exit(self, result: int | None = None, return_code: int = 0, message: Any = None) -> None:
        """Leave, and remember the place."""
        for screen in self.screen_stack[:1]:
            if isinstance(screen, BrowserScreen):
                screen.remember()
        super().exit(result, return_code, message)

    def pop_screen(self) -> AwaitComplete:
        """Return to the screen below. Drops its widgets' cached lines, which Textual would show
        again."""
        for widget in self.screen.walk_children(with_self=True):
            widget.refresh()
        return super().pop_screen()

    def action_help_quit(self) -> None:
        """Ctrl+c without a selection stops indexing; a second one quits."""
        if monotonic() - self._interrupted < _AGAIN_S:
            self.exit(return_code=EXIT_INTERRUPTED)
            return
        self._interrupted = monotonic()
        for screen in self.screen_stack[:1]:
            if isinstance(screen, BrowserScreen):
                screen.action_cancel()
        self.notify("ctrl+c again quits", timeout=_AGAIN_S)

    def _complain(self, text: str) -> None:
        self.notify(text, severity="error", markup=False)

    def copy_to_clipboard(self, text: str) -> None:
        """As in every Textual app, and through tmux as well."""
        super().copy_to_clipboard(text)
        self.run_worker(lambda: copy_to_tmux(text), thread=True, exit_on_error=False)

    # ----------------------------------------------------------------------------- keys

    async def on_event(self, event: events.Event) -> None:
        if not (isinstance(event, events.Key) and await self._is_taken(event)):
            await super().on_event(event)

    async def _is_taken(self, event: events.Key) -> bool:
        """Preserves the meaning of keys at the time of pressing, even in fast input.

        Keys that a widget did not handle are forwarded here. If an earlier key has opened an input
        meanwhile, they were typed for it.
        """
        line = self.focused
        if event.is_forwarded:
            return isinstance(line, Input) and _typed_late(line, event)
        early = getattr(self.screen, "early_keys", None)
        if isinstance(early, EarlyKeys) and early.take(event):
            return True
        take, self.context.next_key = self.context.next_key, None
        return take is not None and await take(event)

    def action_help(self) -> None:
        """The keys of the screen below, those of the focused widget first."""
        groups: dict[str, dict[str, Key]] = {}
        cached = [self.focused] if self.focused else []
        nodes = (*cached, *self.screen.walk_children(with_self=True))
        for owner in dict.fromkeys(map(type, nodes)):
            for key in keys_of(owner, self.context.config.keys):
                groups.setdefault(_group_of(owner, key), {})[key.id] = key
        legend = getattr(self.screen, "LEGEND", LEGEND)
        titled = [(title, [*keys.values()]) for title, keys in groups.items()]
        self.push_screen(HelpScreen(titled, legend))

    # ---------------------------------------------------------------------------- lists

    def action_list(self, name: str, subject: str = "") -> None:
        """Show a list beside its source, then go to the chosen place."""
        from navigator.tui.lists.catalog import ABOUT, LISTS

        workspace = self.screen.query_one(Workspace)
        subject = subject or (name == "contribute" and workspace.change()) or workspace.subject()
        if self.context.session is None:
            return
        if name in LISTS:
            self._show_list(workspace, LISTS[name](self.context))
        elif subject:
            self._show_list(workspace, ABOUT[name](self.context, subject))
        else:
            say(workspace, "choose an operator or a place in source first")

    def on_workspace_offered(self, message: Workspace.Offered) -> None:
        pane = PlacesPane(self.context, message.title, message.rows)
        self._show_list(message.workspace, pane)

    def _show_list(self, workspace: Workspace, pane: PlacesPane) -> None:
        self.push_screen(PlacesScreen(pane), workspace.chosen)

    def action_goto(self) -> None:
        """Go to a typed or pasted place."""
        workspace = self.screen.query_one(Workspace)
        path = workspace.source.view.path
        self.push_screen(GotoScreen(self.context, path), workspace.chosen)

    # -------------------------------------------------------------------------- palette

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield from super().get_system_commands(screen)
        for node in (screen, *screen.query(Workspace)):
            for key in keys_of(type(node), self.context.config.keys):
                if not key.id.startswith("hop."):
                    run = partial(node.run_action, key.action)
                    yield SystemCommand(key.words, " ".join(key.keys), run)


def _group_of(owner: type[DOMNode], key: Key) -> str:
    """The heading of a key in the help; keys that move in lists share one."""
    if key.id.startswith("cursor.") and issubclass(owner, LineList):
        return "Lists"
    return _TITLES.get(owner.__name__, _OTHERS)


def _typed_late(line: Input, event: events.Key) -> bool:
    """Pass a key to an input that did not have the focus yet; returns whether it accepts it."""
    if event.is_printable:
        line.insert_text_at_cursor(event.character or "")
    elif isinstance(line, FilterInput) and event.key in ENTER:
        line.action_choose()
    else:
        return False
    return True


def _classes_with_keys() -> Iterator[type[DOMNode]]:
    """Every screen and widget of torchnav, open or not."""
    for module in pkgutil.walk_packages(navigator.tui.__path__, "navigator.tui."):
        for var in vars(import_module(module.name)).values():
            if isclass(var) and issubclass(var, DOMNode):
                yield var


_OTHERS = "This screen"
_TITLES = {
    "OperatorList": "Operators",
    "CardView": "Card",
    "ChainTree": "Chain",
    "PlaceList": "List",
    "StartPage": "Start page",
    "SourceView": "Source",
    "FilterInput": "Filter",
    "SearchLine": "Search in the source",
    "TraceTree": "Trace",
    "LaneView": "Lanes of a trace",
    "Answer": "Input of the program",
}


def run(
    tree: str | None = None,
    cache: Path | str | None = None,
    op: str | None = None,
    extensions: Sequence[tuple[str, str]] = (),
) -> int:
    """Show the browser in this terminal until the user quits; returns the exit code.

    ``tree`` is as for ``--tree``, ``cache`` the cache folder, ``op`` an initial name,
    ``extensions`` the folders of extensions with their names.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("torchnav: this needs a terminal; `torchnav op NAME` prints", file=sys.stderr)
        return 2
    opener = Opener(tree, Path(cache) if cache else None, tuple(extensions))
    places = LastPlaces(state_file())
    return run_app(TorchnavApp(opener, load_config(config_path()), op, places))


def run_app(app: TorchnavApp) -> int:
    """Run an application; returns the exit code. Details of a bug go into a file."""
    details = io.StringIO()
    app.error_console = Console(file=details, markup=False, highlight=False, width=120)
    status = app.run()
    if details.getvalue():
        error = details.getvalue().strip().rpartition("\n")[2]
        print(f"torchnav stopped: {one_line(error)}; see {note_crash(details.getvalue())}")
    return status or app.return_code or 0


def note_crash(details: str) -> Path:
    """Write the details of a crash to a file; returns its path."""
    path = cache_folder() / "crash.txt"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(details, encoding="utf-8")
    return path
