"""The page of one operator: card, routes, formulas, dispatch table, chain."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from indexes.model.answers import Chain, Hop, Route
from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import TorchnavError
from indexes.model.lines import grouped
from indexes.model.vocabulary import SourceInfo
from indexes.queries.index import Index
from navigator.site.layout import address, linked_source
from navigator.text.chains import folded_words
from navigator.text.clean import html_text
from navigator.text.html import card_html, excerpt, formulas, link, row, short_link

_EXCERPTS = 3
"""Maximum number of devices whose computing lines are quoted."""


Quoted = dict[tuple[str, int], str]
"""The operators on whose pages lines are quoted, by path and line."""


def operator_page(index: Index, op: str, pages: Collection[str], quoted: Quoted) -> Iterator[str]:
    """The body of the page. Raises TorchnavError for an unknown operator.

    Parameters:
        pages: The operators that have a page, to which calls are linked.
        quoted: What the pages of the other overloads quote; this page's is added.
    """
    source, routes = linked_source(index.info), index.routes(op)
    card = index.card(op, routes)
    chain = index.chain(op, depth=0)
    yield from card_html(card, source)
    if routes:
        yield "<h2>Routes</h2><table>"
        yield from (_route(source, route) for route in routes)
        yield "</table>"
        yield from _excerpts(index, op, routes, quoted)
    if chain.derivative is not None:
        yield f"<h2>Gradient</h2><p>{link(source, chain.derivative.location)}</p>"
        yield formulas(source, chain.derivative)
    yield from _table(index, source, op)
    yield from _chain(source, chain, pages)


def _route(source: SourceInfo, route: Route) -> str:
    when = " and ".join(route.conditions)
    text = "; ".join(filter(None, (when, route.note)))
    steps = " &gt; ".join(map(html_text, route.steps))
    return row(html_text(route.device), steps, short_link(source, route.location), html_text(text))


def _excerpts(index: Index, op: str, routes: Sequence[Route], quoted: Quoted) -> Iterator[str]:
    """The first lines of what computes on each device's usual route, once for all overloads."""
    usual: dict[str, Route] = {}
    for route in routes:
        usual.setdefault(route.device, route)
    shown = [*usual.items()][:_EXCERPTS]
    devices = grouped((route.location[:2], device) for device, route in shown)
    for place, names in devices.items():
        route = usual[names[0]]
        title, first = f"{', '.join(names)}: {route.symbol}", quoted.setdefault(place, op)
        if first == op:
            yield excerpt(index, linked_source(index.info), title, route.location)
        else:
            yield f"<p>{html_text(title)}: quoted in {_page_link(first, html_text(first))}</p>"


def _page_link(op: str, name: str) -> str:
    return f'<a href="{address(op).removeprefix("op/")}">{name}</a>'


def _table(index: Index, source: SourceInfo, op: str) -> Iterator[str]:
    try:
        table = index.table(op)
    except TorchnavError as error:
        yield f"<h2>Dispatch table</h2><p>{html_text(str(error))}</p>"
        return
    groups = [group for group in reversed(table.groups()) if group[0].kind != "backend fallback"]
    if groups:
        yield "<h2>Dispatch table</h2><details><summary>what runs for each key</summary><table>"
        yield from (_slot(source, group) for group in groups)
        yield "</table><p>Other keys run their fallback, the same for every operator.</p></details>"


def _slot(source: SourceInfo, group: Sequence[DispatchSlot]) -> str:
    one = group[-1]
    keys = html_text(", ".join(slot.key for slot in reversed(group)))
    where = short_link(source, one.definition or one.registration)
    return row(keys, html_text(one.kernel), html_text(one.kind), where)


def _chain(source: SourceInfo, chain: Chain, pages: Collection[str]) -> Iterator[str]:
    """All steps as nested lists; the chains of called operators are on their own pages."""
    yield '<h2>Chain</h2><details class="chain"><summary>step by step</summary>'
    below = grouped((hop.parent, hop) for hop in chain.hops)
    yield from _steps(source, below, None, pages)
    for one in chain.unresolved:
        yield f"<p><i>{html_text(one.symbol)}: {html_text(one.reason)}</i></p>"
    yield "</details>"


def _steps(
    source: SourceInfo,
    below: Mapping[int | None, Sequence[Hop]],
    above: Hop | None,
    pages: Collection[str],
) -> Iterator[str]:
    """The steps below one, as nested lists; parents precede children."""
    if hops := below.get(above.id if above else None):
        yield "<ul>"
        for hop in hops:
            yield f"<li>{_hop(source, hop, above, pages)}"
            yield from _steps(source, below, hop, pages)
            yield "</li>"
        yield "</ul>"


def _hop(source: SourceInfo, hop: Hop, above: Hop | None, pages: Collection[str]) -> str:
    device = f" [{html_text(hop.device)}]" if hop.device else ""
    folded = f"not listed: {folded_words(hop)}" if hop.folded else ""
    reason = html_text("; ".join(filter(None, (hop.rule, folded))))
    name, called = html_text(hop.symbol), hop.continues.rpartition(" ")[2]
    if called in pages:
        name = _page_link(called, name)
    role, where = html_text(hop.role.replace("_", " ")), short_link(source, hop.location)
    if hop.location and above and above.location and above.location.path == hop.location.path:
        where = link(source, hop.location, f":{hop.location.line}")
    return f"{role}{device} <b>{name}</b> {where} <i>{reason}</i>"
