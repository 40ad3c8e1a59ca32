"""Places that a change of an operator may touch, of every kind, in the order of work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath

from indexes.linking.facts import TO_OPERATORS, Known
from indexes.linking.graph import Graph, Node
from indexes.linking.python.links import names_of
from indexes.model.answers import Chain, Hop
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.contribution.by_name import (
    expected_outputs,
    functions_of,
    generator_lists,
    is_part,
    pages_naming,
    private_modules,
    scripted,
    tables_of,
)
from indexes.queries.contribution.helpers import MAX_USERS, callers, definitions_at, helper_steps
from indexes.queries.contribution.kin import operator_siblings, place_siblings, shader_math, shaders
from indexes.queries.contribution.layouts import called_kernels
from indexes.queries.contribution.likely import defines, is_seldom
from indexes.queries.contribution.python_siblings import called_privately, namesakes, types_of
from indexes.queries.contribution.steps import Step, each_place
from indexes.queries.contribution.test_rows import cxx_tests, test_rows
from indexes.queries.corpus import Corpus
from indexes.queries.gaps.kernels.dependents import needing
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index

_ROLES = (
    "schema",
    "delegate",
    "meta",
    "kernel",
    "stub",
    "registration",
    "device_kernel",
    "derivative",
    "formula_function",
    "decomposition",
    "meta_registration",
    "ref",
    "batch_rule",
    "autocast",
    "python",
    "docs",
    "opinfo",
)
"""The roles of such places, in the order of work."""
_COMPUTING = (
    "delegate",
    "meta",
    "kernel",
    "device_kernel",
    "launch",
    "formula_function",
    "batch_rule",
)
_IN_PYTHON = ("decomposition", "meta_registration", "ref")
_CALL = regex(r"(?<![\w.])(\w+_backward\w*)\(")
_REGISTERED = (
    "SELECT k.key,f.path,k.line,k.target FROM library_kernels k JOIN files f ON f.id=k.file"
    " WHERE k.op=? ORDER BY k.rowid"
)
_FALLS = "makeFallthrough("
_MAX_AROUND = 3
_MAX_CALLERS = 12
"""Files that call what was asked for."""
_MAX_GRADIENTS = 2
_MAX_OVERLOADS = 4
_MAX_INPLACE = 2
_MAX_PARTS = 2
_FORMULAS_ASKED = 60
_COMPATIBILITY = (
    "test/forward_backward_compatibility/check_forward_backward_compatibility.py",
    "test/backward_compatibility/check_backward_compatibility.py",
)
_FORMULA_TEMPLATES = tuple(f"tools/autograd/templates/Functions.{end}" for end in ("cpp", "h"))
"""Generated files with formulas' functions in older versions."""


