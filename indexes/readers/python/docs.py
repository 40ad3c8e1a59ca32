"""Where an operator is documented: docstrings added in Python, ``torch.overrides``, pages."""

from __future__ import annotations

import ast

from indexes.model.files import PythonFact, canonical, module_name
from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import Text, parsed
from indexes.readers.python.scope import dotted

_ADDS = regex(r"\b_?add_docstr(?:_all)?$")
_OVERRIDE = regex(rb"\n[ \t]+((?:torch|Tensor)(?:\.\w+)+)[ \t]*:\s*(?:\(\s*)?lambda")


def read_docstrings(text: Text, path: str) -> tuple[list[PythonFact], list[Problem]]:
    """Every ``add_docstr(torch.abs, ...)`` and ``add_docstr_all("abs", ...)`` of a file."""
    tree = parsed(text.data, path)
    if isinstance(tree, Problem):
        return [], [tree]
    nodes = list(ast.walk(tree))
    imports = (one for one in nodes if isinstance(one, ast.ImportFrom) and one.module == "torch._C")
    bindings = {alias.asname or alias.name for one in imports for alias in one.names}
    facts: list[PythonFact] = []
    for one in (node for node in nodes if isinstance(node, (ast.Expr, ast.Assign))):
        if target := _documented(one.value, bindings):
            bound = one.targets[0] if isinstance(one, ast.Assign) else None
            name = bound.id if isinstance(bound, ast.Name) else ""
            symbol = f"{module_name(path)}.{name}" if name else target
            facts.append(PythonFact("docs", target, symbol, one.lineno, one.end_lineno or 0))
    return sorted(facts, key=lambda fact: fact.line), []


def _documented(call: ast.expr, bindings: set[str]) -> str:
    """The function that a call documents, else empty. ``bindings``: modules of generated bindings
    that the file imports from ``torch._C``."""
    if not isinstance(call, ast.Call) or not call.args or not _ADDS.search(dotted(call.func)):
        return ""
    given = call.args[0]
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return f"torch.Tensor.{given.value}"
    name = dotted(given)
    head = name.partition(".")[0]
    if head in bindings:
        name = f"torch._C.{name}"
    elif head == "_C":
        name = f"torch.{name}"
    return canonical(name) if name else ""


def read_overrides(data: bytes) -> list[PythonFact]:
    """The entries of ``torch.overrides.get_testing_overrides``."""
    facts = []
    line_of = LineCount(data)
    for match in _OVERRIDE.finditer(data):
        name, line = match[1].decode(), line_of(match.start(1))
        target = f"torch.{name}" if name.startswith("Tensor.") else name
        facts.append(PythonFact("override", canonical(target), name, line, line))
    return facts


# --------------------------------------------------------------------------------- pages

_DIRECTIVE = regex(r"(\s*)\.\. (?:\w+:)?([\w-]+)::\s*(\S*)")
_ENTRY = regex(r"\s+~?([A-Za-z_][\w.]*)\s*$")
PAGES = "docs/source"
"""The folder of the documentation's pages."""

_DOCUMENTS_ONE = {"autofunction", "automethod", "autoclass", "function", "method", "class"}
_METHODS = {"automethod", "method"}
_CLASSES = {"autoclass", "class"}


def read_page(data: bytes, path: str) -> list[PythonFact]:
    """The entries of a page under ``docs/source``: ``autosummary``, ``autofunction`` ..."""
    facts: list[PythonFact] = []
    module, listing = "torch", False
    outer = ("", "")
    """The last class that is documented: its margin and its name."""
    for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        directive = _DIRECTIVE.match(text)
        if directive:
            margin, kind, argument = directive.groups()
            listing = kind == "autosummary"
            if kind in {"currentmodule", "automodule", "module", "py:module"}:
                module = argument
            elif kind in _DOCUMENTS_ONE and argument:
                inside = kind in _METHODS and "." not in argument and len(margin) > len(outer[0])
                name = f"{outer[1]}.{argument}" if inside and outer[1] else argument
                facts.append(_mention(module, name, path, number))
                if kind in _CLASSES:
                    outer = (margin, argument.partition("(")[0])
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
