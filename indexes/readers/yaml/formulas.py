"""What the formulas of derivatives.yaml call."""

from __future__ import annotations

from indexes.model.regex import regex

_CALL = regex(
    r"(?P<member>\.|->)?\s*(?P<name>(?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*)\s*"
    r"(?:<(?:[^<>()]|<[^<>()]*>)*>)?\s*\("
)
_STRING = regex(r'"(?:\\.|[^"\\])*"')
_NO_CALLS = frozenset(
    {"if", "for", "while", "switch", "return", "sizeof", "static_cast", "const_cast"}
    | {"reinterpret_cast", "dynamic_cast", "decltype", "not", "and", "or"}
)


def formula_calls(text: str) -> tuple[str, ...]:
    """The free functions a formula calls, each once, in order, as qualified in it
    (``at::where``). Constructors look the same and are included."""
    return _calls(text, member=False)


def formula_methods(text: str) -> tuple[str, ...]:
    """The member functions a formula calls: ``grad.expand_symint(...)`` gives
    ``expand_symint``."""
    return _calls(text, member=True)


def _calls(text: str, member: bool) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in _CALL.finditer(_STRING.sub('""', text)):
        name = "".join(match["name"].split())
        if bool(match["member"]) is member and name not in _NO_CALLS:
            found[name] = None
    return tuple(found)
