"""Dataclasses whose methods are made when they are first needed.

The standard library compiles five methods of each class while it is being imported, and loads
``inspect`` for it: that alone takes longer than many an answer. These take what ours use of
``dataclasses``: ``frozen``, ``slots``, ``eq``, defaults and ``default_factory``; what else those
know (inherited fields, ``__post_init__``, ``ClassVar``) is refused. Type checkers see the
standard ones, and ``fields``, ``asdict`` and ``replace`` of those work on them too.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import Field, dataclass, field, replace
    from typing import Any, TypeVar

    _T = TypeVar("_T")

__all__ = ["dataclass", "field", "replace"]

_FEW = 32
"""To compile an ``__init__`` takes as long as to make so many records without one."""


class _Made:
    """A default that is made anew for each record."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True
) -> Callable[[type[_T]], type[_T]]:
    assert slots, "a record without slots is no lighter than a dataclass"

    def decorate(written: type[_T]) -> type[_T]:
        _check(written)
        names = tuple(written.__annotations__)
        body = dict(written.__dict__)
        defaults = {name: body.pop(name) for name in names if name in body}
        del body["__dict__"], body["__weakref__"]
        body = {**_methods(names, frozen, eq), **body}
        body |= {"__slots__": names, "__match_args__": names, "__dataclass_defaults__": defaults}
        made: Any = type(written.__name__, written.__bases__, body)
        made.__qualname__ = written.__qualname__
        made.__init__ = _writes_init(made, frozen)
        return made  # type: ignore[no-any-return]

    return decorate


def _check(written: type) -> None:
    for name, annotation in written.__annotations__.items():
        if "ClassVar" in str(annotation):
            raise TypeError(f"{written.__qualname__}.{name}: a record has no class variables")
    if hasattr(written, "__post_init__"):
        raise TypeError(f"{written.__qualname__}: a record has no __post_init__")
    if any(hasattr(base, "__slots__") and base.__slots__ for base in written.__mro__[1:]):
        raise TypeError(f"{written.__qualname__}: a record inherits no fields")


def _writes_init(kind: Any, frozen: bool) -> Callable[..., None]:
    """An ``__init__`` that fills records field by field, and puts a compiled one in its place
    once there are many."""
    setters = [(name, kind.__dict__[name].__set__) for name in kind.__slots__]
    left = _FEW

    def first(record: object, *values: object, **named: object) -> None:
        nonlocal left
        left -= 1
        if left < 0 or not _filled(record, setters, kind.__dataclass_defaults__, values, named):
            kind.__init__ = _compiled_init(kind, frozen)
            kind.__init__(record, *values, **named)

    return first


def _filled(
    record: object, setters: list[tuple[str, Any]], defaults: dict[str, object],
    values: tuple[object, ...], named: dict[str, object],
) -> bool:  # fmt: skip
    """Sets the fields of a record; False, for the compiled ``__init__`` to say what is wrong,
    where the arguments don't fit."""
    for (_, put), value in zip(setters, values, strict=False):
        put(record, value)
    used = 0
    for name, put in setters[len(values) :]:
        if name in named:
            used += 1
            put(record, named[name])
        elif name in defaults:
            default = defaults[name]
            put(record, default.make() if isinstance(default, _Made) else default)
        else:
            return False
    return len(values) <= len(setters) and used == len(named)


def _compiled_init(kind: Any, frozen: bool) -> Callable[..., None]:
    """``def __init__(self, path, line, end_line=0)``. A frozen record is set by its slots,
    which takes half as long as the standard ``object.__setattr__``."""
    parameters, lines = ["self"], []
    known: dict[str, Any] = {}
    for name in kind.__slots__:
        value = name
        if name in kind.__dataclass_defaults__:
            default = kind.__dataclass_defaults__[name]
            known[f"_of_{name}"] = default
            parameters.append(f"{name}=_of_{name}")
            if isinstance(default, _Made):
                value = f"_of_{name}.make() if {name} is _of_{name} else {name}"
        else:
            parameters.append(name)
        known[f"_set_{name}"] = kind.__dict__[name].__set__
        lines.append(f" _set_{name}(self, {value})" if frozen else f" self.{name} = {value}")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"]), known)
    made: Callable[..., None] = known["__init__"]
    return made


def _methods(names: tuple[str, ...], frozen: bool, eq: bool) -> dict[str, Any]:
    get = attrgetter(*names) if len(names) > 1 else None
    only = names[0]

    def values(record: object) -> tuple[Any, ...]:
        return get(record) if get else (getattr(record, only),)

    def same(record: object, other: object) -> Any:
        if other.__class__ is not record.__class__:
            return NotImplemented
        return values(record) == values(other)

    def shown(record: object) -> str:
        listed = ", ".join(f"{n}={v!r}" for n, v in zip(names, values(record), strict=True))
        return f"{record.__class__.__qualname__}({listed})"

    def reduce(record: object) -> tuple[type, tuple[Any, ...]]:
        return record.__class__, values(record)

    methods: dict[str, Any] = {"__repr__": shown, "__reduce__": reduce,
                               "__dataclass_fields__": _Fields()}  # fmt: skip
    if eq:
        methods["__eq__"] = same
        methods["__hash__"] = (lambda record: hash(values(record))) if frozen else None
    if frozen:
        methods["__setattr__"] = methods["__delattr__"] = _refuse
    return methods


def _refuse(record: object, name: str, value: object = None) -> None:
    raise AttributeError(f"cannot change {name!r} of a {record.__class__.__name__}")


class _Fields:
    """The fields as the standard library knows them, for who asks for them."""

    def __get__(self, record: object, kind: Any) -> dict[str, Field[Any]]:
        made = kind.__dataclass_fields__ = self._standard(kind)
        return made

    def _standard(self, kind: Any) -> dict[str, Field[Any]]:
        from dataclasses import field, make_dataclass

        fields: list[Any] = []
        for name in kind.__slots__:
            default = kind.__dataclass_defaults__.get(name, _Made)
            if default is _Made:
                fields.append((name, object))
            elif isinstance(default, _Made):
                fields.append((name, object, field(default_factory=default.make)))
            else:
                fields.append((name, object, field(default=default)))
        twin: Any = make_dataclass(kind.__name__, fields)
        fields_of_twin: dict[str, Field[Any]] = twin.__dataclass_fields__
        return fields_of_twin


def _field(*, default_factory: Callable[[], Any]) -> _Made:
    return _Made(default_factory)


def _replace(record: _T, /, **changes: object) -> _T:
    kind: Any = type(record)
    names: tuple[str, ...] = kind.__slots__
    values = [changes.pop(n) if n in changes else getattr(record, n) for n in names]
    made: _T = kind(*values, **changes)
    return made


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
