"""``torchnav contribute``: what a change of an operator, a file or a function asks for."""

from __future__ import annotations

from pathlib import Path

import click

from indexes.model.errors import UsageError
from navigator.cli.commands.common import (
    Settings,
    json_option,
    pass_settings,
    say,
    write_json,
    write_lines,
)


@click.command()
@click.argument("name", required=False)
@click.option("--new-op", metavar="SCHEMA", help="Plan a new operator with this schema.")
@click.option(
    "--formula",
    "formulas",
    multiple=True,
    metavar="INPUT: TEXT",
    help="With --new-op: a derivative formula to check, such as 'self: grad * other'.",
)
@click.option("--device", default="cpu", show_default=True, help="For which the tests are run.")
@click.option(
    "--history",
    "histories",
    type=click.IntRange(min=0),
    default=4,
    show_default=True,
    help="For how many places git is asked who changed them.",
)
@click.option("--markdown", metavar="FILE", help="Write the checklist as Markdown; - is stdout.")
@json_option
@pass_settings
def contribute(
    settings: Settings,
    name: str | None,
    new_op: str | None,
    formulas: tuple[str, ...],
    device: str,
    histories: int,
    markdown: str | None,
) -> None:
    """Everything that a change of NAME asks for: an operator, a FILE, FILE:LINE or a symbol.

    The places to touch, what they cost to rebuild, the tests that cover them, the commands to
    build, test and lint, who reviews them and who changed them last, and what to mind, as the
    tree itself states it. With --new-op, everything that a new operator must be added to.
    """
    if (name is None) == (new_op is None):
        raise UsageError("give the name of what is to be changed, or --new-op 'SCHEMA'")
    if name is not None:
        _existing(settings, name, device, histories, markdown)
    elif new_op is not None:
        _new(settings, new_op, formulas, markdown)


def _existing(
    settings: Settings, name: str, device: str, histories: int, markdown: str | None
) -> None:
    from indexes.queries.contribution.plan import Contributions
    from navigator.text.contribution import markdown_lines, text_lines

    found = Contributions(settings.index()).of(name, device, histories)
    if markdown:
        _write(markdown, "\n".join(markdown_lines(found)) + "\n")
    if settings.json:
        from indexes.serialize.contribution import contribution_json

        write_json(contribution_json(found))
    elif not markdown:
        write_lines(text_lines(found))


def _new(settings: Settings, schema: str, formulas: tuple[str, ...], markdown: str | None) -> None:
    from navigator.live.schema_check import plan_operator
    from navigator.text.contribution import plan_lines, plan_markdown

    plan = plan_operator(settings.index(), schema, formulas)
    if markdown:
        _write(markdown, "\n".join(plan_markdown(plan)) + "\n")
    if settings.json:
        from indexes.serialize.contribution import new_operator_json

        write_json(new_operator_json(plan))
    elif not markdown:
        write_lines(plan_lines(plan))


def _write(where: str, text: str) -> None:
    if where == "-":
        write_lines(text.splitlines())
        return
    from navigator.text.clean import printable

    try:
        Path(where).write_text(printable(text), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {where}: {error.strerror or error}") from error
    say(f"wrote {where}")
