"""A summary of a Python name: signature, docstring, calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from indexes.linking.python.modules import Found, Module
from indexes.linking.python.names import Names
from indexes.model.files import canonical
from indexes.model.python import PythonAnswer, PythonCall, PythonCard, PythonPlace
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.overloads import generated_for
from indexes.queries.python_names.finding import Finder, finder_of
from indexes.readers.python.references import read_imports
from indexes.readers.python.scope import Function, dotted

_RUNS = ("forward", "__call__", "__init__")
"""Methods that run when a class is used: the first defined one is shown."""
_TENSORS = ("Tensor", "torch.Tensor", "'Tensor'", '"Tensor"')


def card(name: str, index: IndexedTree) -> PythonCard | None:
    """The summary of a Python name; None if unknown."""
    found = _card(name, index)
    if found is None:
        return None
    pages, tests = tuple(_pages(found.answer, index)), tuple(_tests(found.answer, index))
    return replace(found, tests=tests, documents=pages)


def _card(name: str, index: IndexedTree) -> PythonCard | None:
    finder = finder_of(index)
    answer = finder.find(name)
    found = finder.names.find(answer.name) if answer else None
    if answer is None or found is None:
        return None
    home = finder.names.home(found)
    if home is None:
        return PythonCard(answer)
    if isinstance(found.node, ast.ClassDef):
        return _of_class(finder, answer, found, home, index)
    node = home.function(found.line) if found.kind != "module" else None
    if node is None:
        return PythonCard(answer, doc=_module_doc(home, found), members=_defined(home, found))
    calls = _Calls(finder.names, home, node, _owner(finder.names, found), index)
    known = tuple(calls.told())
    signature = _signature(node)
    return PythonCard(answer, signature, _first(node), known, calls.untold)


def _of_class(
    finder: Finder, answer: PythonAnswer, found: Found, home: Module, index: IndexedTree
) -> PythonCard:
    node = found.node
    assert isinstance(node, ast.ClassDef)
    own = finder.names.members(found).names.values()
    methods = [
        bound for bound in own if isinstance(bound.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    members = tuple(
        PythonPlace("method", bound.name, Location(found.path, bound.line, bound.end_line))
        for bound in methods
        if not bound.name.startswith("_")
    )
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    named = {bound.name: bound for bound in methods}
    runs = next((named[one] for one in _RUNS if one in named), None)
    known: tuple[PythonCall, ...] = ()
    untold = 0
    if runs and (body := home.function(runs.line)):
        calls = _Calls(finder.names, home, body, found, index)
        known, untold = tuple(calls.told()), calls.untold
    title = f"{node.name}({bases})" if bases else node.name
    return PythonCard(answer, title, _first(node), known, untold, members)


def _owner(names: Names, found: Found) -> Found | None:
    if found.kind not in ("method", "property"):
        return None
    return names.find(found.name.rpartition(".")[0])


def _signature(node: Function) -> str:
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returned}"


def _first(node: Function | ast.ClassDef) -> str:
    return _line(ast.get_docstring(node) or "")


def _module_doc(home: Module, found: Found) -> str:
    if found.kind != "module" or not home.text.strings.spans:
        return ""
    start, end = home.text.strings.spans[0]
    before = home.text.data[:start].rstrip(b"rR").splitlines()
    if any(line.strip() and not line.lstrip().startswith(b"#") for line in before):
        return ""
    return _line(home.text.data[start + 3 : end - 3].decode("utf-8", "replace"))


def _defined(home: Module, found: Found) -> tuple[PythonPlace, ...]:
    kinds = {ast.ClassDef: "class", ast.FunctionDef: "function", ast.AsyncFunctionDef: "function"}
    bound = home.scope.names.values() if found.kind == "module" else ()
    public = set(home.scope.public() or ()) or {one.name for one in bound if one.name[0] != "_"}
    return tuple(
        PythonPlace(kinds[type(one.node)], one.name, Location(found.path, one.line, one.end_line))
        for one in bound
        if type(one.node) in kinds and one.name in public
    )


def _line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _pages(answer: PythonAnswer, index: IndexedTree) -> Iterator[Location]:
    stored = index.facts.python
    for name in dict.fromkeys((answer.name, answer.defined)):
        for path, fact in stored.by_target(name):
            if fact.kind == "page":
                yield Location(path, fact.line, fact.end_line)


def _tests(answer: PythonAnswer, index: IndexedTree) -> Iterator[Location]:
    """The tests named after it that call something of that name."""
    word = answer.name.rpartition(".")[2]
    if answer.kind in ("function", "class", "bound"):
        for path, fact in index.facts.python.by_target(word):
            if fact.kind == "test_call":
                yield Location(path, fact.line, fact.end_line)


class _Calls:
    """The calls in a function's body, with names resolved in its module."""

    def __init__(
        self, names: Names, home: Module, node: Function, owner: Found | None, index: IndexedTree
    ) -> None:
        self._names = names
        self._home = home
        self._node = node
        self._owner = owner
        self._index = index
        self.untold = 0
        segment = home.source(node.lineno, node.end_lineno or node.lineno).encode()
        self._imports = read_imports(segment, home.path)
        self._local = _locals(node)
        self._tensors = _annotated_tensors(node)

    def told(self) -> Iterator[PythonCall]:
        """Each called thing, at its first line."""
        first: dict[str, tuple[int, Found]] = {}
        times: Counter[str] = Counter()
        for call in self._in_order():
            if found := self._callee(call):
                first.setdefault(found.name, (call.lineno, found))
                times[found.name] += 1
        for name, (line, found) in first.items():
            bound = found.kind == "bound"
            operators = generated_for(name, self._index.facts) if bound else ()
            where = found.location if found.path else None
            yield PythonCall(canonical(name), line, where, operators, times[name])

    def _in_order(self) -> list[ast.Call]:
        body = (part for statement in self._node.body for part in ast.walk(statement))
        calls = [part for part in body if isinstance(part, ast.Call)]
        return sorted(calls, key=lambda call: (call.lineno, call.col_offset))

    def _callee(self, call: ast.Call) -> Found | None:
        name = dotted(call.func)
        if not name:
            return self._of_expression(call.func)
        first, _, rest = name.partition(".")
        if first in ("self", "cls") and self._owner and rest:
            return self._walked(self._owner, rest)
        if first in self._tensors and rest:
            return self._names.find(f"torch.Tensor.{rest}")
        if origin := self._imports.get(first):
            return self._names.find(f"{origin}.{rest}" if rest else origin)
        if first in self._local:
            self.untold += bool(rest)
            return None
        return self._names.resolve(self._home, name)

    def _of_expression(self, func: ast.expr) -> Found | None:
        """``super().step()``; methods of other expressions are unknown."""
        if not isinstance(func, ast.Attribute):
            return None
        if isinstance(func.value, ast.Call) and dotted(func.value.func) == "super" and self._owner:
            bases = self._names.order(self._owner)[1:2]
            return self._names.attribute(bases[0], func.attr) if bases else None
        self.untold += not isinstance(func.value, ast.Constant)
        return None

    def _walked(self, found: Found | None, rest: str) -> Found | None:
        for part in rest.split("."):
            found = found and self._names.attribute(found, part)
        return found if found and found.kind != "attribute" else None


def _locals(node: Function) -> set[str]:
    """The names that a function binds itself."""
    bound = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            bound.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part is not node:
            bound.add(part.name)
    return bound


def _annotated_tensors(node: Function) -> set[str]:
    """The parameters annotated as tensors."""
    arguments = (one for one in ast.walk(node.args) if isinstance(one, ast.arg) and one.annotation)
    return {one.arg for one in arguments if ast.unparse(one.annotation or one) in _TENSORS}
