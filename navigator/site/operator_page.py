"""The page of one operator: card, ways to what computes, formula, dispatch table, chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from indexes.model.answers import Chain, Hop, Route
from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import SourceError, TorchnavError
from indexes.model.vocabulary import DerivativeEntry, SourceInfo
from indexes.queries.index import Index
from navigator.text.clean import html_text
from navigator.text.html import card_html, link, row

_HOPS = 22
"""Steps of a chain that are shown; the rest is counted."""
_EXCERPT = 10
_EXCERPTS = 3
"""Devices of whose usual way the lines that compute are shown."""


def operator_page(index: Index, op: str) -> Iterator[str]:
    """The body of the page. Raises TorchnavError for what is no operator."""
    source, routes = index.info, index.routes(op)
    card = index.card(op, routes)
    chain = index.chain(op)
    yield from card_html(card, source)
    if routes:
        yield "<h2>Ways to what computes</h2><table>"
        yield from (_way(source, route) for route in routes)
        yield "</table>"
        yield from _excerpts(index, routes)
    if chain.derivative is not None:
        yield from _formulas(source, chain.derivative)
    yield from _table(index, op)
    yield from _chain(source, chain)


def _way(source: SourceInfo, route: Route) -> str:
    when = " and ".join(route.conditions)
    said = "; ".join(filter(None, (when, route.note)))
    steps = " &gt; ".join(map(html_text, route.steps))
    return row(html_text(route.device), steps, link(source, route.location), html_text(said))


def _excerpts(index: Index, routes: Sequence[Route]) -> Iterator[str]:
    """The first lines of what computes, of the usual way of each device."""
    usual: dict[str, Route] = {}
    for route in routes:
        usual.setdefault(route.device, route)
    for device, route in [*usual.items()][:_EXCERPTS]:
        try:
            lines = index.read(route.location.path).split("\n")
        except SourceError as error:
            yield f"<p>{html_text(device)}: {html_text(str(error))}</p>"
            continue
        first = route.location.line
        shown = "\n".join(lines[first - 1 : first - 1 + _EXCERPT])
        yield f"<details><summary>{html_text(device)}: {html_text(route.symbol)}</summary>"
        lines_shown = f'<pre tabindex="0">{html_text(shown)}</pre>'
        yield f"{link(index.info, route.location)}{lines_shown}</details>"


def _formulas(source: SourceInfo, entry: DerivativeEntry) -> Iterator[str]:
    yield f"<h2>Gradient</h2><p>{link(source, entry.location)}</p><table>"
    for one in entry.sets:
        for formula in one.formulas:
            name = html_text(", ".join(formula.inputs))
            text = f"<code>{html_text(formula.text)}</code>"
            grad_fn = html_text(one.grad_fn or "")
            yield row(name, text, grad_fn, link(source, formula.location, "line"))
    yield "</table>"


def _table(index: Index, op: str) -> Iterator[str]:
    try:
        table = index.table(op)
    except TorchnavError as error:
        yield f"<h2>Dispatch table</h2><p>{html_text(str(error))}</p>"
        return
    own = [group for group in reversed(table.groups()) if group[0].kind != "backend fallback"]
    if own:
        yield "<h2>Dispatch table</h2><details><summary>what runs for each key</summary><table>"
        yield from (_slot(index.info, group) for group in own)
        yield "</table><p>Other keys run their fallback, the same for every operator.</p></details>"


def _slot(source: SourceInfo, group: Sequence[DispatchSlot]) -> str:
    one = group[-1]
    keys = html_text(", ".join(slot.key for slot in reversed(group)))
    where = link(source, one.definition or one.registration)
    return row(keys, html_text(one.kernel), html_text(one.kind), where)


def _chain(source: SourceInfo, chain: Chain) -> Iterator[str]:
    """The steps as nested lists."""
    yield '<h2>Chain</h2><details class="chain"><summary>step by step</summary>'
    below: dict[int | None, list[Hop]] = {}
    for hop in chain.hops[:_HOPS]:
        below.setdefault(hop.parent, []).append(hop)
    yield from _steps(source, below, None)
    if (more := len(chain.hops) - _HOPS) > 0:
        command = html_text(f"torchnav op {chain.op.full_name} --chain")
        yield f"<p>{more:,} more steps: <code>{command}</code></p>"
    for one in chain.unresolved:
        yield f'<p class="dim">{html_text(one.symbol)}: {html_text(one.reason)}</p>'
    yield "</details>"


def _steps(
    source: SourceInfo, below: Mapping[int | None, Sequence[Hop]], parent: int | None
) -> Iterator[str]:
    """The steps below one, each with those below it; parents come before their children."""
    if parent in below:
        yield "<ul>"
        for hop in below[parent]:
            yield f"<li>{_hop(source, hop)}"
            yield from _steps(source, below, hop.id)
            yield "</li>"
        yield "</ul>"


def _hop(source: SourceInfo, hop: Hop) -> str:
    device = f" [{html_text(hop.device)}]" if hop.device else ""
    folded = ", ".join(f"{count} {work} not listed" for work, count in hop.folded.items())
    said = folded or hop.rule
    name = f"{html_text(hop.role)}{device} <b>{html_text(hop.symbol)}</b>"
    return f'{name} {link(source, hop.location)} <span class="dim">{html_text(said)}</span>'
