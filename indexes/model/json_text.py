"""JSON by the part of the standard library that is written in C.

To import ``json`` around it compiles regular expressions, which takes longer than many an answer.
What the C part does not take is left to ``json``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    _HAS_C = True
except ImportError:  # not every Python has one
    _HAS_C = False

__all__ = ["compact", "dumps", "loads"]


class _Options:
    """Those of ``json.loads`` when none is given."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


_scan: Any = make_scanner(_Options()) if _HAS_C else None  # type: ignore[arg-type]


def loads(text: str) -> Any:
    """What a JSON text says. Raises ValueError."""
    value, end = None, -1
    if _HAS_C:
        try:
            value, end = _scan(text, 0)
        except StopIteration:  # it begins with no value
            end = -1
    if end == len(text):
        return value
    import json

    return json.loads(text)


def dumps(value: object) -> str:
    """JSON text on one line. Raises ValueError and TypeError."""
    return _text(value, ", ", ": ")


def compact(value: object) -> str:
    """The same without spaces."""
    return _text(value, ",", ":")


def _text(value: object, comma: str, colon: str) -> str:
    if _HAS_C:
        encode: Any = encode_basestring_ascii
        encoder: Any = make_encoder({}, _refuse, encode, None, colon, comma, False, False, False)
        return "".join(encoder(value, 0))
    import json

    return json.dumps(value, allow_nan=False, separators=(comma, colon))


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")
