"""Plans a new operator: every place for additions with a similar operator's entry as the model, and
errors in the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from indexes.model.schema import Schema, SchemaKind, parse_schema
from indexes.model.vocabulary import Location, NativeFunction, SourceInfo
from indexes.queries.contribution.additions import Addition, Additions
from indexes.queries.contribution.drafts import Draft, Drafts
from indexes.queries.contribution.evidence import Certainty
from indexes.queries.contribution.guides import Command, Convention, Guides
from indexes.queries.contribution.neighbours import Neighbour, neighbours
from indexes.queries.contribution.precedents import Precedent, precedents
from indexes.queries.contribution.reviewers import Review, Reviewers
from indexes.queries.impact.rebuild import DERIVATIVES, NATIVE, Cost, Rebuild
from indexes.queries.index import Index
from indexes.queries.operator_tests import Suite
from indexes.source.git_history import History


@dataclass(frozen=True, slots=True)
class Check:
    """Something checked before any file is touched."""

    what: str
    good: bool
    text: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class TestToRun:
    """A test file that will cover the operator."""

    __test__ = False  # pytest takes classes of this name for tests

    path: str
    command: str
    why: str
    location: Location | None = None
    """Where a similar operator's tests are; None if none need to be written."""
    certainty: Certainty = "surely"


@dataclass(frozen=True, slots=True)
class NewOperator:
    """The plan for a new operator."""

    source: SourceInfo
    schema: str
    checks: tuple[Check, ...]
    neighbours: tuple[Neighbour, ...] = ()
    drafts: tuple[Draft, ...] = ()
    """Entries for native_functions.yaml, fullest draft first; the first that torchgen accepts is
    used."""
    additions: tuple[Addition, ...] = ()
    """In the order of work."""
    tests: tuple[TestToRun, ...] = ()
    precedents: tuple[Precedent, ...] = ()
    """Commits that added a similar operator."""
    history_missing: str = ""
    """What the history lacks, with the command that adds it."""
    costs: tuple[Cost, ...] = ()
    commands: tuple[Command, ...] = ()
    reviews: tuple[Review, ...] = ()
    conventions: tuple[Convention, ...] = ()

    beside: tuple[str, ...] = ()
    """The entries of the same name, which torchgen groups with the new ones."""

    @property
    def draft(self) -> tuple[str, ...]:
        """The lines of the first draft, with blank lines between entries."""
        return tuple(self.text_of(self.drafts[0]).splitlines()) if self.drafts else ()

    @staticmethod
    def text_of(draft: Draft) -> str:
        return "\n\n".join("\n".join(one.lines) for one in draft)

    @property
    def good(self) -> bool:
        return all(check.good for check in self.checks)


_ELSEWHERE = (
    "SELECT op,key FROM kernels k WHERE kind='missing'"
    " AND EXISTS (SELECT 1 FROM kernels WHERE op=k.op AND kind!='missing')"
)
_MODELS = 24
_SHOWN = 5
_TESTED = 3
"""Similar operators whose test files are examined."""