class OperatorPlaces:
    """The places of operators of one tree."""

    def __init__(self, tree: Tree, corpus: Corpus) -> None:
        self._tree = tree
        self._index = tree.index
        self._corpus = corpus

    def of(self, overloads: Sequence[str]) -> list[Step]:
        """The places of all overloads of a name, the first one's first; then what their kernels and
        formulas use; at last the operators that they call."""
        names = [*self._plain(overloads)[:_MAX_OVERLOADS], *self._inplace(overloads)]
        walks = [self._walk(op) for op in names]
        walks += [self._walk(op) for op in _parts(walks, names)]
        walks += [self._walk(op) for op in self._folded(walks, names)]
        walks += [self._walk(op) for op in self._gradients(overloads[0])]
        own = [hop for hops, _ in walks for hop in hops]
        called = [hop for _, hops in walks for hop in hops]
        bare = any(not any(hop.role == "kernel" for hop in hops) for hops, _ in walks)
        steps = [
            *_own_steps(own),
            *self._compatibility,
            *(self._namesakes(overloads[0]) if bare else ()),
        ]
        every = dict.fromkeys([*names, *(hop.symbol for hop in own if hop.role == "schema")])
        steps += self._in_libraries(every, {step.location.path for step in steps})
        steps += [*self._used(steps), *self._calling(steps, names)]
        steps += [*_called_steps(called), *called_kernels(self._tree, names)]
        steps += self._in_python(overloads[0], steps)
        if not any(step.role == "opinfo" for step in steps):
            steps += [*self._test_rows(overloads[0]), *self._related_opinfos(overloads[0])]
        steps += self._opinfos_named(overloads[0].partition(".")[0])
        kernels = [step.location.path for step in steps if step.role == "kernel"]
        for row in cxx_tests(self._corpus, overloads[0].partition(".")[0].rstrip("_"), kernels):
            rule = f"calls it on {_lines(row.lines)}: a test in C++"
            symbol = PurePosixPath(row.location.path).name
            steps.append(Step("cxx_test", symbol, row.location, rule))
        steps += operator_siblings(self._index.facts, overloads[0], steps)
        steps += shader_math(self._corpus, steps)
        steps += shaders(self._index.source, steps)
        return [
            replace(step, change="seldom") if is_seldom(step) or self._is_shared(step) else step
            for step in each_place(steps)
        ]

    def _is_shared(self, step: Step) -> bool:
        """Whether it is what many operators run, as helpers are not, or says nothing of its own."""
        if step.role == "kernel" and _FALLS in self._tree.line(step.location):
            return True
        facts = self._index.facts
        known = definitions_at(facts, step.location) if step.role == "device_kernel" else ()
        return any(facts.files_using(one.id) > MAX_USERS for one in known)

    def _walk(self, op: str) -> tuple[list[Hop], list[Hop]]:
        return _own(self._index.chain(op, dtypes=False), self._belongs)

    def _belongs(self, called: str, op: str) -> bool:
        """Whether a called operator is part of another: it has its name, as ``_cumsum_helper`` has
        that of ``cumsum``, or is private and called by its kernels alone."""
        name, facts = op.partition(".")[0], self._index.facts
        callers = {edge.caller for edge in facts.edges_to(called)} if called[:1] == "_" else set()
        kernels = [{row.op.partition(".")[0] for row in facts.kernel_rows_of(c)} for c in callers]
        return is_part(called, name) or (bool(kernels) and all(one == {name} for one in kernels))

    def _folded(self, walks: Sequence[tuple[list[Hop], list[Hop]]], names: list[str]) -> list[str]:
        """The parts of an operator that chains fold, as they only move memory: ``_cat``."""
        own = [hop for hops, _ in walks for hop in hops]
        there = {*names, *(hop.symbol for hop in own if hop.role == "schema")}
        places = (hop.location for hop in own if hop.role == "kernel" and hop.location)
        known = (one for at in places for one in definitions_at(self._index.facts, at))
        edges = (edge for one in known for edge in self._index.facts.edges(one.id))
        called = dict.fromkeys(str(e.target) for e in edges if e.kind in TO_OPERATORS)
        mine = (op for op in called if op not in there and self._belongs(op, names[0]))
        return list(islice(mine, _MAX_PARTS))

    def _gradients(self, overload: str) -> Iterator[str]:
        """The operators of its name in its formulas: ``tanh_backward``."""
        entry = self._index.derivative(overload)
        formulas = [one for some in entry.sets for one in some.formulas] if entry else []
        called = dict.fromkeys(name for one in formulas for name in _CALL.findall(one.text))
        mine = (name for name in called if is_part(name, overload.partition(".")[0]))
        for found in islice(filter(None, map(self._index.facts.overloads, mine)), _MAX_GRADIENTS):
            yield found[0].full_name

    def _in_python(self, overload: str, steps: Sequence[Step]) -> Iterator[Step]:
        """The Python functions of its name, and type stubs."""
        index, name = self._index, overload.partition(".")[0].strip("_")
        places = list(namesakes(index, name))
        paths = [s.location.path for s in steps if s.role == "python"]
        paths += [one.location.path for one in places]
        for one in (step for step in steps if step.role in _IN_PYTHON):
            own = _last(one.symbol.replace(".", "::"))
            places += called_privately(index, one.location, own)
        yield from (Step("python", *one) for one in places)
        for path in filter(defines, dict.fromkeys(paths)):
            yield from self.of_module(path, name)
        native = index.native(overload)
        public = names_of(native, index.facts.python) if native else ()
        for where, subject in pages_naming(index.source, public):
            yield Step(
                "docs", PurePosixPath(where.path).name, where, f"the page speaks of {subject}"
            )
        yield from expected_outputs(index.source, [name])
        yield from generator_lists(self._corpus, overload.partition(".")[0])
        yield from scripted(index.source, overload.partition(".")[0])

    def of_module(self, path: str, name: str = "") -> Iterator[Step]:
        """Places that know a module's functions by name: tables, expected outputs, type stubs."""
        yield from (Step("types", *one) for one in types_of(self._index, [path]))
        yield from tables_of(self._corpus, path, name)
        if not name:
            yield from private_modules(self._corpus, path)
        names = [name] if name else functions_of(self._corpus, path)
        yield from expected_outputs(self._index.source, names)

    def _test_rows(self, overload: str) -> Iterator[Step]:
        """For an operator without OpInfo: test tables that name it or its module."""
        native = self._index.native(overload)
        public = names_of(native, self._index.facts.python) if native else ()
        for row in test_rows(self._corpus, overload.partition(".")[0], public):
            yield row.step

    def _related_opinfos(self, overload: str) -> Iterator[Step]:
        """For an operator without OpInfo: those of operators that need it, else the file for a new
        one."""
        tree, found = self._tree, needing(self._tree, overload)
        for op in found:
            for path, fact in tree.opinfos(op)[:1]:
                where = Location(path, fact.line, fact.end_line)
                yield Step("opinfo", fact.symbol, where, f"{op} needs it, and has this OpInfo")
        paths = Counter(one for one, _ in tree.index.facts.python.of_kinds("opinfo"))
        if not found and overload in tree.public_set:
            for path, count in paths.most_common(1):
                rule = f"{count:,} OpInfos are here, and none for it: tests of operators need one"
                yield Step("opinfo", PurePosixPath(path).name, Location(path, 1), rule)

    def _opinfos_named(self, name: str) -> Iterator[Step]:
        """The OpInfos of other functions of its name, which may run it: ``masked.softmax``."""
        for path, fact in self._index.facts.python.of_kinds("opinfo"):
            module, _, last = fact.symbol.rpartition(".")
            if last == name and module and "_refs" not in module:
                rule = f"{fact.symbol}, of its name, is tested by it"
                yield Step("opinfo", fact.symbol, Location(path, fact.line), rule, "seldom")

    def _in_libraries(self, names: Iterable[str], there: set[str]) -> Iterator[Step]:
        """The kernels registered in TORCH_LIBRARY blocks of further files."""
        for name in names:
            for key, path, line, target in self._index.facts.store.query(_REGISTERED, (name,)):
                if path not in there:
                    there.add(path)
                    known = self._index.facts.by_id(target) if target is not None else None
                    yield _registered(known, key, Location(path, line))

    def around(self, operators: Sequence[str], own: Sequence[Step]) -> Iterator[Step]:
        """Other code that computes the operators reaching a place, which may have the same fault,
        and files of its shape."""
        there = {step.location.path for step in own}
        first = {op.partition(".")[0].rstrip("_"): op for op in reversed(operators)}
        for op in islice(reversed(first.values()), _MAX_AROUND):
            steps = [*_own_steps(self._walk(op)[0])]
            by_formula = _is_in_formula(steps, own)
            roles = ("derivative",) if by_formula else _COMPUTING
            for step in steps:
                is_docs = step.role == "docs" and step.location.path.endswith(".py")
                wanted = step.role in roles or (is_docs and not by_formula)
                if wanted and step.location.path not in there:
                    there.add(step.location.path)
                    rule = f"{step.role} of {op}, which leads here"
                    yield replace(step, role="around", rule=rule)
        places = [step.location for step in own]
        yield from callers(self._index.facts, places, most=_MAX_CALLERS)
        yield from place_siblings(self._index.facts, own)

    def _plain(self, overloads: Sequence[str]) -> list[str]:
        """The overloads, forwarding ones last: named dimensions, out=."""
        native = self._index.native
        return sorted(overloads, key=lambda one: bool((n := native(one)) and _passes_on(n.schema)))

    def _inplace(self, overloads: Sequence[str]) -> list[str]:
        name = f"{overloads[0].partition('.')[0].rstrip('_')}_"
        found = [one.full_name for one in self._index.facts.overloads(name)]
        return [one for one in found if one not in overloads][:_MAX_INPLACE]

    def _namesakes(self, overload: str) -> Iterator[Step]:
        """For an entry without linked kernels: functions of its name, and registrations on their
        stubs."""
        name = overload.partition(".")[0].rstrip("_")
        rule = "named after the operator, to whose entry no kernel is linked"
        for symbol in (name, f"{name}_", f"{name}_out"):
            for one in self._index.definitions(f"at::native::{symbol}"):
                yield Step("kernel", one.qualified, one.location, rule)
                yield from self._registered_below(one)

    def _registered_below(self, kernel: Definition) -> Iterator[Step]:
        facts = self._index.facts
        graph = Graph(facts)
        known = facts.known(kernel)
        below = graph.down(Node("definition", known.id)) if known else []
        stubs = [call.lower for call in below if call.lower.kind == "stub"]
        for use in (use for stub in stubs for use in facts.stub_uses(_last(str(stub.what)))):
            if use.what != "registered":
                rule = f"the stub is {use.what} here, which {kernel.name} calls"
                yield Step("stub", use.stub, use.location, rule)
        for step in (one for stub in stubs for one in graph.down(stub)):
            if isinstance(step.lower.what, int) and (found := facts.by_id(step.lower.what)):
                where = found.definition
                rule = f"registered on {step.upper.what}, which {kernel.name} calls"
                yield Step("device_kernel", where.qualified, where.location, rule)

    def _used(self, own: Sequence[Step]) -> Iterator[Step]:
        """Helpers of its kernels, and functions of its formulas."""
        yield from helper_steps(self._index.facts, _at(own, *_COMPUTING), _at(own, "kernel"))
        if any(step.role == "derivative" for step in own):
            yield from self._formula_files

    def _calling(self, own: Sequence[Step], ops: Sequence[str]) -> Iterator[Step]:
        """What calls functions in the files of its kernels, or private operators."""
        paths = {s.location.path for s in own if s.role in ("kernel", "registration")}
        places = [step.location for step in own if step.location.path in paths]
        private = (op for op in ops if op.startswith("_"))
        yield from callers(self._index.facts, places, private)

    @cached_property
    def _compatibility(self) -> list[Step]:
        """CI's list of schemas that may change."""
        rule = "its ALLOW_LIST needs a row if the schema changes"
        paths = filter(self._index.source.holds, _COMPATIBILITY)
        return [Step("compatibility", PurePosixPath(p).name, Location(p, 1), rule) for p in paths]

    @cached_property
    def _formula_files(self) -> tuple[Step, ...]:
        rule = "a formula that is more than an expression calls a function here"
        paths = formula_files(self._index)
        return tuple(Step("formulas", PurePosixPath(p).name, Location(p, 1), rule) for p in paths)


