"""Every place where a new operator must be added, with a similar operator's lines there as the
model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from indexes.model.answers import Hop
from indexes.model.regex import regex
from indexes.model.schema import Schema
from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.contribution.by_name import private
from indexes.queries.contribution.drafts import Draft
from indexes.queries.contribution.evidence import Certainty, FileEvidence, rank
from indexes.queries.contribution.family import (
    Members,
    Mention,
    family_mentions,
    hand_written,
    is_of_space,
)
from indexes.queries.contribution.neighbours import Namespaces, Neighbour, base_of
from indexes.queries.contribution.precedents import Precedent
from indexes.queries.corpus import Corpus
from indexes.queries.impact.rebuild import NATIVE
from indexes.queries.index import Index

_LONGEST_SHAPE = 14
_CHAINS = 3
"""Similar operators whose chains are examined."""
_MOST_PERHAPS = 25


@dataclass(frozen=True, slots=True)
class Addition:
    """Something to add at one place."""

    title: str
    when: str
    """What makes it necessary; empty for always."""
    location: Location
    """The similar operator's entry there, or the file."""
    neighbour: str
    """The operator of the entry; empty if no similar one has any."""
    shape: tuple[str, ...]
    """The entry in the tree."""
    certainty: Certainty = "surely"
    why: str = ""
    """The evidence: how many similar operators are named there, how many commits touched it."""

    @property
    def is_test(self) -> bool:
        return is_test(self.location.path)


_OF_CODE = ("kernel", "meta", "stub", "registration", "device_kernel", "formula_function")
"""Roles of code that is an operator's own if named after it."""


_OF_KERNELS = ("kernel", "meta", "stub", "registration", "derivative", "opinfo")
_DRAFTED = (None, "CPU", "CUDA")


class _Part(NamedTuple):
    """A kind of place, in the order of work."""

    title: str
    role: str = ""
    """The role of a hop that leads there."""
    path: str = ""
    """A pattern of paths."""
    when: str = ""


_META = "_meta_registrations"
_BUILD_LIST = r"\.(bzl|bazel)$|CMakeLists\.txt$"
_MOST_LINES = 10_000
_MOST_NAMESAKES = 3
"""With more files, a name says nothing."""
_COMPOSITE = "unless it is composite, and made of operators that have one"
_SHAPED = regex(r"structured|Composite|Meta")
"""Fields of an entry that provide a Meta kernel."""
_PUBLIC = "if it is public"
_PARTS = (
    _Part("native_functions.yaml", "schema", r"native_functions\.yaml$"),
    _Part("Meta function", "meta", when="if it is structured"),
    _Part("Stub", "stub", when="if a kernel for the CPU is compiled for each capability"),
    _Part("Kernel", "kernel"),
    _Part("Registration of the stub", "registration", when="with a stub"),
    _Part("Device kernel", "device_kernel", when="with a stub"),
    _Part("Kernel", path=r"/native/.*\.(cpp|cu|mm|metal)$"),
    _Part("Header beside the kernels", path=r"/(native|cpu|cuda)/.*\.(h|cuh)$"),
    _Part("derivatives.yaml", "derivative", r"derivatives\.yaml$", _COMPOSITE),
    _Part("Function of the formula", "formula_function", when="if the formula calls a new one"),
    _Part(
        "Functions of formulas", path=r"FunctionsManual\.", when="if the formula calls a new one"
    ),
    _Part("Rules of autograd's code generation", path=r"^tools/autograd/.*\.py$"),
    _Part("Meta registration", "meta_registration", _META, "if it is not structured"),
    _Part(
        "Decomposition",
        "decomposition",
        r"^torch/_decomp/|^torch/_inductor/decomp",
        "if it can be written with other operators",
    ),
    _Part("Reference", "ref", r"^torch/_refs/", "if it is elementwise, a reduction, or asked for"),
    _Part("Primitive", path=r"^torch/_prims", when="if a reference needs it"),
    _Part(
        "Inductor lowering",
        "registration",
        r"^torch/_inductor/",
        "if torch.compile must not fall back to it",
    ),
    _Part("Batch rule", "batch_rule", r"ATen/functorch/|Batch(ing|Rules)", _COMPOSITE),
    _Part("Function of its name"),
    _Part("Autocast policy", "autocast", "autocast", "if it must run in a certain dtype"),
    _Part("C++ API", path=r"^torch/csrc/api/", when=_PUBLIC),
    _Part("Compiler and JIT", path=r"^torch/csrc/(jit|lazy|inductor)/|torchgen/aoti/"),
    _Part("Overrides", path=r"^torch/_?overrides\.py$", when=_PUBLIC),
    _Part("Names", path=r"interned_strings|NamedRegistrations|__init__\.py$|allow", when=_PUBLIC),
    _Part("Docs", "docs", r"_docs\.py$", _PUBLIC),
    _Part("Docs page", "docs", r"\.(rst|md)$", when=_PUBLIC),
    _Part("OpInfo", "opinfo", r"common_methods_invocations\.py$|/opinfo/definitions/"),
    _Part("Expected output", path=r"\.expect$", when="what `--accept` writes when the test is run"),
    _Part("Python", path=r"^torch/.*\.pyi?(\.in)?$", when=_PUBLIC),
    _Part("Code generation", path=r"^(tools|torchgen)/"),
    _Part("Build list", path=_BUILD_LIST, when="with a new file"),
    _Part("Tests", path=r"^test/|/test/|^torch/testing/"),
    _Part("Elsewhere"),
)


