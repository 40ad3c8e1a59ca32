"""An indexed tree as queries use it: its source and facts, and how its index is opened and brought
up to date. Does not load what only a build needs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from indexes.model.answers import DeviceKernelAnswer, EngineFunction, Member
from indexes.model.errors import CancelCallback, NotFound, ProgressCallback, Report, SourceError
from indexes.model.vocabulary import (
    Definition,
    DerivativeEntry,
    NativeFunction,
    OperatorSummary,
    Problem,
    SourceInfo,
)
from indexes.source.snapshot import TreeSnapshot
from indexes.source.source import Source, cache_folder, index_file
from indexes.store.index_file import Store, index_version
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from indexes.linking.device_names.resolver import Resolver
    from indexes.linking.dtypes import Dtypes
    from indexes.queries.dispatch_table import Dispatch


class IndexedTree:
    """The base of ``Index``: what an index says about a tree, before any walk."""

    def __init__(self, source: Source, store: Store, report: Report) -> None:
        self.source = source
        self.report = report
        """What bringing it up to date did, in counts of files."""
        self.facts = Lookup(store)
        """The facts of the index, as the linker asks for them."""

    @cached_property
    def info(self) -> SourceInfo:
        """The tree that answers are from, and what it lacks."""
        return info_of(self.source, self.report)

    def problems(self) -> tuple[Problem, ...]:
        """What could not be read in the tree, with places."""
        return self.facts.store.problems()

    def problems_of(self, full_name: str) -> tuple[Problem, ...]:
        """The problems of an overload's entry, its delegate's and its derivative's."""
        native = self.operator(full_name)
        out = self.native(native.structured_delegate) if native.structured_delegate else None
        entries = (native, out, self.derivative(full_name))
        places = [one.location for one in entries if one]
        return tuple(p for p in self.problems() if any(map(p.concerns, places)))

    def read(self, path: str) -> str:
        """The text of a file of the tree. Raises SourceError."""
        return self.source.read(path).decode("utf-8", "replace")

    @cached_property
    def lines(self) -> Callable[[str], list[str]]:
        """Gives the lines of a file with one character per byte; caches recent files. Raises
        SourceError."""

        def read(path: str) -> list[str]:
            return self.source.read(path).decode("latin-1").split("\n")

        return lru_cache(32)(read)

    @cached_property
    def _operators(self) -> tuple[OperatorSummary, ...]:
        return tuple(self.facts.summaries())

    def operators(self) -> tuple[OperatorSummary, ...]:
        """Every overload in YAML order, including generated ones, then other operators."""
        return self._operators

    def summary(self, full_name: str) -> OperatorSummary | None:
        """The row of ``operators`` for one overload; None if unknown."""
        return next(iter(self.facts.summaries([full_name])), None)

    def native(self, full_name: str) -> NativeFunction | None:
        """The declaration of an overload; None if unknown."""
        return self.facts.native(full_name)

    def operator(self, full_name: str) -> NativeFunction:
        """The same. Raises NotFound with similar names."""
        native = self.native(full_name)
        if native is None:
            from indexes.queries.naming.near import near

            names = near(full_name, self.facts.operator_names)
            raise NotFound(f"no operator {full_name}", names)
        return native

    def definitions(self, symbol: str) -> tuple[Definition, ...]:
        """The C++ definitions of ``add_kernel`` or ``at::native::add_kernel``."""
        simple = symbol.rpartition("::")[2]
        found = (k.definition for k in self.facts.named(simple))
        return tuple(
            d for d in found if d.qualified == symbol or d.qualified.endswith(f"::{symbol}")
        )

    def tensorimpl(self) -> tuple[Member, ...]:
        """The data members of TensorImpl, in the order of the header."""
        return tuple(self.facts.document("tensorimpl"))

    def engine(self) -> tuple[EngineFunction, ...]:
        """The functions of the autograd engine."""
        return tuple(self.facts.document("engine"))

    def node(self, grad_fn: str) -> tuple[DerivativeEntry, ...]:
        """The derivative entries behind a Node class: ``AddmmBackward0``, qualified or not."""
        name = grad_fn.rpartition("::")[2].strip("<> ").split(" ")[0]
        return tuple(self.facts.node_entries(name))

    def node_operators(self, grad_fn: str) -> tuple[str, ...]:
        """The overloads that record a Node class, in YAML order."""
        return tuple(self.facts.node_operators(grad_fn))

    def derivative(self, full_name: str) -> DerivativeEntry | None:
        """The derivative entry of an overload, its own or the one that torchgen falls back to, in
        its own argument names; None without one."""
        entry, native = self.facts.derivative(full_name)[0], self.native(full_name)
        if entry is None or native is None or not full_name.startswith("_foreach_"):
            return entry
        from indexes.codegen.derivatives import repeated

        return repeated(entry, native)

    @cached_property
    def made(self) -> dict[object, Any]:
        """A cache of what queries compute once, by key."""
        return {}

    @cached_property
    def dtypes(self) -> Dtypes:
        """Finds the dtypes that functions run for."""
        from indexes.linking.dtypes import Dtypes

        return Dtypes(self.facts.store.macros, self.lines)

    @cached_property
    def dispatch(self) -> Dispatch:
        """The dispatch tables of all operators."""
        from indexes.queries.dispatch_table import Dispatch

        return Dispatch(self.source, self.facts)

    def kernel_name(self, name: str) -> DeviceKernelAnswer:
        """Tell where a device kernel comes from.

        Parameters:
            name: As a profiler prints it, mangled or not.

        Returns:
            Its launcher and source, or the vendor's library; with a reason where neither is known.
        """
        from indexes.queries.cut_names import with_beginning

        return with_beginning(self._device_names.resolve(name), self.facts)

    @cached_property
    def _device_names(self) -> Resolver:
        from indexes.linking.device_names.resolver import Resolver

        def named(name: str) -> list[Definition]:
            found = (one.definition for one in self.facts.named(name))
            return [one for one in found if one.kind not in ("macro", "macro_use")]

        return Resolver(named, has_sources=self.source.kind != "wheel")


