"""What the sub-commands share: their options, the settings and how they write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from navigator.cli.session import Settings
from navigator.cli.streams import ProgressLine, say, write_json, write_lines

__all__ = [
    "ProgressLine",
    "Settings",
    "json_option",
    "pass_settings",
    "say",
    "settings_of",
    "source_options",
    "version",
    "write_json",
    "write_lines",
]

_F = TypeVar("_F", bound=Callable[..., Any])


def settings_of(context: click.Context) -> Settings:
    return context.ensure_object(Settings)


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    if value not in (None, False):
        setattr(settings_of(context), parameter.name or "", value)
    return value


def source_options(command: _F) -> _F:
    """``--tree`` and ``--cache``, which may stand before the command's name or after it."""
    tree = click.option(
        "--tree",
        metavar="PATH",
        callback=_remember,
        expose_value=False,
        help="The source tree: a checkout, or a folder in one. [env: TORCHNAV_CHECKOUT]",
    )
    cache = click.option(
        "--cache",
        metavar="PATH",
        type=click.Path(file_okay=False, path_type=Path),
        callback=_remember,
        expose_value=False,
        help="Where indexes and clones are kept. [env: TORCHNAV_CACHE]",
    )
    return tree(cache(command))


def json_option(command: _F) -> _F:
    """``--json``, for a command that answers."""
    option = click.option(
        "--json", is_flag=True, callback=_remember, expose_value=False, help="Answer as JSON."
    )
    return source_options(option(command))


pass_settings = click.make_pass_decorator(Settings, ensure=True)


def version() -> str:
    from navigator import __version__

    return __version__
