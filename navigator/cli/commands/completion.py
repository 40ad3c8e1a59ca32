"""``torchnav completion``: what a shell must read to complete our command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = {
    "bash": 'eval "$(torchnav completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(torchnav completion zsh)" in ~/.zshrc, behind compinit',
    "fish": "torchnav completion fish > ~/.config/fish/completions/torchnav.fish",
}


@click.command(epilog="\b\n" + "\n".join(f"{shell:5} {how}" for shell, how in SHELLS.items()))
@click.argument("shell", type=click.Choice([*SHELLS]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """The script by which SHELL completes commands, options, operators and dispatch keys."""
    script = get_completion_class(shell)
    assert script is not None
    root = context.find_root()
    click.echo(script(root.command, {}, "torchnav", "_TORCHNAV_COMPLETE").source())
