"""The trace screen as an application, for a file or a running program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.screen import Screen

from navigator.trace.running import RunningProgram
from navigator.tui.app import TorchnavApp, run_app
from navigator.tui.config import Config, config_path, load_config
from navigator.tui.session import Opener
from navigator.tui.trace.recordings import RecordedFile, RecordedProgram, Recording
from navigator.tui.trace.screen import TraceScreen


class TraceApp(TorchnavApp):
    """torchnav with a trace as its first screen."""

    CSS_PATH = "trace.tcss"

    def __init__(self, opener: Opener, config: Config, recording: Recording) -> None:
        super().__init__(opener, config)
        self._recording = recording

    def get_default_screen(self) -> Screen[Any]:
        return TraceScreen(self.context, self._recording)


def show(file: Path, opener: Opener, captures: Sequence[Path] = ()) -> int:
    """Show a recorded trace until the user quits; returns the exit code. ``captures`` are traces of
    the capture of its CUDA graphs."""
    return _run(opener, RecordedFile(file, captures))


def follow(file: Path, command: Sequence[str], opener: Opener) -> int:
    """Run a program that records into ``file`` and show it; returns the program's exit status."""
    size = shutil.get_terminal_size()
    program = RunningProgram(command, max(size.columns - 2, 20), 24)
    title = " ".join(command[command.index("--") + 1 :]) if "--" in command else str(file)
    try:
        return _run(opener, RecordedProgram(file, program, title))
    finally:
        program.stop()


def _run(opener: Opener, recording: Recording) -> int:
    return run_app(TraceApp(opener, load_config(config_path()), recording))
