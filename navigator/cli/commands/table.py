"""``torchnav table``: an operator's kernel for each dispatch key; ``key``: one dispatch key."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indexes.model.errors import NotFound, UsageError
from indexes.queries.dispatch_path.key_card import KeyCards
from indexes.queries.dispatch_path.switches import MEANINGS
from indexes.queries.dispatch_path.walk import SwitchedPaths
from indexes.queries.naming.near import near
from indexes.serialize.dispatch import key_json, switch_paths_json, table_json
from navigator.cli.session import Settings, completed, pass_settings, places_option
from navigator.text.answers import source_lines
from navigator.text.dispatch_path import path_lines
from navigator.text.table import key_lines, table_lines

if TYPE_CHECKING:
    from indexes.model.answers import NameMatch
    from indexes.model.dispatch import SwitchPaths
    from indexes.queries.index import Index


@click.command()
@click.argument("name", shell_complete=completed("operators"))
@click.option("--overload", metavar="OVERLOAD", help="Show this overload: Tensor, out, default.")
@click.option("--live", is_flag=True, help="Compare with the dispatcher of the installed torch.")
@click.option(
    "--when",
    metavar="SWITCH,...",
    help="Show the keys that a call passes, side by side, under: requires_grad, autocast, "
    "inference, no_grad, vmap, functionalize, subclass, mode, sparse; or all. Also --with.",
)
@click.option(
    "--device", default="cpu", metavar="DEVICE", help="The device for --when: cpu, cuda, mps ..."
)
@places_option
@pass_settings
def table(
    settings: Settings, name: str, overload: str | None, live: bool, when: str | None, device: str
) -> None:
    """Show the dispatch table of an operator, computed from the source alone.

    For every runtime key: the kernel, whether it is the key's own, an alias key's or a fallback,
    and the line that registers it. NAME can have any spelling, as for `op`.
    """
    named = when or _switches_from_with(settings)
    switches = _switches(named) if named else None
    index = settings.index()
    op = resolve_overload(index, name, overload)
    if switches is not None:
        _paths(settings, SwitchedPaths(index).paths(op, switches, device), live)
        return
    answer = index.table(op)
    differences = None
    if live:
        from navigator.live.installed import differences as compared

        differences = compared(index, answer)
    settings.answer(
        lambda: table_json(answer, differences),
        lambda: [*table_lines(answer, differences), "", *source_lines(index.info)],
    )


def _switches_from_with(settings: Settings) -> str:
    """Removes the switches from ``--with``, the words that are no folder, and returns them."""
    known = {"all", *MEANINGS}
    named = tuple(
        extension_folder
        for extension_folder in settings.extension_folders
        if {*extension_folder.split(",")} <= known and not os.path.exists(extension_folder)
    )
    settings.extension_folders = tuple(
        one for one in settings.extension_folders if one not in named
    )
    return ",".join(named)


def _switches(text: str) -> tuple[str, ...]:
    """The switches in ``--when``. Raises UsageError with similar names."""
    named = [word.strip() for word in text.split(",") if word.strip()]
    if named == ["all"]:
        return tuple(MEANINGS)
    for word in named:
        if word not in MEANINGS:
            close = near(word, tuple(MEANINGS)) or tuple(MEANINGS)
            raise UsageError(f"--when has no switch {word!r}", close)
    return tuple(named)


def _paths(settings: Settings, answer: SwitchPaths, live: bool) -> None:
    compared = None
    if live:
        from navigator.live.installed import live_switches

        compared = live_switches(answer)
    settings.answer(
        lambda: switch_paths_json(answer, compared),
        lambda: [*path_lines(answer, compared), "", *source_lines(answer.source)],
    )


def resolve_overload(index: Index, name: str, overload: str | None) -> str:
    """The overload that is meant; names of other namespaces are unchanged."""
    match = index.resolve(name)
    suffix = None if overload is None else overload.replace("default", "")
    found = [o for o in match.overloads if suffix is None or o.partition(".")[2] == suffix]
    if found:
        return found[0]
    if "::" in name and name in index.dispatch.operators():
        return name
    match = index.meant(name)
    raise NotFound(_refusal(match), match.overloads)


def _refusal(match: NameMatch) -> str:
    if match.overloads:
        return f"{match.text} has no such overload"
    kind = match.hits[0].kind if match.hits else match.kind
    return f"{match.text}: {'Python ' * (match.kind == 'python')}{kind}, not an ATen operator"


@click.command()
@click.argument("name", shell_complete=completed("dispatch_keys"))
@click.option(
    "--limit",
    default=8,
    show_default=True,
    type=click.IntRange(0),
    help="Maximum number of rows in each list.",
)
@places_option
@pass_settings
def key(settings: Settings, name: str, limit: int) -> None:
    """Show what a dispatch key is for, what adds it to key sets, and what is registered for it.

    NAME is a runtime key (AutocastCUDA), a functionality (AutogradFunctionality), or an alias
    (CompositeImplicitAutograd), which lists the runtime keys that it covers.
    """
    card = KeyCards(settings.index()).card(name)
    settings.answer(
        lambda: key_json(card, limit),
        lambda: [*key_lines(card, limit), "", *source_lines(card.source)],
    )
