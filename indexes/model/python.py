"""Python names, as answers: where Python defines what a name means, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Confidence, Location

PythonNameKind = Literal["module", "class", "function", "method", "property", "attribute", "bound"]
"""``bound``: a class or function that C++ gives to Python."""


@dataclass(frozen=True, slots=True)
class PythonPlace:
    """A place that a Python name leads to."""

    kind: str
    """A ``PythonNameKind``; ``assigned`` for the line that gives the name to what another made."""
    name: str
    location: Location


@dataclass(frozen=True, slots=True)
class PythonAnswer:
    """What a Python name means."""

    kind: PythonNameKind
    name: str
    """The public name that was meant: ``torch.nn.functional.linear`` for ``F.linear``."""
    defined: str
    """Where it is defined: ``torch.nn.modules.linear.Linear``."""
    places: tuple[PythonPlace, ...]
    """The definition first, if there is a line of it here."""
    operators: tuple[str, ...] = ()
    """The overloads whose generated binding it is."""
    others: tuple[PythonPlace, ...] = ()
    """What else a name without its module can mean."""
    confidence: Confidence = "exact"
    note: str = ""

    @property
    def location(self) -> Location | None:
        """The line of the definition; None of what C++ binds and no line here declares."""
        return self.places[0].location if self.places else None


@dataclass(frozen=True, slots=True)
class PythonCall:
    """What a Python function calls."""

    name: str
    """Its public or qualified name."""
    line: int
    """Of the first call."""
    location: Location | None
    """Of the definition; None for a generated binding."""
    operators: tuple[str, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class PythonCard:
    """A Python name in a few lines."""

    answer: PythonAnswer
    signature: str = ""
    """``linear(input, weight, bias=None)``, ``Adam(Optimizer)``."""
    doc: str = ""
    """The first line of its docstring."""
    calls: tuple[PythonCall, ...] = ()
    """In the order of their lines."""
    untold: int = 0
    """Calls on values whose class is not known."""
    members: tuple[PythonPlace, ...] = ()
    """Of a class: its own public methods and properties."""
    tests: tuple[Location, ...] = ()
    """Tests that are named after it."""
    documents: tuple[Location, ...] = ()
    """The pages of the documentation that name it."""
