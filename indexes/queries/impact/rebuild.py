"""How much a change of a file makes a build recompile, by the include graph.

Every C++, CUDA and Objective-C++ source of the tree counts, whether this machine would build it or
not; generated sources do not, since no tree has them. Generated headers connect the YAML files with
those that include them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from indexes.model.files import Include
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Location, NativeFunction
from indexes.readers.cxx.lexer import read_includes
from indexes.source.source import Source
from indexes.store.lookup import Lookup

CostKind = Literal["none", "source", "header", "codegen", "unknown"]

NATIVE = "aten/src/ATen/native/native_functions.yaml"
DERIVATIVES = "tools/autograd/derivatives.yaml"
_ATEN_TEMPLATES = "aten/src/ATen/templates/"
_AUTOGRAD_TEMPLATES = "tools/autograd/templates/"
_ROOTS = ("", "aten/src/", "torch/csrc/api/include/", "torch/lib/")
_COMPILED = (".cpp", ".cc", ".c", ".cu", ".mm", ".m", ".hip")
_HEADERS = (".h", ".hpp", ".cuh", ".inl")
_OF_OPERATOR = regex(r"ATen/ops/(\w+?)(_ops|_native|_meta|_\w+_dispatch)?\.h$")
_TEMPLATE_OF = {
    "": "Function.h",
    "_ops": "Operator.h",
    "_native": "NativeFunction.h",
    "_meta": "NativeMetaFunction.h",
}
"""torchgen's template for each header of an operator."""
_OF_ALL = (
    "ATen/Functions.h",
    "ATen/NativeFunctions.h",
    "ATen/Operators.h",
    "ATen/NativeMetaFunctions.h",
    "ATen/RedispatchFunctions.h",
)
"""Generated headers with every operator."""
METHODS = "ATen/core/TensorBody.h"
"""The header of ``Tensor``, with a method for every entry with ``variants: method``."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a build recompiles after a change of one file."""

    path: str
    kind: CostKind
    objects: int
    """The number of sources, without generated ones."""
    total: int
    """All sources of the tree."""
    rule: str
    evidence: tuple[Location, ...] = ()

    def __str__(self) -> str:
        if self.kind in ("none", "unknown"):
            return "nothing to compile" if self.kind == "none" else "not known"
        if self.kind == "codegen" and not self.objects:
            return "generated sources alone"
        objects = f"{self.objects:,} of {self.total:,} sources" if self.objects != 1 else "1 source"
        return f"up to {objects}, and generated ones" if self.kind == "codegen" else objects


