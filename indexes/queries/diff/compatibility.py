"""Whether callers of an operator survive a schema change, by PyTorch's own rules.

The rules are those of ``FunctionSchema::isBackwardCompatibleWith`` and ``isForwardCompatibleWith``
(aten/src/ATen/core/function_schema.cpp), by which test/forward_backward_compatibility judges every
pull request. Types are compared as the dispatcher sees them: ``SymInt``, ``ScalarType`` and
``Layout`` are all ``int``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from indexes.model.schema import Argument, Return, Schema

_STRUCTURE = "FunctionSchema: name, overload and number of returns must stay"
_FEWER = "FunctionSchema: no argument may go"
_SAME_PLACE = "Argument: each stays at its position under its name"
_TYPE = "Argument: it may take more types, not fewer"
_RETURN = "Return: it may give fewer types, not more"
_KEYWORD = "Argument: a positional one may not become keyword-only"
_LIST = "Argument: the length of a list must stay"
_ALIAS = "Argument: alias annotations must stay"
_DEFAULT = "Argument: a default value must stay"
_NEW = "FunctionSchema: a new argument needs a default value"
_NEW_CONTAINER = "FunctionSchema: the default of a new argument may not be a list"
_OUT = "FunctionSchema: out arguments must stay"


def breaks_backward(new: Schema, old: Schema) -> Iterator[tuple[str, str]]:
    """What breaks code and models written for ``old``: (what, rule); empty if compatible."""
    if (new.name, new.overload) != (old.name, old.overload):
        yield f"{old.full_name} is now {new.full_name}", _STRUCTURE
        return
    if len(new.returns) != len(old.returns):
        yield f"{len(old.returns)} returns are now {len(new.returns)}", _STRUCTURE
        return
    for at, (now, was) in enumerate(zip(new.returns, old.returns, strict=True)):
        yield from _return(was, now, at)
    yield from _arguments_backward(new, old)


def _arguments_backward(new: Schema, old: Schema) -> Iterator[tuple[str, str]]:
    ours, our_outs = _split(new)
    theirs, their_outs = _split(old)
    if len(new.arguments) < len(old.arguments):
        yield from _gone(new, old)
        return
    for at, was in enumerate(theirs):
        now = new.arguments[at]
        yield from _argument(now, was, new, _accepts(now.type, was.type), strict=False)
    for now in ours[len(theirs) :]:
        if now.default is None:
            yield f"new argument {now.name} has no default", _NEW
    yield from _outs_backward(our_outs, their_outs, new)


def _outs_backward(
    ours: tuple[Argument, ...], theirs: tuple[Argument, ...], new: Schema
) -> Iterator[tuple[str, str]]:
    if len(ours) < len(theirs):
        yield f"{len(theirs)} out arguments are now {len(ours)}", _OUT
        return
    for now, was in zip(ours, theirs, strict=False):
        yield from _argument(now, was, new, _accepts(now.type, was.type), strict=False)


def breaks_forward(new: Schema, old: Schema) -> Iterator[tuple[str, str]]:
    """What in a model made with ``new`` an older PyTorch cannot load: (what, rule)."""
    if (new.name, new.overload, len(new.returns)) != (old.name, old.overload, len(old.returns)):
        yield f"{old.full_name} and its returns", _STRUCTURE
        return
    ours, our_outs = _split(new)
    theirs, their_outs = _split(old)
    if len(our_outs) != len(their_outs):
        yield f"{len(their_outs)} out arguments are now {len(our_outs)}", _OUT
        return
    for now, was in zip(ours, theirs, strict=False):
        yield from _argument(now, was, new, _accepts(was.type, now.type), strict=True)
    for now in ours[len(theirs) :]:
        yield from _new_forward(now)
    for now, was in zip(our_outs, their_outs, strict=True):
        yield from _argument(now, was, new, _accepts(was.type, now.type), strict=True)


def _new_forward(now: Argument) -> Iterator[tuple[str, str]]:
    if now.default is None:
        yield f"new argument {now.name} has no default", _NEW
    elif _value(now)[0] == _LIST_VALUE:
        yield f"new argument {now.name} has the default {now.default}", _NEW_CONTAINER


def _split(schema: Schema) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """The arguments before the first out argument, and the others."""
    at = next((i for i, a in enumerate(schema.arguments) if a.is_out), len(schema.arguments))
    return schema.arguments[:at], schema.arguments[at:]


def _gone(new: Schema, old: Schema) -> Iterator[tuple[str, str]]:
    names = {a.name for a in new.arguments}
    gone = [was.name for was in old.arguments if was.name not in names]
    counted = f"{len(old.arguments)} arguments are now {len(new.arguments)}"
    yield f"{counted}; gone: {', '.join(gone)}" if gone else counted, _FEWER


def _argument(
    now: Argument, was: Argument, new: Schema, fits: bool, strict: bool
) -> Iterator[tuple[str, str]]:
    """The differences of the arguments at one position; ``strict`` as for forward."""
    if now.name != was.name:
        moved = any(a.name == was.name for a in new.arguments)
        how = "moved" if moved else f"replaced by {now.name}"
        yield f"argument {was.name} is {how}", _SAME_PLACE
        return
    if _length(now.type) != _length(was.type):
        yield f"argument {was.name}: {was.type} is now {now.type}", _LIST
    elif not fits:
        yield f"argument {was.name}: {was.type} is now {now.type}", _TYPE
    if _alias(now.annotation) != _alias(was.annotation):
        yield f"argument {was.name}: {was.annotated_type} is now {now.annotated_type}", _ALIAS
    if now.kwarg_only and not was.kwarg_only:
        yield f"argument {was.name} is now keyword-only", _KEYWORD
    yield from _default(now, was, strict)


def _default(now: Argument, was: Argument, strict: bool) -> Iterator[tuple[str, str]]:
    if was.default is not None and _value(now) != _value(was):
        yield f"default of {was.name}: {was.default} is now {now.default or 'none'}", _DEFAULT
    elif strict and was.default is None and now.default is not None:
        yield f"argument {was.name} has a default now: {now.default}", _DEFAULT


def _return(was: Return, now: Return, at: int) -> Iterator[tuple[str, str]]:
    """The differences of a return, compared as arguments with new and old exchanged."""
    named = was.name or f"number {at}"
    if (was.name or "") != (now.name or ""):
        yield f"return {named} is now {now.name or 'without a name'}", _SAME_PLACE
    elif _length(was.type) != _length(now.type) or not _accepts(was.type, now.type):
        yield f"return {named}: {was.type} is now {now.type}", _RETURN
    if _alias(was.annotation) != _alias(now.annotation):
        yield f"return {named}: {was} is now {now}", _ALIAS


# ------------------------------------------------------------------------------ types

_SEEN_AS = {
    "SymInt": "int",
    "ScalarType": "int",
    "Layout": "int",
    "MemoryFormat": "int",
    "DeviceIndex": "int",
    "SymBool": "bool",
    "Scalar": "number",
}
_NUMBERS = frozenset({"int", "float", "complex"})


@lru_cache(maxsize=1024)
def _length(type_: str) -> str:
    """``2`` for ``int[2]``, also optional; empty for any length."""
    inner = type_.rstrip("?")
    return inner[inner.rindex("[") + 1 : -1] if inner.endswith("]") else ""


@lru_cache(maxsize=4096)
def _accepts(wide: str, narrow: str) -> bool:
    """Whether a value of type ``narrow`` is valid for ``wide``."""
    if wide.endswith("?"):
        return _accepts(wide[:-1], narrow[:-1] if narrow.endswith("?") else narrow)
    if narrow.endswith("?"):
        return wide == "Any"
    if wide.endswith("]") and narrow.endswith("]"):  # a list is of one type, not of a narrower one
        return _plain(wide[: wide.rindex("[")]) == _plain(narrow[: narrow.rindex("[")])
    wide, narrow = _plain(wide), _plain(narrow)
    return wide in ("Any", narrow) or (wide == "number" and narrow in _NUMBERS)


def _plain(type_: str) -> str:
    base = type_.partition("[")[0].rstrip("?")
    return _SEEN_AS.get(base, base) + type_[len(base) :]


def _alias(annotation: str | None) -> str:
    return "".join((annotation or "").split())


# ---------------------------------------------------------------------------- defaults

_FORMATS = {"Mean": 1, "Sum": 2, "contiguous_format": 0, "long": 4}


_LIST_VALUE = "list"


def _value(argument: Argument) -> tuple[str, object]:
    """The default with its type, to distinguish ``1`` and ``1.0``; type "" for none."""
    text = argument.default
    if text is None:
        return "", None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = _FORMATS.get(text, text)
    base = _plain(argument.base_type)
    if isinstance(value, list):
        return _LIST_VALUE, tuple(_typed(item, base) for item in value)
    if _length(argument.type) and value is not None:
        return _LIST_VALUE, (_typed(value, base),) * int(_length(argument.type))
    return _typed(value, base)


def _typed(value: object, base: str) -> tuple[str, object]:
    if base == "float" and isinstance(value, int):
        value = float(value)
    return type(value).__name__, value
