"""Shell completion of operators and dispatch keys of the tree."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from indexes.model.errors import TorchnavError
from navigator.cli.session import Settings

if TYPE_CHECKING:
    from indexes.queries.index import Index

_MOST = 200
"""Maximum number of completions."""


def _index(context: click.Context) -> Index | None:
    """The index without a refresh: pressing Tab must not wait for a build."""
    from indexes.queries.index import Index

    settings = context.find_object(Settings) or Settings()
    try:
        return Index.as_left(settings.source(), settings.cache)
    except TorchnavError:
        return None


def files(
    _context: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Completion of file names, by the shell."""
    return [CompletionItem(incomplete, type="file")]


def operators(context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Operators with this prefix, likely ones first; after a dot, overloads."""
    index = _index(context)
    if index is None:
        return []
    bare = incomplete.removeprefix("aten::")
    prefix = incomplete[: len(incomplete) - len(bare)]
    names = (one.full_name for one in index.filter(""))
    shown = (name if "." in bare else name.partition(".")[0] for name in names)
    found = dict.fromkeys(name for name in shown if name.startswith(bare))
    return [f"{prefix}{name}" for name in islice(found, _MOST)]


def dispatch_keys(context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Dispatch keys with this prefix, in any case."""
    index = _index(context)
    keys = index.dispatch.keys.runtime if index else ()
    return [key.name for key in keys if key.name.lower().startswith(incomplete.lower())]
