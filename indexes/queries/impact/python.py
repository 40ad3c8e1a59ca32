"""What a Python function reaches: what it is registered as, and its callers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from indexes.model.files import MARK, module_name
from indexes.model.impact import Step
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.index import Index
from indexes.queries.places import operators_of_target
from indexes.queries.python_names.callers import PythonUse, PythonUses
from indexes.queries.python_names.finding import finder_of
from indexes.readers.python.blocks import Block, Text, innermost
from indexes.readers.python.references import Use, read_imports, uses_of
from indexes.readers.python.tests import is_test_file

MAX_SEARCHES = 40
"""Most names searched in all Python files during one walk."""
MAX_FILES = 120
"""A name in more files is searched in its own file alone."""

ASPECTS = {
    "decomposition": "decomposition",
    "meta_registration": "meta",
    "fake_impl": "meta",
    "ref": "ref",
    "prim": "ref",
    "lowering": "lowering",
    "onnx": "symbolic",
    "py_impl": "kernel Python",
    "jagged": "kernel jagged",
    "autograd_impl": "backward",
    "sharding": "sharding rule",
}
_RULES = {
    "decomposition": "registered as its decomposition",
    "meta_registration": "registered as its meta function",
    "fake_impl": "registered as its implementation for fake tensors",
    "ref": "the Python reference of that function",
    "prim": "the primitive whose eager implementation it is",
    "lowering": "registered as Inductor's lowering",
    "onnx": "registered as its ONNX symbolic",
    "py_impl": "registered as a Python kernel",
    "jagged": "registered as the kernel for jagged nested tensors",
    "autograd_impl": "registered as its autograd",
    "sharding": "registered as DTensor's sharding rule",
}


class PythonEdges:
    """Edges out of Python functions."""

    def __init__(self, facts: ImpactFacts) -> None:
        self.facts = facts
        self.unfollowed: list[str] = []
        self._searches = 0
        self._text = lru_cache(512)(lambda path: Text(facts.corpus.text(path)))
        self._imports = lru_cache(512)(lambda path: read_imports(facts.corpus.text(path), path))

    def blocks(self, path: str) -> list[Block]:
        """The functions and classes of a file."""
        return self._text(path).blocks

    def of_function(self, node: Node, first: bool) -> Iterator[Edge]:
        """What a function is registered as, and the functions that use it."""
        yield from self._registered(node)
        yield from self._callers(node, first)

    # ------------------------------------------------------------------- registrations

    def _registered(self, node: Node) -> Iterator[Edge]:
        assert node.location
        where = node.location
        rows = self.facts.python.about(tuple(ASPECTS), node.symbol, where)
        for kind, target, symbol, line, *_ in rows:
            certain = symbol == node.symbol or where.line <= line <= where.end_line
            for op in operators_of_target(self.facts, target):
                exact = certain and f"aten::{op}" == target.removesuffix(".default")
                node, rule = self.facts.operator(op, ASPECTS[kind]), f"{_RULES[kind]} for {target}"
                at = Location(where.path, line)
                yield Edge(node, rule, at, "exact" if exact else "by rule")

    # -------------------------------------------------------------------------- callers

    def _callers(self, node: Node, first: bool) -> Iterator[Edge]:
        assert node.location
        name = node.symbol.rpartition(".")[2]
        files = [node.location.path]
        if is_test_file(files[0]):
            yield from self._in_file(node, name, files[0])
            return
        self._searches += 1
        if self._searches > MAX_SEARCHES and not first:
            self.unfollowed.append(f"{node.symbol}: its callers were not searched")
        else:
            kinds = ("python", "test") if first else ("python",)
            others = [p for kind in kinds for p in self._files(name, kind, node)]
            if len(others) > MAX_FILES:
                self.unfollowed.append(
                    f"{node.symbol}: {len(others)} files use the name {name}; looked at only in"
                    f" {files[0]}"
                )
                others = []
            files += [path for path in others if path != files[0]]
        for path in files:
            yield from self._in_file(node, name, path)

    def _files(self, name: str, kind: str, node: Node) -> list[str]:
        """Files with a name and with its module, which an import needs."""
        assert node.location
        module = module_name(node.location.path)
        package, _, last = module.rpartition(".")
        words = [last.encode(), *([package.encode()] if "." in package else [])]
        return [
            path
            for path in self.facts.corpus.files_with(name, kind)
            if any(word in self.facts.corpus.text(path) for word in words)
        ]

    def _in_file(self, node: Node, name: str, path: str) -> Iterator[Edge]:
        seen: set[str] = set()
        for use in uses_of(self._text(path), path, name, self._imports(path)):
            found = self._means(use, node, path)
            if found is None:
                continue
            caller = self._enclosing(path, use.line)
            if caller is None or caller == node or caller.key in seen:
                continue
            seen.add(caller.key)
            rule, confidence = found
            yield Edge(caller, rule, Location(path, use.line), confidence)

    def _means(self, use: Use, node: Node, path: str) -> tuple[str, Confidence] | None:
        how = "calls it" if use.called else "uses it"
        if use.name == node.symbol:
            return how, "exact"
        if use.name.startswith("."):
            assert node.location
            outer = node.symbol.removeprefix(module_name(node.location.path) + ".")
            if "." in outer and path == node.location.path:
                return f"{how}, or another method of that name", "ambiguous"
            return None
        origin, _, name = use.name.rpartition(".")
        module = node.symbol.rpartition(".")[0]
        if module.startswith(f"{origin}.") and self._passed_on(origin, name, node.symbol, 3):
            return f"{how} as {use.name}, where the package imports it", "by rule"
        return None

    def _passed_on(self, package: str, name: str, symbol: str, depth: int) -> bool:
        """Whether a package's ``__init__`` imports a name from its definition."""
        imports = self._imports(f"{package.replace('.', '/')}/__init__.py")
        found = imports.get(name, "")
        if found == symbol or (found and f"{found}.{name}" == symbol):
            return True
        origin, _, last = found.rpartition(".")
        return bool(origin and depth and origin != package) and self._passed_on(
            origin, last, symbol, depth - 1
        )

    def _enclosing(self, path: str, line: int) -> Node | None:
        block = innermost(self.blocks(path), line)
        if block is None:
            return None
        return python_node(path, block)


