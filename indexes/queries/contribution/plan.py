"""A first contribution, prepared: everything that a change of an operator, a file or a
function asks for, read from one tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, NamedTuple

from indexes.linking.graph import Graph, Node
from indexes.linking.python.around import names_of
from indexes.linking.python.paths import operator_named
from indexes.model.answers import Chain, Hit, Hop, NameMatch, Place
from indexes.model.errors import NotFound, SourceError
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location, NativeFunction, SourceInfo
from indexes.queries.contribution.guides import Command, Convention, Guides
from indexes.queries.contribution.helpers import helpers
from indexes.queries.contribution.likely import will_change
from indexes.queries.contribution.python_beside import namesakes, types_of
from indexes.queries.contribution.reviewers import Review, Reviewers
from indexes.queries.contribution.siblings import siblings
from indexes.queries.contribution.test_rows import test_rows
from indexes.queries.corpus import Corpus
from indexes.queries.impact.rebuild import Cost, Rebuild
from indexes.queries.operator_tests import OperatorTests, Selection, Suite
from indexes.queries.test_mentions import TestMentions
from indexes.source.git_history import Changes, History
from indexes.store.registrations import StoredPython

if TYPE_CHECKING:
    from indexes.queries.index import Index

SubjectKind = Literal["operator", "file", "symbol"]

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
"""What a change of an operator may have to touch, in the order of work."""
_PLACE = regex(r"(?P<path>[^:]+\.\w+|[^:]+/[^:]+)(?::(?P<line>\d+))?(?::\d+)?")
_COMPUTING = (
    "delegate",
    "meta",
    "kernel",
    "device_kernel",
    "launch",
    "formula_function",
    "batch_rule",
)
_HEADERS = (".h", ".hpp", ".cuh")
_MAX_SIBLINGS = 12
_MAX_PLACES = 60
_MAX_OVERLOADS = 4
_MAX_INPLACE = 2
_FORMULAS_ASKED = 60
_TEST_FILES = 5
_FORMULA_TEMPLATES = tuple(f"tools/autograd/templates/Functions.{end}" for end in ("cpp", "h"))
"""What held them before there was a file of their own: code generation fills it in."""
_MAX_OPERATORS = 5
_DEFAULT_HISTORIES = 4


@dataclass(frozen=True, slots=True)
class Step:
    """A place that the change may touch, or where it is documented or tested."""

    role: str
    symbol: str
    location: Location
    rule: str
    """Why it belongs to it."""
    change: Literal["will", "may"] = "may"
    """Whether a change most likely edits its file, or may."""


@dataclass(frozen=True, slots=True)
class PlaceHistory:
    """The last changes of one place."""

    step: Step
    changes: Changes


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a change of one subject asks for."""

    source: SourceInfo
    kind: SubjectKind
    name: str
    steps: tuple[Step, ...]
    more: int
    """Places that were left out because there are too many."""
    operators: tuple[str, ...]
    """For a file or symbol: the operators that reach it, as far as links go."""
    costs: tuple[Cost, ...]
    """For each file among the steps, in their order."""
    reviews: tuple[Review, ...]
    covering: tuple[Review, ...]
    """The merge rules under which one approval does for all of these files."""
    history: tuple[PlaceHistory, ...]
    history_missing: str
    tests: tuple[tuple[str, OperatorTests], ...]
    """For each operator concerned."""
    commands: tuple[Command, ...]
    conventions: tuple[Convention, ...]
    missing: tuple[str, ...]
    """What this source cannot say, each with the command that adds it where there is one."""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.location.path for step in self.steps))

    @property
    def will_change(self) -> tuple[str, ...]:
        """The files that the change most likely edits."""
        return tuple(dict.fromkeys(s.location.path for s in self.steps if s.change == "will"))


class _Subject(NamedTuple):
    """What is to be changed."""

    kind: SubjectKind
    name: str
    steps: list[Step]
    operators: tuple[str, ...] = ()
    python: str = ""
    """The public name that was asked for, where it is a Python name."""


def _places_of(hits: Iterable[Hit]) -> list[Step]:
    return [Step(one.kind, one.name, one.location, one.detail or "its definition") for one in hits]


