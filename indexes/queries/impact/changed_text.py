"""Compares two texts of a YAML file by entries, of a Python file by functions, of documentation by
the names on changed lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from indexes.model.files import PythonFact
from indexes.model.impact import Check
from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.readers.cxx.scopes import decode
from indexes.readers.python.blocks import Text, parse
from indexes.readers.python.docs import read_docstrings, read_page
from indexes.source.source import Source

_ENTRY = regex(r"(?m)^- (?:func|name):\s*([^\s(]+)\(")
_FIELD = regex(r"^\s{2,4}([\w,. ]+):")
_ROW = regex(r"(\w+(?:, *\w+)*): *([\w:]+)")
"""Of a dispatch table, in words of one line: ``CPU, CUDA: gcd_out``."""


class TextChange(NamedTuple):
    """A changed entry or function."""

    what: str
    name: str
    line: int
    end_line: int
    detail: str
    """The changed fields; ``docstring``, or ``code and docstring``."""
    keys: tuple[str, ...] = ()
    """The dispatch keys that get or lose a kernel, if nothing else of an entry changes."""


# --------------------------------------------------------------------------------- YAML


def compare_yaml(old: str, new: str) -> list[TextChange]:
    """Changed entries of native_functions.yaml or derivatives.yaml, comments aside."""
    before, after = _entries(old), _entries(new)
    found = []
    for name, (line, end, fields) in after.items():
        if name not in before:
            found.append(TextChange("added", name, line, end, ""))
        elif before[name][2] != fields:
            was = before[name][2]
            differ = [k for k in {**was, **fields} if was.get(k) != fields.get(k)]
            keys = _new_kernels(was, fields) if differ == ["dispatch"] else ()
            found.append(TextChange("changed", name, line, end, ", ".join(differ), keys))
    for name in before.keys() - after.keys():
        line, end, _ = before[name]
        found.append(TextChange("removed", name, line, end, ""))
    return found


def _entries(text: str) -> dict[str, tuple[int, int, dict[str, str]]]:
    starts = [(m.start(), m[1]) for m in _ENTRY.finditer(text)]
    ends = [*(at for at, _ in starts[1:]), len(text)]
    found = {}
    line_of = LineCount(text)
    for (at, name), end in zip(starts, ends, strict=True):
        line, block = line_of(at), text[at:end].rstrip()
        found[name] = (line, line + block.count("\n"), _fields(block))
    return found


def _new_kernels(was: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The dispatch keys with another kernel than before, or with none any more; none where a table
    begins or ends, which changes what runs for every key."""
    before, after = (_kernels(fields.get("dispatch", "")) for fields in (was, now))
    differ = [key for key in {**after, **before} if before.get(key) != after.get(key)]
    return tuple(differ) if before and after else ()


def _kernels(text: str) -> dict[str, str]:
    rows = _ROW.findall(text.partition("dispatch:")[2])
    return {key.strip(): kernel for keys, kernel in rows for key in keys.split(",")}


def _fields(block: str) -> dict[str, str]:
    found: dict[str, str] = {}
    current = "func"
    for at, line in enumerate(block.split("\n")):
        text = re.sub(r"(^|\s)#.*", "", line)
        field = _FIELD.match(text) if at else None
        if field and len(text) - len(text.lstrip()) == 2:
            current = field[1].strip()
        if words := " ".join(text.split()):
            found[current] = f"{found.get(current, '')} {words}"
    return found


# ------------------------------------------------------------------------------- Python


