"""The names of ``typing`` that modules on the way of a question use.

To import the standard ones takes longer than many an answer, and at run time next to nothing of
them is needed. Type checkers see the standard ones.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

__all__ = ["TYPE_CHECKING", "Any", "Literal", "NamedTuple", "Protocol", "TypeAlias"]


class _Literal:
    def __class_getitem__(cls, _: object) -> type:
        return cls


class _TupleMaker(type):
    """Makes a named tuple of a class body: its annotations are the fields."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(mcs, name, bases, body)
        from collections import namedtuple

        names = tuple(body["__annotations__"])
        defaults = [body.pop(field) for field in names if field in body]
        fields: Any = namedtuple(name, names, defaults=defaults)  # type: ignore[misc]
        return type(name, (fields,), {**body, "__slots__": ()})


if not TYPE_CHECKING:
    Any = Protocol = TypeAlias = object
    Literal = _Literal
    NamedTuple = _TupleMaker("NamedTuple", (), {})