class Additions:
    """Finds the places for one new operator."""

    def __init__(
        self,
        index: Index,
        schema: Schema,
        near: Sequence[Neighbour],
        precedents: Sequence[Precedent],
        draft: Draft = (),
    ) -> None:
        self._index = index
        self._schema = schema
        self._near = near
        self._precedents = precedents
        self._needs_meta = _needs_meta(draft)
        self._read = _Files(index)

    def find(self) -> tuple[Addition, ...]:
        """All places in the order of work, including tests."""
        found = [self._addition(one) for one in self._ranked()]
        found += self._of_kernels(found)
        found += self._namesakes({one.location.path for one in found})
        found += self._build_lists({one.location.path for one in found})
        order = [part.title for part in _PARTS]
        surely = [one for one in found if one.certainty == "surely"]
        perhaps = [one for one in found if one.certainty == "perhaps"][:_MOST_PERHAPS]
        return tuple(sorted([*surely, *perhaps], key=lambda one: order.index(_kind(one))))

    def _ranked(self) -> Iterator[FileEvidence]:
        space, modules = self._space, self._namespaces.modules
        relatives = [
            one
            for one in self._near
            if (self._namespaces.of(one.native.name) == space)
            or not (space in modules or self._namespaces.of(one.native.name) in modules)
        ]
        family = self._near
        relatives = relatives or list(family)
        names = dict.fromkeys(base_of(one.native.name) for one in (*family, *relatives))
        plain = Members(names, self._bases, ())
        own = Members(names, self._bases, (space,)) if space else plain
        mentions = dict(
            family_mentions(
                lambda path: own if is_of_space(path, space) else plain,
                self._index.source.top,
                self._index.source.content,
            )
        )
        folders = frozenset(path.rpartition("/")[0] for path in self._index.kernel_files())
        found = rank(mentions, family, relatives, self._precedents, folders)
        yaml = self._natives[0].location.path if self._natives else NATIVE
        yield from (replace(one, certainty="surely") for one in found if one.path == yaml)
        for one in found:
            if one.path != yaml and self._index.source.holds(one.path):
                needed = self._needs_meta and _META in one.path
                yield replace(one, certainty="surely") if needed else one

    @cached_property
    def _space(self) -> str:
        return self._namespaces.of(self._schema.base)

    @cached_property
    def _natives(self) -> tuple[NativeFunction, ...]:
        return tuple(self._index.all_natives())

    @cached_property
    def _namespaces(self) -> Namespaces:
        return Namespaces(self._natives)

    @cached_property
    def _bases(self) -> frozenset[str]:
        return frozenset(base_of(one.name) for one in self._natives)

    # --------------------------------------------------------------------- one place

    def _addition(self, one: FileEvidence) -> Addition:
        model, where = self._model(one)
        hop = self._hop(one.path, model)
        part = _part(hop, one.path)
        if hop and hop.location:
            where = hop.location
        title = f"{part.title} for {hop.device}" if hop and hop.device else part.title
        shape = self._read.shape(where) if where.line else ()
        when = "" if one.path == NATIVE else part.when
        return Addition(title, when, where, model, shape, one.certainty, one.why)

    def _model(self, one: FileEvidence) -> tuple[str, Location]:
        """The most similar operator named in a file, and where."""
        if not one.named:
            return "", Location(one.path, 0)
        mention: Mention = one.named[0]
        near = (n for n in self._near if base_of(n.native.name) == mention.member)
        first = next(near, None)
        return (first.native.full_name if first else mention.member), mention.location

    def _hop(self, path: str, model: str) -> Hop | None:
        """The hop to a file in the chain of the model or of another similar operator."""
        for name in sorted(self._hops, key=lambda one: one != model):
            there = [one for one in self._hops[name] if one.location and one.location.path == path]
            if there:
                return next((one for one in there if _fits(one, path)), there[0])
        return None

    @cached_property
    def _hops(self) -> dict[str, tuple[Hop, ...]]:
        found: dict[str, tuple[Hop, ...]] = {}
        for one in self._near[:_CHAINS]:
            hops = self._index.chain(one.native.full_name, dtypes=False).hops
            found[one.native.full_name] = tuple(_own(hops, one.native.full_name))
        return found

    def _of_kernels(self, before: Sequence[Addition]) -> Iterator[Addition]:
        """The kernels, formula and OpInfo of the most similar operator with any, unless another
        place of their kind is named. Those in the draft are certain, as are files without contrary
        history."""
        known = {(_kind(one), one.location.path) for one in before}
        surely = {one.location.path for one in before if one.certainty == "surely"}
        placed = {one.title for one in before if one.certainty == "surely"}
        for name, hops in self._hops.items():
            wanted = [hop for hop in hops if hop.role in _OF_KERNELS]
            for hop in wanted:
                where, part = hop.location, _part(hop, hop.location.path if hop.location else "")
                if where is None or part.role != hop.role or (part.title, where.path) in known:
                    continue
                known.add((part.title, where.path))
                title = f"{part.title} for {hop.device}" if hop.device else part.title
                alone = not self._precedents and title not in placed
                sure = hop.device in _DRAFTED and (where.path in surely or alone)
                shape = self._read.shape(where)
                certainty: Certainty = "surely" if sure else "perhaps"
                yield Addition(title, part.when, where, name, shape, certainty, hop.rule)
            if any(hop.role == "kernel" for hop in wanted):
                return

    def _namesakes(self, known: set[str]) -> Iterator[Addition]:
        """Functions in C++ or Python that have its name already: it may take their place."""
        facts, name = self._index.facts, self._schema.name
        places = [one.definition.location for one in facts.named(name)]
        places += filter(None, [private(Corpus(facts, self._index.source.content), name)])
        found = {one.path: one for one in places if one.path not in known}
        for where in found.values() if len(found) <= _MOST_NAMESAKES else ():
            shape, why = self._read.shape(where), "the operator may take its place"
            yield Addition("Function of its name", "", where, "", shape, "perhaps", why)

    def _build_lists(self, known: set[str]) -> Iterator[Addition]:
        """The source lists with a file of similar operators only, since a new one may get such a
        file too."""
        names = {base_of(one.native.name).strip("_").split("_")[-1] for one in self._near[:_CHAINS]}
        own = [path for path in sorted(known) if _is_own_file(path, names)]
        for path in hand_written(self._index.source.top):
            if not own or path in known or not re.search(_BUILD_LIST, path):
                continue
            for number, line in enumerate(self._read.lines(path, 1, _MOST_LINES), 1):
                if file := next((one for one in own if one.rpartition("/")[2] in line), ""):
                    when = f"with a new file: {file.rpartition('/')[2]} is listed"
                    where = Location(path, number)
                    yield Addition("Build list", when, where, "", (line,), "perhaps", "")
                    break


