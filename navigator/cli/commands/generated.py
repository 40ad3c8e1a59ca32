"""``torchnav generated``: the C++ that torchgen writes for an operator."""

from __future__ import annotations

import click

from navigator.cli.commands.table import resolve_overload
from navigator.cli.session import Settings, completed, pass_settings, places_option, say
from navigator.live.generated.query import generated as asked
from navigator.live.generated.query import generated_json
from navigator.text.answers import source_lines
from navigator.text.generated import generated_lines


@click.command()
@click.argument("name", shell_complete=completed("operators"))
@click.option("--overload", metavar="OVERLOAD", help="Show this overload: Tensor, out, default.")
@click.option("--only", default="", metavar="FILE", help="Show the code of one file: VariableType.")
@click.option("--full", is_flag=True, help="Show the code of every piece.")
@places_option
@pass_settings
def generated(settings: Settings, name: str, overload: str | None, only: str, full: bool) -> None:
    """Show the C++ that torchgen and the autograd generators write for an operator.

    Each piece has its file and lines in a build, the line of the template that it fills, and the
    function that makes it. Files without code for the operator say why. The generators of the tree
    run in a process of their own that cannot write files; the first run takes a minute or two.
    """
    index = settings.index()
    op = resolve_overload(index, name, overload)
    answer = asked(index.source, op, settings.cache, lambda line: say(f"torchnav: {line}"))
    settings.answer(
        lambda: generated_json(answer),
        lambda: [*generated_lines(answer, full, only), "", *source_lines(index.info)],
    )
