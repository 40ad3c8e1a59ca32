"""``torchnav doctor``: checks the setup; ``completion``: prints the shells' completion scripts."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.shell_completion import get_completion_class

from indexes.model.vocabulary import SCHEMA_VERSION
from indexes.serialize.answers import shape
from navigator.cli.doctor import Check, examine, usable
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.text.clean import clean

shape(Check, "name state found command?")
_EXIT_NOTHING = 3


@click.command()
@click.option("--report", is_flag=True, help="Print what a bug report needs, as Markdown.")
@json_option
@pass_settings
def doctor(settings: Settings, report: bool) -> int:
    """Check your setup: what is found, what is missing, and the command that adds it.

    --report adds the machine, the environment variables and the configuration that torchnav
    reads, and the end of its log. It leaves out your home folder, credentials in URLs and secrets.
    Exit code 3 if there is no source to answer from, else 0.
    """
    checks = examine(settings.tree, settings.cache, extensions=settings.extensions())
    found = {"schema_version": SCHEMA_VERSION, "usable": usable(checks), "checks": checks}
    if report:
        from navigator.cli.doctor import report_lines

        settings.terminal.write(report_lines(checks, settings.cache))
    else:
        settings.answer(lambda: found, lambda: [line for check in checks for line in _lines(check)])
    return 0 if usable(checks) else _EXIT_NOTHING


def _lines(check: Check) -> Iterator[str]:
    sign = {"ok": " ", "note": "-", "missing": "!"}[check.state]
    yield clean(f"{sign} {check.name:18} {check.found}")
    if check.command:
        yield clean(f"{'':20} -> {check.command}")


SHELLS = {
    "bash": 'eval "$(torchnav completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(torchnav completion zsh)" in ~/.zshrc, after compinit',
    "fish": "torchnav completion fish > ~/.config/fish/completions/torchnav.fish",
}


@click.command(epilog="\b\n" + "\n".join(f"{shell:5} {how}" for shell, how in SHELLS.items()))
@click.argument("shell", type=click.Choice([*SHELLS]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: commands, options, operators and dispatch keys."""
    script = get_completion_class(shell)
    assert script is not None
    root = context.find_root()
    click.echo(script(root.command, {}, "torchnav", "_TORCHNAV_COMPLETE").source())
