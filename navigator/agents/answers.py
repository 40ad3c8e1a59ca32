"""Answers of the MCP tools as plain objects, from the same queries as the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Literal

from indexes.model.answers import Card, Chain, Hit, Hop, NameMatch, Place, Route
from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import NotFound
from indexes.model.impact import Impact, Step, TestCommand
from indexes.model.lines import placed
from indexes.model.python import PythonCall, PythonCard
from indexes.model.vocabulary import Location, OperatorSummary
from indexes.queries.chains.chain import for_key
from indexes.queries.impact.affected import affected
from indexes.queries.impact.answers import Impacts
from indexes.queries.index import Index
from indexes.queries.naming.keys import known_key
from navigator.agents.model import (
    Chained,
    ChainStep,
    Dispatched,
    Fact,
    Located,
    Slot,
    Test,
    Tested,
    Used,
    User,
    Way,
)
from navigator.agents.pages import LIMIT, PAGE_SIZE, page, place_text
from navigator.text.chains import choice_note

Direction = Literal["up", "down"]
_MOST_NAMES, _MOST_NOTES = 12, 3
_HINT = ": --full lists them"
"""The part of a reason that only makes sense on the command line."""
_WAYS = 1_400
"""Characters for the routes of a chain: see ``PAGE_SIZE``."""


class Answers:
    """The answers from one index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        info = index.info
        self._source = f"PyTorch {info.version} ({info.kind}) in {info.root}"

    # ------------------------------------------------------------------------- names

    def locate(self, name: str, limit: int = LIMIT, cursor: str = "") -> Located:
        """What a name in any spelling means, its places, and the card of an operator."""
        match = self._index.resolve(name)
        card = self._index.card(match.overloads[0]) if match.overloads else None
        python = self._index.python(match.text) if match.kind == "python" else None
        facts = [*_card_facts(card), *_hit_facts(match), *_python_facts(python)]
        signature = card.schema if card else python.signature if python else ""
        return Located(
            match.kind,
            match.text,
            match.confidence or "",
            [*match.overloads[:_MOST_NAMES]],
            signature,
            page(facts, limit, cursor),
            match.note,
            [*match.suggestions],
            self._source,
        )

    # ------------------------------------------------------------------------ chains

    def chain(
        self, op: str, key: str = "", depth: int | None = None, limit: int = LIMIT, cursor: str = ""
    ) -> Chained:
        """What an operator does, step by step, for one dispatch key or device or for all."""
        full_name = self._operator(op)
        key = known_key(key, self._index) if key else ""
        whole = self._index.chain(full_name, depth=depth)
        chain = for_key(whole, key) if key else whole
        routes = () if cursor else self._index.routes(full_name)
        ways = [_way(route) for route in routes if key in ("", route.device)]
        gaps = [one.message for one in chain.problems]
        gaps += [f"{one.symbol}: {one.reason.replace(_HINT, '')}" for one in chain.unresolved]
        steps = page(_steps(chain), limit, cursor, PAGE_SIZE if cursor else PAGE_SIZE - _WAYS)
        first = replace(page(ways, limit, room=_WAYS), cursor="")
        return Chained(full_name, chain.op.schema, first, steps, _few(gaps), self._source)

    def dispatch(self, op: str, key: str = "", limit: int = LIMIT, cursor: str = "") -> Dispatched:
        """The dispatch table of an operator, or what runs for one key and why."""
        key = known_key(key, self._index) if key else ""
        table = self._index.table(self._operator(op))
        common, others = table.by_interest()
        groups = [group for group in (*common, *others) if _has(group, key)]
        if key and not groups:
            raise NotFound(f"{table.op} has nothing for {key}", tuple(s.key for s in table.slots))
        slots = page(map(_slot, groups), limit, cursor)
        return Dispatched(table.op, slots, table.unseen, self._source)

    def _operator(self, name: str) -> str:
        match = self._index.meant(name)
        if not match.overloads:
            raise NotFound(
                f"{name} is not an operator: call locate to see what it is", match.suggestions
            )
        return match.overloads[0]

    # ------------------------------------------------------------------------- users

    def users(
        self,
        symbol: str,
        direction: Direction = "up",
        depth: int = 1,
        limit: int = LIMIT,
        cursor: str = "",
    ) -> Used:
        """Callers of a symbol; with ``depth``, the operators and Python names that reach it through
        that many calls; with direction ``down``, what it calls."""
        if direction == "down":
            found, note = [*self._called(symbol)], ""
        elif depth <= 1:
            impact = Impacts(self._index).callers(symbol)
            found, note = [*_users(impact)], _few(impact.unresolved)
        else:
            impact = Impacts(self._index).impact(symbol, depth - 1, tests=False)
            found, note = [*_reached(impact, self._index.filter(""))], _few(impact.unresolved)
        return Used(symbol, page(found, limit, cursor), note, self._source)

    def _called(self, symbol: str) -> Iterator[User]:
        """What the definitions of a symbol, a line, or the chain of an operator call.

        Raises:
            NotFound: No calls are known.
        """
        seen: dict[tuple[str, str], User] = {}
        for user in self._called_by(symbol):
            seen.setdefault((user.name, user.place), user)
        if not seen:
            raise NotFound(f"nothing that {symbol} calls is known: call locate to see what it is")
        yield from seen.values()

    def _called_by(self, symbol: str) -> Iterator[User]:
        if line := placed(symbol):
            yield from _calls(self._index.at(*line))
            return
        match = self._index.meant(symbol)
        python = self._index.python(match.text) if match.kind == "python" else None
        if python is not None and python.calls:
            yield from map(_python_call, python.calls)
            return
        overloads = match.overloads if match.kind in ("operator", "python") else ()
        for op in overloads[:1]:
            for hop in self._index.chain(op).hops:
                place = place_text(hop.location)
                yield User(hop.symbol, hop.role, place, hop.rule, hop.confidence)
        if not overloads:
            for definition in self._index.definitions(match.text)[:_MOST_NOTES]:
                yield from self._calls_within(definition.location)

    def _calls_within(self, place: Location) -> Iterator[User]:
        for line in range(place.line, max(place.end_line, place.line) + 1):
            with suppress(NotFound):  # a line without a call
                yield from _calls(self._index.at(place.path, line))

    # ------------------------------------------------------------------------- tests

    def tests(self, what: str, limit: int = LIMIT, cursor: str = "") -> Tested:
        """Commands that run the tests of a symbol, or of a change: ``A..B`` or ``working tree``."""
        if what == "working tree" or ".." in what:
            since = None if what == "working tree" else what
            impact = affected(self._index, since).impact
        else:
            impact = Impacts(self._index).impact(what)
        note = _few(impact.unresolved)
        return Tested(what, page(map(_test, impact.tests), limit, cursor), note, self._source)


