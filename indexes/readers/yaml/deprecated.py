"""Reads deprecated.yaml: Python signatures that still work, and what each is bound to."""

from __future__ import annotations

from dataclasses import dataclass

from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Location, Problem
from indexes.readers.yaml.nodes import read_entries


@dataclass(frozen=True, slots=True)
class Deprecated:
    """One signature that is kept for old programs."""

    schema: str
    """``add(Tensor self, Scalar alpha, Tensor other) -> Tensor``."""
    calls: str
    """``add(self, other, alpha)``: how the operator is called in its stead."""
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
