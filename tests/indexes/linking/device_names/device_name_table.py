"""A symbol table in memory, and the names that the tests of device kernel names read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from indexes.linking.device_names.resolver import Resolver
from indexes.model.answers import DeviceKernelAnswer
from indexes.model.vocabulary import Definition, Location

DATA = Path(__file__).parents[3] / "data" / "device_names"

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, {}, std::array<char*, 2ul> >"
N = "aten/src/ATen/native/"


class Table:
    """The definitions of a name, from a list; counts what it was asked."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self.asked: list[str] = []
        self._named: dict[str, list[Definition]] = {}
        for definition in definitions:
            self._named.setdefault(definition.name, []).append(definition)

    def __call__(self, simple_name: str) -> Sequence[Definition]:
        self.asked.append(simple_name)
        return self._named.get(simple_name, ())


def rows(file: str) -> list[dict[str, str]]:
    """The rows of a data file."""
    with (DATA / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@lru_cache(maxsize=1)
def pytorch() -> tuple[Definition, ...]:
    """What PyTorch 2.7 defines of the names in the data files."""
    return tuple(_definition(row) for row in rows("definitions.tsv"))


def kernel(name: str, scope: str, path: str, line: int = 1, parameters: str = "") -> Definition:
    """A ``__global__`` function template."""
    place = Location(path, line)
    return Definition(name, scope, "function", place, parameters, cuda_global=True, template=True)


def _definition(row: dict[str, str]) -> Definition:
    return Definition(
        row["name"],
        row["scope"],
        row["kind"],  # type: ignore[arg-type]
        Location(row["path"], int(row["line"])),
        row["parameters"],
        macro=row["macro"],
        cuda_global=bool(row["global"]),
        template=bool(row["template"]),
    )


def resolve(name: str, table: Table) -> DeviceKernelAnswer:
    return Resolver(table).resolve(name)


def name_of(definition: Definition | None) -> str:
    return definition.qualified if definition else ""


def path_of(answer: DeviceKernelAnswer) -> str:
    return answer.source.location.path if answer.source else ""