def _few(notes: Sequence[str]) -> str:
    """The first few notes, and the number of the others."""
    more = len(notes) - _MOST_NOTES
    return "; ".join([*notes[:_MOST_NOTES], *([f"and {more} more"] if more > 0 else [])])


def _card_facts(card: Card | None) -> Iterator[Fact]:
    for line in card.lines if card else ():
        if line.label != "more":
            yield Fact(line.label, line.text, place_text(line.location), line.note)


def _hit_facts(match: NameMatch) -> Iterator[Fact]:
    hits: tuple[Hit, ...] = (*match.hits, *match.namesakes)
    for hit in hits:
        leads = f" -> {hit.op}" if hit.op and hit.op not in (hit.name, *match.overloads) else ""
        yield Fact(hit.kind, f"{hit.name}{leads}", place_text(hit.location), hit.detail)


def _python_facts(card: PythonCard | None) -> Iterator[Fact]:
    """Facts about a Python name other than its definition."""
    if card is None:
        return
    if card.doc:
        yield Fact("doc", card.doc, "")
    for call in map(_python_call, card.calls):
        yield Fact("calls", call.name, call.place, call.how)
    if card.untold:
        yield Fact("calls", "", "", f"{card.untold} more, on values whose class is not known")
    for member in card.members:
        yield Fact(member.kind, member.name, place_text(member.location))
    for label, places in (("test", card.tests), ("docs", card.documents)):
        more = len(places) - _MOST_NOTES
        for place in places[:_MOST_NOTES]:
            yield Fact(label, "", place_text(place), f"and {more} more" if more > 0 else "")


