"""``torchnav contribute``: what a change of an operator, a file or a function asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import click

from indexes.model.errors import UsageError
from indexes.queries.contribution.plan import Contributions
from indexes.queries.gaps.find import find_gap
from indexes.queries.naming.keys import known_device
from indexes.serialize.contribution import contribution_json, new_operator_json
from navigator.cli.session import Settings, json_option, pass_settings, say, write_lines
from navigator.live.schema_check import plan_operator
from navigator.text.clean import printable
from navigator.text.contribution import markdown_lines, plan_lines, plan_markdown, text_lines


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
    help="How many places to ask git about: who changed them.",
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
    """Everything that a change of NAME asks for: an operator, a FILE, FILE:LINE, a symbol or a gap.

    The places to touch, what they cost to rebuild, the tests that cover them, the commands to
    build, test and lint, who reviews them and who changed them last, and what to mind, as the
    tree itself states it. With --new-op, everything that a new operator must be added to.
    """
    if (name is None) == (new_op is None):
        raise UsageError("give the name of what is to be changed, or --new-op 'SCHEMA'")
    text: Callable[[], Iterable[str]]
    index = settings.index()
    if new_op is not None:
        plan = plan_operator(index, new_op, formulas)
        value, text = partial(new_operator_json, plan), partial(plan_lines, plan)
        as_markdown = partial(plan_markdown, plan)
    else:
        gap = find_gap(index, name or "")
        subject = (gap.op or str(gap.location)) if gap else name
        found = Contributions(index).of(subject or "", known_device(device, index), histories)
        value, text = partial(contribution_json, found), partial(text_lines, found)
        as_markdown = partial(markdown_lines, found)
    if markdown:
        _write(markdown, "\n".join(as_markdown()) + "\n")
    if settings.json or not markdown:
        settings.answer(value, text)


def _write(where: str, text: str) -> None:
    if where == "-":
        write_lines(text.splitlines())
        return
    try:
        Path(where).write_text(printable(text), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {where}: {error.strerror or error}") from error
    say(f"wrote {where}")
