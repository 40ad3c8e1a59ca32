"""OpInfo entries: which operator is tested under which name, and where.

An entry is a call of a class named ``...Info``, with a literal name, in a list of
``torch/testing/_internal`` (``op_db``, ``python_ref_db``, ``foreach_*_op_db`` ...).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from indexes.model.files import PythonFact, pack
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import Text, parsed, without_bodies

_FOREACH_PREFIX = "_foreach_"
"""The prefix that ``ForeachFuncInfo.__init__`` adds: ``_foreach_add``."""
_MAKES_ENTRY = regex(r"\w*Info$|make_\w*opinfo$")
_FURTHER = ("aten_backward_name", "decomp_aten_name")
"""Keywords for further operators that an entry tests."""
_Database = ast.Assign | ast.AnnAssign | ast.AugAssign


class _Call(NamedTuple):
    """A call in a list, possibly in a loop."""

    call: ast.Call
    end_line: int
    """That of the loop around it, if any."""
    loop: Mapping[str, str]


class _Entry(NamedTuple):
    call: ast.Call
    end_line: int
    name: str
    database: str
    loop: Mapping[str, str]

    @property
    def keywords(self) -> dict[str, ast.expr]:
        return {one.arg: one.value for one in self.call.keywords if one.arg}

    def text(self, keyword: str) -> str:
        """The string passed as a keyword argument."""
        return _text(self.keywords.get(keyword), self.loop)


def is_opinfo_file(path: str, data: bytes) -> bool:
    """Whether a file can have OpInfo entries of PyTorch itself."""
    return "testing/_internal/" in path and b"Info(" in data


def read_opinfo(text: Text, path: str) -> tuple[list[PythonFact], list[Problem]]:
    """The OpInfo entries of a file, one fact for each name of an operator."""
    others = (one for one in text.blocks if not _MAKES_ENTRY.match(one.head.name))
    tree = parsed(without_bodies(text.data, others), path)
    if isinstance(tree, Problem):
        return [], [tree]
    entries = list(_entries(tree))
    explicit = {(one.name, one.text("variant_test_name")): one.text("aten_name") for one in entries}
    return [fact for entry in entries for fact in _facts(entry, explicit)], []


def _entries(tree: ast.Module) -> Iterator[_Entry]:
    made = dict(_made_names(tree))
    for database, listed in filter(None, map(_database, tree.body)):
        for call, end_line, loop in _listed(listed):
            cls = _called(call)
            named = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
            name = next(filter(None, (_text(one, loop) for one in named)), "")
            name = name or made.get(cls, "")
            if name and _MAKES_ENTRY.match(cls):
                yield _Entry(call, end_line, name, database, loop)


def _database(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """A list and the calls that a statement adds: ``op_db = [...]``, ``op_db.append(...)``."""
    if isinstance(node, _Database):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and isinstance(node.value, (ast.List, ast.Tuple)):
            return target.id, node.value
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    owner, grows = call.func.value, call.func.attr in ("append", "extend")
    return (owner.id, call.args[0]) if grows and isinstance(owner, ast.Name) else None


def _made_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _MAKES_ENTRY.match(node.name):
            for one in ast.walk(node):
                if isinstance(one, ast.Return) and isinstance(one.value, ast.Call):
                    yield node.name, _text(one.value.args[0] if one.value.args else None)


def _listed(node: ast.expr | None) -> Iterator[_Call]:
    if isinstance(node, ast.Call):
        yield _Call(node, node.end_lineno or 0, {})
    elif isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            yield from _listed(item)
    elif isinstance(node, ast.Starred):
        yield from _listed(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _listed(node.body)
        yield from _listed(node.orelse)
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        for one in _listed(node.elt):
            for loop in _rounds(node.generators[0]):
                yield _Call(one.call, node.end_lineno or 0, loop)


def _rounds(loop: ast.comprehension) -> list[dict[str, str]]:
    """The values of a loop's variable; one round without a value if they are not literals."""
    values = loop.iter.elts if isinstance(loop.iter, (ast.List, ast.Tuple)) else []
    constants = [str(one.value) for one in values if isinstance(one, ast.Constant)]
    if not isinstance(loop.target, ast.Name) or not constants or len(constants) < len(values):
        return [{}]
    return [{loop.target.id: one} for one in constants]


def _facts(entry: _Entry, explicit: dict[tuple[str, str], str]) -> Iterator[PythonFact]:
    cls = _called(entry.call)
    name = _FOREACH_PREFIX + entry.name if cls.startswith("Foreach") else entry.name
    ref_of = entry.text("torch_opinfo_name")
    ref_variant = entry.text("torch_opinfo_variant_name")
    variant = entry.text("variant_test_name")
    aten_name = explicit[entry.name, variant] or explicit.get((ref_of, ref_variant), "")
    detail = pack(
        cls=cls,
        db=entry.database,
        variant=variant or ref_variant,
        aten_name=aten_name,
        op=_operator(entry.keywords.get("op")),
        ref_of=ref_of,
        autograd="no" if _is_false(entry.keywords.get("supports_autograd")) else "",
    )
    aliases = entry.keywords.get("aliases")
    listed = aliases.elts if isinstance(aliases, (ast.Tuple, ast.List)) else ()
    # AliasInfo looks names up from torch, which has itself as ``torch.torch``.
    names = [_text(one).removeprefix("torch.") for one in listed]
    targets = [_target(aten_name or ref_of or name), *(f"torch.{one}" for one in names)]
    where = entry.call.lineno, entry.end_line
    for target in dict.fromkeys(targets):
        yield PythonFact("opinfo", target, name, *where, detail)
    for keyword in _FURTHER:
        if (other := entry.text(keyword)) and _target(other) not in targets:
            more = f"{detail}; {pack(**{keyword: other})}"
            yield PythonFact("opinfo", _target(other), name, *where, more)


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _target(aten_name: str) -> str:
    """``aten_name``, or without one the dotted name."""
    return f"aten::{aten_name}" if aten_name.isidentifier() else f"torch.{aten_name}"


def _operator(node: ast.expr | None) -> str:
    dotted = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
    return dotted if dotted.startswith("torch.") else ""


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _text(node: ast.expr | None, loop: Mapping[str, str] | None = None) -> str:
    """A string as written, with a loop variable's value inserted; else empty."""
    if isinstance(node, ast.Name):
        return (loop or {}).get(node.id, "")
    if isinstance(node, ast.JoinedStr):
        parts = [_text(one, loop) for one in node.values]
        return "".join(parts) if all(parts) else ""
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, loop)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
