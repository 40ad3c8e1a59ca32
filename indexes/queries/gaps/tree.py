"""What finders of gaps need to know about a tree, computed once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, cached_property

from indexes.build.torchgen_rules import KERNEL_RULES, read_lists
from indexes.linking.python.links import names_of, opinfo_entries
from indexes.linking.python.paths import FactTable, Found, bindings, operator_targets
from indexes.model.errors import SourceError
from indexes.model.files import SKIPPED, PythonFact, RemarkKind, module_name, unpack
from indexes.model.regex import regex
from indexes.model.schema import Schema, SchemaKind, parse_schema
from indexes.model.vocabulary import Definition, KernelRow, Location, NativeFunction
from indexes.queries.corpus import Corpus
from indexes.queries.index import Index
from indexes.queries.test_mentions import TestMentions
from indexes.readers.python.blocks import parse

OVERRIDES = "torch/overrides.py"
_KINDS = (
    "decomposition",
    "meta_registration",
    "fake_impl",
    "py_impl",
    "functional",
    "method",
    "alias",
    "docs",
    "opinfo",
    "binding_skip",
    "lowering",
)
_REMARKS = (
    "SELECT f.path,r.name,r.line,r.detail FROM remarks r JOIN files f ON f.id=r.file"
    " WHERE r.kind=? ORDER BY f.kind,f.path,r.rowid"
)
_FUNCTION = "d.kind IN ('function','impl_func','meta_func')"
_ANY_FUNCTION = "d.kind IN ('function','impl_func','meta_func','method','macro_use')"
_DOTTED = regex(r"torch(?<!\wtorch)\.[\w.]+"), regex(r"F(?<!\wF)\.\w+")
"""Literals come first, since the regex engine can search for them."""
_LAYERS = regex(r"Autograd|FuncTorch")
"""Parts of names of alias keys for layers above backends."""
TESTS = regex(r"/tests?/|_test\.\w+$")


class Tree:
    """One tree as the finders see it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.source = index.source
        self.store = index.facts.store
        self.text = cache(self.source.text)
        """The text of a file; empty when there is none."""
        self._lines = cache(lambda path: self.text(path).splitlines())
        self.names = cache(lambda op: names_of(self.natives[op], self.python))
        """The Python names of an overload, bindings first."""
        self.opinfos = cache(self._opinfos)
        """The OpInfos of an overload, by ``aten_name`` or dotted name."""
        self.keys = cache(self._keys)
        """The dispatch keys that an overload has kernels for."""
        self.hops = cache(lambda op: index.chain(op, dtypes=False).hops)
        """The steps of the chain of an overload."""

    # ------------------------------------------------------------------ files

    @cached_property
    def corpus(self) -> Corpus:
        return Corpus(self.index.facts, lambda path: self.text(path).encode())

    @cached_property
    def mentions(self) -> TestMentions:
        return TestMentions(self.corpus, self.store)

    @cached_property
    def popularity(self) -> dict[str, int]:
        return self.index.facts.popularity()

    def lines(self, path: str, first: int = 1, last: int = 0) -> list[str]:
        """Lines of a file, from 1, to the end for ``last`` 0."""
        return self._lines(path)[first - 1 : last or None]

    def lines_of(self, where: Location) -> list[str]:
        return self.lines(where.path, where.line, max(where.line, where.end_line))

    def line(self, where: Location) -> str:
        return next(iter(self.lines(where.path, where.line, where.line)), "")

    def place_of(self, words: str, path: str) -> Location | None:
        """The first line of a file with some words."""
        at = self.text(path).find(words)
        return Location(path, self.text(path).count("\n", 0, at) + 1) if at >= 0 else None

    def lacks(self, path: str) -> str:
        """That this source lacks a file; empty if it has it."""
        return "" if self.text(path) else f"{path} is not in this source"

    @cached_property
    def accepted_keys(self) -> tuple[str, ...]:
        """The keys that torchgen accepts under ``dispatch:``; none if unknown."""
        lists, _ = read_lists(self.source, KERNEL_RULES[:1])
        return lists.names.get("dispatch_keys", ())

    def lacks_keys(self) -> str:
        """Why dispatch tables cannot be computed here; empty if they can."""
        there = self.source.locate("DispatchKey.h")
        return "" if there else "c10/core/DispatchKey.h is not in this source"

    def lacks_kernels(self) -> str:
        """Why kernels cannot be read here, as in a wheel with headers only."""
        there = any(path.endswith(".cpp") for path in self.native_files)
        return "" if there else "the kernels (.cpp, .cu, .mm) are not in this source"

    def paths(self, like: str) -> tuple[str, ...]:
        """The indexed files that fit a pattern of SQL's LIKE."""
        return self.index.facts.paths(like=like)

    @cached_property
    def modules(self) -> dict[str, str]:
        """The file of each indexed module, by dotted name: ``torch.nn.modules.linear``."""
        return {module_name(path): path for path in self.index.facts.paths("python")}

    # -------------------------------------------------------------- operators

    @cached_property
    def natives(self) -> dict[str, NativeFunction]:
        return {native.full_name: native for native in self.index.all_natives()}

    @cached_property
    def overloads(self) -> dict[str, list[str]]:
        """The overloads of each operator, functional ones first."""
        return self._named(sorted(self.natives, key=lambda op: op not in self.public_set))

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        return {name: parse_schema(native.schema) for name, native in self.natives.items()}

    @cached_property
    def kernels(self) -> dict[str, dict[str, KernelRow]]:
        """The kernels of each overload by dispatch key, including its delegate's."""
        found: dict[str, dict[str, KernelRow]] = {}
        for row in self.index.kernel_rows():
            found.setdefault(row.op, {}).setdefault(row.key, row)
        return found

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of overloads with a kernel for each dispatch key."""
        return Counter(key for rows in self.kernels.values() for key in rows)

    def _keys(self, op: str) -> frozenset[str]:
        return frozenset(self.kernels.get(op, ()))

    def is_alias(self, key: str) -> bool:
        """Whether a key is an alias, whose kernel serves all backends."""
        return key in self._aliases

    @cached_property
    def _aliases(self) -> frozenset[str]:
        try:
            keys = self.index.dispatch.keys
        except SourceError:
            return frozenset({"CompositeImplicitAutograd", "CompositeExplicitAutograd"})
        return frozenset(key for key in keys.aliases if not _LAYERS.match(key))

    def is_composite(self, op: str) -> bool:
        """Whether it is composed of other operators, so that it needs nothing of its own."""
        return "CompositeImplicitAutograd" in self.keys(op)

    def is_dense(self, op: str) -> bool:
        """Whether it has kernels for ordinary tensors on CPU and CUDA."""
        return {"CPU", "CUDA"} <= self.keys(op)

    @cached_property
    def public(self) -> tuple[str, ...]:
        """Public functional overloads: not internal (leading underscore), generated, a backward, or
        ignored by PyTorch's own list."""
        return tuple(name for name in self.natives if self._is_public(name))

    @cached_property
    def public_set(self) -> frozenset[str]:
        return frozenset(self.public)

    def _is_public(self, full_name: str) -> bool:
        native, schema = self.natives[full_name], self.schemas[full_name]
        return (
            schema.kind is SchemaKind.FUNCTIONAL
            and "::" not in native.name
            and not native.name.startswith("_")
            and not {"generated", "view_copy"} & set(native.tags)
            and "backward" not in native.name
            and not any(path in self.ignored for path in self.names(full_name))
            and any(a.base_type == "Tensor" for a in schema.arguments)
        )

    def others(self, taken: Iterable[str]) -> list[list[str]]:
        """The overloads of each operator with kernels of its own, without ``taken`` names;
        including internal ones and gradients, which tracing and vmap meet too."""
        left_out = set(taken)
        return self.by_name(
            op
            for op, native in self.natives.items()
            if native.name not in left_out
            and "::" not in native.name
            and "generated" not in native.tags
            and self.keys(op)
            and not self.is_composite(op)
        )

    def by_name(self, ops: Iterable[str]) -> list[list[str]]:
        """Overloads by operator."""
        return list(self._named(ops).values())

    def _named(self, ops: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for op in ops:
            found.setdefault(self.natives[op].name, []).append(op)
        return found

    def returns_tensor(self, op: str) -> bool:
        return any(r.base_type == "Tensor" for r in self.schemas[op].returns)

    def is_random_or_dynamic(self, op: str) -> bool:
        """Whether it is tagged as random or data-dependent in shape."""
        tags = set(self.natives[op].tags)
        return bool(
            tags & {"nondeterministic_seeded", "data_dependent_output", "dynamic_output_shape"}
        ) or any(a.base_type == "Generator" for a in self.schemas[op].arguments)

    def registered_for(self, *keys: str) -> frozenset[str]:
        """The overloads with a TORCH_LIBRARY registration for some keys."""
        return frozenset(op for op, found in self._library_keys.items() if found & {*keys})

    def library_keys(self, op: str) -> frozenset[str]:
        return frozenset(self._library_keys.get(op, ()))

    @cached_property
    def _library_keys(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for op, key in self.store.query("SELECT DISTINCT op,key FROM library_kernels"):
            found.setdefault(op, set()).add(key)
        return found

    # ----------------------------------------------------------------- Python

    def remarks(self, kind: RemarkKind) -> Iterator[tuple[Location, str, str]]:
        """(place, name, detail) of each remark of a kind, pages first."""
        for path, name, line, detail in self.store.query(_REMARKS, (kind,)):
            yield Location(path, line), name, detail

    @cached_property
    def python(self) -> FactTable:
        files: dict[str, list[PythonFact]] = {}
        for path, fact in self.index.facts.python.of_kinds(*_KINDS):
            files.setdefault(path, []).append(fact)
        return FactTable(files)

    @cached_property
    def bound(self) -> dict[str, list[str]]:
        """The overloads of each generated public function and method, by Python name."""
        rows = self.python.by_target(SKIPPED)
        skipped = re.compile("|".join(f"(?:{fact.symbol})$" for _, fact in rows) or r"(?!)")
        found: dict[str, list[str]] = {}
        for op, native in self.natives.items():
            made = {"generated", "view_copy"} & set(native.tags)
            internal = native.name.startswith("_") or "backward" in native.name
            if not made and not internal and not skipped.match(native.name):
                for binding in bindings(native):
                    found.setdefault(binding.path, []).append(op)
        return found

    def registered(self, op: str, kind: str) -> list[Found]:
        """The rows of a kind for an overload, or for all overloads of its name."""
        targets = operator_targets(self.natives[op])
        return [f for target in targets for f in self.python.by_target(target) if f[1].kind == kind]

    @cached_property
    def ignored(self) -> frozenset[str]:
        """``torch.overrides.get_ignored_functions``, as ``torch.``-paths."""
        return frozenset(_ignored(self.text(OVERRIDES)))

    def _opinfos(self, op: str) -> list[Found]:
        found: dict[tuple[str, int], Found] = {}
        for (path, fact), _ in opinfo_entries(self.natives[op], self.python):
            found.setdefault((path, fact.line), (path, fact))
        return list(found.values())

    @cached_property
    def opinfo_calls(self) -> frozenset[str]:
        """Every dotted name of torch in OpInfo files, which ``op=`` may call."""
        paths = self.paths("torch/testing/_internal/%.py")
        texts = [text for text in map(self.text, paths) if "Info(" in text]
        words = {word for text in texts for one in _DOTTED for word in one.findall(text)}
        return frozenset(words | {f"torch.nn.functional.{w[2:]}" for w in words if w[:2] == "F."})

    def documentation(self, op: str) -> list[Found]:
        """The docstrings and pages under its public names."""
        names = (name for name in self.names(op) if "._" not in name)
        rows = (found for name in names for found in self.python.by_target(name))
        return [found for found in rows if found[1].kind == "docs"]

    def opinfo_names(self, op: str) -> list[tuple[str, str]]:
        return [(f.symbol, unpack(f.detail).get("variant", "")) for _, f in self.opinfos(op)]

    # ---------------------------------------------------------------- kernels

    @cached_property
    def native_files(self) -> tuple[str, ...]:
        """The source files of kernels, without tests."""
        folder = self.source.locate("aten/src/ATen/native") or ""
        paths = self.index.facts.paths("cpp", f"{folder}/%")
        return tuple(path for path in paths if folder and not TESTS.search(path))

    def kernel_remarks(self, kind: RemarkKind) -> Iterator[tuple[Location, str, str]]:
        """As ``remarks``, in files with kernels."""
        native = set(self.native_files)
        return (one for one in self.remarks(kind) if one[0].path in native)

    def function_at(self, place: Location) -> Definition | None:
        return self._innermost(_FUNCTION, place)

    def function_below(self, place: Location, lines: int) -> Definition | None:
        """The first function that begins within some lines below a place."""
        below = f"{_FUNCTION} AND f.path=? AND d.line>? AND d.line<=?"
        found = self.index.facts.definitions(below, place.path, place.line, place.line + lines)
        return min((one.definition for one in found), key=_line, default=None)

    def definition_at(self, place: Location) -> Definition | None:
        return self._innermost(_ANY_FUNCTION, place)

    def _innermost(self, kinds: str, place: Location) -> Definition | None:
        over = f"{kinds} AND f.path=? AND d.line<=? AND max(d.line,d.end_line)>=?"
        found = self.index.facts.definitions(over, place.path, place.line, place.line)
        return max((one.definition for one in found), key=_line, default=None)

    def operator_of(self, function: Definition | None) -> str | None:
        return self._kernel_lines.get(function.location) if function else None

    @cached_property
    def _kernel_lines(self) -> dict[Location, str]:
        found: dict[Location, str] = {}
        for op, rows in self.kernels.items():
            for row in rows.values():
                for one in row.definitions:
                    found.setdefault(one.location, op)
        return found


def _line(one: Definition) -> int:
    return one.location.line


def _ignored(text: str) -> Iterator[str]:
    start = text.find("\ndef get_ignored_functions(")
    end = text.find("\n@", start + 1)
    if start < 0:
        return
    try:
        module = parse(text[start : end if end > 0 else None])
    except SyntaxError:
        return
    for node in ast.walk(module):
        if isinstance(node, (ast.Set, ast.List)):
            for element in node.elts:
                name = ast.unparse(element)
                yield f"torch.{name}" if name.startswith("Tensor.") else name
