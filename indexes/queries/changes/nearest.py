"""The operator with a kernel for a key that is most similar to one without, as the model.

Kernels are similar by files, stubs and types of functions; Python registrations by name and schema
(``python/nearest.py``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from indexes.linking.graph import DEVICES, device_of_key
from indexes.model.files import unpack
from indexes.model.lines import length_in_common
from indexes.model.schema import SchemaKind
from indexes.queries.changes.kernel_files import Home, KernelFiles

SOURCES = (".cpp", ".cu", ".mm")
_COMPUTING = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_VOTERS = 8
"""Similar operators that vote, with ties."""
_NEAR = 0.6
"""Share of the best similarity below which none votes."""
_NAME = 4.0
_WORD = 2.0
_AFFIX = 0.7
_SHARED_WORD = 0.5
_LONG_PREFIX = 1.5
_SAME_FILE = 2.0
_SAME_DEVICE_FILE = 2.2
_SAME_SECOND_FILE = 1.0
"""One file has the loops of many operators for the CPU, of few for CUDA: GcdLcmKernel.cu."""
_SAME_STUB_TYPE = 2.0
_SAME_OVERLOAD = 2.0
_SAME_TYPES = 1.5
_SAME_TESTS = 2.5
_SAME_BASE_CLASS = 0.5
_BOTH_BACKWARD = 2.0
_STUB_THERE = 1.0


class Near(NamedTuple):
    """An operator with a kernel for the key, and its similarity."""

    base: str
    likeness: float
    why: str
    homes: list[Home]


class FileVote(NamedTuple):
    """A candidate file, with the operator there that speaks for it."""

    path: str
    near: Near


class Nearest:
    """Similarities of one tree's operators, by source."""

    def __init__(self, homes: KernelFiles) -> None:
        self.homes = homes
        self._tree = homes.tree
        self.files = lru_cache(None)(self._files)
        self.layout_files = lru_cache(None)(self._layout_files)
        self.device_files = lru_cache(None)(self._device_files)
        self.stub_types = lru_cache(None)(self._stub_types)
        self._types = lru_cache(None)(self._types_of)
        self._overloads = lru_cache(None)(self._overloads_of)
        self._bases = lru_cache(None)(self._bases_of)
        self._tested_as = lru_cache(None)(self._tested_as_what)

    def of(self, base: str, key: str) -> list[FileVote]:
        """The files with kernels of similar operators for a key, likeliest first, each with the
        most similar one; the operator itself does not count."""
        having = self.homes.of_key(key)
        near = [self._near(base, one, homes, key) for one, homes in having.items() if one != base]
        near.sort(key=lambda one: (-one.likeness, self._takes_others(base, one.base), one.base))
        if not near:
            return []
        votes: defaultdict[str, float] = defaultdict(float)
        first: dict[str, Near] = {}
        least = near[:_VOTERS][-1].likeness
        for one in (one for one in near if one.likeness >= least):
            for path in self._voted(base, one, key):
                votes[path] += max(0.0, one.likeness - near[0].likeness * _NEAR)
                first.setdefault(path, one)
        self._add_namesakes(base, key, votes)
        order = sorted(votes, key=lambda path: (-votes[path], path))
        return [FileVote(path, first.get(path, near[0])) for path in order]

    def _takes_others(self, base: str, other: str) -> bool:
        """Whether a kernel takes other types, so that its head is no draft, as like as it is."""
        return not self._types(base) & self._types(other)

    def _voted(self, base: str, near: Near, key: str) -> set[str]:
        """The files that an operator speaks for: its own for the key; or the one where this
        operator's shared kernel is."""
        paths = {home.path for home in near.homes}
        among = paths & self.homes.shared_files(key)
        own = self.files(base) if among & self.files(near.base) else frozenset[str]()
        return (paths - among) | own

    def _add_namesakes(self, base: str, key: str, votes: defaultdict[str, float]) -> None:
        """Adds files named after the operator's: GridSampler.mm for GridSampler.cpp."""
        stems = {stem(path) for path in self.files(base) | self.device_files(base)} - {""}
        most = max(votes.values(), default=0.0)
        plain = base.replace("_", "")
        for path in self.homes.files(key) - self.homes.shared_files(key):
            if path.endswith(SOURCES) and (stem(path) in stems or stem(path).strip("q") == plain):
                votes[path] += _NEAR * most + 1

    # ---------------------------------------------------------------------- likeness

    def _near(self, base: str, other: str, homes: list[Home], key: str) -> Near:
        reasons = [*self._by_name(base, other), *self._by_code(base, other, homes, key)]
        texts = [why for _, why in reasons if why]
        likeness = round(sum(weight for weight, _ in reasons), 3)  # as like, in whatever order
        return Near(other, likeness, "; ".join(texts), homes)

    def _by_name(self, base: str, other: str) -> Iterator[tuple[float, str]]:
        mine, theirs = _words(base), _words(other)
        if mine == theirs:
            yield _NAME, f"the same name but for {base.removeprefix(other) or 'its ending'}"
            return
        same = length_in_common(mine, theirs)
        if same:
            yield min(_NAME, _WORD * same), f"its name begins with {'_'.join(mine[:same])}"
        letters = length_in_common(base, other)
        if letters >= 5 and letters >= min(len(base), len(other)) / 2:
            yield _LONG_PREFIX, ""
        if mine[-1:] == theirs[-1:]:
            yield _AFFIX, ""
        if {*mine} & {*theirs}:
            yield _SHARED_WORD, ""

    def _by_files(self, base: str, other: str, key: str) -> Iterator[tuple[float, str]]:
        if files := self.files(base) & self.files(other):
            yield _SAME_FILE, f"its kernel for the CPU is in {_short(min(files))} too"
        if files := self.layout_files(base, key) & self.layout_files(other, key):
            yield _SAME_FILE, f"so is that for the layout, in {_short(min(files))}"
        if files := self.device_files(base) & self.device_files(other):
            yield _SAME_DEVICE_FILE, f"so is what runs on a device, in {_short(min(files))}"
        if len(own := files - self.files(base)) > 1:
            yield _SAME_SECOND_FILE, f"and in {_short(max(own))}"

    def _by_code(
        self, base: str, other: str, homes: list[Home], key: str
    ) -> Iterator[tuple[float, str]]:
        yield from self._by_files(base, other, key)
        if kinds := self.stub_types(base) & self.stub_types(other):
            yield _SAME_STUB_TYPE, f"both run through a stub of the type {min(kinds)}"
        if names := self._overloads(base) & self._overloads(other):
            yield _SAME_OVERLOAD, f"both have an overload {min(names)}"
        if not self._takes_others(base, other):
            yield _SAME_TYPES, "it takes the same types"
        if classes := self._tested_as(base) & self._tested_as(other):
            yield _SAME_TESTS, f"the OpInfo of both is a {min(classes)}"
        if self._bases(base) & self._bases(other):
            yield _SAME_BASE_CLASS, ""
        if ("backward" in base) == ("backward" in other):
            yield _BOTH_BACKWARD, ""
        if self.stub_types(base) and any(home.entry for home in homes):
            yield _STUB_THERE, "its kernel for the key is registered on its stub"

    # ------------------------------------------------------------------- of an operator

    def _files(self, base: str) -> frozenset[str]:
        """The files of its CPU kernels, or of those for every device."""
        return frozenset(d.location.path for d in self.homes.kernels(base, _COMPUTING))

    def _layout_files(self, base: str, key: str) -> frozenset[str]:
        layout = key.removesuffix(device_of_key(key))
        keys = [f"{layout}{one}" for one in DEVICES if layout and f"{layout}{one}" != key]
        return frozenset(d.location.path for d in self.homes.kernels(base, keys))

    def _device_files(self, base: str) -> frozenset[str]:
        """The files of its stub registrations and CUDA kernels."""
        found = {d.location.path for d in self.homes.kernels(base, ("CUDA",))}
        for stub in self._first_stubs(base, ("CPU", "CUDA")):
            entries = self._tree.index.facts.registered_on(stub)
            found |= {e.location.path for e in entries if e.device in ("CPU", "CUDA")}
        return frozenset(found)

    def _stub_types(self, base: str) -> frozenset[str]:
        """The function types of its stubs: ``structured_binary_fn``."""
        uses = (
            use
            for stub in self._first_stubs(base, ("CPU",))
            for use in self._tree.index.facts.stub_uses(stub.rpartition("::")[2])
        )
        return frozenset(u.arguments.split(",")[0] for u in uses if u.what == "declared")

    def _first_stubs(self, base: str, keys: tuple[str, ...]) -> list[str]:
        kernels = self.homes.kernels(base, keys)
        return [stub for one in kernels for stub in self.homes.stubs(one)[:1]]

    def _types_of(self, base: str) -> frozenset[tuple[str, ...]]:
        schemas = (self._tree.schemas[n.full_name] for n in self.homes.groups.get(base, ()))
        return frozenset(
            tuple(a.type.rstrip("?") for a in one.arguments)
            for one in schemas
            if one.kind is not SchemaKind.OUT
        )

    def _overloads_of(self, base: str) -> frozenset[str]:
        """Overload names that describe the computation, ``dim_IntList``; not types or out."""
        names = (native.overload for native in self.homes.groups.get(base, ()))
        return frozenset(name for name in names if "_" in name.removesuffix("_out"))

    def _tested_as_what(self, base: str) -> frozenset[str]:
        """The classes of its OpInfos, other than the plain one: ReductionOpInfo."""
        ops = [native.full_name for native in self.homes.groups.get(base, ())[:1]]
        found = (fact for op in ops for _, fact in self._tree.opinfos(op))
        return frozenset(unpack(one.detail).get("cls", "") for one in found) - {"", "OpInfo"}

    def _bases_of(self, base: str) -> frozenset[str]:
        inherited = (n.structured_inherits for n in self.homes.groups.get(base, ()))
        return frozenset(filter(None, inherited))


def _words(base: str) -> list[str]:
    """The words of a name, without those for variants."""
    parts = (part for part in base.split("_") if part)
    return [part for part in parts if part not in ("backward", "forward", "out")]


_AFFIXES = re.compile(
    r"(?:Kernels?|Ops?|Native|Tensor|Sparse|Csr|Nested|Quantized|CUDA|MPS|Math)", re.ASCII
)


def stem(path: str) -> str:
    """``renorm`` for cuda/RenormKernel.cu."""
    name = path.rpartition("/")[2].partition(".")[0]
    return _AFFIXES.sub("", name).replace("_", "").lower()


def _short(path: str) -> str:
    return "/".join(path.split("/")[-2:])