class Contributions:
    """Prepares contributions to one tree; keeps what it has read of it."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.history = History(index.source)
        self.reviewers = Reviewers(index.source)
        self.guides = Guides(index.source)

    @cached_property
    def rebuild(self) -> Rebuild:
        """The include graph, read when first needed."""
        return Rebuild(self._index.source, self._index.facts)

    @cached_property
    def suite(self) -> Suite:
        """The tests of the tree."""
        return Suite(self._index.facts)

    @cached_property
    def mentions(self) -> TestMentions:
        """The test files, asked for those that name something."""
        return TestMentions(self._corpus, self._index.facts.store)

    @cached_property
    def _corpus(self) -> Corpus:
        """The texts of the tree."""

        def read(path: str) -> bytes | None:
            try:
                return self._index.source.read(path)
            except SourceError:
                return None

        return Corpus(self._index.facts, read)

    def of(
        self, name: str, device: str = "cpu", histories: int = _DEFAULT_HISTORIES
    ) -> Contribution:
        """A contribution to what ``name`` means: an operator in any spelling, a path of the
        tree, ``path:line`` or a symbol.

        ``device`` is that of the tests, ``histories`` for how many places git is asked.
        Raises NotFound with near names."""
        place = _PLACE.fullmatch(name.strip().removeprefix(f"{self._index.source.root}/"))
        if place and self._is_file(place["path"]):
            subject = self._of_file(place["path"], int(place["line"] or 0))
        else:
            subject = self._of_name(name)
        return self._make(subject, device, histories)

    def _of_name(self, name: str) -> _Subject:
        match = self._index.meant(name)
        if match.kind in ("operator", "grad_fn", "python") and match.overloads:
            op = match.overloads[0]
            steps = self._python_steps(match) if match.kind == "python" else []
            steps += self._operator_steps(match.overloads)
            return _Subject("operator", op, steps, python=match.text if match.hits else "")
        if match.kind == "python":
            places = [hit.location for hit in match.hits]
            operators = self._operators_at(places)
            steps = self._python_steps(match)
            return _Subject("symbol", match.text, steps, operators, match.text)
        if match.kind == "place" and len(match.hits) == 1:
            return self._of_file(match.hits[0].location.path, match.hits[0].location.line)
        return self._of_symbol(match.text, match.hits)

    def _python_steps(self, match: NameMatch) -> list[Step]:
        """Where a Python name is defined, and the pages that name it."""
        card = self._index.python(match.text)
        rule = f"the page names {match.text}"
        pages = card.documents if card else ()
        listed = (Step("docs", PurePosixPath(at.path).name, at, rule) for at in pages)
        return [*_places_of(match.hits), *listed]

    def _operator_steps(self, overloads: Sequence[str]) -> list[Step]:
        """The places of all overloads that a name means, those of the first one before; then
        what their kernels and formulas use; at last the operators that they call."""
        names = [*overloads[:_MAX_OVERLOADS], *self._inplace(overloads)]
        walks = [_own(self._index.chain(op)) for op in names]
        own = [hop for hops, _ in walks for hop in hops]
        called = [hop for _, hops in walks for hop in hops]
        bare = any(not any(hop.role == "kernel" for hop in hops) for hops, _ in walks)
        steps = [*_own_steps(own), *(self._namesakes(overloads[0]) if bare else ())]
        steps += [*self._used(steps), *_called_steps(called), *self._in_python(overloads[0], steps)]
        if not any(step.role == "opinfo" for step in steps):
            steps += self._test_rows(overloads[0])
        steps += self._siblings(steps)
        first: dict[tuple[str, int], Step] = {}
        for step in steps:
            first.setdefault((step.location.path, step.location.line), step)
        return list(first.values())

    def _in_python(self, overload: str, steps: Sequence[Step]) -> Iterator[Step]:
        """The Python functions of its name, and the types of what is defined in Python."""
        index, name = self._index, overload.partition(".")[0].rstrip("_")
        beside = list(namesakes(index, name))
        paths = [s.location.path for s in steps if s.role == "python"]
        for one in (*beside, *types_of(index, [*paths, *(one.location.path for one in beside)])):
            yield Step("python", *one)

    def _test_rows(self, overload: str) -> Iterator[Step]:
        """Without an OpInfo: the tables of the library's tests that name it or a module of it."""
        native = self._index.native(overload)
        public = names_of(native, StoredPython(self._index.facts.store)) if native else ()
        name = overload.partition(".")[0].rstrip("_")
        names = [name, *(_capital(one.rpartition(".")[2]) for one in public)]
        for row in test_rows(self._corpus, names):
            rule = f"names {row.word} on {_lines(row.lines)}: inputs of its tests"
            yield Step("test_rows", PurePosixPath(row.location.path).name, row.location, rule)

    def _siblings(self, steps: Sequence[Step]) -> Iterator[Step]:
        """The sources beside the kernels' that are of the same shape, a few."""
        own = [s.location.path for s in steps if s.role in ("kernel", "device_kernel")]
        sources = (p for p in self._index.facts.paths("cpp") if not p.endswith(_HEADERS))
        for one in islice(siblings(own, sources), _MAX_SIBLINGS):
            rule = f"of the same shape as {one.of}: a fix of one may be for all"
            yield Step("sibling", PurePosixPath(one.path).name, Location(one.path, 1), rule)

    def _inplace(self, overloads: Sequence[str]) -> list[str]:
        """The in-place overloads of the operator, which may have kernels of their own."""
        name = f"{overloads[0].partition('.')[0].rstrip('_')}_"
        found = [one.full_name for one in self._index.facts.overloads(name)]
        return [one for one in found if one not in overloads][:_MAX_INPLACE]

    def _namesakes(self, overload: str) -> Iterator[Step]:
        """Where no kernel is linked, as of an entry with fields that are not known: the functions
        that bear its name, and what is registered on their stubs."""
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
        """What the kernels use and few others do, and where functions of formulas stand."""
        kernels = [step.location for step in own if step.role in _COMPUTING]
        for one in helpers(self._index.facts, kernels):
            rule = f"{one.caller} leads to it; functions of {_files(one.users)} do"
            yield Step("helper", one.definition.qualified, one.definition.location, rule)
        if any(step.role == "derivative" for step in own):
            yield from self._formula_files

    @cached_property
    def _formula_files(self) -> tuple[Step, ...]:
        """Where the functions that formulas call stand, and are declared."""
        entries = islice(self._index.derivative_rows(), _FORMULAS_ASKED)
        found = (one for entry in entries for one in self._index.formula_functions(entry))
        paths = Counter(one.location.path for one in found)
        main, count = next(iter(paths.most_common(1)), ("", 0))
        main = main if count > _FORMULAS_ASKED // 10 else ""
        names = (main, str(PurePosixPath(main).with_suffix(".h"))) if main else _FORMULA_TEMPLATES
        rule = "a formula that is more than an expression calls a function here"
        return tuple(
            Step("formulas", PurePosixPath(path).name, Location(path, 1), rule)
            for path in dict.fromkeys(names)
            if self._is_file(path)
        )

    def _is_file(self, path: str) -> bool:
        try:
            self._index.source.read(path)
        except SourceError:
            return False
        return True

    # ------------------------------------------------------------------------ subjects

    def _of_symbol(self, name: str, hits: Sequence[Hit]) -> _Subject:
        steps = _places_of(hits)
        return _Subject("symbol", name, steps, self._operators_at(hit.location for hit in hits))

    def _of_file(self, path: str, line: int) -> _Subject:
        places = self._places(path, line)
        steps = [
            Step(p.kind, p.name, p.location, p.rule or "it stands at this line") for p in places
        ]
        steps = steps or [Step("file", path, Location(path, line), "the file itself")]
        if not line:
            return _Subject("file", path, steps, self._operators_in(path))
        operators = tuple(dict.fromkeys(op for p in places for op in p.operators))
        return _Subject("file", f"{path}:{line}", steps, operators)

    def _places(self, path: str, line: int) -> tuple[Place, ...]:
        try:
            return self._index.at(path, line) if line else ()
        except NotFound:  # a file that is not indexed has owners and history all the same
            return ()

    def _operators_at(self, locations: Iterable[Location]) -> tuple[str, ...]:
        found = (p for at in locations for p in self._places(at.path, at.line))
        return tuple(dict.fromkeys(op for place in found for op in place.operators))

    def _operators_in(self, path: str) -> tuple[str, ...]:
        """The operators whose kernels, decompositions, OpInfos ... stand in a file."""
        kernels = [one.full_name for one in self._index.operators() if path in one.files]
        facts = StoredPython(self._index.facts.store).in_file(path)
        targets = dict.fromkeys(fact.target for fact in facts if fact.target.startswith("aten::"))
        named = map(operator_named, targets)
        return tuple(dict.fromkeys([*kernels, *(one for n in named for one in self._overloads(n))]))

    def _overloads(self, name: str) -> list[str]:
        """The overload of that name, or all overloads of an operator."""
        if self._index.native(name):
            return [name]
        return [one.full_name for one in self._index.facts.overloads(name)]

    def _natives(self, operators: Iterable[str]) -> list[NativeFunction]:
        """The entries whose tests are shown: one for each operator, not for each overload."""
        first: dict[str, NativeFunction] = {}
        for name in operators:
            native = self._index.native(name)
            if native is not None:
                first.setdefault(native.name.rstrip("_"), native)
        return list(first.values())[:_MAX_OPERATORS]

    # ----------------------------------------------------------------------- answering

    def _make(self, subject: _Subject, device: str, histories: int) -> Contribution:
        kind, name, steps, operators, _ = subject
        sure = will_change(steps, kind == "operator")
        shown = [
            replace(step, change="will") if step.location.path in sure else step
            for step in first_of_files(steps, _MAX_PLACES)
        ]
        files = tuple(dict.fromkeys(step.location.path for step in shown))
        natives = self._natives((name,) if kind == "operator" else operators)
        op = natives[0] if kind == "operator" else None
        touched = [path for path in files if not path.startswith("docs/")]
        return Contribution(
            self._index.info,
            kind,
            name,
            tuple(shown),
            len(steps) - len(shown),
            operators,
            tuple(self.rebuild.cost(path, op) for path in files),
            self.reviewers.for_change(files),
            self.reviewers.covering(touched),
            self.histories(shown, histories),
            self.history.missing,
            (*self._own_tests(subject), *(self._tests_of(n, device) for n in natives)),
            self.guides.commands_for(files),
            self.guides.conventions(files),
            self._missing(),
        )

    def _tests_of(self, op: NativeFunction, device: str) -> tuple[str, OperatorTests]:
        """The tests of an operator: those named after it or made from its OpInfos, then files that
        write its public name most: their tests may reach it through a function of theirs."""
        found = self.suite.of(op, device)
        names = names_of(op, StoredPython(self._index.facts.store))
        short = [one.replace("torch.nn.functional.", "F.") for one in names]
        words = [op.name.rstrip("_"), *names, *short]
        wanted = [word for word in words if "." in word or not found.named]
        listed = {one.path for one in (*found.files, *found.named)}
        naming = self.mentions.naming(wanted, "", _TEST_FILES)
        others = (one for one in naming if one.path not in listed)
        return op.full_name, replace(found, named=(*found.named, *others))

    def _own_tests(self, subject: _Subject) -> Iterator[tuple[str, OperatorTests]]:
        """How a test file, or the test at a line of one, is run itself; of a symbol the tests that
        name it."""
        where = subject.steps[0].location
        if where.path.startswith("test/") and where.path.endswith(".py"):
            yield str(where), OperatorTests((), (), (self.suite.at(where),))
            return
        name = subject.python or (subject.name if subject.kind == "symbol" else "")
        if name and (found := self._naming(name, where.path)):
            yield name, OperatorTests((), (), found)

    def _naming(self, name: str, path: str) -> tuple[Selection, ...]:
        """The tests that name something, and those whose path has the words of its own."""
        words = (re.split(r"\W+", name)[-1],)
        found = [*self.mentions.naming(words, path, _TEST_FILES), *self.mentions.near(path, 2)]
        return tuple({one.path: one for one in reversed(found)}.values())[::-1]

    def histories(self, steps: Sequence[Step], limit: int) -> tuple[PlaceHistory, ...]:
        """The last changes of the first ``limit`` places, as git knows them."""
        asked = _by_interest(steps)[: max(0, limit)]
        if not asked:
            return ()
        with ThreadPoolExecutor(2) as pool:  # git does the work, in processes of its own
            found = list(pool.map(self._changes, asked))
        return tuple(PlaceHistory(*pair) for pair in zip(asked, found, strict=True))

    def _changes(self, step: Step) -> Changes:
        where = step.location
        return self.history.changes(where.path, where.line, where.end_line)

    def _missing(self) -> tuple[str, ...]:
        lists = self.reviewers.missing
        absent = (f"reviewers by {one}: this tree has none" for one in lists)
        return (*self._index.info.missing, *absent)


