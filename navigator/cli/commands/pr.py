"""``torchnav pr``: the draft of a pull request."""

from __future__ import annotations

import click

from indexes.model.errors import UsageError
from indexes.queries.pull_request.draft import draft
from indexes.queries.pull_request.model import Ran
from indexes.serialize.pull_request import pull_request_json
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.progress import results
from navigator.text.pull_request import body_lines, markdown_lines


@click.command()
@click.option(
    "--base", metavar="REV", help="Compare with this commit; default: where the branch left main."
)
@click.option(
    "--ran",
    "told",
    multiple=True,
    metavar="'COMMAND: RESULT'",
    help="A command that you ran and its result, for the test plan.",
)
@click.option("--body", is_flag=True, help="Print only the text of the pull request.")
@json_option
@pass_settings
def pr(settings: Settings, base: str | None, told: tuple[str, ...], body: bool) -> None:
    """Draft a pull request for your changes, as Markdown.

    Compares the working tree, including untracked files, with the commit where the branch left the
    upstream's main. Prints the title, the text in the tree's own form and the test plan; then
    labels, reviewers, issues, the steps up to the merge and what CI will run. What you have to fill
    in is marked. Nothing is sent anywhere.
    """
    ran = tuple(map(_ran, told))
    index = settings.index()
    found = draft(index, base, ran, results(index.cache, index.source.key))
    lines = body_lines if body else markdown_lines
    settings.answer(lambda: pull_request_json(found, list(body_lines(found))), lambda: lines(found))


def _ran(text: str) -> Ran:
    """``python test/test_ops.py -k gcd: 12 passed``."""
    command, colon, result = text.rpartition(": ")
    if not colon or not command.strip():
        raise UsageError(f"--ran {text!r}: give 'COMMAND: RESULT'")
    return Ran(command.strip(), result.strip())