class _Files:
    """The files of a tree, each read once."""

    def __init__(self, index: Index) -> None:
        self._source = index.source
        self._lines: dict[str, list[str]] = {}

    def shape(self, where: Location) -> tuple[str, ...]:
        """A similar operator's lines: a whole entry, or a function up to its opening brace."""
        end = min(max(where.end_line, where.line), where.line + _LONGEST_SHAPE - 1)
        if where.path.endswith((".yaml", ".py")):
            return tuple(self.lines(where.path, where.line, self._entry_end(where, end)))
        lines: list[str] = []
        for text in self.lines(where.path, where.line, where.line + _LONGEST_SHAPE - 1):
            lines.append(text)
            if text.rstrip().endswith(("{", ";")) or (len(lines) == 1 and end == where.line):
                break
        return tuple(lines)

    def _entry_end(self, where: Location, end: int) -> int:
        """The last line of a YAML entry."""
        if not where.path.endswith(".yaml") or where.end_line > where.line:
            return end
        for number in range(where.line + 1, where.line + 40):
            (text,) = self.lines(where.path, number, number) or [""]
            if not text.strip() or text.startswith("- "):
                return number - 1
        return end

    def lines(self, path: str, start: int, end: int) -> list[str]:
        if path not in self._lines:
            self._lines[path] = self._source.text(path).splitlines()
        return self._lines[path][start - 1 : end]