def formula_files(index: Index) -> list[str]:
    """The files that define and declare formulas' functions."""
    entries = islice(index.derivative_rows(), _FORMULAS_ASKED)
    found = (one for entry in entries for one in index.formula_functions(entry))
    paths = Counter(one.location.path for one in found)
    main, count = next(iter(paths.most_common(1)), ("", 0))
    main = main if count > _FORMULAS_ASKED // 10 else ""
    names = (main, str(PurePosixPath(main).with_suffix(".h"))) if main else _FORMULA_TEMPLATES
    return list(filter(index.source.holds, dict.fromkeys(names)))


def _at(steps: Iterable[Step], *roles: str) -> list[Location]:
    return [step.location for step in steps if step.role in roles]


def _is_in_formula(steps: Iterable[Step], own: Sequence[Step]) -> bool:
    """Whether an operator leads to some places by its formulas: its kernels compute another
    thing."""
    return any(s.role == "formula_function" and s.location in _at(own, "function") for s in steps)


def _passes_on(schema: str) -> bool:
    return "Dimname" in schema or "!) out" in schema


def _own_steps(own: Sequence[Hop]) -> Iterator[Step]:
    """The hops that a change may touch, in the order of work."""
    order = {role: at for at, role in enumerate(_ROLES)}
    wanted = sorted((hop for hop in own if hop.role in order), key=lambda hop: order[hop.role])
    return (Step(h.role, h.symbol, h.location, h.rule) for h in wanted if h.location is not None)


