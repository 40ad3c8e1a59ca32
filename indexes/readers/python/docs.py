"""Where an operator is documented: docstrings added in Python, ``torch.overrides``, pages."""

from __future__ import annotations

import re

from indexes.model.regex import regex
from indexes.readers.python.blocks import Text, occurrences, statement_end
from indexes.readers.python.facts import PythonFact, canonical, module_name

_ADD = regex(
    rb"(?:(\w+)[ \t]*=[ \t]*)?(?:\w+\.)*(_?add_docstr(?:_all)?)\(\s*(?:#[^\n]*\s*)*"
    rb"(?:([A-Za-z_][\w.]*)|[\"'](\w+)[\"'])\s*,"
)
_FROM_C = regex(rb"from torch\._C import (\([^)]*\)|[^\n]*)")
_OVERRIDE = regex(rb"\n[ \t]+((?:torch|Tensor)(?:\.\w+)+)[ \t]*:\s*(?:\(\s*)?lambda")


def read_docstrings(text: Text, path: str) -> list[PythonFact]:
    """Every ``add_docstr(torch.abs, ...)`` and ``add_docstr_all("abs", ...)`` of a file."""
    data, strings = text.data, text.strings
    module = module_name(path)
    bindings = _imported_bindings(data)
    facts: list[PythonFact] = []
    line, counted = 1, 0
    for at in occurrences(data, b"add_docstr"):
        start = data.rfind(b"\n", 0, at) + 1
        indent = len(data[start:at]) - len(data[start:at].lstrip())
        match = _ADD.match(data, start + indent)
        if match is None or match.end() < at or strings.end_at(at):
            continue
        line += data.count(b"\n", counted, start)
        counted = start
        end = statement_end(data, start, indent, strings)
        end_line = line + data.count(b"\n", start, end)
        target = _documented(match, bindings)
        symbol = f"{module}.{match[1].decode()}" if match[1] else target
        facts.append(PythonFact("docs", target, symbol, line, end_line))
    return facts


def _imported_bindings(data: bytes) -> set[str]:
    """Names taken from ``torch._C``: the modules of generated bindings such as ``_linalg``."""
    return {
        name.decode() for match in _FROM_C.finditer(data) for name in re.findall(rb"\w+", match[1])
    }


def _documented(match: re.Match[bytes], bindings: set[str]) -> str:
    if match[4]:
        return f"torch.Tensor.{match[4].decode()}"
    dotted = match[3].decode()
    head = dotted.partition(".")[0]
    if head in bindings:
        dotted = f"torch._C.{dotted}"
    elif head == "_C":
        dotted = f"torch.{dotted}"
    return canonical(dotted)


def read_overrides(data: bytes) -> list[PythonFact]:
    """The entries of ``torch.overrides.get_testing_overrides``."""
    facts = []
    line, counted = 1, 0
    for match in _OVERRIDE.finditer(data):
        line += data.count(b"\n", counted, match.start(1))
        counted = match.start(1)
        name = match[1].decode()
        target = f"torch.{name}" if name.startswith("Tensor.") else name
        facts.append(PythonFact("override", canonical(target), name, line, line))
    return facts


# --------------------------------------------------------------------------------- pages

_DIRECTIVE = regex(r"\s*\.\. (?:\w+:)?([\w-]+)::\s*(\S*)")
_ENTRY = regex(r"\s+~?([A-Za-z_][\w.]*)\s*$")
PAGES = "docs/source"
"""Where the pages of the documentation stand."""

_DOCUMENTS_ONE = {"autofunction", "automethod", "autoclass", "function", "method"}


def read_page(data: bytes, path: str) -> list[PythonFact]:
    """What a page under ``docs/source`` lists: ``autosummary`` entries, ``autofunction`` ..."""
    facts: list[PythonFact] = []
    module, listing = "torch", False
    for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        directive = _DIRECTIVE.match(text)
        if directive:
            kind, argument = directive.groups()
            listing = kind == "autosummary"
            if kind in {"currentmodule", "automodule", "module", "py:module"}:
                module = argument
            elif kind in _DOCUMENTS_ONE and argument:
                facts.append(_mention(module, argument, path, number))
        elif listing:
            entry = _ENTRY.match(text)
            listing = not text.strip() or text[0].isspace()
            if entry:
                facts.append(_mention(module, entry[1], path, number))
    return facts


def _mention(module: str, name: str, path: str, line: int) -> PythonFact:
    name = name.partition("(")[0]
    known = name if name.startswith("torch.") else f"{module}.{name}"
    return PythonFact("page", canonical(known), path.rpartition("/")[2], line, line)


def is_page(path: str) -> bool:
    """Whether a path is a page of PyTorch's documentation."""
    return f"{PAGES}/" in path and path.endswith((".rst", ".md"))
