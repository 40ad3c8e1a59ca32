"""``torchnav mcp``: a Model Context Protocol server for coding agents, on stdin and stdout."""

from __future__ import annotations

import signal

import click

from indexes.model.errors import UsageError
from navigator.cli.session import Settings, pass_settings, source_options


@click.command()
@source_options
@pass_settings
def mcp(settings: Settings) -> None:
    """Serve coding agents over the Model Context Protocol, on stdin and stdout.

    The tools locate, chain, dispatch, users, tests and trace read only. A client starts the server:
    {"command": "torchnav", "args": ["mcp", "--tree", "/path/to/pytorch"]}.
    """
    try:
        from navigator.agents.server import server_for
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is missing: pip install 'torchnav[mcp]'") from error
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Python waits for stdin at exit
    server_for(settings).run()
