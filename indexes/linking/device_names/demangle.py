"""Demangles kernel names, and reads the source file that nvcc writes into them.

nvcc names the anonymous namespace after the file (``_GLOBAL__N__<hash>_14_IndexKernel_cu_<hash>``),
so such a name says which ``.cu`` it comes from. Every demangler drops that part: it is read before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexes.model.errors import MANGLED_CHARACTERS

_TAGS = ("_GLOBAL__N__", "_INTERNAL_")
_STUB = "__device_stub__"
_NVIDIA = re.compile(r"\(instance \d+\)|<unnamed>|\bT\d+\b")
"""NVIDIA's spelling of lambdas, anonymous namespaces and template parameters."""


@dataclass(frozen=True, slots=True)
class Readable:
    """A name as C++ text."""

    text: str
    """Demangled; only the qualified prefix if the whole name cannot be demangled."""
    unit: str | None = None
    """The compiled file with underscores for non-word characters: ``IndexKernel_cu``; without an
    extension if the compiler left it out."""
    whole: bool = True
    """False when only a prefix could be read."""
    demangled: bool = False
    """Demangled here; LLVM misprints some parameters, which are no evidence then."""


def readable(name: str) -> Readable:
    """``name`` demangled if it is mangled, else unchanged."""
    text = _bare(name)
    unit = unit_of(text)
    if not is_mangled(text):
        return Readable(text, unit)
    demangled = _demangle(text)
    if demangled is not None:
        return Readable(demangled, unit, demangled=True)
    return Readable(_prefix(text), unit, whole=False)


def may_lack_namespaces(text: str) -> bool:
    """Whether NVIDIA's demangler wrote it, which may omit inner namespaces."""
    return _NVIDIA.search(text) is not None


def is_mangled(text: str) -> bool:
    """Whether ``text`` is an Itanium-mangled name (``_Z...``)."""
    return text.startswith("_Z") and len(text) > 3 and (text[2] in "NLKTGS" or text[2].isdecimal())


def unit_of(text: str) -> str | None:
    """The compiled file named by an nvcc tag in ``text``: ``Shape_cu``, or ``Shape`` (old nvcc)."""
    for tag in _TAGS:
        at = text.find(tag)
        if at >= 0 and (unit := _unit(text[at + len(tag) :])):
            return unit
    return None


def _unit(rest: str) -> str | None:
    """Reads ``<hash>_<length>_<file>_<hash>``, or the older ``<length>_<intermediate>_<hash>``."""
    first, _, rest = rest.partition("_")
    length, _, file = rest.partition("_")
    if _is_length(length):
        return file[: int(length)] or None if len(file) >= int(length) else None
    return _old_unit(rest[: int(first)]) if _is_length(first) else None


def _is_length(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 5


def _old_unit(intermediate: str) -> str | None:
    """``Shape`` for nvcc's file ``tmpxft_0000230c_00000000_11_Shape_compute_75_cpp1_ii``."""
    words = intermediate.split("_")
    words = words[4:] if words[0] == "tmpxft" else words
    ends = [at for at, word in enumerate(words) if word in ("compute", "cpp1", "cudafe1")]
    return "_".join(words[: ends[0]]) or None if ends else None


_FIGURE = r"-?\d[\d.,]*(?:%|[mun]?s)"
_BEFORE = re.compile(rf"\s*(?:(?:{_FIGURE}|\d[\d.,]*)\s+){{3,}}(?=[A-Za-z_<(])")
_BEHIND = re.compile(rf"(?<=\s\s){_FIGURE}(?=\s|\Z)")
"""The figures of a row of a table by nvprof and nsys, and by the profiler."""
_PROFILED = re.compile(r"==PROF== Profiling \"([^\"]+)\"")
"""What ncu prints of a kernel."""


def without_figures(name: str) -> str:
    """A name without the other columns of the table in which a profiler prints it."""
    if "\n" in name:
        return name
    if found := _PROFILED.match(name.strip()):
        return found[1]
    begin = _BEFORE.match(name)
    name = name[begin.end() :] if begin else name
    end = _BEHIND.search(name)
    return name[: end.start()].rstrip() if end else name


def _bare(name: str) -> str:
    """``name`` without what tools add to it: clone marks, ``.kd``, the host stub's prefix."""
    text = " ".join(without_figures(name).split()).strip('"`')
    while text.endswith("]") and (at := text.rfind(" [clone ")) >= 0:
        text = text[:at]
    text = text.removesuffix(".kd")
    if is_mangled(text):
        text = text.split(".", 1)[0]
        at = text.find(_STUB)
        text = text[at + len(_STUB) :] if 0 < at < 8 else text
    return f"_{text}" if text.startswith("Z") and is_mangled(f"_{text}") else text


def _demangle(text: str) -> str | None:
    if len(text) > MANGLED_CHARACTERS:
        return None
    try:
        from pydemumble import demangle  # type: ignore[import-untyped]
    except ImportError:
        return None
    result: str = demangle(text)
    return None if not result or result == text else result


def _prefix(text: str) -> str:
    """The qualified name at the start of a mangled one: ``at::native::reduce_kernel``."""
    at = 3 if text[2] in "NL" else 2
    while at < len(text) and text[at] in "KVrNL":
        at += 1
    parts = []
    while at < len(text) and text[at].isdecimal():
        end = at
        while end < len(text) and text[end].isdecimal():
            end += 1
        length = int(text[at:end]) if end - at < 5 else len(text)
        if end + length > len(text):
            break
        parts.append(text[end : end + length])
        at = end + length
    return "::".join(parts)
