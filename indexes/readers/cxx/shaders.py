"""Metal kernels: their names in shader libraries, lookups of names in Objective-C++, shaders in
strings. Names of kernels that ATen compiles at run time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from re import Match
from typing import NamedTuple

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Definition, Location
from indexes.readers.cxx.lexer import Lines, blank

SHADER = "shader"
"""The kind of a lookup of a kernel in a shader library, and of a definition that names one."""
HANDED = "handed"
"""The receiver of a string in a file that uses MPSGraph: it counts if passed to a file with a
library."""
_HOST_NAME = "host_name"
_TEMPLATE = r"<[^;(){}<>]*(?:<[^;(){}<>]*>[^;(){}<>]*)*>"
_TYPE = r"(?:void\b|decltype\s*\((?:[^();{}]|\([^();{}]*\))*\))"
"""The return type of a kernel template, which ``decltype`` repeats."""
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
"""Text beside a string in a comparison, which is no lookup."""
_BESIDE = 16
_KERNEL = regex(rf"(?:\b|(?=\[)){_IS_KERNEL}\s*{_TYPE}|\bvoid\s+kernel\b")
_WORD = regex(r"\w+")
_JITERATOR_NAME = regex(r'^[^\n"/]*\bchar\s+(\w+)\s*\[\s*\]\s*=\s*"(\w+)"\s*;', MULTILINE)


class HostName(NamedTuple):
    """``template [[host_name("exp_float")]] kernel void exp_kernel<float>(...)``."""

    name: str
    function: str
    template: str
    offset: int


def gives_names(text: str) -> bool:
    """Whether a text or a macro's expansion may name a kernel."""
    return _HOST_NAME in text


def host_names(plain: str, written: str) -> Iterator[HostName]:
    r"""The names of kernel template instances; ``plain`` is without strings and ``#define``\ s."""
    for found in _GIVEN.finditer(written) if gives_names(written) else ():
        if plain[found.start()] == "[":
            name = "".join(_TEXT.findall(found[1]))
            yield HostName(name, "".join(found[2].split()), (found[3] or "")[1:-1], found.start())


def asks_shaders(path: str, text: str) -> str:
    """How strings in an Objective-C++ file may name kernels: ``HANDED`` if it uses MPSGraph, whose
    nodes have names too, and has no shader library. Empty in other files."""
    if not path.endswith((".mm", ".m")):
        return ""
    return SHADER if "MPSGraph" not in text or _LIBRARY.search(text) else HANDED


def asked_names(plain: str, written: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The strings between two offsets that can be a kernel's name or its beginning."""
    for found in _ASKED.finditer(written, start, end):
        before = plain[max(start, found.start() - _BESIDE) : found.start()].rstrip()[-2:]
        behind = plain[found.end() : min(end, found.end() + _BESIDE)].lstrip()[:2]
        if plain[found.start()] == '"' and _COMPARED.isdisjoint((before, behind)):
            yield found.start(), found[1]


def embedded(path: str, text: str) -> str:
    """The Metal source in strings, at its offsets, with all else blank; empty if there is none."""
    if not path.endswith((".mm", ".m")) or not _KERNEL.search(text):
        return ""
    inside = [one.span(2) for one in _EMBEDDED.finditer(text) if _KERNEL.search(one[2])]
    made, at = [], 0
    for start, end in inside:
        made += [blank(text[at:start]), text[start:end]]
        at = end
    return "".join(made)


def jiterator_names(data: bytes, path: str) -> tuple[Definition, ...]:
    """Names of kernels that ATen compiles at run time ("jiterator"), such as ``constexpr char
    sinc_name[] = "sinc";``, which profilers show as ``sinc_kernel`` or ``sinc_vectorized4_kernel``.

    A definition of kind ``global`` for each name, up to the first use of the constant, which is in
    its ``parameters``."""
    # The first test is implied by the second, and cheaper: few files hold the letters at all.
    if b"jit" not in data or not (b"jiterator" in data or b"jitted_" in data):
        return ()
    text = data.decode("utf-8", "replace")
    found = list(_JITERATOR_NAME.finditer(text))
    if not found:
        return ()
    lines = Lines(text)
    uses: dict[str, list[int]] = {one[1]: [] for one in found}
    for word in _WORD.finditer(text):
        if word[0] in uses:
            uses[word[0]].append(word.start())
    return tuple(_jiterator_name(one, uses[one[1]], lines, path) for one in found)


def _jiterator_name(found: Match[str], uses: Sequence[int], lines: Lines, path: str) -> Definition:
    constant, name = found.groups()
    place, first = bisect_left(uses, found.end()), lines.at(found.start(2))
    last = lines.at(uses[place]) if place < len(uses) else first
    return Definition(name, "", "global", Location(path, first, last), constant)
