"""Kernels for PyTorch's operators beside its YAML, from a line of an extension's YAML or an
``m.impl`` to the function."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonpath

from indexes.codegen.rows import KeySets, Row, kernel_rows
from indexes.linking.facts import Facts
from indexes.linking.kernels import Matcher, link_kernel
from indexes.linking.registrations import BOXED, Written, registered_definition
from indexes.linking.visible import encloses
from indexes.model.files import root_of
from indexes.model.vocabulary import (
    RUNTIME_KEY,
    Confidence,
    Definition,
    KernelKind,
    Location,
    NativeFunction,
)
from indexes.readers.yaml.extensions import KernelFile, ListedKernel

Matching = Callable[[Row], Matcher]
"""Makes a matcher for the parameters that torchgen expects of a row's kernel."""
_COMPOSITE = "Composite"
_INSIDE = "third_party/"


@dataclass(frozen=True, slots=True)
class ExtensionKernel:
    """A kernel that an extension has for an operator, or that PyTorch registers by hand."""

    op: str
    key: str
    symbol: str
    location: Location
    """The line that registers the kernel."""
    rule: str
    kind: KernelKind
    confidence: Confidence
    reason: str
    definitions: tuple[Definition, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """What extensions are linked against."""

    natives: Mapping[str, NativeFunction]
    """All operators of PyTorch."""
    kernels: frozenset[tuple[str, str]]
    """(operator, key) pairs that PyTorch itself has a kernel for."""
    keys: frozenset[str]
    """The dispatch keys that PyTorch knows."""
    structured: KeySets
    facts: Facts
    matches: Matching

    def dispatch_key(self, backend: str) -> str:
        """The dispatch key of a backend: its own, or PrivateUse1."""
        return backend if backend in self.keys else "PrivateUse1"


def file_kernels(file: KernelFile, tree: Tree) -> Iterator[ExtensionKernel]:
    """The kernels named by a YAML file of an extension."""
    if file.form == "native":
        yield from _of_entries(file, tree)
    for one in file.kernels:
        native = tree.natives.get(one.op)
        if native is not None:
            yield _listed(file, one, native, tree)


# ----------------------------------------------------------- a file like native_functions.yaml


def _of_entries(file: KernelFile, tree: Tree) -> Iterator[ExtensionKernel]:
    """Kernels of PyTorch's operators for keys that PyTorch has no kernel for."""
    for row in kernel_rows(file.functions, tree.structured):
        new = (row.op, row.key) not in tree.kernels and not row.key.startswith(_COMPOSITE)
        if row.op in tree.natives and new and _names_key(row):
            yield _of_row(file, row, tree)


def _names_key(row: Row) -> bool:
    """Whether the entry lists the key under ``dispatch``."""
    return any(kernel.key == row.key for kernel in row.source_function.dispatch or ())


def _of_row(file: KernelFile, row: Row, tree: Tree) -> ExtensionKernel:
    named = [one.definition for one in tree.facts.named(row.symbol.rpartition("::")[2])]
    own, others = _by_home(named, file.path)
    link = link_kernel(row, own, tree.matches(row), has_sources=True)
    if not link.definitions:  # PyTorch's own kernel serves the extension's key too
        link = link_kernel(row, others, tree.matches(row), has_sources=True)
    reason = link.reason and f"no definition of {row.symbol} with the parameters of its entry"
    what = (row.op, row.key, row.symbol, Location(file.path, row.line), link.rule)
    return ExtensionKernel(*what, link.kind, link.confidence, reason, link.definitions)


# -------------------------------------------------------------- files that list operators


def _listed(
    file: KernelFile, one: ListedKernel, native: NativeFunction, tree: Tree
) -> ExtensionKernel:
    key = one.key or tree.dispatch_key(file.backend)
    if one.autograd:
        key = f"Autograd{key}"
    name = one.symbol.rpartition("::")[2] or _cpp_name(native, one.symint)
    scope = one.symbol.rpartition("::")[0] or file.namespace
    inside = [
        each.definition
        for each in tree.facts.named(name)
        if each.definition.kind in ("function", "method")
        and encloses(scope, each.definition.scope.replace("::(anonymous)", ""))
        and library_of(each.definition.location.path) == library_of(file.path)
    ]
    symbol = one.symbol or f"{scope}::{file.backend}NativeFunctions::{name}"
    row = Row(native.full_name, key, symbol, "plain", native, native, one.line, one.rule)
    found = _fitting(_nearest(inside, file.path), tree.matches(row), key)
    confidence: Confidence = "exact" if len(found) == 1 else "by rule"
    kind: KernelKind = "plain" if found else "missing"
    reason = "" if found else f"no definition of {name} in {scope or 'any namespace'}"
    shown = found[0].qualified if found and not one.symbol else symbol
    what = (native.full_name, key, shown, Location(file.path, one.line), one.rule)
    return ExtensionKernel(*what, kind, confidence, reason, tuple(found))


def _cpp_name(native: NativeFunction, symint: bool) -> str:
    """The name as torchgen's ``dispatcher.name`` gives it: with ``_out`` for an out= overload."""
    base = native.name.rpartition("::")[2]
    return base + "_out" * ("!) out" in native.schema) + "_symint" * symint


def _fitting(found: Sequence[Definition], matches: Matcher, key: str) -> list[Definition]:
    """The definitions with the operator's parameters; without any, the only definition."""
    if key == RUNTIME_KEY:  # its kernels take what the runtime gives them
        return list(found)
    for how in ("same", "arity"):
        if chosen := [one for one in found if matches(one.parameters) == how]:
            return chosen
    return list(found) if len(found) == 1 else []


def library_of(path: str) -> str:
    """The extension that a file belongs to, beside the tree or in it; empty for PyTorch itself."""
    if path.startswith(_INSIDE):
        return "/".join(path.split("/")[:2])
    return root_of(path)


def _by_home(found: Sequence[Definition], path: str) -> tuple[list[Definition], list[Definition]]:
    own = [one for one in found if library_of(one.location.path) == library_of(path)]
    return own, [one for one in found if not library_of(one.location.path)]


def without_doubles(
    found: Sequence[ExtensionKernel], known: Container[tuple[str, str]]
) -> list[ExtensionKernel]:
    """Drops kernels without a definition if there is another for the operator and key."""
    led = {(one.op, one.key) for one in found if one.definitions}
    return [
        one
        for one in found
        if one.definitions or not ((one.op, one.key) in led or (one.op, one.key) in known)
    ]


def _nearest(found: Sequence[Definition], path: str) -> list[Definition]:
    if len(found) < 2:
        return list(found)
    folder = path.rpartition("/")[0]
    common = {id(one): len(commonpath([one.location.path, folder])) for one in found}
    most = max(common.values())
    return [one for one in found if common[id(one)] == most]


# ---------------------------------------------------------------------------- m.impl


def library_kernels(written: Iterable[Written], tree: Tree) -> Iterator[ExtensionKernel]:
    """Kernels that TORCH_LIBRARY blocks register for PyTorch's operators; of PyTorch's own blocks
    where its YAML has none, without boxed functions, which are not for one operator."""
    for one in written:
        made = one.registration
        if made.op not in tree.natives or not _is_backend(made.key):
            continue
        found = registered_definition(one, tree.facts)
        is_known = (made.op, made.key) in tree.kernels
        is_boxed = made.fallthrough or (found and BOXED in found.parameters)
        if (is_known or is_boxed) and not library_of(one.use.location.path):
            continue
        replaced = "; replaces PyTorch's own" if is_known else ""
        kind: KernelKind = "plain" if found or made.fallthrough else "missing"
        reason = "" if found else f"{made.kernel}, registered at {one.use.location}"
        confidence: Confidence = "by rule" if one.use.macro else "exact"
        what = (made.op, made.key, found.qualified if found else made.kernel, one.use.location)
        how = (made.rule + replaced, kind, confidence, reason)
        yield ExtensionKernel(*what, *how, (found,) if found else ())


_LAYERS = ("Autograd", "Autocast", "FuncTorch", "Batched", "Vmap", "Python", "Composite")


def _is_backend(key: str) -> bool:
    return not key.startswith(_LAYERS)