def compare_python(old: bytes, new: bytes) -> list[TextChange] | None:
    """Changed functions, classes and statements; None if a text is not valid Python."""
    try:
        before, after = dict(_parts(parse(old))), dict(_parts(parse(new)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = []
    for name, part in after.items():
        was = before.get(name)
        if was is None:
            found.append(TextChange("added", _plain(name), part.line, part.end_line, ""))
        elif was.code != part.code:
            both = "code and docstring" if was.docstring != part.docstring else ""
            found.append(TextChange("changed", _plain(name), part.line, part.end_line, both))
        elif was.docstring != part.docstring:
            found.append(TextChange("changed", _plain(name), part.line, part.end_line, "docstring"))
    for name in before.keys() - after.keys():
        part = before[name]
        found.append(TextChange("removed", _plain(name), part.line, part.end_line, ""))
    return found


def _plain(name: str) -> str:
    return name.partition("#")[0]


class _Part(NamedTuple):
    code: str
    docstring: str
    line: int
    end_line: int


def _parts(tree: ast.Module) -> Iterator[tuple[str, _Part]]:
    counts: dict[str, int] = {}

    def numbered(name: str) -> str:
        counts[name] = counts.get(name, 0) + 1
        return f"{name}#{counts[name]}"

    for node in tree.body:
        yield from _statement(node, "", numbered)


def _statement(node: ast.stmt, prefix: str, numbered: object) -> Iterator[tuple[str, _Part]]:
    assert callable(numbered)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield numbered(prefix + node.name), _part(node, node)
    elif isinstance(node, ast.ClassDef):
        inner = [one for one in node.body if _is_block(one)]
        kept = [one for one in node.body if not _is_block(one)]
        yield numbered(prefix + node.name), _part(node, ast.Module(kept, []), node)
        for method in inner:
            yield from _statement(method, f"{prefix}{node.name}.", numbered)
    elif isinstance(node, ast.If | ast.Try) and not prefix:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _statement(child, prefix, numbered)
    else:
        yield numbered(prefix + _bound(node)), _part(node, node)


def _is_block(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _bound(node: ast.stmt) -> str:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    return names[0] if names else "<statement>"


def _part(node: ast.stmt, shown: ast.AST, head: ast.ClassDef | None = None) -> _Part:
    line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    docstring = ""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        docstring = ast.get_docstring(node, clean=False) or ""
    code = ast.dump(shown)
    if head is not None:
        parts = (*head.bases, *head.keywords, *head.decorator_list)
        code += "".join(ast.dump(one) for one in parts)
    if docstring:
        code = code.replace(ast.dump(ast.Constant(docstring)), "", 1)
    return _Part(code, docstring, line, node.end_lineno or line)


_ROLE = regex(r":(?:\w+:)?(?:func|meth|class|attr|mod|obj|data|exc):`[~!]?(?:[^`<]*<)?([\w.]+)")


def changed_lines(old: bytes, new: bytes) -> list[int]:
    """The lines of the new text that are not in the old one, and those beside removed lines."""
    before, after = decode(old).split("\n"), decode(new).split("\n")
    found: list[int] = []
    for tag, _, _, first, last in SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            found += range(first + 1, max(last, first + 1) + 1)
    return found


def documented_by_page(old: bytes, new: bytes, path: str) -> list[tuple[str, int]]:
    """The names listed or referred to on changed lines of a page, with lines, and those listed on
    removed lines."""
    lines = changed_lines(old, new)
    facts = [(f.target, f.line) for f in read_page(new, path) if f.line in lines]
    kept = {fact.target for fact in read_page(new, path)}
    at = lines[0] if lines else 1
    gone = [(f.target, at) for f in read_page(old, path) if f.target not in kept]
    text = decode(new).split("\n")
    named = [(name, n) for n in lines if n <= len(text) for name in _ROLE.findall(text[n - 1])]
    return list(dict(reversed([*facts, *gone, *named])).items())[::-1]


def docstrings_added(data: bytes, path: str, change: TextChange) -> list[PythonFact]:
    """The docstrings for C++ functions in a changed statement (``add_docstr``)."""
    if b"add_docstr" not in data:
        return []
    facts, _ = read_docstrings(Text(data), path)
    return [f for f in facts if change.line <= f.line <= change.end_line]


def checks_of(source: Source, paths: Sequence[str]) -> tuple[Check, ...]:
    """The commands that the tree's guides have for changed documentation."""
    from indexes.queries.contribution.guides import Guides

    commands = Guides(source).commands_for(paths, docs=True) if paths else ()
    return tuple(Check(one.purpose, one.text, one.location, one.note) for one in commands)
