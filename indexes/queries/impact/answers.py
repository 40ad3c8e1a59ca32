"""Callers of a symbol, and what its change reaches, with tests to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from indexes.linking.facts import Known
from indexes.linking.formulas import formula_calls
from indexes.linking.python.paths import Found
from indexes.model.answers import Hit
from indexes.model.errors import NotFound, SourceError, UsageError
from indexes.model.impact import Impact, Step
from indexes.model.lines import placed
from indexes.queries.graph_places import callers_outside
from indexes.queries.impact.cxx import CppEdges
from indexes.queries.impact.dispatch import formula_node, stub_node
from indexes.queries.impact.endpoints import elsewhere, fold, python_names, without_folded
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.impact.python import PythonEdges, python_node
from indexes.queries.impact.test_commands import MAX_TESTED, tests_of
from indexes.queries.impact.walk import DISPATCHES, RANK, Start, Walk
from indexes.queries.index import Index
from indexes.queries.naming.places import files_named
from indexes.queries.python_names.finding import finder_of
from indexes.readers.cxx.dispatch_keys import DispatchKeys


class Impacts:
    """Impact over one index, with a cache of files."""

    def __init__(self, index: Index, removed: Sequence[Known] = ()) -> None:
        self.index = index
        self.facts = ImpactFacts(
            index.facts, index.source.content, removed, self._keys, index.dispatch.generated
        )
        self.python = PythonEdges(self.facts)

    def _keys(self) -> DispatchKeys | None:
        try:
            return self.index.dispatch.keys
        except SourceError:
            return None

    # ------------------------------------------------------------------------- answers

    def callers(self, symbol: str) -> Impact:
        """The direct uses of a symbol, with lines. Raises NotFound."""
        steps: list[Step] = []
        untold: list[str] = []
        starts = self._python_callers(symbol, steps, untold)
        cpp = CppEdges(self.facts)
        for start in starts:
            node = start.node
            parent = _step(len(steps), None, Edge(node, start.rule, None))
            steps.append(parent)
            seen: set[Node] = set()
            for edge in sorted(self._direct(node, cpp), key=_surest_first):
                if edge.node not in seen:
                    seen.add(edge.node)
                    steps.append(_step(len(steps), parent.id, edge))
        told = tuple(dict.fromkeys([*untold, *self.index.info.missing, *cpp.unfollowed]))
        return Impact(self.index.info, tuple(steps), (), unresolved=told)

    def _python_callers(self, symbol: str, steps: list[Step], untold: list[str]) -> list[Start]:
        """Adds the uses of a Python name; returns the operators whose binding it is, as further
        starts."""
        match = self.index.resolve(symbol)
        bound = match.kind == "operator" and match.text.startswith("torch.")
        if not bound and match.kind != "python":
            return self.starts(symbol)
        from indexes.queries.impact.python import add_callers

        operators = add_callers(self.index, self.facts, match.text, steps, untold)
        if operators is None:
            return self.starts(symbol)
        return [Start(self.facts.operator(op, "schema")) for op in operators]

    def _direct(self, node: Node, cpp: CppEdges) -> Iterable[Edge]:
        if node.known:
            others = (e for e in cpp.of_definition(node.known, False) if e.node.kind != "function")
            return [*others, *cpp.direct_uses(node.known)]
        if node.kind == "stub":
            return cpp.of_stub(node)
        if node.kind == "operator":
            return cpp.of_operator(node.symbol, True)
        if node.kind == "formula":
            return cpp.of_formula(node)
        if node.kind == "function":
            return cpp.of_outside(node)
        return self.python.of_function(node, True)

    def impact(
        self,
        symbol: str,
        dispatches: int = DISPATCHES,
        tests: bool = True,
        most: int | None = MAX_TESTED,
    ) -> Impact:
        """What the change of a symbol reaches, with the tests of at most ``most`` operators. Raises
        NotFound."""
        return self.of(self.starts(symbol), dispatches, tests, most=most)

    def of(
        self,
        starts: Sequence[Start],
        dispatches: int = DISPATCHES,
        tests: bool = True,
        told: Sequence[str] = (),
        most: int | None = MAX_TESTED,
    ) -> Impact:
        cpp = CppEdges(self.facts)
        walk = Walk(cpp, self.python, dispatches)
        steps = walk.run(starts)
        operators = walk.operators()
        unresolved = [*told, *self.index.info.missing]
        if walk.cut:
            unresolved.append(f"cut after {len(steps):,} steps: it reaches most of the library")
        if walk.undispatched:
            unresolved.append(
                f"callers of these {len(operators)} operators were not searched: there are too many"
            )
        unresolved += dict.fromkeys([*cpp.unfollowed, *self.python.unfollowed])
        listed, folded = fold(operators) if most is not None else (list(operators), [])
        shown, listed = without_folded(steps, operators, listed)
        generated = (step.symbol for step in shown if step.kind == "generated")
        folded += filter(None, map(cpp.generated.folded, dict.fromkeys(generated)))
        folded += elsewhere(cpp.other_keys, (one.name for one in operators))
        own = [o for o in listed if o.dispatches == 0 or o.confidence != "ambiguous"]
        found = Impact(
            self.index.info,
            shown,
            tuple(listed),
            python_names(own, shown, self.facts, finder_of(self.index)),
            unresolved=tuple(dict.fromkeys(unresolved)),
            folded=tuple(folded),
        )
        return self.with_tests(found, most) if tests else found

    def with_tests(
        self, found: Impact, most: int | None = MAX_TESTED, opinfos: Sequence[Found] = ()
    ) -> Impact:
        """Adds the commands for the tests of what is reached, and of OpInfos."""
        told = list(found.unresolved)
        commands = tests_of(found.operators, found.steps, self.facts, told, most, opinfos)
        return replace(found, tests=commands, unresolved=tuple(dict.fromkeys(told)))

    # -------------------------------------------------------------------------- starts

    def starts(self, symbol: str) -> list[Start]:
        """The meanings of a symbol, a ``FILE:LINE`` or a file. Raises NotFound."""
        if place := placed(symbol):
            paths = self._paths(place[0])
            found = [start for path in paths for start in self._at(path, place[1])]
        elif "/" in symbol or symbol.endswith(".py"):
            found = [start for path in self._paths(symbol) for start in self._file(path)]
        else:
            found = self._named(symbol) or self._python(symbol) or self._defined(symbol)
            found = found or self._macros(symbol) or self._in_formulas(symbol)
            found = found or self._outside(symbol)
        if not found:
            match = self.index.meant(symbol)
            raise UsageError(f"{match.text} is a {match.kind}, which has no known callers")
        return list(dict.fromkeys(found))

    def _at(self, path: str, line: int) -> list[Start]:
        if path.endswith(".py"):
            from indexes.readers.python.blocks import innermost

            block = innermost(self.python.blocks(path), line)
            return [Start(python_node(path, block))] if block else []
        if path.endswith(".yaml"):
            return self._yaml(path, line)
        if stubs := self._stub_lines(path, line):
            return stubs
        inside = [k for k in self.facts.in_file(path) if k.definition.location.covers(line)]
        narrow = min(map(_length, inside), default=0)
        return [Start(Node.of(known)) for known in inside if _length(known) == narrow]

    def _stub_lines(self, path: str, line: int) -> list[Start]:
        stubs = {use.stub: None for use in self.facts.macro_uses_at(path, line) if use.stub}
        return [
            Start(stub_node(use))
            for stub in stubs
            for use in self.facts.stub_uses(stub.rpartition("::")[2])
            if use.location.path == path and use.location.line == line
        ]

    def _yaml(self, path: str, line: int) -> list[Start]:
        places = self.index.at(path, line)
        names = dict.fromkeys(op for place in places for op in place.operators)
        side = "backward" if "derivatives" in path else "schema"
        return [Start(self.facts.operator(name, side)) for name in names]

    def _paths(self, given: str) -> Sequence[str]:
        """The indexed files of a path or end of a path. Raises NotFound."""
        kinds = ("cpp", "python", "test", "yaml")
        known = {path for kind in kinds for path in self.facts.corpus.paths(kind)}
        found = [path for path in files_named(given, self.index) if path in known]
        if not found:
            raise NotFound(f"{given} is not an indexed file")
        return found

    def _file(self, path: str) -> list[Start]:
        if path.endswith(".py"):
            outer = [b for b in self.python.blocks(path) if b.head.parent < 0]
            return [Start(python_node(path, b)) for b in outer]
        return [Start(Node.of(k)) for k in self.facts.in_file(path)]

    def _named(self, symbol: str) -> list[Start]:
        match = self.index.resolve(symbol)
        if match.kind == "place":
            return [start for hit in match.hits for start in self._file(hit.location.path)]
        if match.kind == "stub":
            uses = self.facts.stub_uses(match.text)
            return [Start(stub_node(use)) for use in uses if use.what == "registered"] or [
                Start(stub_node(use)) for use in uses[:1]
            ]
        if match.kind == "python" and (found := self._blocks(match.hits)):
            return found
        if match.kind == "error":
            lines = (hit.location for hit in match.hits if hit.kind != "operator")
            return [start for at in lines for start in self._at(at.path, at.line)]
        if match.kind == "grad_fn":
            return [Start(self.facts.operator(op, "backward")) for op in match.overloads]
        if match.kind in ("operator", "python"):
            return [Start(self.facts.operator(op, "schema")) for op in match.overloads]
        wanted = {(hit.name, hit.location) for hit in match.hits}
        names = {hit.name.rpartition("::")[2] for hit in match.hits}
        return [
            Start(Node.of(known))
            for name in names
            for known in self.facts.named(name)
            if (known.definition.qualified, known.definition.location) in wanted
        ]

    def _blocks(self, hits: Iterable[Hit]) -> list[Start]:
        return [
            Start(python_node(hit.location.path, block))
            for hit in hits
            if hit.location.path in self.python_paths
            for block in self.python.blocks(hit.location.path)
            if block.head.line == hit.location.line
        ]

    def _outside(self, symbol: str) -> list[Start]:
        """A function that the tree calls and does not define: ``cudaMemcpyAsync``."""
        name = symbol.rpartition("::")[2]
        node = Node("function", f"outside {name}", name, None)
        return [Start(node)] if callers_outside(self.facts, name) else []

    def _macros(self, symbol: str) -> list[Start]:
        found = self.facts.named(symbol)
        return [Start(Node.of(known)) for known in found if known.definition.kind == "macro"]

    def _in_formulas(self, symbol: str) -> list[Start]:
        name = symbol.rpartition("::")[2]
        return [
            Start(formula_node(entry, formula), f"it calls {name}, which is not in this source")
            for entry in self.facts.entries_with(name)
            for one in entry.sets
            for formula in one.formulas
            if name in formula_calls(formula.text)
        ]

    def _defined(self, symbol: str) -> list[Start]:
        """Python functions and classes by their last name or two."""
        name = symbol.rpartition(".")[2]
        if not name.isidentifier():
            return []
        return [
            Start(python_node(path, block))
            for path in self.facts.corpus.files_with(f" {name}", "python")
            for block in self.python.blocks(path)
            if block.head.name == name and f".{block.head.qualified}".endswith(f".{symbol}")
        ]

    def _python(self, symbol: str) -> list[Start]:
        """A function by its full path: ``torch._decomp.decompositions.softmax``."""
        parts = symbol.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            module = "/".join(parts[:cut])
            for path in (f"{module}.py", f"{module}/__init__.py"):
                if path in self.python_paths:
                    wanted = ".".join(parts[cut:])
                    return [
                        Start(python_node(path, block))
                        for block in self.python.blocks(path)
                        if block.head.qualified == wanted
                    ]
        return []

    @cached_property
    def python_paths(self) -> frozenset[str]:
        corpus = self.facts.corpus
        return frozenset((*corpus.paths("python"), *corpus.paths("test")))


def _length(known: Known) -> int:
    return known.definition.location.end_line - known.definition.location.line


def _surest_first(edge: Edge) -> tuple[bool, int]:
    """Sort key; tests last, since they say little about who else uses something."""
    path = edge.node.location.path if edge.node.location else ""
    return "/test/" in f"/{path}", RANK[edge.confidence]


def _step(number: int, parent: int | None, edge: Edge) -> Step:
    return edge.step(number, parent, edge.confidence, int(edge.dispatch))
