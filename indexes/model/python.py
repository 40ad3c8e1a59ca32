"""Python names as answers: where they are defined, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import Confidence, Location

PythonNameKind = Literal["module", "class", "function", "method", "property", "attribute", "bound"]
"""``bound``: a class or function bound in C++."""


@dataclass(frozen=True, slots=True)
class PythonPlace:
    """A place that a Python name leads to."""

    kind: str
    """A ``PythonNameKind``; ``assigned`` for the line that names what something else made."""
    name: str
    location: Location
    is_guess: bool = False
    """Whether a line of C++ binds the name, and nothing says for which class or module."""


@dataclass(frozen=True, slots=True)
class PythonAnswer:
    """The meaning of a Python name."""

    kind: PythonNameKind
    name: str
    """The full public name: ``torch.nn.functional.linear`` for ``F.linear``."""
    defined: str
    """Where it is defined: ``torch.nn.modules.linear.Linear``."""
    places: tuple[PythonPlace, ...]
    """The definition first, if it has a line here."""
    operators: tuple[str, ...] = ()
    """The overloads whose generated binding it is."""
    others: tuple[PythonPlace, ...] = ()
    """Further meanings of a name without module."""
    confidence: Confidence = "exact"
    note: str = ""

    @property
    def location(self) -> Location | None:
        """The line of the definition; None for a C++ binding without a declaration here."""
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
    """Calls on values of unknown class."""
    members: tuple[PythonPlace, ...] = ()
    """The own public methods and properties of a class."""
    tests: tuple[Location, ...] = ()
    """Tests that are named after it."""
    documents: tuple[Location, ...] = ()
    """The pages of the documentation that name it."""
