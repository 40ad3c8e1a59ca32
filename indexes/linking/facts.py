"""What the linker asks of a set of facts. The index answers it from SQLite, tests from memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from indexes.model.vocabulary import (
    Definition,
    DerivativeEntry,
    KernelRow,
    Location,
    NativeFunction,
)
from indexes.readers.cxx.bodies import Call
from indexes.readers.cxx.idioms import meaning_of

__all__ = ["Call", "Facts", "Known", "LibraryUse", "StubUse"]


@dataclass(frozen=True, slots=True)
class Known:
    """A definition with the number by which its calls are asked for."""

    id: int
    definition: Definition


@dataclass(frozen=True, slots=True)
class StubUse:
    """A DECLARE, DEFINE or REGISTER line of a stub."""

    macro: str
    stub: str
    """As written: ``cpublas::gemm_stub``."""
    arguments: str
    scope: str
    location: Location
    guard: str

    @property
    def what(self) -> str:
        """``declared``, ``defined`` or ``registered``."""
        return meaning_of(self.macro) or ""


@dataclass(frozen=True, slots=True)
class LibraryUse:
    """``m.impl(...)``, ``m.def(...)`` or ``m.fallback(...)`` in a TORCH_LIBRARY block."""

    op: str
    """``add.Tensor``; with its namespace when that is not aten, empty for a fallback."""
    block: str
    """What stands in the block's parentheses: ``aten, CPU, m``."""
    method: str
    arguments: str
    location: Location
    """The call, or the use of the macro that makes it."""
    block_line: int
    guard: str
    macro: Location | None = None
    """Where that macro is defined."""


class Facts(Protocol):
    """The questions of the linker."""

    meant: dict[tuple[str, str, str, str], list[Known]]
    """What calls were found to mean so far: see ``linking.visible``."""

    def named(self, name: str) -> Sequence[Known]:
        """Every definition whose last component is ``name``."""

    def expect(self, names: Iterable[str]) -> None:
        """Told which names ``named`` and ``fitting`` will be asked for, to look them up at once."""

    def fitting(self, name: str, fits: Callable[[str, str, str], bool]) -> Sequence[Known]:
        """Those of ``named`` of whose kind, scope and path ``fits`` holds: of a name that many
        bear, few are ever meant."""

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        """The methods of that name which a class defines."""

    def is_type(self, name: str) -> bool:
        """Whether a class or an alias of a type bears this name."""

    def nominated(self, scope: str) -> Sequence[str]:
        """The namespaces in which names of ``scope`` are found too: a header says
        ``using namespace c10;`` inside ``namespace at``."""

    def calls(self, known: Known) -> Sequence[Call]:
        """What the body of a definition uses, in order."""

    def stub_uses(self, stub: str) -> Sequence[StubUse]:
        """Lines about the stubs whose last component is ``stub``."""

    def native(self, full_name: str) -> NativeFunction | None:
        """The entry of an overload."""

    def overloads(self, base: str) -> Sequence[NativeFunction]:
        """All overloads of one operator name, in YAML order."""

    def kernels(self, full_name: str) -> Sequence[KernelRow]:
        """The kernels of an overload."""

    def known(self, definition: Definition) -> Known | None:
        """The definition again, with its number."""

    def derivative(self, full_name: str) -> tuple[DerivativeEntry | None, str]:
        """The entry that differentiates an overload and the rule, or None and the reason."""
