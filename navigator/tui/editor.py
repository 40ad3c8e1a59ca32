"""Finds and runs the user's editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from textual.app import SuspendNotSupported
from textual.widget import Widget

from navigator.tui.background import complain, say


@dataclass(frozen=True, slots=True)
class Preset:
    """How a family of editors is given a line."""

    arguments: tuple[str, ...]
    """Arguments with ``{path}`` and ``{line}``."""
    window: bool = False
    """Whether it opens its own window and leaves the terminal free."""


_PLUS = Preset(("+{line}", "{path}"))
_COLON = Preset(("{path}:{line}",))
_GOTO = Preset(("--goto", "{path}:{line}"), window=True)
_COLON_WINDOW = Preset(("{path}:{line}",), window=True)
_JETBRAINS = Preset(("--line", "{line}", "{path}"), window=True)

PRESETS: Mapping[str, Preset] = {
    **dict.fromkeys(("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "kak", "micro"), _PLUS),
    **dict.fromkeys(("hx", "helix"), _COLON),
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor", "windsurf"), _GOTO),
    **dict.fromkeys(("zed", "zeditor", "subl", "sublime_text"), _COLON_WINDOW),
    **dict.fromkeys(("pycharm", "clion", "idea", "charm", "fleet"), _JETBRAINS),
    **dict.fromkeys(("gvim", "mvim", "gedit"), Preset(("+{line}", "{path}"), window=True)),
    "kate": Preset(("--line", "{line}", "{path}"), window=True),
}

FALLBACKS = ("nvim", "vim", "hx", "nano", "vi")
"""Editors to try if neither $VISUAL nor $EDITOR is set."""


@dataclass(frozen=True, slots=True)
class EditorCommand:
    """The command to run."""

    argv: tuple[str, ...]
    window: bool
    """Whether it runs in its own window, so that we need not wait."""


class NoEditor(Exception):
    """No editor was found; the message says what to set."""


def editor_command(
    path: Path, line: int, configured: str = "", environ: Mapping[str, str] = os.environ
) -> EditorCommand:
    """The command that opens ``path`` at ``line``.

    ``configured`` comes from the config file and may contain ``{path}`` and ``{line}``; then come
    $VISUAL, $EDITOR and common editors. Unknown editors get ``+LINE PATH``, which most accept.
    """
    words = _words(configured or environ.get("VISUAL") or environ.get("EDITOR") or _installed())
    if any("{path}" in word for word in words):
        return EditorCommand(tuple(_fill(words, path, line)), window=False)
    preset = PRESETS.get(Path(words[0]).stem.lower(), _PLUS)
    argv = (*words, *_fill(preset.arguments, path, line))
    in_terminal = {"-nw", "-t", "-tty", "--tty"} & set(words[1:])
    return EditorCommand(argv, preset.window and not in_terminal)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise NoEditor(f"cannot read the editor command {command!r}: {error}") from None
    if not words:
        raise NoEditor("no editor: set $VISUAL or $EDITOR, e.g. export VISUAL=nvim")
    if shutil.which(words[0]) is None:
        raise NoEditor(f"the editor {words[0]!r} is not installed: set $VISUAL or $EDITOR")
    return words


def _installed() -> str:
    return next((name for name in FALLBACKS if shutil.which(name)), "")


def _fill(words: tuple[str, ...] | list[str], path: Path, line: int) -> list[str]:
    number = str(max(line, 1))
    return [word.replace("{line}", number).replace("{path}", str(path)) for word in words]


def open_editor(owner: Widget, path: Path, line: int, configured: str) -> None:
    """Open a file in the user's editor; wait if it runs in the terminal."""
    try:
        command = editor_command(path, line, configured)
        status = _run_in_window(owner, command) if command.window else _run_here(owner, command)
    except (NoEditor, OSError) as error:
        complain(owner, str(error))
    except SuspendNotSupported:
        complain(owner, "this terminal cannot be handed to an editor")
    else:
        if status:
            complain(owner, f"{command.argv[0]} ended with status {status}")


def _run_here(owner: Widget, command: EditorCommand) -> int:
    with owner.app.suspend():
        return subprocess.run(command.argv, check=False).returncode


def _run_in_window(owner: Widget, command: EditorCommand) -> int:
    quiet = subprocess.DEVNULL
    subprocess.Popen(command.argv, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    say(owner, f"opened in {command.argv[0]}")
    return 0
