"""What a tensor is made of: the data members of TensorImpl."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from indexes.model.vocabulary import Member
from navigator.tui.config import Config
from navigator.tui.place_rows import of_members
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session


class MembersLoaded(Message):
    """The members of TensorImpl."""

    def __init__(self, members: Sequence[Member]) -> None:
        super().__init__()
        self.members = members


class TensorImplScreen(PlacesScreen):
    """Members with type, comment and accessors, beside TensorImpl.h."""

    def __init__(self, session: Session, config: Config) -> None:
        super().__init__(session, config, "members of TensorImpl")
        self._index = session.index

    def on_mount(self) -> None:
        self.places.message = "TensorImpl.h holds no data members that are known"
        self.ask("members", lambda: MembersLoaded(self._index.tensorimpl()))

    def on_members_loaded(self, message: MembersLoaded) -> None:
        self.show_rows(of_members(message.members), folded=True)
