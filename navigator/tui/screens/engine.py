"""How a backward pass runs: the functions of the autograd engine, by phase."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from indexes.model.vocabulary import EngineFunction
from navigator.tui.config import Config
from navigator.tui.place_rows import of_engine
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session


class EngineLoaded(Message):
    """The functions of the engine."""

    def __init__(self, functions: Sequence[EngineFunction]) -> None:
        super().__init__()
        self.functions = functions


class EngineScreen(PlacesScreen):
    """Functions by phase with the calls they make, beside engine.cpp."""

    def __init__(self, session: Session, config: Config) -> None:
        super().__init__(session, config, "phases of a backward pass")
        self._index = session.index

    def on_mount(self) -> None:
        self.places.message = (
            "The autograd engine (engine.cpp) is not in this source. torchnav clone fetches it."
        )
        self.ask("engine", lambda: EngineLoaded(self._index.engine()))

    def on_engine_loaded(self, message: EngineLoaded) -> None:
        self.show_rows(of_engine(message.functions))