def _python_call(call: PythonCall) -> User:
    operators = f"; operator {', '.join(call.operators)}" if call.operators else ""
    times = f", {call.times} times" if call.times > 1 else ""
    how = f"called at line {call.line}{times}{operators}"
    return User(call.name, "python", place_text(call.location), how, "exact")


def _steps(chain: Chain) -> Iterator[ChainStep]:
    levels: dict[int | None, int] = {None: -1}
    for hop in chain.hops:
        levels[hop.id] = levels.get(hop.parent, -1) + 1
        yield _step(hop, levels[hop.id])


def _step(hop: Hop, level: int) -> ChainStep:
    when = choice_note(hop.choices)
    folded = ", ".join(f"{count} {work} not listed" for work, count in hop.folded.items())
    on = f"goes on in the chain of {_next(hop)}" if hop.continues else ""
    note = "; ".join(filter(None, (hop.note, folded, on)))
    device = hop.device or ",".join(hop.keys)
    work, place = hop.work or "", place_text(hop.location)
    return ChainStep(
        level, hop.role, hop.symbol, place, device, work, hop.rule, when, note, hop.confidence
    )


def _next(hop: Hop) -> str:
    """The operator in whose chain the hop continues."""
    return hop.continues.removeprefix("torchnav op ").partition(" ")[0]


def _way(route: Route) -> Way:
    when = " and ".join(route.conditions)
    place = place_text(route.location)
    return Way(route.device, route.symbol, place, " > ".join(route.steps), when, route.note)


def _has(group: tuple[DispatchSlot, ...], key: str) -> bool:
    return not key or any(slot.key == key for slot in group)


def _slot(group: tuple[DispatchSlot, ...]) -> Slot:
    keys = [slot.key for slot in reversed(group)]
    one = min(reversed(group), key=_is_unsure)
    unsure = [slot for slot in reversed(group) if _is_unsure(slot) and not _is_unsure(one)]
    text = (
        f"; {_few([slot.key for slot in unsure])}: {unsure[0].rule.rpartition('; ')[2]}"
        if unsure
        else ""
    )
    where = place_text(one.definition or one.registration)
    return Slot(keys, one.kernel, one.kind, f"{one.rule}{text}", where)


def _is_unsure(slot: DispatchSlot) -> bool:
    return slot.confidence == "ambiguous"


def _users(impact: Impact) -> Iterator[User]:
    """The uses of a symbol; functions made by one macro are one entry."""
    used = [_user(step) for step in impact.steps if step.parent is not None]
    for _, group in groupby(used, key=lambda one: (one.place, one.how, one.kind)):
        first, *more = group
        names = _few([first.name, *(one.name.rpartition("::")[2] for one in more)])
        yield replace(first, name=names)


def _user(step: Step) -> User:
    line = f" at {place_text(step.evidence)}" if step.evidence else ""
    return User(
        step.symbol, step.kind, place_text(step.location), f"{step.rule}{line}", step.way_confidence
    )


def _reached(impact: Impact, likely: Sequence[OperatorSummary]) -> Iterator[User]:
    """The affected operators, in the order of ``likely``, then the Python names."""
    meant = {op.full_name: at for at, op in enumerate(likely)}
    for op in sorted(impact.operators, key=lambda one: meant.get(one.name, len(meant))):
        aspects = ", ".join(op.aspects)
        yield User(op.name, "operator", place_text(op.location), aspects, op.confidence)
    for api in impact.apis:
        yield User(api.name, "python", place_text(api.location), api.rule, api.confidence)


def _calls(places: tuple[Place, ...]) -> Iterator[User]:
    for place in places:
        for call in place.calls:
            yield User(call.name, call.kind, place_text(call.location), call.rule, call.confidence)


def _test(test_command: TestCommand) -> Test:
    return Test(test_command.command, test_command.path, test_command.reason, test_command.tier)
