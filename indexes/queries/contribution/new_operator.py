"""A new operator, planned: every place where something must be added, with the entry of a
neighbour at that place as the model, and what is wrong with the schema before a build says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from indexes.model.chains import Chain
from indexes.model.errors import SourceError
from indexes.model.vocabulary import Location, NativeFunction, SourceInfo
from indexes.queries.contribution.guides import Convention, Guides
from indexes.queries.contribution.neighbours import Neighbour, neighbours
from indexes.queries.impact.rebuild import DERIVATIVES, NATIVE, Cost, Rebuild
from indexes.readers.yaml.schema import Schema, SchemaKind, parse_schema

if TYPE_CHECKING:
    from indexes.queries.index import Index


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at before any file is touched."""

    what: str
    good: bool
    text: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Addition:
    """Something to add in one place."""

    title: str
    when: str
    """Empty when it is always needed, or what makes it needed."""
    location: Location
    """The neighbour's entry there, or the file."""
    neighbour: str
    """Whose entry it is; empty when no operator like it has one."""
    shape: tuple[str, ...]
    """The neighbour's entry as it stands in the tree."""


@dataclass(frozen=True, slots=True)
class NewOperator:
    """The plan for a new operator."""

    source: SourceInfo
    schema: str
    checks: tuple[Check, ...]
    neighbours: tuple[Neighbour, ...] = ()
    draft: tuple[str, ...] = ()
    """An entry for native_functions.yaml, in the shape of the nearest neighbour's."""
    additions: tuple[Addition, ...] = ()
    costs: tuple[Cost, ...] = ()
    conventions: tuple[Convention, ...] = ()

    @property
    def good(self) -> bool:
        return all(check.good for check in self.checks)


class _Part(NamedTuple):
    """A kind of place that an operator's chain shows."""

    title: str
    role: str
    when: str = ""
    path: str = ""
    """A pattern that the path must fit."""


_COMPOSITE = "unless it is composite, and made of operators that have one"
_PARTS = (
    _Part("native_functions.yaml", "schema"),
    _Part(
        "native_functions.yaml: the delegate that names the kernels",
        "delegate",
        "if it is structured",
    ),
    _Part("Meta function", "meta", "if it is structured"),
    _Part("Kernel", "kernel"),
    _Part("Stub", "stub", "if a kernel for the CPU is compiled for each capability"),
    _Part("Registration of the stub", "registration", "with a stub", r"\.(cpp|cu|mm)$"),
    _Part("Device kernel", "device_kernel", "with a stub"),
    _Part("derivatives.yaml", "derivative", _COMPOSITE),
    _Part("Function of the formula", "formula_function", "if the formula calls a new one"),
    _Part("Meta registration in Python", "meta_registration", "if it is not structured"),
    _Part("Decomposition", "decomposition", "if it can be written with other operators"),
    _Part("Reference", "ref", "if it is elementwise, a reduction, or asked for"),
    _Part("Batch rule", "batch_rule", _COMPOSITE),
    _Part("Autocast policy", "autocast", "if it must run in a certain dtype"),
    _Part("Docs", "docs", "if it is public"),
    _Part("Overrides", "python", "if it is public", r"^torch/overrides\.py$"),
    _Part("OpInfo", "opinfo"),
    _Part(
        "Inductor lowering",
        "registration",
        "if torch.compile shall not fall back to it",
        r"^torch/_inductor/",
    ),
)


class _List(NamedTuple):
    """A file that lists operators by name, a line each."""

    title: str
    pattern: str
    """Of the files' paths, for ``Path.glob``."""
    entry: str
    """A regex with NAME, BASE and OVERLOAD filled in."""
    when: str


_ON_PAGE = r"^\s+(?:torch\.|Tensor\.)?(?:nn\.functional\.)?BASE\s*$"
_LISTS = (
    _List("Docs page", "docs/source/*.rst", _ON_PAGE, "if it is public"),
    _List("Docs page", "docs/source/*.md", _ON_PAGE, "if it is public"),
    _List(
        "Expected list of the decomposition test",
        "test/expect/HasDecompTest.*.expect",
        r"^aten::BASEOVERLOAD(?:\s|$)",
        "what `--accept` writes when the test is run",
    ),
    _List(
        "Inductor fall-back with a C shim",
        "torchgen/aoti/fallback_ops.py",
        r"[\"']aten\.BASE\.",
        "if AOTInductor shall call it",
    ),
    _List(
        "C shim, generated and checked in",
        "torch/csrc/inductor/aoti_torch/generated/c_shim_*.h",
        r"\baoti_torch_\w+?_BASE\(",
        "with the fall-back",
    ),
    _List(
        "Operators of lazy tensors",
        "aten/src/ATen/native/ts_native_functions.yaml",
        r"^\s+- BASE(?:\.|\s*$)",
        "if lazy tensors shall know it",
    ),
)
_BC_LIST = "test/forward_backward_compatibility/check_forward_backward_compatibility.py"
_LONGEST_SHAPE = 14
_MODELS = 6


