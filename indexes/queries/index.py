"""The public door: every question asked of an index, answered in plain data.

Paths in questions and answers are relative to the root of the tree, with forward slashes; lines
count from 1, and an end line of 0 means unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.linking.registrations import stub_row
from indexes.model.answers import Card, Chain, Hit, NameMatch, Place, Route, Surroundings
from indexes.model.errors import CancelCallback, Progress, ProgressCallback, Report, SourceError
from indexes.model.vocabulary import (
    Definition,
    DerivativeEntry,
    DtypeDispatch,
    KernelRow,
    NativeFunction,
    OperatorSummary,
    Role,
    StubRow,
    Work,
)
from indexes.queries.card import card, surroundings
from indexes.queries.indexed_tree import IndexedTree, open_current, unchanged
from indexes.queries.routing.routes import routes
from indexes.source.snapshot import TreeSnapshot
from indexes.source.source import Source, cache_folder, index_file
from indexes.store.index_file import Store

if TYPE_CHECKING:
    from indexes.model.dispatch import DispatchTable
    from indexes.model.python import PythonCard
    from indexes.queries.explaining.fields import Explanation
    from indexes.queries.search import OperatorFilter

__all__ = ["Index", "Progress", "Report"]


class Index(IndexedTree):
    """An open index of one tree: ``Index.open(Source.find())``.

    Safe to ask from several threads. Close it with ``close`` when done. Answers are frozen
    dataclasses of ``indexes.model``, each with the place in the tree that it was read from.
    """

    @classmethod
    def open(
        cls,
        source: Source,
        cache: str | Path | None = None,
        *,
        progress: ProgressCallback | None = None,
        cancelled: CancelCallback | None = None,
        refresh: bool = True,
        verify: bool = False,
        force: bool = False,
    ) -> Index:
        """Open the index of a tree: built if there is none, and brought up to date.

        Parameters:
            source: The tree, as ``Source.find`` gives it.
            cache: The folder that indexes are kept in; None for the user's cache folder, or
                ``TORCHNAV_CACHE``.
            progress: Called now and then with the stage and the files done.
            cancelled: Asked now and then; when it returns True, the work ends.
            refresh: False to answer from an existing index without looking at the tree.
            verify: Hash every file again, instead of those whose size or time changed.
            force: Build it anew.

        Returns:
            The open index.

        Raises:
            SourceError: The tree cannot be read, or the cache cannot be written.
            Cancelled: ``cancelled`` returned True.
        """
        store, report = open_current(
            source,
            cache,
            progress=progress,
            cancelled=cancelled,
            refresh=refresh,
            verify=verify,
            force=force,
        )
        return cls(source, store, report)

    @classmethod
    def as_left(cls, source: Source, cache: Path | None = None) -> Index:
        """Open the index of a tree as it is, whether or not it is up to date.

        Parameters:
            source: The tree.
            cache: The folder that indexes are kept in; None as for ``open``.

        Raises:
            SourceError: There is no index that this version can read.
        """
        path = index_file(source.key, os.path.abspath(cache or cache_folder()))
        if not os.path.exists(path):
            raise SourceError(f"{source.top} is not indexed yet")
        store = Store(path, reads_only=True)
        if seen := TreeSnapshot.load(path):
            source.know_edited(seen.edited)
        return cls(source, store, Report())

    def is_current(self) -> bool:
        """Whether no file of the tree has changed since the index was brought up to date."""
        return unchanged(self.source, self.facts.store.path) is not None

    def close(self) -> None:
        """Close the index file."""
        self.facts.store.close()

    @property
    def cache(self) -> Path:
        """The cache folder that the index is kept in."""
        return Path(self.facts.store.path).parent.parent

    # -------------------------------------------------------------- operators

    def filter(self, text: str) -> tuple[OperatorSummary, ...]:
        """Filter the operator list by what a person typed.

        Parameters:
            text: Words, each of which must fit: letters of the name in order, or terms such as
                ``key:CUDA``, ``file:SoftMax``, ``tag:core`` and ``no:derivative``.

        Returns:
            The operators that fit every word, best first; of an empty text all of them, those
            that people are likely to mean first.
        """
        return self._filter(text)

    @cached_property
    def _filter(self) -> OperatorFilter:
        from indexes.queries.search import OperatorFilter

        return OperatorFilter(self._operators, self.facts.python.documented())

    def chain(
        self,
        full_name: str,
        *,
        full: bool = False,
        depth: int | None = None,
        limit: int | None = None,
        role: Role | None = None,
        work: Work | None = None,
        dtypes: bool = True,
    ) -> Chain:
        """Follow one overload to everything that it can reach.

        Parameters:
            full_name: ``add.Tensor``, or ``relu`` for a default overload; ``resolve`` finds it
                for other spellings.
            full: Expand every operator, list every step; otherwise what does not lead to
                computing is folded, and counted on the hop that it stands below.
            depth: How many dispatches are followed; None for all of them.
            limit: About how many hops are listed; None for all of them.
            role: Only hops of this role, and those above them.
            work: Only hops of this work, and those above them.
            dtypes: Whether to work out for which dtypes each hop is made.

        Returns:
            The hops in display order, each with its rule, evidence and confidence, and what could
            not be linked with the reason.

        Raises:
            NotFound: There is no such overload; near names are its ``suggestions``.
        """
        from indexes.queries.chains.chain import Filter, build_chain
        from indexes.queries.chains.steps import Extent

        native = self.operator(full_name)
        return Filter(role, work).of(build_chain(self, native, Extent(full, depth, limit, dtypes)))

    def routes(self, full_name: str) -> tuple[Route, ...]:
        """The ways from one overload to what computes, device by device, the usual first.

        Raises:
            NotFound: There is no such overload.
        """
        return routes(self, self.operator(full_name))

    def card(self, full_name: str, found: Sequence[Route] | None = None) -> Card:
        """One overload in a few lines: what computes it, its gradient, what stands around it.

        Parameters:
            full_name: ``add.Tensor``, or ``relu`` for a default overload.
            found: Its routes, where they are known already.

        Raises:
            NotFound: There is no such overload.
        """
        native = self.operator(full_name)
        return card(self, native, self.routes(full_name) if found is None else found)

    def surroundings(self, full_name: str) -> Surroundings:
        """What stands around one overload: Python's names, decompositions, Inductor, docs, tests.

        Raises:
            NotFound: There is no such overload.
        """
        return surroundings(self, self.operator(full_name))

    # ------------------------------------------------------------ names, places

    def resolve(self, text: str) -> NameMatch:
        """Tell what a name means in this tree.

        Parameters:
            text: A name in any spelling: of an operator, a Python function, a C++ symbol, a Node
                class, a line of a traceback or of a profile.

        Returns:
            The operators or places that it names; of kind ``none`` with near names otherwise,
            and with C++ names that end alike.
        """
        if overloads := self._overloads_named(text):  # without loading what reads other names
            return NameMatch("operator", text, overloads)
        from indexes.queries.naming.resolve import resolve

        return resolve(text, self)

    def _overloads_named(self, text: str) -> tuple[str, ...]:
        """The overloads of ``add``, or that of ``add.Tensor``, of ATen."""
        if "." in text:
            return (text,) if self.native(text) else ()
        from indexes.queries.overloads import as_documented, in_order

        found = in_order(self.facts.overloads(text)) if text.isidentifier() else ()
        return as_documented(found, self) if found else ()

    def meant(self, text: str) -> NameMatch:
        """As ``resolve``.

        Raises:
            NotFound: It means nothing; with similar names and C++ namesakes.
        """
        found = self.resolve(text)
        if found.kind == "none":
            from indexes.queries.naming.resolve import not_found, unknown

            words = unknown(text, self.info.version)
            if self.info.kind == "wheel":
                lacks = ", ".join(one.partition(": ")[0] for one in self.info.missing[:2])
                words += f"; not here: {lacks}: torchnav clone"
            raise not_found(found, words)
        return found

    def python(self, name: str) -> PythonCard | None:
        """Tell what a Python name is: its definition, signature and what it calls.

        Parameters:
            name: ``torch.nn.functional.linear``, ``optim.Adam.step``, ``DataLoader``.

        Returns:
            A few lines of it; None where Python finds nothing of that name in this tree.
        """
        from indexes.queries.python_names.card import card

        return card(name, self)

    def find(
        self, text: str, limit: int = 50, kinds: Sequence[str] = (), match: NameMatch | None = None
    ) -> tuple[Hit, ...]:
        """Search operators, Node classes, stubs, C++ symbols and files by a part of their name;
        what the text means by itself, as ``resolve`` tells it, comes first.

        Parameters:
            text: The part, in whatever case.
            limit: The most hits that are wanted.
            kinds: Only hits of these kinds; all when empty.
            match: What ``resolve`` tells of the text, where it was asked already.

        Returns:
            The hits, best first.
        """
        from indexes.queries.naming.finding import find

        return find(text, self, limit, kinds, match)

    def at(self, path: str, line: int) -> tuple[Place, ...]:
        """Tell what stands at a line.

        Parameters:
            path: A file of the tree, or the end of its path if no other file ends so.
            line: The line, from 1.

        Returns:
            The places over that line, innermost first, each with the operators that reach it.

        Raises:
            NotFound: No file, or several, are named so, or nothing known stands there.
        """
        from indexes.queries.places import at

        return at(self, path, line)

    def explain(self, path: str, line: int) -> Explanation:
        """Quote what the tree itself says about a line: of a YAML field, a macro or a note.

        Parameters:
            path: A file of the tree.
            line: The line, from 1.

        Raises:
            NotFound: The line has none of them.
        """
        from indexes.queries.explaining.lines import explain_line

        return explain_line(self, path, line)

    def uses(self, symbol: str, limit: int = 200) -> tuple[Hit, ...]:
        """List the uses of a symbol: calls, registrations, formulas, operators that reach it.

        Parameters:
            symbol: A C++ symbol, a stub or an operator.
            limit: The most hits that are wanted.

        Returns:
            Direct uses first, then operators with the way that leads to it.
        """
        from indexes.queries.uses import uses

        return uses(self, symbol, limit)

    def table(self, op: str) -> DispatchTable:
        """Compute the dispatch table of an operator from the source alone.

        Parameters:
            op: ``add.Tensor``, ``quantized::add``.

        Returns:
            What runs for each runtime dispatch key, with the registration that wins and why.

        Raises:
            NotFound: There is no such operator, or this tree has no dispatch keys to read.
        """
        return self.dispatch.table(op)

    # ------------------------------------------------------------------- exports

    def kernel_rows(self) -> Iterator[KernelRow]:
        """Every (overload, dispatch key) of native_functions.yaml with its kernel."""
        yield from self.facts.all_kernels()

    def library_kernel_rows(self) -> Iterator[KernelRow]:
        """The same for operators outside native_functions.yaml."""
        yield from self.facts.library_kernels()

    def stub_rows(self) -> Iterator[StubRow]:
        """Every registration of a stub with the function it registers."""
        for use in self.facts.all_registrations():
            yield stub_row(use, self.facts)

    def derivative_rows(self) -> Iterator[DerivativeEntry]:
        """Every entry of derivatives.yaml."""
        yield from self.facts.entries()

    def formula_functions(self, entry: DerivativeEntry) -> tuple[Definition, ...]:
        """The C++ functions that an entry's formulas call."""
        from indexes.linking.formulas import formula_functions

        return tuple(f.definition for f in formula_functions(entry, self.facts) if f.definition)

    def kernel_files(self) -> tuple[str, ...]:
        """The C++ files that can contain kernels."""
        from indexes.readers.cxx.facts import holds_operators

        return tuple(filter(holds_operators, self.facts.paths("cpp")))

    def dtype_rows(self) -> Iterator[tuple[Definition, DtypeDispatch]]:
        """Every function with dtype dispatches, and each of them."""
        for known in self.facts.callers_of_macros(self.dtypes.dispatches):
            for dispatch in self.dtypes.of(known.definition):
                yield known.definition, dispatch

    def all_natives(self) -> Iterator[NativeFunction]:
        """Every entry, in YAML order."""
        yield from self.facts.natives()

    def library_operators(self) -> Iterator[NativeFunction]:
        """The operators outside the YAML, from TORCH_LIBRARY blocks and torch.library."""
        yield from self.facts.library_operators()