def first_of_files(steps: Sequence[Step], most: int) -> list[Step]:
    """At most so many places, in their order; further ones of a file and role are left out
    first."""
    seen: Counter[tuple[str, str]] = Counter()
    rank = {}
    for at, step in enumerate(steps):
        key = (step.location.path, step.role)
        rank[at] = (seen[key], at)
        seen[key] += 1
    kept = sorted(sorted(rank, key=rank.__getitem__)[:most])
    return [steps[at] for at in kept]


def _own_steps(own: Sequence[Hop]) -> Iterator[Step]:
    """The hops that a change may touch, in the order of work."""
    order = {role: at for at, role in enumerate(_ROLES)}
    wanted = sorted((hop for hop in own if hop.role in order), key=lambda hop: order[hop.role])
    return (Step(h.role, h.symbol, h.location, h.rule) for h in wanted if h.location is not None)


def _called_steps(called: Sequence[Hop]) -> Iterator[Step]:
    """The operators that it calls, whose own kernels may be what is looked for."""
    for hop in called:
        if hop.location is not None:
            rule = f"it calls this operator; {hop.rule}"
            yield Step("calls", hop.symbol, hop.location, rule)


def _last(name: str) -> str:
    return name.rpartition("::")[2]


def _capital(name: str) -> str:
    """A module's name for a function's: ``MaxPool2d`` for ``max_pool2d``."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _lines(count: int) -> str:
    return "one line" if count == 1 else f"{count} lines"


def _files(count: int) -> str:
    return "one file" if count == 1 else f"{count} files"


def _own(chain: Chain) -> tuple[list[Hop], list[Hop]]:
    """The hops of the operator itself, and those of the entries of operators that it calls:
    what these lead to is theirs. An operator that carries its name, as ``cumsum_`` and
    ``_cumsum_helper`` do, is a part of it."""
    roles = {hop.id: hop.role for hop in chain.hops}
    others: set[int | None] = set()
    own: list[Hop] = []
    called: list[Hop] = []
    for hop in chain.hops:
        if hop.parent in others:
            others.add(hop.id)
        elif _is_entry_called(hop, roles) and not _is_part(hop.symbol, chain.native.name):
            others.add(hop.id)
            called.append(hop)
        else:
            own.append(hop)
    return own, called


def _is_entry_called(hop: Hop, roles: Mapping[int, str]) -> bool:
    return hop.role == "schema" and hop.parent is not None and roles[hop.parent] != "schema"


def _is_part(called: str, name: str) -> bool:
    words, others = called.partition(".")[0].strip("_"), name.strip("_")
    return f"_{others}_" in f"_{words}_"


def _by_interest(steps: Sequence[Step]) -> list[Step]:
    """For the question who changed it: one place of each role first, those that compute before
    those that list."""
    order = {role: at for at, role in enumerate(_TELLING)}
    seen: dict[str, int] = {}
    keys = {}
    for step in steps:
        seen[step.role] = seen.get(step.role, 0) + 1
        keys[step] = (seen[step.role], order.get(step.role, len(order)))
    return sorted(steps, key=lambda step: keys[step])


_TELLING = (
    "kernel",
    "device_kernel",
    "formula_function",
    "schema",
    "derivative",
    "meta",
    "decomposition",
)
