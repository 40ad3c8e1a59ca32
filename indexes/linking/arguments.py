"""The arguments of a macro use, taken apart."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.model.regex import regex

_NESTS = regex(r"[\"(\[{)\]}]")
_PARTS = regex(r"[\"(\[{)\]},]")


def split_arguments(text: str) -> list[str]:
    """Top-level arguments of a macro use. Angle brackets do not nest for the preprocessor."""
    if not text.strip():
        return []
    if not _NESTS.search(text):
        return [part.strip() for part in text.split(",")]
    parts, depth, start, quoted = [], 0, 0, False
    for found in _PARTS.finditer(text):
        char, at = found[0], found.start()
        if char == '"':
            quoted = quoted if text[at - 1 : at] == "\\" else not quoted
        elif quoted:
            continue
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts


def bind(parameters: list[str], arguments: Sequence[str]) -> dict[str, str] | None:
    """Arguments by parameter name; None when their number is off."""
    if parameters and parameters[-1].endswith("..."):
        named = parameters[:-1]
        rest = ", ".join(arguments[len(named) :])
        if len(arguments) < len(named):
            return None
        variadic = parameters[-1][:-3].strip() or "__VA_ARGS__"
        return {**dict(zip(named, arguments, strict=False)), variadic: rest}
    if len(parameters) == 1 and not arguments:
        return {parameters[0]: ""}
    if len(parameters) != len(arguments):
        return None
    return dict(zip(parameters, arguments, strict=True))


def opened_call(text: str, name: str) -> int:
    """Offset of the parenthesis of the first call of ``name``; -1 where there is none."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        begins = not at or not (text[at - 1].isalnum() or text[at - 1] == "_")
        if begins and text[end:].lstrip().startswith("("):
            return text.index("(", end)
        at = text.find(name, end)
    return -1
