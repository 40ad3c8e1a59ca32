"""``torchnav inspect``: what a tensor holds, in the Python that has torch."""

from __future__ import annotations

import subprocess
import sys

import click

from indexes.model.errors import SourceError
from indexes.source.torch_install import target_python
from navigator.cli.session import Settings, json_option, pass_settings

_START = (
    "import sys; count = int(sys.argv[1]); sys.path.extend(sys.argv[2 : 2 + count]);"
    " from navigator.objects.command import main; sys.exit(main(sys.argv[2 + count :]))"
)
"""Our own folders come last: the program's modules are its own."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("what")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@json_option
@pass_settings
def inspect(settings: Settings, what: str, arguments: tuple[str, ...]) -> int:
    """Every member of a tensor, as the source declares it, with its live value.

    WHAT is an expression, `torch.ones(2, 3).t()`, or SCRIPT.py:NAME: the script is run
    with ARGUMENTS, and then NAME is looked at, which may be an expression too.
    """
    target = target_python()
    if target.torch is None:
        raise SourceError("no Python with torch was found: name one with --python")
    own = [path for path in sys.path if path]
    options = ["--tree", settings.tree] if settings.tree else []
    options += ["--json"] if settings.json else []
    command = [target.path, "-c", _START, str(len(own)), *own, *options, what, *arguments]
    return subprocess.run(command, check=False).returncode
