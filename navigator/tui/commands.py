"""Operators in the command palette."""

from __future__ import annotations

from functools import partial

from textual.command import Hit, Hits, Provider

from indexes.model.vocabulary import OperatorSummary
from navigator.tui.history import Visit
from navigator.tui.panes.chain_workspace import ChainWorkspace
from navigator.tui.text import clean, shorten

LIMIT = 30


class OperatorCommands(Provider):
    """The operators that a query leaves, as entries that open their chain."""

    async def search(self, query: str) -> Hits:
        for workspace in self.screen.query(ChainWorkspace):
            session = workspace.context.session
            found = session.index.filter(query)[:LIMIT] if session is not None else ()
            for at, operator in enumerate(found):
                yield _hit(workspace, operator, score=0.5 - at / 1000)


def _hit(workspace: ChainWorkspace, operator: OperatorSummary, score: float) -> Hit:
    name = clean(operator.full_name)
    visit = Visit(op=operator.full_name, title=operator.full_name)
    words = shorten(clean(operator.schema), 100)
    return Hit(score, name, partial(workspace.jump, visit), text=name, help=words)
