"""Operators in the command palette."""

from __future__ import annotations

from functools import partial

from textual.command import Hit, Hits, Provider

from indexes.model.vocabulary import OperatorSummary
from navigator.tui.history import Visit
from navigator.tui.screens.chain_screen import ChainScreen
from navigator.tui.text import clean, shorten

LIMIT = 30


class OperatorCommands(Provider):
    """The operators that a query leaves, as entries that open their chain."""

    async def search(self, query: str) -> Hits:
        screen = self.screen
        if not isinstance(screen, ChainScreen) or screen.session is None:
            return
        found = screen.session.index.filter(query)[:LIMIT]
        for at, operator in enumerate(found):
            yield _hit(screen, operator, score=0.5 - at / 1000)


def _hit(screen: ChainScreen, operator: OperatorSummary, score: float) -> Hit:
    name = clean(operator.full_name)
    visit = Visit(op=operator.full_name, title=operator.full_name)
    words = shorten(clean(operator.schema), 100)
    return Hit(score, name, partial(screen.jump, visit), text=name, help=words)
