"""``torchnav op``: the operator that a name means, its card, routes and chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, get_args

import click

from indexes.model.errors import NotFound
from indexes.model.vocabulary import Role, Work
from navigator.cli.session import (
    Choice,
    Settings,
    completed,
    each_name,
    pass_settings,
    places_option,
)
from navigator.text import answers as plaintext

if TYPE_CHECKING:
    from indexes.model.answers import Chain, NameMatch
    from indexes.model.python import PythonCard
    from indexes.queries.index import Index

ROLES: tuple[str, ...] = get_args(Role)
WORKS: tuple[str, ...] = get_args(Work)


@click.command()
@click.argument("name", shell_complete=completed("operators"))
@click.option("--overload", metavar="OVERLOAD", help="Show this overload: Tensor, out, default.")
@click.option("--all", "every", is_flag=True, help="Show every overload that the name can mean.")
@click.option("--chain", "chained", is_flag=True, help="Show the chain below the card.")
@click.option("--full", is_flag=True, help="Show the whole chain, with nothing folded.")
@click.option("--depth", metavar="N", type=click.IntRange(0), help="Follow at most N dispatches.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="List about N hops.")
@click.option("--role", type=Choice(ROLES), metavar="ROLE", help="Only hops of this role.")
@click.option(
    "--work", type=Choice(WORKS), metavar="WORK", help="Only hops that do this kind of work."
)
@click.option(
    "--key",
    metavar="KEY",
    shell_complete=completed("dispatch_keys"),
    help="Only hops for this dispatch key or device: CPU, CUDA.",
)
@places_option
@pass_settings
def op(
    settings: Settings,
    name: str,
    overload: str | None,
    every: bool,
    chained: bool,
    full: bool,
    depth: int | None,
    limit: int | None,
    role: Role | None,
    work: Work | None,
    key: str | None,
) -> int:
    """Show what computes an operator on each device, its gradient, Python names and tests.

    Prints a card with the functions that compute and the steps that lead to them; --chain adds
    everything that the operator reaches, each step with its reason. NAME can have any spelling:
    add, aten::add.Tensor, torch.add, F.relu, torch.ops.aten.add.Tensor, AddmmBackward0,
    at::native::add_kernel, torch.compile ... With - as NAME, reads names from stdin, one per line.
    """
    index = settings.index()
    if key is not None:
        from indexes.queries.naming.keys import known_key

        key = known_key(key, index)
    cut = _ChainPart(full, depth, limit, role, work, key)

    def answer(one: str) -> None:
        match = index.meant(one)
        overloads = _chosen(match, overload)
        shown = overloads if every else overloads[:1]
        if settings.json:
            _write_json(settings, index, match, shown, cut)
        else:
            text = _text(index, match, shown, cut, chained or cut != _ChainPart())
            settings.terminal.write(text, held=True)

    return each_name(settings, name, answer)


class _ChainPart(NamedTuple):
    """The requested part of a chain."""

    full: bool = False
    depth: int | None = None
    limit: int | None = None
    role: Role | None = None
    work: Work | None = None
    key: str | None = None

    def chain(self, index: Index, full_name: str) -> Chain:
        """That part of an overload's chain."""
        full, depth, limit, role, work, _ = self
        from indexes.queries.chains.chain import for_key

        chain = index.chain(full_name, full=full, depth=depth, limit=limit, role=role, work=work)
        return for_key(chain, self.key, role) if self.key else chain


def _chosen(match: NameMatch, overload: str | None) -> tuple[str, ...]:
    if overload is None:
        return match.overloads
    suffix = "" if overload == "default" else overload
    found = tuple(name for name in match.overloads if name.partition(".")[2] == suffix)
    if not found:
        raise NotFound(f"{match.text} has no overload {overload!r}", match.overloads)
    return found


def _write_json(
    settings: Settings, index: Index, match: NameMatch, shown: Iterable[str], cut: _ChainPart
) -> None:
    from indexes.serialize.answers import chain_json, envelope

    python = _python(index, match)
    if not match.overloads:
        settings.write({**envelope(index.info, match=match), **python})
    for full_name in shown:
        routes = index.routes(full_name)
        card = index.card(full_name, routes)
        chain = cut.chain(index, full_name)
        settings.write({**chain_json(chain, match.overloads, routes, card, match), **python})


def _python(index: Index, match: NameMatch) -> Mapping[str, object]:
    """Facts about a Python name other than its places."""
    card = index.python(match.text) if match.kind == "python" else None
    if card is None:
        return {}
    from indexes.serialize.answers import python_json

    return {"python": python_json(card)}


_MOST_LINES = 40


def _text(
    index: Index, match: NameMatch, shown: Sequence[str], cut: _ChainPart, chained: bool
) -> Iterator[str]:
    python = index.python(match.text) if match.kind == "python" else None
    yield from _meaning(match, python)
    below = [
        *_python_lines(python, match),
        *_other_overloads(match, shown),
        *plaintext.source_lines(index.info),
    ]
    for full_name in shown:
        routes = index.routes(full_name)
        lines = list(plaintext.card_lines(index.card(full_name, routes)))
        if not chained:
            lines += plaintext.problem_lines(index.problems_of(full_name), "! ")
        yield from (*lines, "")
        if chained:
            from navigator.text.chains import chain_lines

            yield from chain_lines(cut.chain(index, full_name))
        else:
            room = max(5, _MOST_LINES - len(lines) - len(below) - 2)
            yield from plaintext.route_lines(routes, room)
        yield ""
    yield from below


_OPERATORS = ("operator", "grad_fn")


def _python_lines(python: PythonCard | None, match: NameMatch) -> list[str]:
    """Facts about a Python name, printed below its operators."""
    if python is None or not match.overloads:
        return []
    from navigator.text.python import known_lines

    return [*known_lines(python), ""]


def _meaning(match: NameMatch, python: PythonCard | None) -> Iterator[str]:
    """What a name that is not an operator means."""
    if python:
        from navigator.text.python import defined_lines, known_lines

        yield from defined_lines(python, match.hits)
        if not match.overloads:
            yield from known_lines(python)
    elif match.kind not in _OPERATORS or not match.overloads:
        yield from plaintext.hit_lines(match.hits)
    if match.kind == "python" and not match.overloads:
        kind = match.hits[0].kind if match.hits else "name"
        yield f"Python {kind}, not an ATen operator"
    if match.note:
        yield from plaintext.wrap(match.note, "")
    if match.namesakes:
        names = (f"{one.name} {one.location.path}:{one.location.line}" for one in match.namesakes)
        yield from plaintext.wrap(f"C++ namesakes: {', '.join(names)}", "")
    if match.kind not in _OPERATORS and match.overloads:
        yield ""


def default_answer(index: Index, name: str) -> Iterator[str]:
    """The output of ``torchnav op NAME``, line by line."""
    match = index.resolve(name)
    yield from _text(index, match, match.overloads[:1], _ChainPart(), False)


def _other_overloads(match: NameMatch, shown: Sequence[str]) -> Iterator[str]:
    if others := [name for name in match.overloads if name not in shown]:
        lines = list(plaintext.overload_lines(others))
        yield from lines[:3]
        if len(lines) > 3:
            yield "... and more: --all"