def python_node(path: str, block: Block) -> Node:
    """The node of a function or class of a file."""
    qualified = block.head.qualified
    where = Location(path, block.head.line, block.end_line)
    is_test = block.head.name.startswith("test") and "/test_" in f"/{path}"
    key, symbol = f"{path}:{qualified}", f"{module_name(path)}.{qualified}"
    return Node("test" if is_test else "python", key, symbol, where)


def add_callers(
    index: Index, facts: ImpactFacts, name: str, steps: list[Step], untold: list[str]
) -> tuple[str, ...] | None:
    """Adds a definition and its uses, one per function; limitations go to ``untold``.

    Returns:
        The operators that the name is the binding of; None if it is not a Python name.
    """
    finder = finder_of(index)
    answer = finder.find(name)
    found = finder.names.find(answer.name) if answer else None
    if answer is None or found is None:
        return None
    uses = PythonUses(finder, facts.corpus).of(found, answer.name)
    where = answer.location or _entry(index, answer.operators)
    start = Node("python", found.name, answer.name, where)
    steps.append(Edge(start, "", None).step(len(steps), None, "exact", 0))
    parent = steps[-1].id
    seen: dict[tuple[str, str], PythonUse] = {}
    for use in uses.found:
        seen.setdefault((use.location.path, use.around[0]), use)
    for use in sorted(seen.values(), key=_place_in_list):
        edge = Edge(_node(use), use.rule, use.location, use.confidence)
        steps.append(edge.step(len(steps), parent, use.confidence, 0))
    if uses.unknown:
        last = found.name.rpartition(".")[2]
        text = "1 call" if uses.unknown == 1 else f"{uses.unknown} calls"
        untold.append(f"not counted: {text} of .{last}() on values whose class is not known")
    if facts.corpus.paths("test"):
        untold.append("test/: only files named test_* were searched")
    return answer.operators


def _entry(index: Index, operators: tuple[str, ...]) -> Location | None:
    native = index.native(operators[0]) if operators else None
    return native.location if native else None


def _place_in_list(use: PythonUse) -> tuple[bool, bool, bool, int]:
    """Sort key: public modules first, outer before inner, then private ones, docs, examples and
    tools; tests last."""
    path = use.location.path
    is_private = "/_" in path.replace("/__init__.py", "") or path.startswith("torch/testing/")
    is_around = not path.startswith(("torch/", MARK))
    return path.startswith("test/"), is_around, is_private, path.count("/")


def _node(use: PythonUse) -> Node:
    name, line = use.around
    path = use.location.path
    is_test = name.rpartition(".")[2].startswith("test") and "/test_" in f"/{path}"
    return Node("test" if is_test else "python", f"{path}:{name}", name, Location(path, line))
