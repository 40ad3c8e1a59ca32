"""``torchnav tensorimpl`` and ``engine``: the two files that everybody reads first."""

from __future__ import annotations

import click

from indexes.model.errors import NotFound
from indexes.serialize.answers import engine_function_json, envelope, member_json
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.text.answers import engine_lines, member_lines, source_lines


@click.command()
@json_option
@pass_settings
def tensorimpl(settings: Settings) -> None:
    """Each data member of TensorImpl, with its type, comment, line and accessors."""
    index = settings.index()
    members = index.tensorimpl()
    if not members:
        raise NotFound("this tree has no c10/core/TensorImpl.h that could be read")
    settings.answer(
        lambda: envelope(index.info, members=[member_json(one) for one in members]),
        lambda: [*member_lines(members), *source_lines(index.info)],
    )


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
    settings.answer(
        lambda: envelope(index.info, functions=[engine_function_json(one) for one in functions]),
        lambda: [*engine_lines(functions), *source_lines(index.info)],
    )