def open_current(
    source: Source,
    cache: str | Path | None = None,
    *,
    progress: ProgressCallback | None = None,
    cancelled: CancelCallback | None = None,
    refresh: bool = True,
    verify: bool = False,
    force: bool = False,
) -> tuple[Store, Report]:
    """The index of ``source``, built or brought up to date, with the report.

    ``refresh=False`` takes the index as it is; ``verify`` hashes every file; ``force`` builds it
    anew. Raises SourceError, or Cancelled when ``cancelled`` returns True.
    """
    folder = os.path.abspath(cache or cache_folder())
    path = index_file(source.key, folder)
    if not (verify or force) and (os.path.exists(path) and not refresh):
        report = Report()
    elif not (verify or force) and (seen := unchanged(source, path)):
        source.know_edited(seen.edited)
        report = Report(files=len(seen.files))
    else:
        report = _brought_up(source, folder, path, progress, cancelled, verify, force)
    try:
        return Store(path, reads_only=True), report
    except SourceError:
        from indexes.build.builder import Builder

        report = Builder(source, folder, progress, cancelled).run(force=True)
        return Store(path, reads_only=True), report


def unchanged(source: Source, index: str) -> TreeSnapshot | None:
    """The snapshot of a tree that is as it was when its index was brought up to date."""
    seen = None if source.fixed else TreeSnapshot.load(index)
    return seen if seen and seen.is_of(index, index_version()) and seen.unchanged else None


def info_of(source: Source, report: Report) -> SourceInfo:
    """The tree that answers are from, and what it lacks."""
    if not report.stale:
        return source.info
    return replace(source.info, missing=(report.stale, *source.info.missing))


def _brought_up(
    source: Source,
    folder: str,
    path: str,
    progress: ProgressCallback | None,
    cancelled: CancelCallback | None,
    verify: bool,
    force: bool,
) -> Report:
    """Brings an index up to date and reports; one that cannot be written is stale."""
    from indexes.build.builder import Builder

    try:
        return Builder(source, folder, progress, cancelled).run(verify, force)
    except SourceError as error:
        if force or not os.path.exists(path):
            raise
        return Report(stale=f"what changed since it was indexed ({error}): torchnav --cache FOLDER")


_T = TypeVar("_T")


def kept(find: Callable[[str, IndexedTree], _T]) -> Callable[[str, IndexedTree], _T]:
    """Caches a function of a text in the index."""

    @wraps(find)
    def asked(text: str, index: IndexedTree) -> _T:
        answers: dict[str, _T] = index.made.setdefault(find, {})
        if text not in answers:
            answers[text] = find(text, index)
        return answers[text]

    return asked