class Planner:
    """Plans new operators for one tree."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def plan(self, text: str, formulas: Sequence[str] = ()) -> NewOperator:
        """The plan for an operator with the schema ``text``; ``formulas``: its derivatives, ``self:
        grad * other``. An invalid schema gives only checks."""
        info = self._index.info
        try:
            schema = parse_schema(text)
        except ValueError as error:
            return NewOperator(info, text, (Check("schema", False, str(error)),))
        homes = {one.full_name: one.files for one in self._index.operators()}
        near = neighbours(schema, self._natives, _MODELS, homes)
        drafts = Drafts(self._natives)
        choices = drafts.choices(schema, [one.native for one in near[:_SHOWN]])
        history = History(self._index.source)
        before = precedents(history, schema, self._natives)
        found = Additions(self._index, schema, near, before, choices[0]).find()
        additions = tuple(one for one in found if not one.is_test)
        paths = tuple(dict.fromkeys(one.location.path for one in additions if _is_sure(one)))
        rebuild, guides = Rebuild(self._index.source, self._index.facts), self._guides
        return NewOperator(
            info,
            text,
            tuple(self._checks(schema, formulas, choices)),
            near[:_SHOWN],
            choices,
            additions,
            tuple(self._tests(schema, near, [one for one in found if one.is_test])),
            before,
            history.missing,
            tuple(rebuild.cost(path) for path in paths),
            guides.commands_for(paths),
            Reviewers(self._index.source).for_change(paths),
            guides.conventions([NATIVE, DERIVATIVES, *paths]),
            tuple(self._entry_lines(drafts.beside(schema))),
        )

    def _entry_lines(self, natives: Sequence[NativeFunction]) -> Iterator[str]:
        for one in natives:
            if "generated" not in one.tags:
                where = one.location
                text = self._index.read(where.path).splitlines()
                yield from (*text[where.line - 1 : where.end_line], "")

    @cached_property
    def _guides(self) -> Guides:
        return Guides(self._index.source)

    # --------------------------------------------------------------------------- tests

    def _tests(
        self, schema: Schema, near: Sequence[Neighbour], found: Sequence[Addition]
    ) -> Iterator[TestToRun]:
        """Test files made from OpInfos, which will cover it, then those to add tests to."""
        suite, name = Suite(self._index.facts), schema.base.strip("_")
        seen: set[str] = set()
        for one in near[:_TESTED]:
            for made in suite.of(one.native).files:
                if made.path not in seen:
                    seen.add(made.path)
                    command = f"python {made.path} -k _{name}_"
                    yield TestToRun(made.path, command, "made from its OpInfo, once it has one")
        for added in found:
            path = added.location.path
            if path not in seen and path.endswith(".py"):
                seen.add(path)
                why, where = added.why, added.location
                yield TestToRun(path, f"python {path} -k {name}", why, where, added.certainty)

    # -------------------------------------------------------------------------- checks

    def _checks(
        self, schema: Schema, formulas: Sequence[str], drafts: Sequence[Draft]
    ) -> Iterator[Check]:
        yield Check("schema", True, f"reads as {schema}")
        existing = self._index.native(schema.full_name)
        if existing:
            yield Check("name", False, f"{schema.full_name} exists already", existing.location)
        else:
            overloads = [n for n in self._natives if n.name == schema.name]
            what = f"a new overload beside {', '.join(n.full_name for n in overloads[:6])}"
            where = overloads[0].location if overloads else None
            yield Check("name", True, what if overloads else "no operator has it yet", where)
        yield from self._types(schema)
        yield from self._variants(schema, drafts)
        for formula in formulas:
            yield self._formula(formula, schema)

    def _types(self, schema: Schema) -> Iterator[Check]:
        types = _base_types(schema)
        for unknown in dict.fromkeys(one for one in types if one not in self._known_types):
            yield Check("type", False, f"no schema of this tree uses the type {unknown}")

    def _variants(self, schema: Schema, drafts: Sequence[Draft]) -> Iterator[Check]:
        """Checks of torchgen's rules for in-place and out overloads."""
        if schema.kind not in (SchemaKind.INPLACE, SchemaKind.OUT):
            return
        names = [one.name for one in drafts[0]] if drafts else []
        there = [one for one in self._natives if _is_functional(one.schema, schema)]
        if there:
            words = f"{there[0].full_name} is its functional variant"
            yield Check("variant", True, words, there[0].location)
        elif names and names[0] != schema.full_name:
            yield Check("variant", True, f"the draft adds {names[0]}, its functional variant")
        else:
            words = f"no functional operator {schema.base} has the same signature: add it too"
            yield Check("variant", False, words)

    def _formula(self, text: str, schema: Schema) -> Check:
        """Checks that a formula's inputs and functions exist."""
        inputs, _, body = text.partition(":")
        arguments = {one.name for one in schema.arguments}
        for name in (one.strip() for one in inputs.split(",")):
            if name not in arguments and not name.startswith("result"):
                return Check("formula", False, f"{schema.full_name} has no argument {name}")
        called = dict.fromkeys(re.findall(r"(?<![\w.])(?:at::)?([a-z_]\w*)\s*\(", body))
        missing = [name for name in called if not self._callable(name)]
        if missing:
            return Check("formula", False, f"{text}: nothing is named {', '.join(missing)}")
        return Check("formula", True, f"{text}: all that it calls exists")

    def _callable(self, name: str) -> bool:
        return bool(self._index.facts.overloads(name) or self._index.definitions(name))

    @cached_property
    def _natives(self) -> tuple[NativeFunction, ...]:
        """All operators, without kernels of devices kept in other repositories."""
        elsewhere = set(self._index.facts.store.query(_ELSEWHERE))
        return tuple(_without(one, elsewhere) for one in self._index.all_natives())

    @cached_property
    def _known_types(self) -> frozenset[str]:
        schemas = (parse_schema(native.schema) for native in self._natives)
        return frozenset(one for schema in schemas for one in _base_types(schema))


def _is_functional(text: str, schema: Schema) -> bool:
    one = parse_schema(text)
    return one.kind is SchemaKind.FUNCTIONAL and one.signature() == schema.signature()


def _base_types(schema: Schema) -> list[str]:
    arguments = [one.base_type for one in schema.arguments]
    return arguments + [one.base_type for one in schema.returns]


def _is_sure(one: Addition) -> bool:
    return one.certainty == "surely"


def _without(native: NativeFunction, rows: Set[tuple[str, str]]) -> NativeFunction:
    """An entry without some (operator, key) rows of its dispatch."""
    if not any(op == native.full_name for op, _ in rows) or native.dispatch is None:
        return native
    kept = (row for row in native.dispatch if (native.full_name, row.key) not in rows)
    return replace(native, dispatch=tuple(kept))
