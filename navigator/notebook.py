"""``%load_ext navigator``: torchnav in notebooks, with links into the source.

``%torchnav op softmax`` is the command line; ``%%torchnav`` records what its cell runs.
"""

from __future__ import annotations

import contextlib
import io
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from indexes.model.answers import Card
from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import SourceInfo
from navigator.text.html import card_html, linked_text

if TYPE_CHECKING:
    from navigator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Answer:
    """The output of a command, with places linked to the tree's commit."""

    text: str
    source: SourceInfo | None
    card: Card | None = None
    """An operator's card, shown first."""

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        if self.card is None or self.source is None:
            return linked_text(self.text, self.source)
        return "".join(card_html(self.card, self.source))


def command(line: str) -> Answer:
    """Runs a command line; returns its output or error as text."""
    from navigator.cli.main import main

    arguments = shlex.split(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    text = out.getvalue() if status == 0 else f"{out.getvalue()}{err.getvalue()}"
    return Answer(text.rstrip("\n"), *_known(arguments) if status == 0 else (None,))


def _known(arguments: list[str]) -> tuple[SourceInfo | None, Card | None]:
    """The source of an answer, and the card of an operator if only its name was given."""
    from indexes.queries.index import Index
    from navigator.cli.main import parsed

    try:
        with parsed(arguments) as (settings, call):
            index = Index.as_left(settings.source(), settings.cache)
            name = call.params.get("name") if call and call.info_name == "op" else None
            if call is None or not name or settings.json or _more(call):
                return index.info, None
            match = index.resolve(name)
            return index.info, index.card(match.overloads[0]) if match.overloads else None
    except TorchnavError:
        return None, None


def _more(call: click.Context) -> bool:
    """Whether the command has arguments besides the name."""
    origins = (call.get_parameter_source(param) for param in call.params if param != "name")
    return any(source is not ParameterSource.DEFAULT for source in origins)


def recorded(line: str, cell: str, shell: Any) -> Trace:
    """The trace of a cell's run; its output and errors are shown as usual.

    Parameters:
        line: ``--memory``, to record allocations too.
    """
    from navigator.recording import Recording

    with Recording(memory="--memory" in line.split()) as recording:
        shell.run_cell(cell)
    return recording.trace


def load(shell: Any) -> None:
    """Adds the magics to an IPython."""

    def torchnav(line: str, cell: str | None = None) -> Answer | Trace:
        """%torchnav COMMAND ...: as on the command line; %%torchnav: records the cell."""
        return command(line) if cell is None else recorded(line, cell, shell)

    shell.register_magic_function(torchnav, "line_cell", "torchnav")