class Rebuild:
    """The include graph of one tree."""

    def __init__(self, source: Source, facts: Lookup) -> None:
        self._source = source
        self._facts = facts
        self._included = cache(self._included_by)
        self._found = cache(self._resolved_include)

    def cost(self, path: str, op: NativeFunction | None = None) -> Cost:
        """The cost of a change of ``path``; for YAML files of one entry, with ``op``."""
        if path.endswith((".py", ".pyi", ".md", ".rst", ".expect")) and not _is_generator(path):
            return Cost(path, "none", 0, 0, "Python and text are not compiled")
        if not self.total:
            return Cost(path, "unknown", 0, 0, "the C++ sources are not here: torchnav clone")
        if path == NATIVE:
            return self._native_cost(path, op)
        if (
            path == DERIVATIVES
            or _is_generator(path)
            or path.startswith((_ATEN_TEMPLATES, _AUTOGRAD_TEMPLATES))
        ):
            return self._codegen_cost(path)
        if path.endswith(_COMPILED):
            return self._source_cost(path)
        if path.endswith(_HEADERS):
            count = self._count([path])
            rule = "the sources that include it, directly or through other headers"
            return Cost(path, "header", count, self.total, rule)
        return Cost(path, "unknown", 0, self.total, "not a kind of file whose build is known")

    def _source_cost(self, path: str) -> Cost:
        count = self._count([path])
        loop = self._capability_loop if path.startswith("aten/src/ATen/native/cpu/") else None
        rule = "it is compiled alone" if count == 1 else "it, and the sources that include it"
        if loop:
            rule += ", once for each CPU capability (AVX2, AVX512 ...)"
        return Cost(path, "source", count, self.total, rule, (loop,) if loop else ())

    def _native_cost(self, path: str, op: NativeFunction | None) -> Cost:
        unchanged = self._write_if_changed
        evidence = (unchanged,) if unchanged else ()
        if op is None or "method" in op.variants:
            rule = "all that include what torchgen writes from it, first of all TensorBody.h"
            if op is not None:
                rule = f"variants: method: {METHODS} declares it, which nearly all include"
            return Cost(path, "codegen", self._count([path]), self.total, rule, evidence)
        names = [one for one in self._graph if _is_of(one, op)]
        rule = "its own headers in ATen/ops and those of all operators; no method, so not Tensor's"
        return Cost(path, "codegen", self._count([*names, *_OF_ALL]), self.total, rule, evidence)

    def _codegen_cost(self, path: str) -> Cost:
        rule = "code generation runs again; files whose text stays the same are not written"
        if path.endswith(".py"):
            start, rule = [NATIVE, DERIVATIVES], f"a generator: {rule}"
        else:
            start = [path]
        evidence = (self._write_if_changed,) if self._write_if_changed else ()
        return Cost(path, "codegen", self._count(start), self.total, rule, evidence)

    # ------------------------------------------------------------------------- graph

    @property
    def total(self) -> int:
        """The number of sources in the tree."""
        return len(self._sources)

    def _count(self, starts: Iterable[str]) -> int:
        return len(self._reached(starts) & self._sources)

    def _reached(self, starts: Iterable[str]) -> set[str]:
        seen = set(starts)
        pending = list(seen)
        while pending:
            for one in self._graph.get(pending.pop(), ()):
                if one not in seen:
                    seen.add(one)
                    pending.append(one)
        return seen

    @cached_property
    def _sources(self) -> frozenset[str]:
        return frozenset(filter(_is_source, self._files))

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self._facts.paths("cpp"))

    @cached_property
    def _graph(self) -> dict[str, set[str]]:
        graph: dict[str, set[str]] = {}
        included = self._facts.includes()
        generated: set[str] = set()
        for path in self._files:
            for target in self._targets(path, included.get(path, ())):
                graph.setdefault(target, set()).add(path)
                if target not in self._files:
                    generated.add(target)
        while generated:
            header = generated.pop()
            for target in self._made_from(header):
                if target not in graph and target not in self._files and "." in target:
                    generated.add(target)
                graph.setdefault(target, set()).add(header)
        return graph

    def _targets(self, path: str, included: Iterable[Include]) -> Iterator[str]:
        folder = path.rpartition("/")[0]
        for name, quoted in included:
            if quoted and folder and f"{folder}/{name}" in self._files:
                yield f"{folder}/{name}"
            elif found := self._found(name):
                yield found

    def _resolved_include(self, name: str) -> str:
        """The file of an include by its name, possibly generated; empty if none."""
        paths = (f"{root}{name}" for root in _ROOTS)
        here = next((path for path in paths if path in self._files), "")
        return here or (name if self._template(name) else "")

    def _template(self, name: str) -> str:
        if operator := _OF_OPERATOR.match(name):
            return _ATEN_TEMPLATES + _TEMPLATE_OF.get(operator[2] or "", "DispatchKeyFunction.h")
        base = name.rpartition("/")[2]
        folder = _ATEN_TEMPLATES if name.startswith("ATen/") else _AUTOGRAD_TEMPLATES
        generated = name.startswith(("ATen/", "torch/csrc/autograd/generated/"))
        if not generated:
            return ""
        if f"{folder}{base}" in self._template_files:
            return f"{folder}{base}"
        return f"{folder}DispatchKeyFunctions.h" if _KEY_FUNCTIONS.match(name) else ""

    def _made_from(self, header: str) -> Iterator[str]:
        template = self._template(header)
        if not template:
            return
        yield template
        yield NATIVE
        if template.startswith(_AUTOGRAD_TEMPLATES):
            yield DERIVATIVES
        yield from self._included(template, header.rpartition("/")[0])
        operator = _OF_OPERATOR.match(header)
        if operator and not operator[2]:
            yield f"ATen/ops/{operator[1]}_ops.h"

    def _included_by(self, template: str, folder: str) -> tuple[str, ...]:
        included = read_includes(self._source.content(template))
        return tuple(self._targets(f"{folder}/" if folder else "", included))

    @cached_property
    def _template_files(self) -> frozenset[str]:
        found = set()
        for folder in (_ATEN_TEMPLATES, _AUTOGRAD_TEMPLATES):
            names = self._source.listed(folder.rstrip("/"))
            found |= {f"{folder}{name}" for name in names if name.endswith(".h")}
        return frozenset(found)

    # ----------------------------------------------------------------------- evidence

    @cached_property
    def _capability_loop(self) -> Location | None:
        return self._line("cmake/Codegen.cmake", r"foreach\(i RANGE \$\{NUM_CPU_CAPABILITY")

    @cached_property
    def _write_if_changed(self) -> Location | None:
        return self._line("torchgen/utils.py", r"def _write_if_changed") or self._line(
            "tools/codegen/utils.py", r"def _write_if_changed"
        )

    def _line(self, path: str, pattern: str) -> Location | None:
        text = self._source.text(path)
        found = re.search(pattern, text)
        return Location(path, text.count("\n", 0, found.start()) + 1) if found else None


_KEY_FUNCTIONS = regex(r"ATen/\w+Functions(_inl)?\.h$")
_TESTED = regex(r"(^|/)(tests?|benchmarks?)/")


def _is_source(path: str) -> bool:
    return path.endswith(_COMPILED) and not _TESTED.search(path)


def _is_generator(path: str) -> bool:
    return path.endswith(".py") and path.startswith(
        ("torchgen/", "tools/codegen/", "tools/autograd/")
    )


def _is_of(header: str, op: NativeFunction) -> bool:
    found = _OF_OPERATOR.match(header)
    return bool(found and found[1] == parse_schema(op.schema).base)
