"""Kernels missing for a dispatch key that siblings on other backends, or operators of the same
types, have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from indexes.queries.gaps.kernels.dependents import Dependents, Needs
from indexes.queries.gaps.kernels.keys import DENSE, META, KernelKey, KernelKeys, kernel_keys
from indexes.queries.gaps.kernels.layouts import Layouts
from indexes.queries.gaps.kernels.siblings import (
    dispatch_line,
    few,
    is_public,
    kernel_lines,
    level_of,
    most,
    near,
    subjects,
)
from indexes.queries.gaps.kernels.tables import tables_of
from indexes.queries.gaps.model import Confidence, Gap, Kind
from indexes.queries.gaps.statements import Statement, about
from indexes.queries.gaps.tree import Tree

_SHOWN = 3
_FEWEST = 4


def find(tree: Tree) -> Iterator[Gap]:
    """What each key lacks that other keys of its family have, then what each family lacks that
    similar operators have."""
    keys = kernel_keys(tree)
    missing = Missing(tree, keys)
    layouts = Layouts(tree, missing.subjects, missing.dependents)
    for family, members in keys.families.items():
        for key in members:
            if key.name != META:  # meta kernels of ordinary tensors are a kind of their own
                yield from missing.on_key(key)
        if family != DENSE:
            yield from layouts.gaps(family, members)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a missing kernel."""

    having: tuple[str, ...]
    """The family's keys with it."""
    stated: tuple[Statement, ...]
    siblings: tuple[str, ...]
    """Operators with the same types and a CPU kernel in the same file."""
    needs: Needs


