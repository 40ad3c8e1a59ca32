"""Our differences and those that torchgen's readings of both versions have, to be compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.codegen.variants import with_generated
from indexes.queries.diff.operators import formula_changes, operator_changes
from indexes.readers.yaml.derivatives import read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions
from tests.torchgen import rules_of

Differences = set[tuple[str, str, str]]
"""(facet, overload, subject)."""
_READING = Path(__file__).with_name("torchgen_reading.py")


@dataclass(frozen=True)
class Yaml:
    """The YAML files of one version, and the folder of the torchgen that reads them."""

    native: Path
    tags: Path
    derivatives: Path
    torchgen: Path

    @classmethod
    def of(cls, tree: Path) -> Yaml:
        """Those of a checkout."""
        native = tree / "aten/src/ATen/native"
        return cls(
            native / "native_functions.yaml",
            native / "tags.yaml",
            tree / "tools/autograd/derivatives.yaml",
            tree,
        )

    @classmethod
    def packaged(cls, packaged: Path) -> Yaml:
        """Those of an installed wheel."""
        native = packaged / "ATen/native"
        return cls(
            native / "native_functions.yaml",
            native / "tags.yaml",
            packaged / "autograd/derivatives.yaml",
            packaged.parent.parent,
        )

    def read(self) -> dict[str, Any]:
        """torchgen's reading, in a process of its own."""
        files = map(str, (self.native, self.tags, self.derivatives))
        done = subprocess.run(
            [sys.executable, str(_READING), *files],
            env={**os.environ, "PYTHONPATH": str(self.torchgen)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        reading: dict[str, Any] = json.loads(done.stdout)
        return reading


def theirs(before: Yaml, after: Yaml) -> Differences:
    """What differs between two readings of torchgen."""
    one, other = before.read(), after.read()
    return set(_operators(one["operators"], other["operators"])) | set(
        _formulas(one["formulas"], other["formulas"])
    )


def _operators(old: dict[str, Any], new: dict[str, Any]) -> Differences:
    found: Differences = {("operator", name, "") for name in old.keys() ^ new.keys()}
    for name in old.keys() & new.keys():
        was, now = old[name], new[name]
        found |= {(facet, name, facet) for facet in ("schema", "tags") if was[facet] != now[facet]}
        for facet, fields in (("dispatch", "dispatch"), ("entry", "fields")):
            if facet == "entry" and was[fields]["origin"] != now[fields]["origin"]:
                found.add((facet, name, "origin"))
                continue
            for subject in was[fields].keys() | now[fields].keys():
                if was[fields].get(subject) != now[fields].get(subject):
                    found.add((facet, name, subject))
    return found


def _formulas(old: dict[str, Any], new: dict[str, Any]) -> Differences:
    found: Differences = {("formula", name, "entry") for name in old.keys() ^ new.keys()}
    for name in old.keys() & new.keys():
        was, now = old[name], new[name]
        for subject in was.keys() | now.keys():
            if was.get(subject) != now.get(subject):
                found.add(("formula", name, subject))
    return found


def ours(before: Yaml, after: Yaml) -> Differences:
    """What torchnav says."""
    one, other = _natives(before), _natives(after)
    changes = [*operator_changes(one, other), *formula_changes(_entries(before), _entries(after))]
    return {
        (c.facet, c.ops[0], "" if c.facet == "operator" else c.subject)
        for c in changes
        if c.subject not in _UNREAD
    }


_UNREAD = frozenset(
    {
        "precomputed",
        "use_const_ref_for_mutable_tensors",
        "category_override",
        "cpp_no_default_args",
        "namespace",
    }
)
"""Fields that ``torchgen_reading`` leaves out."""


def _natives(yaml: Yaml) -> dict[str, Any]:
    functions, problems = read_native_functions(yaml.native.read_bytes(), str(yaml.native))
    assert not problems
    generation = rules_of(yaml.torchgen).keys.generation
    return {f.full_name: f for f in with_generated(functions, generation)}


def _entries(yaml: Yaml) -> dict[str, Any]:
    entries, _ = read_derivatives(yaml.derivatives.read_bytes(), str(yaml.derivatives))
    return {entry.op: entry for entry in entries}
