"""``torchnav doctor``: what is found and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from navigator.cli.commands.common import (
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from navigator.cli.doctor import Check

_EXIT_NOTHING = 3


@click.command()
@json_option
@pass_settings
def doctor(settings: Settings) -> int:
    """What torchnav finds here, what is missing, and the command that adds it.

    Exit code 3 when there is no source to answer from, else 0.
    """
    from navigator.cli.doctor import examine, usable

    checks = examine(settings.tree, settings.cache)
    if settings.json:
        rows = [
            {"name": c.name, "state": c.state, "found": c.found, "command": c.command or None}
            for c in checks
        ]
        write_json({"schema_version": 1, "usable": usable(checks), "checks": rows})
    else:
        write_lines(line for check in checks for line in _lines(check))
    return 0 if usable(checks) else _EXIT_NOTHING


def _lines(check: Check) -> Iterator[str]:
    from navigator.text.clean import clean

    sign = {"ok": " ", "note": "-", "missing": "!"}[check.state]
    yield clean(f"{sign} {check.name:18} {check.found}")
    if check.command:
        yield clean(f"{'':20} -> {check.command}")