class Missing:
    """The missing kernels of a tree."""

    def __init__(self, tree: Tree, keys: KernelKeys) -> None:
        self._tree = tree
        self.keys = keys
        self.dependents = Dependents(tree)
        self.subjects = subjects(tree)
        self._near = near(tree)
        read = cache(lambda backend: tables_of(tree, backend))
        self._tables = cache(lambda key: read(key.backend).of_family(key.family))
        self._opinfos = cache(self._opinfos_of)

    # ------------------------------------------------------------------ within a family

    def on_key(self, key: KernelKey) -> Iterator[Gap]:
        others = [one for one in self.keys.families[key.family] if one.name != key.name]
        names = {one.name for one in others if one.backend != META}
        for name, ops in self.subjects.items():
            lacking = [op for op in ops if names & self._tree.keys(op) and self._lacks(op, key)]
            if lacking and not any(key.name in self._tree.keys(op) for op in ops):
                found = self._evidence(name, lacking, key, names)
                if confidence := self._confidence(name, key, found):
                    yield self._gap(name, lacking, key, found, confidence)

    def _lacks(self, op: str, key: KernelKey) -> bool:
        """Whether an operator has no kernel for a key and no alias kernel, unless other keys of the
        layout have their own beside that."""
        keys = self._tree.keys(op) | self._tree.library_keys(op)
        served = key.family == DENSE and any(map(self._tree.is_alias, keys))
        return key.name not in keys and not served

    def _evidence(self, name: str, ops: Sequence[str], key: KernelKey, names: set[str]) -> Evidence:
        """The evidence. Needs do not count for one vendor's operator: what needs
        ``_cudnn_ctc_loss`` needs ``_ctc_loss`` elsewhere. An operator that fails forward has no
        gradient tests."""
        needs = self.dependents.of(ops)
        tables = self._tables(key)
        having = tuple(sorted({one for op in ops for one in names & self._tree.keys(op)}))
        is_general = len(having) > 1 or having[0].endswith("CPU")
        asked = [name, *(needs.composites if is_general else ())]
        stated = [*self._about(tables.fails, asked)]
        above = self.dependents.above(needs) if is_general else ()
        failing = (*tables.fails_backward, *tables.fails)
        stated += self._about(failing, (*needs.gradients, *above))
        stated += self._untried(tables.works, asked)
        return Evidence(
            having,
            tuple(dict.fromkeys(one for one in stated if one.whole)),
            tuple({one: None for op in ops for one in self._near.get(op, ()) if one not in ops}),
            needs._replace(composites=tuple(one for one in needs.composites if one != name)),
        )

    def _about(self, rows: Sequence[Statement], names: Sequence[str]) -> Iterator[Statement]:
        for name in names if rows else ():
            yield from about(rows, self._opinfos(name))

    def _untried(self, rows: Sequence[Statement], names: Sequence[str]) -> Iterator[Statement]:
        """The head of the table of what works, for names with OpInfos that are not in it."""
        infos = [one for name in names for one in self._opinfos(name)]
        if rows and infos and not any(about(rows, infos)):
            yield replace(rows[0], whole=True)

    def _opinfos_of(self, name: str) -> list[tuple[str, str]]:
        ops = self._tree.overloads.get(name, ())[:1]
        return [one for op in ops for one in self._tree.opinfo_names(op)]

    def _gap(
        self, name: str, ops: Sequence[str], key: KernelKey, found: Evidence, confidence: Confidence
    ) -> Gap:
        tree, first = self._tree, ops[0]
        shown = [op for op in ops if op in tree.public_set] or [first]
        having = [one for one in found.siblings if key.name in tree.keys(one)]
        places = (
            dispatch_line(tree, first),
            *(one.location for one in found.stated),
            *(tree.natives[one].location for one in having[:_SHOWN]),
        )
        return Gap(
            tree.natives[first].location,
            f"no {key.name} kernel for {', '.join(shown)}",
            self._rule(name, key, found, having),
            places,
            first,
            name,
            f"{key.name}/{name}",
            (key.name,),
            stated=bool(found.stated),
            difficulty="hard" if key.name not in self._tree.counts else level_of(tree, first),
            size=kernel_lines(tree, first),
            confidence=confidence,
        )

    def _rule(self, name: str, key: KernelKey, found: Evidence, having: Sequence[str]) -> str:
        having_keys = " and ".join(found.having)
        words = [f"the schema declares kernels for {having_keys} and none for {key.name}"]
        if most(self._tree, found.siblings, key.name):
            words.append(
                f"{len(having)} of {len(found.siblings)} operators with the same types whose CPU"
                " kernel is in the same file have one"
            )
        if found.stated:
            words.append(_said(found.stated[0]))
        if not is_public(name):
            words += _needed(found.needs)
        return "; ".join(words)

    def _confidence(self, name: str, key: KernelKey, found: Evidence) -> Confidence | None:
        """Likely if most siblings have it; or if public or needed by a composite, stated by
        PyTorch's tests, or present on several backends while tests run on this one. None if nobody
        calls it or only a vendor's library has it."""
        called, needs = self._is_called(name), found.needs
        wanted = called or needs.composites or (found.stated and needs.gradients)
        if most(self._tree, found.siblings, key.name) or (wanted and found.stated):
            return "likely"
        if not (called or needs or found.stated):
            return None
        if len(found.having) > 1:
            return "likely" if wanted and self._is_tested(key) else "possible"
        return "possible" if found.stated or found.having[0].endswith("CPU") else None

    def _is_called(self, name: str) -> bool:
        """Whether users call it, by PyTorch's list of functions that no subclass overrides: those
        outside its API, and those that take no tensor, which can't be overridden."""
        ops = self.subjects[name]
        names = (path for op in ops for path in self._tree.names(op))
        return is_public(name) and (
            self._tree.ignored.isdisjoint(names) or any(map(self._takes_no_tensor, ops))
        )

    def _takes_no_tensor(self, op: str) -> bool:
        return all(one.base_type != "Tensor" for one in self._tree.schemas[op].arguments)

    def _is_tested(self, key: KernelKey) -> bool:
        """Whether operator tests run on a backend; meta tensors count if a layout has them."""
        return key.backend != META or self._tree.counts[key.name] >= _FEWEST


def _needed(needs: Needs) -> Iterator[str]:
    """Why an operator that nobody calls directly is wanted."""
    if needs.composites:
        yield f"needed by {few(needs.composites)}"
    if needs.library:
        yield f"called in {few(needs.library)}"
    if needs.gradients:
        yield f"for the gradient of {few(needs.gradients)}"


def _said(row: Statement) -> str:
    if "ALLOW" in row.group:
        return f"{row.group}, which lists what works, lacks it"
    return f"{row.group} lists {row.opinfo}"


def unknown(tree: Tree) -> Mapping[str, str]:
    return kernel_keys(tree).unknown


KINDS = (
    Kind(
        "kernel",
        "medium",
        "operators missing a backend kernel",
        find,
        graded=True,
        unit="lines in the kernel of another backend",
        unknown=unknown,
    ),
)