def _kind(one: Addition) -> str:
    return one.title.split(" for ")[0]


def _part(hop: Hop | None, path: str) -> _Part:
    """The kind of a place, by the hop that leads there and by its path."""
    by_path = [part for part in _PARTS if part.path and re.search(part.path, path)]
    by_role = [part for part in _PARTS if hop and part.role == hop.role]
    if hop and hop.role == "registration" and "/native/" not in path:
        by_role = [part for part in by_role if part in by_path]
    both = (part for part in by_role if part in by_path)
    return next(both, next(iter([*by_role, *by_path]), _PARTS[-1]))


def _fits(hop: Hop, path: str) -> bool:
    return re.search(_part(hop, path).path or "$^", path) is not None


def _is_own_file(path: str, names: set[str]) -> bool:
    """Whether a source is named after an operator: ``ActivationMishKernel.cu``."""
    name = path.rpartition("/")[2].partition(".")[0].lower()
    return "/native/" in path and any(len(one) > 2 and one.lower() in name for one in names)


def _is_of_another(hop: Hop, name: str) -> bool:
    """Whether a hop is another operator's entry or formula, as a foreach operator's formula is."""
    if hop.role == "derivative" and hop.parent == 0:
        return base_of(hop.symbol.partition(".")[0]) != base_of(name.partition(".")[0])
    return hop.role == "schema" and hop.symbol != name


def _needs_meta(draft: Draft) -> bool:
    """Whether an entry has only kernels for devices, so that FakeTensor needs one for Meta."""
    return any("  dispatch:" in one.lines and not _SHAPED.search(str(one.lines)) for one in draft)


def _own(hops: Sequence[Hop], name: str) -> Iterator[Hop]:
    """The hops of an operator alone, without those below other operators and shared functions."""
    word = name.partition(".")[0].strip("_").rpartition("_")[2]
    roles = {part.role for part in _PARTS}
    others: set[int] = set()
    for hop in hops:
        if hop.parent in others or _is_of_another(hop, name):
            others.add(hop.id)
        elif word in hop.symbol if hop.role in _OF_CODE else hop.role in roles:
            yield hop


def is_test(path: str) -> bool:
    """Whether a file has tests, rather than expected results."""
    return path.startswith(("test/", "functorch/test/")) and not path.endswith(".expect")
