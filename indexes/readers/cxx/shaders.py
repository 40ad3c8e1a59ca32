"""Metal kernels: under which names a shader library has them, the names that Objective-C++ asks
for, and shaders that stand in strings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import regex

SHADER = "shader"
"""The kind of a call that asks a shader library for a kernel by its name, and of a definition
that gives a kernel such a name."""
HANDED = "handed"
"""Of a string that a file without a shader library gives to a function of a file that has one."""
_HOST_NAME = "host_name"
_TEMPLATE = r"<[^;(){}<>]*(?:<[^;(){}<>]*>[^;(){}<>]*)*>"
_TYPE = r"(?:void\b|decltype\s*\((?:[^();{}]|\([^();{}]*\))*\))"
"""What a kernel returns: ``decltype`` of what is made for types repeats that."""
_IS_KERNEL = r"(?:kernel\b|\[\[\s*kernel\s*\]\])"
_GIVEN = regex(
    rf"\[\[\s*{_HOST_NAME}\s*\(([^()]*)\)\s*\]\]\s*(?:(?!{_IS_KERNEL})\[\[[^\]]*\]\]\s*)*"
    rf"(?:{_IS_KERNEL}\s*{_TYPE}|void\s+kernel\b)\s*([\w:\s]*?\w)\s*({_TEMPLATE})?\s*(?:[(;]|\Z)"
)
_TEXT = regex(r'"([^"\\\n]*)"')
_ASKED = regex(r'(?<!@)"((?:[A-Za-z_]|\{\}_)[\w{}]+)"')
_LIBRARY = regex(r"MetalShaderLibrary|newLibraryWithSource|_metallib\.h\b")
_EMBEDDED = regex(r'R"([^()\\\s"]{0,16})\(([\s\S]*?)\)\1"')
_COMPARED = frozenset(("==", "!="))
"""What stands beside a string that another is compared with: it asks for nothing."""
_BESIDE = 16
_KERNEL = regex(rf"(?:\b|(?=\[)){_IS_KERNEL}\s*{_TYPE}|\bvoid\s+kernel\b")


class HostName(NamedTuple):
    """``template [[host_name("exp_float")]] kernel void exp_kernel<float>(...)``."""

    name: str
    function: str
    template: str
    offset: int


def gives_names(text: str) -> bool:
    """Whether a text, or what a macro stands for, may give a kernel a name."""
    return _HOST_NAME in text


def host_names(plain: str, written: str) -> Iterator[HostName]:
    """The names that kernels are given, where they are made for types; ``plain`` is without
    strings and ``#define``\\ s."""
    for found in _GIVEN.finditer(written) if gives_names(written) else ():
        if plain[found.start()] == "[":
            name = "".join(_TEXT.findall(found[1]))
            yield HostName(name, "".join(found[2].split()), (found[3] or "")[1:-1], found.start())


def asks_shaders(path: str, text: str) -> str:
    """Whether strings in a file may ask for kernels: it has a shader library, or is beside one; or
    are ``HANDED`` to one, where it makes graphs, which have names of their own. Else empty."""
    if not path.endswith((".mm", ".m")):
        return ""
    return SHADER if "MPSGraph" not in text or _LIBRARY.search(text) else HANDED


def asked_names(plain: str, written: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The strings between two offsets that can be a kernel's name, or how it begins."""
    for found in _ASKED.finditer(written, start, end):
        before = plain[max(start, found.start() - _BESIDE) : found.start()].rstrip()[-2:]
        behind = plain[found.end() : min(end, found.end() + _BESIDE)].lstrip()[:2]
        if plain[found.start()] == '"' and _COMPARED.isdisjoint((before, behind)):
            yield found.start(), found[1]


def embedded(path: str, text: str) -> str:
    """What stands in strings as Metal source, where it stands, all else blank; empty for none."""
    if not path.endswith((".mm", ".m")) or not _KERNEL.search(text):
        return ""
    inside = [one.span(2) for one in _EMBEDDED.finditer(text) if _KERNEL.search(one[2])]
    made, at = [], 0
    for start, end in inside:
        made += [_blank(text[at:start]), text[start:end]]
        at = end
    return "".join(made)


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))