class Planner:
    """Plans new operators for one tree."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._chains: dict[str, Chain] = {}

    def plan(self, text: str, formulas: Sequence[str] = ()) -> NewOperator:
        """The plan for an operator with the schema ``text``; ``formulas`` are those that it is to
        have, ``self: grad * other``. A schema that can't be read gives a plan of checks alone."""
        info = self._index.info
        try:
            schema = parse_schema(text)
        except ValueError as error:
            return NewOperator(info, text, (Check("schema", False, str(error)),))
        near = neighbours(schema, self._natives, _MODELS)
        models = self._best_first(near)
        additions = tuple(self._additions(models))
        paths = tuple(dict.fromkeys(one.location.path for one in additions))
        rebuild = Rebuild(self._index.source, self._index.facts)
        return NewOperator(
            info,
            text,
            tuple(self._checks(schema, formulas)),
            tuple(models[:5]),
            self._draft(schema, models),
            additions,
            tuple(rebuild.cost(path) for path in paths),
            Guides(self._index.source).conventions([NATIVE, DERIVATIVES, *paths]),
        )

    # -------------------------------------------------------------------------- checks

    def _checks(self, schema: Schema, formulas: Sequence[str]) -> Iterator[Check]:
        yield Check("schema", True, f"reads as {schema}")
        existing = self._index.native(schema.full_name)
        if existing:
            yield Check("name", False, f"{schema.full_name} is there already", existing.location)
        else:
            overloads = [n for n in self._natives if n.name == schema.name]
            what = f"a new overload beside {', '.join(n.full_name for n in overloads[:6])}"
            where = overloads[0].location if overloads else None
            yield Check("name", True, what if overloads else "no operator has it yet", where)
        yield from self._types(schema)
        yield from self._variants(schema)
        for formula in formulas:
            yield self._formula(formula, schema)

    def _types(self, schema: Schema) -> Iterator[Check]:
        types = _base_types(schema)
        for unknown in dict.fromkeys(one for one in types if one not in self._known_types):
            yield Check("type", False, f"no schema of this tree uses the type {unknown}")

    def _variants(self, schema: Schema) -> Iterator[Check]:
        """What torchgen asks of in-place and out overloads beside their functional one."""
        if schema.kind not in (SchemaKind.INPLACE, SchemaKind.OUT):
            return
        same = [
            native
            for native in self._natives
            if parse_schema(native.schema).signature() == schema.signature()
            and parse_schema(native.schema).kind is SchemaKind.FUNCTIONAL
        ]
        if same:
            words = f"{same[0].full_name} is its functional variant"
            yield Check("variant", True, words, same[0].location)
        else:
            words = f"no functional operator {schema.base} has the same signature: add it too"
            yield Check("variant", False, words)

    def _formula(self, text: str, schema: Schema) -> Check:
        """Whether what a formula names exists: the inputs it is for, and the functions it calls."""
        inputs, _, body = text.partition(":")
        arguments = {one.name for one in schema.arguments}
        for name in (one.strip() for one in inputs.split(",")):
            if name not in arguments and not name.startswith("result"):
                return Check("formula", False, f"{name} is no argument of {schema.full_name}")
        called = dict.fromkeys(re.findall(r"(?<![\w.])(?:at::)?([a-z_]\w*)\s*\(", body))
        missing = [name for name in called if not self._callable(name)]
        if missing:
            return Check("formula", False, f"{text}: nothing is called {', '.join(missing)}")
        return Check("formula", True, f"{text}: all that it calls exists")

    def _callable(self, name: str) -> bool:
        return bool(self._index.facts.overloads(name) or self._index.definitions(name))

    @cached_property
    def _natives(self) -> tuple[NativeFunction, ...]:
        return tuple(self._index.all_natives())

    @cached_property
    def _known_types(self) -> frozenset[str]:
        schemas = (parse_schema(native.schema) for native in self._natives)
        return frozenset(one for schema in schemas for one in _base_types(schema))

    # ---------------------------------------------------------------------- neighbours

    def _best_first(self, near: Sequence[Neighbour]) -> list[Neighbour]:
        """Among schemas nearly as like as the first, the ones with most of what there is to add."""
        if not near:
            return []
        enough = near[0].likeness * 0.8
        alike = [one for one in near if one.likeness >= enough]
        alike.sort(key=lambda one: (-self._completeness(one), -one.likeness))
        return [*alike, *(one for one in near if one.likeness < enough)]

    def _completeness(self, one: Neighbour) -> int:
        return len({hop.role for hop in self._chain(one).hops})

    def _chain(self, one: Neighbour) -> Chain:
        name = one.native.full_name
        if name not in self._chains:
            self._chains[name] = self._index.chain(name)
        return self._chains[name]

    # ----------------------------------------------------------------------- additions

    def _additions(self, models: Sequence[Neighbour]) -> Iterator[Addition]:
        for part in _PARTS:
            yield from self._of_part(part, models)
        for one in _LISTS:
            yield from self._of_list(one, models)
        if (line := self._line_of(_BC_LIST, r"ALLOW_LIST = \[")) is not None:
            when = "only if the schema of an operator that is there changes"
            shape = tuple(self._lines(line.path, line.line, line.line + 2))
            yield Addition("Compatibility list", when, line, "", shape)

    def _of_part(self, part: _Part, models: Sequence[Neighbour]) -> Iterator[Addition]:
        """The entries of the nearest neighbour that has any, one for each device."""
        for model in models:
            seen: set[tuple[str, str]] = set()
            for hop in self._chain(model).hops:
                where = hop.location
                if hop.role != part.role or where is None or not re.search(part.path, where.path):
                    continue
                if not _is_own(hop.symbol, part, model):
                    continue
                kind = (hop.device or "", where.path)
                if kind not in seen:
                    seen.add(kind)
                    title = f"{part.title} for {hop.device}" if hop.device else part.title
                    yield Addition(
                        title, part.when, where, model.native.full_name, self._shape(where)
                    )
            if seen:
                return

    def _of_list(self, one: _List, models: Sequence[Neighbour]) -> Iterator[Addition]:
        """The lines of the nearest neighbour that any of the files names."""
        paths = sorted(self._index.source.root.glob(one.pattern))
        names = [path.relative_to(self._index.source.root).as_posix() for path in paths]
        for model in models:
            native = model.native
            overload = f".{native.overload}" if native.overload else ""
            pattern = one.entry.replace("BASE", re.escape(native.name))
            pattern = pattern.replace("OVERLOAD", re.escape(overload))
            found = [where for path in names if (where := self._line_of(path, pattern))]
            for where in found:
                shape = tuple(self._lines(where.path, where.line, where.line))
                yield Addition(one.title, one.when, where, native.full_name, shape)
            if found:
                return

    def _shape(self, where: Location) -> tuple[str, ...]:
        """An entry to its end, a function to its opening brace."""
        end = min(where.end_line or where.line, where.line + _LONGEST_SHAPE - 1)
        if where.path.endswith((".yaml", ".py")):
            return tuple(self._lines(where.path, where.line, self._entry_end(where, end)))
        lines: list[str] = []
        for text in self._lines(where.path, where.line, where.line + _LONGEST_SHAPE - 1):
            lines.append(text)
            if text.rstrip().endswith(("{", ";")) or (len(lines) == 1 and end == where.line):
                break
        return tuple(lines)

    def _entry_end(self, where: Location, end: int) -> int:
        """The last line of a YAML entry: the one before the next, or before a blank line."""
        if not where.path.endswith(".yaml") or where.end_line > where.line:
            return end
        for number in range(where.line + 1, where.line + 40):
            (text,) = self._lines(where.path, number, number) or [""]
            if not text.strip() or text.startswith("- "):
                return number - 1
        return end

    def _draft(self, schema: Schema, models: Sequence[Neighbour]) -> tuple[str, ...]:
        """The nearest neighbour's YAML entry with this schema, and its names put in."""
        lines = [f"- func: {schema}"]
        if models:
            native = models[0].native
            entry = self._shape(Location(native.location.path, native.location.line))
            lines += [_renamed(text, native.name, schema.name) for text in entry[1:]]
        return tuple(lines)

    def _line_of(self, path: str, pattern: str) -> Location | None:
        text = self._text(path)
        found = re.search(pattern, text, re.MULTILINE)
        return Location(path, text.count("\n", 0, found.end()) + 1) if found else None

    def _lines(self, path: str, start: int, end: int) -> list[str]:
        return self._text(path).splitlines()[start - 1 : end]

    def _text(self, path: str) -> str:
        if path not in self._texts:
            try:
                self._texts[path] = self._index.read(path)
            except SourceError:
                self._texts[path] = ""
        return self._texts[path]

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {}


def _base_types(schema: Schema) -> list[str]:
    arguments = [one.base_type for one in schema.arguments]
    return arguments + [one.base_type for one in schema.returns]


def _is_own(symbol: str, part: _Part, model: Neighbour) -> bool:
    """Whether a hop is the neighbour's alone: chains also lead to other operators' entries and
    to functions that many share."""
    if part.role == "schema":
        return symbol == model.native.full_name
    if part.role in ("device_kernel", "formula_function"):
        return model.native.name.strip("_") in symbol
    return True


def _renamed(text: str, old: str, new: str) -> str:
    """A line of YAML with an operator's name replaced: as a word, or at the start of one."""
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])", new, text)