def _called_steps(called: Sequence[Hop]) -> Iterator[Step]:
    """The operators that it calls, whose kernels may be what is wanted."""
    for hop in called:
        if hop.location is not None:
            rule = f"it calls this operator; {hop.rule}"
            yield Step("calls", hop.symbol, hop.location, rule)


def _registered(known: Known | None, key: str, row: Location) -> Step:
    """A kernel at its definition, or at the row that registers it if that is elsewhere."""
    if known and (own := known.definition).location.path == row.path:
        rule = f"its kernel for {key}, registered on line {row.line}"
        return Step("kernel", own.qualified, own.location, rule)
    return Step("kernel", PurePosixPath(row.path).name, row, f"registers its kernel for {key}")


def _last(name: str) -> str:
    return name.rpartition("::")[2]


def _lines(count: int) -> str:
    return "one line" if count == 1 else f"{count} lines"


def _own(chain: Chain, belongs: Callable[[str, str], bool]) -> tuple[list[Hop], list[Hop]]:
    """The hops of the operator itself and of its parts, and the entries of others that it calls."""
    roles = {hop.id: hop.role for hop in chain.hops}
    others: set[int | None] = set()
    own: list[Hop] = []
    called: list[Hop] = []
    for hop in chain.hops:
        if hop.parent in others:
            others.add(hop.id)
        elif _is_entry_called(hop, roles) and not belongs(hop.symbol, chain.native.name):
            others.add(hop.id)
            called.append(hop)
        else:
            own.append(hop)
    return own, called


def _parts(walks: Sequence[tuple[list[Hop], list[Hop]]], names: Sequence[str]) -> list[str]:
    """The operators that belong to others, in whose chains they are without what stands in Python
    about them, or at all, as ``_coalesce`` is for sparse tensors only: these first."""
    found = []
    for hops, _ in walks:
        walked = {hop.parent for hop in hops if hop.role in ("kernel", "delegate")}
        found += [(h.id in walked, h.symbol) for h in hops if h.role == "schema"]
    found.sort(key=lambda one: one[0])
    return [op for op in dict.fromkeys(op for _, op in found) if op not in names][:_MAX_PARTS]


def _is_entry_called(hop: Hop, roles: Mapping[int, str]) -> bool:
    return hop.role == "schema" and hop.parent is not None and roles[hop.parent] != "schema"
