"""``torchnav op``: from any spelling of a name to the chain of the operator it means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from indexes.model.errors import NotFound
from navigator.cli.session import Settings, json_option, pass_settings, write_json, write_lines

if TYPE_CHECKING:
    from indexes.model.vocabulary import Chain, Hop, NameMatch
    from indexes.queries.index import Index


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
    index = settings.index()
    match = index.resolve(name)
    if match.kind == "none":
        raise NotFound(
            f"nothing is named {name!r} in PyTorch {index.info.version}", match.suggestions
        )
    overloads = _chosen(match, overload)
    shown = overloads if every else overloads[:1]
    chains = (_only(index.chain(full_name), key) for full_name in shown)
    if settings.json:
        _write_json(index, match, chains)
    else:
        write_lines(_text(index, match, chains, full))


def _chosen(match: NameMatch, overload: str | None) -> tuple[str, ...]:
    if overload is None:
        return match.overloads
    wanted = "" if overload == "default" else overload
    found = tuple(name for name in match.overloads if name.partition(".")[2] == wanted)
    if not found:
        raise NotFound(f"{match.text} has no overload {overload!r}", match.overloads)
    return found


def _only(chain: Chain, key: str | None) -> Chain:
    """The chain without what is for other keys or devices than ``key``."""
    if key is None:
        return chain
    dropped: set[int | None] = set()
    kept = []
    for hop in chain.hops:
        if hop.parent in dropped or not _is_for(hop, key):
            dropped.add(hop.id)
        else:
            kept.append(hop)
    unresolved = [one for one in chain.unresolved if not one.keys or key in one.keys]
    return replace(chain, hops=tuple(kept), unresolved=tuple(unresolved))


def _is_for(hop: Hop, key: str) -> bool:
    """Whether a hop is for ``key``, or for every key, as a composite kernel is."""
    named = hop.keys or ((hop.device,) if hop.device else ())
    return not named or key in named or any(name.startswith("Composite") for name in named)


def _write_json(index: Index, match: NameMatch, chains: Iterator[Chain]) -> None:
    from indexes.serialize.answers import chain_json, envelope

    if not match.overloads:
        write_json(envelope(index.info, match=match))
    for chain in chains:
        write_json(chain_json(chain, match.overloads))


def _text(index: Index, match: NameMatch, chains: Iterator[Chain], full: bool) -> Iterator[str]:
    from navigator.text import answers as plaintext

    if match.note:
        yield from plaintext.wrap(match.note, "")
    if not match.overloads:
        yield from plaintext.hit_lines(match.hits)
    shown = set()
    for chain in chains:
        shown.add(chain.op.full_name)
        yield from plaintext.chain_lines(chain, full)
        yield ""
    if others := [name for name in match.overloads if name not in shown]:
        yield from plaintext.overload_lines(others)
    yield from plaintext.source_lines(index.info)
