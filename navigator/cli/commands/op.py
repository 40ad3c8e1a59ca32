"""``torchnav op``: from any spelling of a name to the chain of the operator it means."""

from __future__ import annotations

import click

from navigator.cli import questions
from navigator.cli.commands.common import Settings, json_option, pass_settings


@click.command()
@click.argument("name")
@click.option("--overload", metavar="OVERLOAD", help="Show this overload: Tensor, out, default.")
@click.option("--all", "every", is_flag=True, help="Show every overload that the name can mean.")
@click.option("--full", is_flag=True, help="Follow every operator that is called on the way.")
@click.option("--key", metavar="KEY", help="Only hops for this dispatch key or device: CPU, CUDA.")
@json_option
@pass_settings
def op(
    settings: Settings, name: str, overload: str | None, every: bool, full: bool, key: str | None
) -> None:
    """The chain of an operator: schema, kernels, stubs, formulas, each with its reason.

    NAME may be any spelling: add, aten::add.Tensor, torch.add, F.relu,
    torch.ops.aten.add.Tensor, AddmmBackward0, at::native::add_kernel ...
    """
    questions.op(settings, name, overload, every, full, key)
