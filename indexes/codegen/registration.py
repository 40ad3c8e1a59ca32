"""What is registered with the dispatcher: one kernel for one operator under one key.

Calls on a ``torch::Library`` are read here: ``m.impl("resize_", TORCH_FN(f))``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.readers.cxx.idioms import library_block, names_of

_NAME = regex(r'"((?:\w+::)?[\w.]+)\s*(?:\(|")')
_DISPATCH = regex(r"(?:torch::)?dispatch\s*\(\s*(?:\w+::)*(?:DispatchKey::)?(?:k)?(\w+)\s*,")
_FALLTHROUGH = regex(r"\bmakeFallthrough\s*\(")
_BOXED = regex(r"\bmakeFrom(?:Boxed|Unboxed)\w*\s*(?:<\s*&?\s*([\w:]+)|\(\s*&?\s*([\w:]+))")
_WRAPPER = rf"(?:{names_of('function')}|static_cast\s*<.*>)"
_WRAPPED = regex(rf"{_WRAPPER}\s*\(\s*&?\s*(.+)\)\s*$", re.S)
_TAGS = regex(r"(?:\{\s*)?(?:(?:at|torch)::Tag::|std::vector<at::Tag>)")
_KEY = regex(r"(?:\w+::)*DispatchKey::k?(\w+)$")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True, slots=True)
class Registration:
    """A kernel that is registered for an operator under a key."""

    op: str
    """Empty for a backend fallback, which serves every operator."""
    key: str
    kernel: str
    origin: str
    """What registers it: a file of the tree, or the generator and what it generates."""
    rule: str = ""
    fallthrough: bool = False
    location: Location | None = None
    condition: str = ""
    """What a build must have for it to be there; empty for what every build has."""


def library_registration(
    block: str,
    method: str,
    arguments: str,
    location: Location,
    macros: Mapping[str, str] | None = None,
) -> Registration | None:
    """The registration that one call makes; None for one that registers no kernel.

    ``block`` is what stands between the parentheses of TORCH_LIBRARY* (``aten, CPU, m``),
    ``macros`` the object-like macros of the file, which such calls often name.
    """
    key = library_block(block).key or "CompositeImplicitAutograd"
    key = (macros or {}).get(key, key)
    parts = _split(arguments)
    if method == "fallback" and len(parts) == 1:
        return _registration("", key, parts[0], location, macros or {})
    op = registered_operator(block, method, parts[0]) if parts else None
    function = _function(parts) if op else None
    if not op or function is None:
        return None
    named = [found[1] for part in parts[1:] if (found := _key_in(part))]
    return _registration(op, named[0] if named else key, function, location, macros or {})


def _function(parts: list[str]) -> str | None:
    """The argument that is a kernel: not the schema, nor the tags behind it."""
    given = [part for part in parts[1:] if not (_is_tags(part) or _key_in(part))]
    return given[-1] if given else None


# Of these patterns few are needed: a word that each has spares even making it.


def _is_tags(part: str) -> bool:
    return "Tag" in part and _TAGS.match(part) is not None


def _key_in(part: str) -> re.Match[str] | None:
    return _KEY.match(part) if "DispatchKey::" in part else None


def registered_operator(block: str, method: str, arguments: str) -> str | None:
    """The operator that a call on a library is about: ``add.Tensor`` for one of aten, with its
    namespace for another, empty for a fallback; None when it registers nothing."""
    if method == "fallback":
        return ""
    name = _NAME.search(arguments) if method in ("impl", "def") else None
    if name is None:
        return None
    namespace = library_block(block).namespace
    op = name[1].removeprefix("aten::")
    return op if "::" in op or namespace in ("aten", "_") else f"{namespace}::{op}"


def _registration(
    op: str, key: str, function: str, location: Location, macros: Mapping[str, str]
) -> Registration:
    text = macros.get(function.strip(), function).strip()
    dispatched = _DISPATCH.match(text) if "dispatch" in text else None
    if dispatched is not None:
        key = dispatched[1]
        text = text[dispatched.end() :].rstrip().removesuffix(")").strip()
    fallthrough = "makeFallthrough" in text and _FALLTHROUGH.search(text) is not None
    kernel = "fallthrough" if fallthrough else _kernel(text)
    rule = "a fallback for all operators" if not op else "written by hand"
    return Registration(op, key, kernel, location.path, rule, fallthrough, location)


def _kernel(text: str) -> str:
    """The function named: ``f`` of ``TORCH_FN(f)`` and of ``makeFromBoxedFunction<&f>()``."""
    boxed = _BOXED.search(text) if "makeFrom" in text else None
    if boxed is not None:
        return boxed[1] or boxed[2]
    if (wrapped := _WRAPPED.match(text)) is not None:
        return _kernel(wrapped[1].strip())
    return "lambda" if text.startswith("[") else " ".join(text.removeprefix("&").split())


def _split(text: str) -> list[str]:
    """Splits at the commas outside brackets, template arguments and strings."""
    parts: list[str] = [""]
    depth = angle = 0
    quoted = False
    for i, char in enumerate(text):
        if char == '"' and text[i - 1 : i] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char in _OPENING) - (char in _CLOSING)
            angle += (char == "<") - (char == ">" and text[i - 1 : i] != "-" and angle > 0)
        if char == "," and not (quoted or depth or angle):
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]
