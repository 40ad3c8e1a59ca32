"""``torchnav tensorimpl`` and ``engine``: the two files that everybody reads first."""

from __future__ import annotations

import click

from indexes.model.errors import NotFound
from navigator.cli.commands.common import (
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)


@click.command()
@json_option
@pass_settings
def tensorimpl(settings: Settings) -> None:
    """Each data member of TensorImpl, with its type, comment, line and accessors."""
    index = settings.index()
    members = index.tensorimpl()
    if not members:
        raise NotFound("this tree has no c10/core/TensorImpl.h that could be read")
    if settings.json:
        from indexes.serialize.answers import envelope, member_json

        write_json(envelope(index.info, members=[member_json(one) for one in members]))
    else:
        from navigator.text.answers import member_lines, source_lines

        write_lines([*member_lines(members), *source_lines(index.info)])


@click.command()
@json_option
@pass_settings
def engine(settings: Settings) -> None:
    """The functions of the autograd engine, what each calls, and its phase of a backward pass."""
    index = settings.index()
    functions = index.engine()
    if not functions:
        raise NotFound(
            "this source has no torch/csrc/autograd/engine.cpp: add it with `torchnav clone`"
        )
    if settings.json:
        from indexes.serialize.answers import engine_function_json, envelope

        rows = [engine_function_json(one) for one in functions]
        write_json(envelope(index.info, functions=rows))
    else:
        from navigator.text.answers import engine_lines, source_lines

        write_lines([*engine_lines(functions), *source_lines(index.info)])
