"""Reads derivatives.yaml: the formula of every differentiable input with its line; and
deprecated.yaml: old Python signatures that still work, with their replacement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from indexes.model.regex import regex
from indexes.model.schema import Schema, parse_schema
from indexes.model.vocabulary import (
    DerivativeEntry,
    Formula,
    FormulaSet,
    Location,
    NativeFunction,
    Problem,
)
from indexes.readers.yaml.accepted import Accepted
from indexes.readers.yaml.nodes import Entry, Field, read_entries

_RESULT = regex(r"result\d*")
_NO_FORMULA = frozenset({"name", "output_differentiability", "dispatch"})


def read_derivatives(
    data: bytes,
    path: str,
    functions: Iterable[NativeFunction] = (),
    accepted: Accepted | None = None,
) -> tuple[tuple[DerivativeEntry, ...], tuple[Problem, ...]]:
    """Every readable entry in file order, with the names of its Node classes.

    With ``functions``, an entry whose schema belongs to no operator is a problem, as in torchgen.
    """
    entries, problems = read_entries(data, path)
    declared = tuple(functions)
    known = {function.schema for function in declared}
    generated = {name for function in declared for name in function.autogen}
    keys = (accepted or Accepted()).autograd_keys
    reader = _Reader(path, known, generated, keys, problems)
    found = [entry for each in entries if (entry := reader.read(each)) is not None]
    return tuple(found), tuple(sorted(problems, key=lambda p: p.line))


@dataclass(slots=True)
class _Reader:
    path: str
    schemas: set[str]
    generated: set[str]
    """Names of operators that torchgen generates."""
    keys: Collection[str] | None
    """Autograd keys; None if unknown."""
    problems: list[Problem]
    counts: Counter[str] = field(default_factory=Counter)

    def read(self, entry: Entry) -> DerivativeEntry | None:
        field = entry.fields.get("name")
        text = field.value.text if field else None
        if field is None or text is None:
            self._problem(entry.line, "entry without name, or with one that is not text")
            return None
        try:
            schema = parse_schema(text)
        except ValueError as error:
            self._problem(field.line, str(error))
            return None
        generated = schema.full_name in self.generated
        if self.schemas and text not in self.schemas and not generated:
            self._problem(field.line, f"no operator has the schema {text}")
        return DerivativeEntry(
            op=schema.full_name,
            schema=text,
            location=Location(self.path, entry.line, entry.end_line),
            sets=self._sets(entry, schema),
            output_differentiability=self._differentiability(entry),
        )

    def _sets(self, entry: Entry, schema: Schema) -> tuple[FormulaSet, ...]:
        dispatch = entry.fields.get("dispatch")
        if dispatch is None:
            own = Location(self.path, entry.line, entry.end_line)
            return (self._set("Default", entry.fields, own, schema),)
        keys = dispatch.value.fields or {}
        if not keys:
            self._problem(dispatch.line, "dispatch is not a mapping from key to formulas")
        sets: list[FormulaSet] = []
        for key in keys.values():
            if self.keys is not None and key.key not in self.keys:
                self._problem(key.line, f"torchgen has no formulas of the key {key.key!r}")
            formulas = key.value.fields
            if formulas is None:
                self._problem(key.line, f"{key.key} is not a mapping from input to formula")
            else:
                where = Location(self.path, key.line, key.value.last)
                sets.append(self._set(key.key, formulas, where, schema))
        return tuple(sets)

    def _set(
        self, key: str, fields: dict[str, Field], where: Location, schema: Schema
    ) -> FormulaSet:
        formulas = [
            formula
            for name, field in fields.items()
            if name not in _NO_FORMULA and (formula := self._formula(field, schema)) is not None
        ]
        differentiable = any(formula.kind == "gradient" for formula in formulas)
        grad_fn = self._grad_fn(schema.name, key) if differentiable else None
        return FormulaSet(key, grad_fn, tuple(formulas), where)

    def _formula(self, field: Field, schema: Schema) -> Formula | None:
        text = field.value.text
        names = tuple(name.strip() for name in field.key.split(",") if name.strip())
        if text is None or not names:
            self._problem(field.line, f"the formula of {field.key or 'a key'} is not text")
            return None
        where = Location(self.path, field.line, field.value.last)
        if names[0] not in {argument.name for argument in schema.arguments}:
            outputs = {returned.name for returned in schema.returns}
            if outputs.isdisjoint(names) and not any(map(_RESULT.fullmatch, names)):
                self._problem(field.line, f"{schema.full_name} has no argument {field.key!r}")
            return Formula(names, text, where, "forward")
        none = text.strip().lower() == "non_differentiable"
        return Formula(names, text, where, "non_differentiable" if none else "gradient")

    def _grad_fn(self, name: str, key: str) -> str:
        """The Node class; torchgen numbers those of one name in file order."""
        prefix = node_prefix(name) + ("" if key == "Default" else key)
        number = self.counts[prefix]
        self.counts[prefix] += 1
        return f"{prefix}{number}"

    def _differentiability(self, entry: Entry) -> tuple[str, ...] | None:
        field = entry.fields.get("output_differentiability")
        if field is None or field.value.is_null:
            return None
        if not field.value.is_list or field.value.texts is None:
            self._problem(field.line, "output_differentiability is not a list")
            return None
        return field.value.texts

    def _problem(self, line: int, message: str) -> None:
        self.problems.append(Problem(self.path, line, message))


def node_prefix(name: str) -> str:
    """``AddmmBackward`` for ``addmm``: the Node class without its number."""
    camel = "".join(part.title() for part in name.split("_"))
    return f"{camel}Backward".replace("ForwardBackward", "Backward")


@dataclass(frozen=True, slots=True)
class Deprecated:
    """A deprecated signature."""

    schema: str
    """``add(Tensor self, Scalar alpha, Tensor other) -> Tensor``."""
    calls: str
    """``add(self, other, alpha)``: the call that replaces it."""
    location: Location

    @property
    def name(self) -> str:
        """The operator's name without overload."""
        return self.schema.partition("(")[0].partition(".")[0].strip()


def read_deprecated(data: bytes, path: str) -> tuple[tuple[Deprecated, ...], tuple[Problem, ...]]:
    """Every readable entry in file order."""
    entries, problems = read_entries(data, path)
    found = []
    for entry in entries:
        texts = {key: field.value.text for key, field in entry.fields.items()}
        schema, calls = texts.get("name"), texts.get("aten")
        try:
            if not schema or not calls:
                raise ValueError("an entry without name or aten")
            parse_schema(schema)
        except ValueError as error:
            problems.append(Problem(path, entry.line, str(error)))
        if schema and calls:
            found.append(Deprecated(schema, calls, Location(path, entry.line)))
    return tuple(found), tuple(problems)
