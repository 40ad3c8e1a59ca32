"""``torchnav contribute``: plans a change of an operator, a file or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import click
from click.exceptions import Exit

from indexes.model.errors import UsageError
from indexes.queries.changes.model import Plan
from indexes.queries.changes.planning import Changes
from indexes.queries.contribution.plan import Contributions
from indexes.queries.index import Index
from indexes.queries.naming.keys import known_device
from indexes.serialize.changes import plan_json
from indexes.serialize.contribution import contribution_json, new_operator_json
from navigator.cli.session import Settings, completed, pass_settings, places_option, write_page
from navigator.live.schema_check import plan_operator
from navigator.text import changes
from navigator.text.contribution import markdown_lines, plan_lines, plan_markdown, text_lines


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completed("operators"))
@click.option(
    "--for",
    "wanted",
    metavar="KIND",
    help="What to add to NAME: mps, sparse-mps, cuda, nested, another dispatch key, or a kind of"
    " gap: batch-rule, decomposition, meta, forward-mode, docs ...",
)
@click.option("--new-op", metavar="SCHEMA", help="Plan a new operator with this schema.")
@click.option(
    "--formula",
    "formulas",
    multiple=True,
    metavar="INPUT: TEXT",
    help="With --new-op: a derivative formula to check, such as 'self: grad * other'.",
)
@click.option("--device", default="cpu", show_default=True, help="The device to run the tests on.")
@click.option(
    "--history",
    "histories",
    type=click.IntRange(min=0),
    default=4,
    show_default=True,
    help="For how many places to look up in git who changed them.",
)
@click.option("--markdown", metavar="FILE", help="Write the checklist as Markdown; - is stdout.")
@places_option
@pass_settings
def contribute(
    settings: Settings,
    names: tuple[str, ...],
    wanted: str | None,
    new_op: str | None,
    formulas: tuple[str, ...],
    device: str,
    histories: int,
    markdown: str | None,
) -> None:
    """Plan a change of NAME: an operator, FILE, FILE:LINE, a symbol or a gap.

    The plan lists the places to edit and what they cost to rebuild; the tests that cover them; the
    commands to build, test and lint; who reviews the change and who changed the code last; and the
    conventions that the tree states. With --new-op, it lists everything that a new operator must be
    added to, and drafts its entries for native_functions.yaml, which the tree's own torchgen then
    reads: the exit code is 1 if a check fails. For a gap, or with --for KIND, it lists the steps of
    that one change: what to edit where, and which neighbour to copy from. With --for, several NAMEs
    share one plan.
    """
    if bool(names) == (new_op is not None) or (wanted and new_op):
        raise UsageError("name what to change, or give --new-op 'SCHEMA'")
    if len(names) > 1 and not wanted:
        raise UsageError("several names need --for KIND")
    index = settings.index()
    if new_op is not None:
        answer = _of_new_operator(index, new_op, formulas)
    elif plan := _plan(index, names, wanted, histories):
        answer = _of_change(plan)
    else:
        answer = _of_name(index, names[0], known_device(device, index), histories)
    if markdown:
        write_page(settings, markdown, "\n".join(answer.markdown()) + "\n")
    if settings.json or not markdown:
        settings.answer(answer.value, answer.text)
    if not answer.good:
        raise Exit(1)


class _Answer(NamedTuple):
    """An answer in each output form."""

    value: Callable[[], object]
    text: Callable[[], Iterable[str]]
    markdown: Callable[[], Iterable[str]]
    good: bool = True
    """Whether all checks of the draft pass."""


def _of_new_operator(index: Index, schema: str, formulas: tuple[str, ...]) -> _Answer:
    plan = plan_operator(index, schema, formulas)
    text, markdown = partial(plan_lines, plan), partial(plan_markdown, plan)
    return _Answer(partial(new_operator_json, plan), text, markdown, plan.good)


def _of_name(index: Index, name: str, device: str, histories: int) -> _Answer:
    found = Contributions(index).of(name, device, histories)
    text, markdown = partial(text_lines, found), partial(markdown_lines, found)
    return _Answer(partial(contribution_json, found), text, markdown)


def _plan(index: Index, names: tuple[str, ...], wanted: str | None, histories: int) -> Plan | None:
    """The plan of one change; None for a single name that is not a gap."""
    if not wanted and "/" not in names[0]:
        return None
    changes = Changes(index, histories)
    return changes.of_ops(names, wanted) if wanted else changes.of_id(names[0])


def _of_change(plan: Plan) -> _Answer:
    text, markdown = partial(changes.plan_lines, plan), partial(changes.plan_markdown, plan)
    return _Answer(partial(plan_json, plan), text, markdown)
