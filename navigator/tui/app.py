"""The terminal application: start-up, themes, keys, the command palette."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from traceback import format_exception
from typing import Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from navigator.tui.clipboard import tell_tmux
from navigator.tui.config import Config, config_path, load_config
from navigator.tui.screens.browser import BrowserScreen
from navigator.tui.screens.chords import ChordScreen
from navigator.tui.session import Opener
from navigator.tui.text import one_line
from navigator.tui.widgets.filter_input import ENTER, FilterInput


def _operators() -> type[Provider]:
    from navigator.tui.commands import OperatorCommands

    return OperatorCommands


class TorchnavApp(App[int]):
    """torchnav on a terminal."""

    TITLE = "torchnav"
    CSS_PATH = "screens/browser.tcss"
    """That of the default screen, which Textual does not load with the screen."""
    COMMANDS = App.COMMANDS | {_operators}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "help", "Help", key_display="?", id="help", priority=True)
    ]

    def __init__(self, opener: Opener, config: Config, op: str | None = None) -> None:
        super().__init__()
        self._opener = opener
        self._config = config
        self._op = op

    def get_default_screen(self) -> Screen[Any]:
        return BrowserScreen(self._opener, self._config, self._op)

    def on_mount(self) -> None:
        self._apply_config()

    def _apply_config(self) -> None:
        config = self._config
        self.set_keymap(dict(config.keys))
        if config.theme in self.available_themes:
            self.theme = config.theme
        elif config.theme:
            self.notify(f"no theme is called {config.theme!r}", severity="error", markup=False)
        for name in _unknown_keys(config) if config.keys else ():
            line = f"config.toml: no key has the id {name!r}; ? shows the ids"
            self.notify(line, severity="error", markup=False)

    def _handle_exception(self, error: Exception) -> None:
        """A mistake of ours is one line for the reader, and the details in a file."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        where = note_crash(error)
        line = f"torchnav stopped: {type(error).__name__}: {one_line(str(error))}; see {where}"
        self.exit(return_code=1, message=line)

    def copy_to_clipboard(self, text: str) -> None:
        """As in every Textual app, and past tmux as well."""
        super().copy_to_clipboard(text)
        self.run_worker(lambda: tell_tmux(text), thread=True, exit_on_error=False)

    # ----------------------------------------------------------------------------- keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self._screen_stack:
            await self._on_any_key(event)
        else:
            await super().on_event(event)

    async def _on_any_key(self, event: events.Key) -> None:
        """Keys mean what they meant when they were pressed, however fast they come.

        A key that a widget did not want comes back here as a forwarded one. If there is
        an input by then, an earlier key has opened it and this one was typed for it.
        """
        screen, line = self.screen, self.focused
        chord = screen.chord if isinstance(screen, ChordScreen) else ""
        if isinstance(screen, ChordScreen) and screen.take_key(event):
            return
        if event.is_forwarded and isinstance(line, Input) and await _typed_late(line, event):
            return
        await super().on_event(event)
        if chord and isinstance(screen, ChordScreen) and not event.is_forwarded:
            screen.after_key(chord)

    def action_help(self) -> None:
        """Every key of the screen below."""
        from navigator.tui.keys import keys_of
        from navigator.tui.screens.help import HelpScreen

        owners = [type(self.screen), *_widgets_with_keys(self.screen)]
        groups = [(_TITLES.get(one.__name__, "This screen"), one) for one in owners]
        changed = self._config.keys
        self.push_screen(HelpScreen([(title, keys_of(one, changed)) for title, one in groups]))

    # -------------------------------------------------------------------------- palette

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        from navigator.tui.keys import keys_of

        yield from super().get_system_commands(screen)
        for key in keys_of(type(screen), self._config.keys):
            if not key.id.startswith("hop."):
                yield SystemCommand(key.words, " ".join(key.keys), _runner(screen, key.action))


def _unknown_keys(config: Config) -> list[str]:
    from navigator.tui.keys import unknown_ids
    from navigator.tui.screens import (  # isort: skip
        about,
        commands,
        copied,
        find,
        goto,
        help,  # noqa: A004
    )
    from navigator.tui.chain import chain_tree
    from navigator.tui.source import source_pane, source_view
    from navigator.tui.widgets import place_list

    owners = (
        TorchnavApp,
        BrowserScreen,
        about.AboutScreen,
        commands.SectionsScreen,
        copied.CopiedScreen,
        find.FindScreen,
        goto.GotoScreen,
        help.HelpScreen,
        chain_tree.ChainTree,
        place_list.PlaceList,
        source_pane.SearchLine,
        source_view.SourceView,
        FilterInput,
    )
    return unknown_ids(owners, config.keys)


async def _typed_late(line: Input, event: events.Key) -> bool:
    """Give an input a key that was pressed before it had the focus; whether it takes it."""
    if event.is_printable:
        line.insert_text_at_cursor(event.character or "")
        return True
    if isinstance(line, FilterInput) and event.key in ENTER:
        await line.run_action("screen.choose")
        return True
    return False


def note_crash(error: Exception) -> Path:
    """Write down what went wrong; where that is."""
    from indexes.source.paths import cache_folder

    path = cache_folder() / "crash.txt"
    lines = format_exception(type(error), error, error.__traceback__)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
    return path


_TITLES = {
    "OperatorList": "Operators",
    "ChainTree": "Chain",
    "PlaceList": "List",
    "SourceView": "Source",
    "FilterInput": "Filter",
    "SearchLine": "Search in the source",
    "TraceTree": "Trace",
    "GroupList": "Groups of a trace",
}


def _widgets_with_keys(screen: Screen[Any]) -> list[type[Widget]]:
    """The classes of widgets on a screen that have keys to list, each once."""
    classes = [type(widget) for widget in screen.query("*")]
    return [one for one in dict.fromkeys(classes) if one.__name__ in _TITLES]


def _runner(screen: Screen[Any], action: str) -> Callable[[], Awaitable[None]]:
    """Run an action of the screen, past the first stroke of its keys."""

    async def run_it() -> None:
        if isinstance(screen, ChordScreen) and action.startswith("in_chord("):
            await screen.run_action(action.split("'")[3])
        else:
            await screen.run_action(action)

    return run_it


def run(tree: str | None = None, cache: Path | str | None = None, op: str | None = None) -> int:
    """Show the browser on this terminal until the reader quits; the exit code.

    ``tree`` is as for ``--tree``, ``cache`` the cache folder, ``op`` a name to start with.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("torchnav: this needs a terminal; `torchnav op NAME` prints", file=sys.stderr)
        return 2
    opener = Opener(tree, Path(cache) if cache else None)
    app = TorchnavApp(opener, load_config(config_path()), op)
    app.run()
    return app.return_code or 0
