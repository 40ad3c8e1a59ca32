"""The entry point of plans: from a gap, or an operator and a kind of change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexes.model.errors import NotFound, UsageError
from indexes.queries.changes.diffs import joined
from indexes.queries.changes.model import Arrival, Change, Neighbour, Parts, Plan, TouchedFile
from indexes.queries.changes.planners import OF_NAMES, PLANNERS, plain
from indexes.queries.changes.python.docs import FILE
from indexes.queries.changes.related import KINDS as AROUND
from indexes.queries.changes.related import related
from indexes.queries.changes.test_runs import in_tiers
from indexes.queries.contribution.guides import Guides
from indexes.queries.contribution.reviewers import Reviewers
from indexes.queries.contribution.steps import MAX_SHOWN, Step, folded
from indexes.queries.gaps.find import find_gap, find_gaps, with_owners
from indexes.queries.gaps.kinds import KINDS
from indexes.queries.gaps.model import Gap, GapFilter
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from indexes.queries.naming.keys import known_key
from indexes.queries.naming.near import near
from indexes.queries.python_names.public import public_names
from indexes.source.git_history import History

_MOST = 2
"""Most commits shown for each model."""


_KINDS = tuple(dict.fromkeys([*(kind.name for kind in KINDS), *PLANNERS]))
"""Every kind of change that can be asked for."""


class Changes:
    """Plans changes of one tree, with caches."""

    def __init__(self, index: Index, histories: int = 1) -> None:
        """``histories``: for how many models git is asked."""
        self._index = index
        self.tree = Tree(index)
        self._history = History(index.source)
        self._histories = histories
        self._guides = Guides(index.source)
        self._reviewers = Reviewers(index.source)

    def of_id(self, wanted: str) -> Plan | None:
        """The plan of the gap with an id, ``kernel/MPS/gcd``, or of the change with such an id;
        None if it is no id.

        Raises NotFound, with similar ids, if this tree has nothing of that id.
        """
        kind, slash, rest = wanted.partition("/")
        if not slash or kind not in _KINDS:
            return None
        if gap := find_gap(self._index, wanted, self.tree):
            return self.plan(change_of(gap))
        key, op = self._key_and_op(rest)
        if op is None and key and (found := self._of_another_library(rest)):
            return self._of_library(found, kind, key)
        if op is None:
            ids = [gap.id for gap in self._gaps(kind)]
            raise NotFound(f"no gap of this tree has the id {wanted}", near(wanted, ids, 5))
        return self.plan(self._change(kind, key, op))

    def of_ops(self, names: Sequence[str], wanted: str) -> Plan:
        """The plans of one change for several operators, as ``of_op``."""
        plans = [self.of_op(name, wanted) for name in names]
        if len(plans) == 1:
            return plans[0]
        change = plans[0].change
        together = ", ".join(dict.fromkeys(plan.change.name for plan in plans))
        open_ones = [plan for plan in plans if plan.there is None or plan.steps]
        parts = Parts(
            tuple(dict.fromkeys(step for plan in open_ones for step in plan.steps)),
            tuple(one for plan in open_ones for one in plan.neighbours),
            tuple(dict.fromkeys(test for plan in open_ones for test in plan.tests)),
            tuple(dict.fromkeys(line for plan in plans for line in plan.missing)),
            there=None if any(plan.there is None for plan in plans) else plans[0].there,
        )
        title = _title(change.kind, change.key, together)
        made = self._plan(Change(change.kind, together, title, change.key), parts)
        beside = {one.location.path: one for plan in open_ones for one in plan.related}
        named = {step.location.path for step in parts.steps}
        rest = tuple(one for path, one in beside.items() if path not in named)
        return replace(made, related=rest)

    def of_op(self, name: str, wanted: str) -> Plan:
        """The plan of a change of one operator: ``wanted`` is a kind of gap or a dispatch key.

        Raises NotFound for an unknown operator, UsageError for an unknown change.
        """
        kind, key = self._kind_and_key(wanted)
        if kind == "docs" and (place := FILE.fullmatch(name)) and self.tree.text(place["path"]):
            return self.plan(Change(kind, name, _title(kind, "", name)))
        if kind == "docs" and self._index.resolve(name).kind == "none" and self._documented(name):
            return self.plan(Change(kind, name, _title(kind, "", name)))
        match = self._index.meant(name)
        if kind in OF_NAMES and match.kind == "python" and match.hits:
            op, bare = next(iter(match.overloads), None), "." not in name
            title = _title(kind, "", match.text)
            return self.plan(Change(kind, match.text, title, op=op, bare=bare))
        if not match.overloads and kind == "docs" and self._documented(name):
            return self.plan(Change(kind, name, _title(kind, "", name)))
        if not match.overloads:
            raise NotFound(f"{name} is not an operator", match.suggestions)
        if match.overloads[0] not in self.tree.natives:
            return self._of_library(match.overloads[0], kind, key)
        op = self._functional(self._plain(match.overloads))
        name = self.tree.natives[op].name
        gaps = self._gaps(kind) if _is_found(kind) and kind != "docs" else ()
        mine = [gap for gap in gaps if gap.name == name and (not key or key in gap.keys)]
        known = with_owners(self._index, mine[:1])
        change = change_of(known[0]) if known else self._change(kind, key, op)
        return self.plan(replace(change, key=key or change.key))

    def _of_library(self, name: str, kind: str, key: str) -> Plan:
        """The plan of a kernel of an operator that a TORCH_LIBRARY block defines."""
        if not key:
            text = f"{name} is not in native_functions.yaml: of it only a kernel can be planned"
            raise UsageError(f"{text}; `torchnav contribute {name}` lists its places")
        return self.plan(Change(kind, name, _title(kind, key, name), key))

    def _of_another_library(self, rest: str) -> str:
        """The operator at the end of an id, if a TORCH_LIBRARY block defines it; else empty."""
        found = self._index.resolve(rest.rpartition("/")[2]).overloads
        return next((one for one in found if one not in self.tree.natives), "")

    def _documented(self, name: str) -> bool:
        """Whether a name without a definition here has a docstring or page."""
        return bool(public_names(self.tree.index.facts.python, name.rpartition(".")[2]))

    def plan(self, change: Change) -> Plan:
        """The change with everything it requires."""
        parts = PLANNERS.get(change.kind, plain)(self.tree, change)
        change = replace(change, title=parts.title or change.title)
        first, others = parts.neighbours[: self._histories], parts.neighbours[self._histories :]
        neighbours = (*map(self._with_arrivals, first), *others)
        steps = joined(self.tree, parts.steps)
        return self._plan(change, replace(parts, steps=steps, neighbours=neighbours))

    def _plan(self, change: Change, parts: Parts) -> Plan:
        paths = list(dict.fromkeys(s.location.path for s in parts.steps if s.touches))
        return Plan(
            self._index.info,
            change,
            parts.there,
            parts.neighbours,
            parts.steps,
            in_tiers(parts.tests),
            self._guides.commands_for(paths, docs=change.kind.startswith("docs")),
            self._reviewers.for_change(paths),
            parts.missing,
            self._related(change, parts),
        )

    def _with_arrivals(self, neighbour: Neighbour) -> Neighbour:
        """The model with the commits that added its word to its file."""
        if neighbour.row is None or not neighbour.word:
            return neighbour
        found = self._history.bringing(neighbour.word, neighbour.row.path, _MOST)
        arrivals = tuple(
            Arrival(change, tuple(TouchedFile(*file) for file in self._history.files(change)))
            for change in found.changes
        )
        return replace(neighbour, arrivals=arrivals, history_note=found.note)

    def _related(self, change: Change, parts: Parts) -> tuple[Step, ...]:
        if change.op is None or change.kind not in AROUND or parts.there:
            return ()
        own = {step.location.path for step in parts.steps}
        found = related(self.tree, change.op, own)
        return tuple(folded(found, max(0, MAX_SHOWN - len(own))))

    def _gaps(self, kind: str) -> tuple[Gap, ...]:
        """All gaps of a kind, without owners."""
        return find_gaps(self._index, GapFilter((kind,)), owners=False, tree=self.tree).gaps

    # -------------------------------------------------------------------------- words

    def _change(self, kind: str, key: str, op: str) -> Change:
        name = self.tree.natives[op].name
        return Change(kind, name, _title(kind, key, name), key, op)

    def _kind_and_key(self, word: str) -> tuple[str, str]:
        """The meaning of ``--for WORD``: a kind, or a kernel's dispatch key."""
        if word in _KINDS:
            return word, ""
        plain_word = word.replace("-", "")
        for one in (plain_word, f"{plain_word}CPU", f"{plain_word}TensorCPU"):
            try:
                return "kernel", known_key(one, self._index)
            except UsageError:
                continue
        raise UsageError(f"no change is called {word!r}: a dispatch key, or {', '.join(_KINDS)}")

    def _key_and_op(self, rest: str) -> tuple[str, str | None]:
        key, _, name = rest.rpartition("/")
        overloads = self.tree.overloads.get(name, [])
        op = name if name in self.tree.natives else next(iter(overloads), None)
        if key:
            key = known_key(key, self._index)
        return key, self._functional(op) if op else None

    def _plain(self, overloads: Sequence[str]) -> str:
        """The first overload that computes: one with named dimensions calls another."""
        named = {
            o for o in overloads for a in self.tree.schemas[o].arguments if "Dimname" in a.type
        }
        return next((one for one in overloads if one not in named), overloads[0])

    def _functional(self, op: str) -> str:
        name = self.tree.natives[op].name
        return op if self.tree.natives[op].overload else self.tree.overloads[name][0]


def change_of(gap: Gap) -> Change:
    """The change that closes a gap."""
    key = gap.keys[0] if gap.kind == "kernel" and gap.keys else ""
    return Change(gap.kind, gap.name, gap.what, key, gap.op, gap)


def _is_found(kind: str) -> bool:
    return any(one.name == kind for one in KINDS)


def _title(kind: str, key: str, name: str) -> str:
    """The result in words: ``error message of gcd``, ``MPS kernel of gcd``."""
    what = kind.replace("-", " ")
    return f"{key} {what} of {name}" if key else f"{what} of {name}"
