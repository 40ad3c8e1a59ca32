"""Where the screen's source comes from on a machine that has none yet."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from indexes.model.errors import Progress, SourceError
from indexes.source.source import Source
from indexes.source.torch_install import choose_python, target_python
from navigator.cli.clone_source import clone, plan
from navigator.cli.terminal import ProgressLine
from navigator.tui.start import CLONED, Start, StartApp


def ask_for_source(reason: str, cache: Path | None) -> str | None:
    """The tree that the reader names or has fetched; None when that ends without an answer.

    Parameters:
        reason: Why the tree that was named is none; empty where none was.

    Raises:
        TorchnavError: It cannot be fetched.
    """
    start = StartApp(reason, partial(_source, cache)).run()
    if start is None:
        return None
    if start.kind == "clone":
        with ProgressLine() as line:
            clone(plan(CLONED), cache, lambda *parts: line(Progress(*parts)))
    return str(_source(cache, start).root)


def _source(cache: Path | None, start: Start) -> Source:
    """The source that a choice leads to. Raises TorchnavError for none."""
    if start.kind != "python":
        return Source.find(start.name or None, cache)
    choose_python(start.name, "chosen on the first screen")
    if target_python().torch is None:
        raise SourceError(f"{start.name} has no torch")
    return Source.find(None, cache)
