"""Taking a place elsewhere: into an editor, onto the clipboard."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import ClassVar

from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.message import Message

from indexes.model.errors import TorchnavError
from navigator.tui.clipboard import is_deaf
from navigator.tui.editor import EditorCommand, NoEditor, editor_command
from navigator.tui.history import Visit
from navigator.tui.screens.asking import AskingScreen
from navigator.tui.screens.chords import member, opener
from navigator.tui.session import Session


class Edited(Message):
    """The editor was left again, so a file may have changed."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path


class TakingScreen(AskingScreen):
    """A screen that shows a place which can be taken elsewhere."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit", id="edit"),
        opener("copy", "y", "Copy"),
        member("copy", "n", "copy_name", "name"),
        member("copy", "p", "copy_place", "path:line"),
        member("copy", "l", "copy_link", "link to GitHub"),
        Binding("Y", "show_copied", "Show what was copied", show=False, id="copy.show"),
    ]

    _copied = ""

    def here(self) -> Visit | None:
        """The place that ``e`` and ``y`` are about."""
        raise NotImplementedError

    def name_here(self) -> str:
        """The name that ``y n`` and ``g r`` are about."""
        raise NotImplementedError

    # --------------------------------------------------------------------------- editor

    def action_edit(self) -> None:
        """Open the place in the reader's editor and come back."""
        here, session = self.here(), self.session
        if session is None or here is None or here.path is None:
            self.say("there is no source here to edit")
            return
        try:
            self._open_editor(session, here.path, here.line)
        except (NoEditor, TorchnavError, OSError) as error:
            self.complain(str(error))
        except SuspendNotSupported:
            self.complain("this terminal cannot be handed to an editor")

    def _open_editor(self, session: Session, path: str, line: int) -> None:
        command = editor_command(session.absolute(path), line, self.config.editor)
        status = self._run_beside(command) if command.window else self._run_here(command)
        if status:
            self.complain(f"{command.argv[0]} ended with status {status}")
        session.shelf.forget(path)
        self.post_message(Edited(path))

    def _run_here(self, command: EditorCommand) -> int:
        with self.app.suspend():
            return subprocess.run(command.argv, check=False).returncode

    def _run_beside(self, command: EditorCommand) -> int:
        quiet = subprocess.DEVNULL
        subprocess.Popen(
            command.argv, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
        self.say(f"opened in {command.argv[0]}")
        return 0

    # ------------------------------------------------------------------------ clipboard

    def action_copy_name(self) -> None:
        self.copy(self.name_here)

    def action_copy_place(self) -> None:
        self.copy(self._place_here)

    def action_copy_link(self) -> None:
        self.copy(self._link_here)

    def _place_here(self) -> str:
        here = self.here()
        return f"{here.path}:{here.line}" if here and here.path else ""

    def _link_here(self) -> str:
        here, session = self.here(), self.session
        if session is None or here is None or here.path is None:
            return ""
        link = session.permalink(here.path, here.line, here.end_line)
        if session.info.dirty:
            self.say("the tree has uncommitted changes: lines may differ on GitHub")
        return link

    def copy(self, what: Callable[[], str]) -> None:
        """Put a text on the clipboard, and show it where that is known to fail."""
        try:
            text = what()
        except TorchnavError as error:
            self.complain(str(error))
            return
        if text:
            self._copy_text(text)
        else:
            self.say("there is nothing here to copy")

    def _copy_text(self, text: str) -> None:
        self._copied = text
        if self.config.clipboard == "show" or is_deaf():
            self.action_show_copied()
            return
        self.app.copy_to_clipboard(text)
        self.say(f"copied {text} (Y shows it, if your terminal refused)")

    def action_show_copied(self) -> None:
        from navigator.tui.screens.copied import CopiedScreen

        if self._copied:
            self.app.clear_notifications()
            self.app.push_screen(CopiedScreen(self._copied))
