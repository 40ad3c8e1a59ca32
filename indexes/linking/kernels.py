"""The first hop: from entries of native_functions.yaml to the definitions of their kernels.

A kernel is found by namespace and parameter types, as the C++ linker does, never by its bare name:
one row in eight has overloads of the same name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from indexes.codegen.cpp_types import (
    meta_parameters,
    native_parameters,
    normalize,
    split_parameters,
    structured_parameters,
    with_options_as_one,
    with_out_first,
)
from indexes.codegen.rows import Row
from indexes.linking.arguments import parameter_mark
from indexes.linking.facts import Known
from indexes.model.idioms import STRUCTURED, meaning_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Definition, KernelKind
from indexes.readers.cxx.lexer import exclude_each_other

_NATIVE = "at::native"
_META = regex(r"structured_(\w+)::meta$")
_INNER_LOOP = regex(r"\s*(\w+)")
_TEMPLATES = "aten/src/ATen/templates/"

Matcher = Callable[[str], str]
"""Whether parameters are those that torchgen expects: ``same``, ``out first`` or ``options`` as of
old, ``arity`` or ``no``."""


@dataclass(frozen=True, slots=True)
class KernelLink:
    """The definitions of one row's kernel, or the reason for having none."""

    kind: KernelKind
    definitions: tuple[Definition, ...]
    confidence: Confidence
    rule: str
    reason: str = ""


def wanted_names(row: Row) -> tuple[str, ...]:
    """The names under which ``link_kernel`` needs the definitions."""
    if name := wanted_name(row.symbol, row.kind_hint):
        return (name,)
    loops = row.source_function.ufunc_inner_loop.values()
    return tuple(dict.fromkeys(m.group(1) for v in loops if (m := _INNER_LOOP.match(v))))


def wanted_name(symbol: str, kind_hint: str) -> str:
    """The name that a row needs, by its symbol; empty if its inner loops name several."""
    if meta := _META.match(symbol):
        return meta.group(1)
    return "" if kind_hint == "ufunc" else symbol.rpartition("::")[2]


def is_same_kernel(row: Row, other: Row) -> bool:
    """Whether two rows of an overload have the same kernel, as ``CPU, CUDA: add_out``."""
    return (
        row.symbol == other.symbol
        and row.native is other.native
        and row.source_function is other.source_function
        and row.rule == other.rule
        and row.kind_hint == other.kind_hint != "ufunc"
    )


def link_kernel(
    row: Row, candidates: Sequence[Definition], matches: Matcher, has_sources: bool
) -> KernelLink:
    """Chooses among the definitions of the ``wanted_names`` of a row."""
    candidates = [c for c in candidates if not c.location.path.startswith(_TEMPLATES)]
    return _Choice(row, candidates, matches, has_sources).link()


@dataclass(frozen=True, slots=True)
class _Choice:
    """The choice of a row's kernel among its candidates."""

    row: Row
    candidates: Sequence[Definition]
    matches: Matcher
    has_sources: bool

    def link(self) -> KernelLink:
        if self.row.kind_hint == "ufunc":
            return self._ufunc()
        if _META.match(self.row.symbol):
            return self._structured("meta_func")
        if self.row.kind_hint == "structured":
            return self._structured("impl_func")
        return self._generated() if self.row.kind_hint == "generated" else self._plain()

    def _missing(self, candidates: Sequence[Definition] = ()) -> KernelLink:
        symbol = self.row.symbol
        if not self.has_sources:
            reason = "the installed wheel holds no kernel sources; `torchnav clone` adds them"
        elif candidates:
            places = ", ".join(sorted({c.scope or "(global)" for c in candidates})[:4])
            reason = f"no definition of {symbol} with these parameters; namesakes in {places}"
        else:
            reason = f"no definition of {symbol} in this tree"
        return KernelLink("missing", (), "exact", self.row.rule, reason)

    def _generated(self) -> KernelLink:
        rule = self.row.rule
        if self.row.symbol and not rule.startswith("autogen"):
            written = self._same(self._native())
            if written:
                rule = f"{rule}; written by hand in this tree"
                return KernelLink("composite", tuple(written), "exact", rule)
        reason = f"generated at build time by torchgen: {rule}"
        return KernelLink("generated", (), "by rule", rule, reason)

    def _structured(self, kind: str) -> KernelLink:
        """The candidates of a kind; only those with the expected parameters if there are any."""
        found = [c for c in self.candidates if c.kind == kind]
        found = (self._same(found) or found) if len(found) > 1 else found
        if not found:
            return self._missing()
        made = [c for c in found if c.macro and meaning_of(c.macro) not in STRUCTURED]
        how = _made_by(made[0]) if made else f"{found[0].macro} defines {self.row.symbol}"
        rule = f"{self.row.rule}; {how}"
        return _several("macro" if made else "structured", found, rule, bool(made))

    def _plain(self) -> KernelLink:
        native = self._native()
        chosen, by_number = self._same(native), False
        why = "in at::native with the parameter types that torchgen expects"
        if not chosen:
            chosen = [c for c in native if self.matches(c.parameters) == "out first"]
            why = "in at::native, with its out arguments first, as before 1.8"
        if not chosen:
            chosen = [c for c in native if self.matches(c.parameters) == "arity"]
            why, by_number = "the only one in at::native with this number of parameters", True
        if not chosen:
            chosen = [c for c in native if self.matches(c.parameters) == "options"]
            why, by_number = "in at::native, with its four options as one, as before 1.8", False
        if not chosen:
            return self._missing(self.candidates)
        made = [c for c in chosen if c.macro]
        composite = self.row.kind_hint == "composite"
        kind: KernelKind = "macro" if made else "composite" if composite else "plain"
        rule = f"{self.row.rule}; {why}" + (f"; {_made_by(made[0])}" if made else "")
        if by_number and len(chosen) > 1 and not _exclusive(chosen):
            return KernelLink(kind, tuple(_ordered(chosen)), "ambiguous", rule)
        return _several(kind, chosen, rule, bool(made) or by_number)

    def _ufunc(self) -> KernelLink:
        scope = f"{_NATIVE}::ufunc"
        loops = [c for c in self.candidates if c.kind == "function" and c.scope == scope]
        if self.row.key == "CUDA":
            loops = [c for c in loops if "!defined(__CUDACC__)" not in c.guard]
        if not loops:
            return self._missing()
        return KernelLink("ufunc", tuple(_ordered(loops)), "by rule", self.row.rule)

    def _native(self) -> list[Definition]:
        found = [c for c in self.candidates if c.kind == "function" and c.scope == _NATIVE]
        return [c for c in found if not c.template]

    def _same(self, candidates: Sequence[Definition]) -> list[Definition]:
        return [c for c in candidates if self.matches(c.parameters) == "same"]


def _made_by(definition: Definition) -> str:
    return f"made by the macro {definition.macro}, defined at {definition.macro_location}"


def _several(
    kind: KernelKind, chosen: Sequence[Definition], rule: str, by_rule: bool
) -> KernelLink:
    confidence: Confidence = "by rule" if by_rule else "exact"
    ordered = tuple(_ordered(chosen))
    if len(ordered) > 1:
        rule += "; several definitions, one for each build configuration"
        if not _exclusive(ordered):
            confidence = "ambiguous"
    return KernelLink(kind, ordered, confidence, rule)


def _ordered(chosen: Sequence[Definition]) -> list[Definition]:
    unique = {(c.location.path, c.location.line): c for c in chosen}
    return sorted(unique.values(), key=lambda c: (c.guard.startswith("!"), str(c.location)))


def _exclusive(chosen: Sequence[Definition]) -> bool:
    """Whether at most one of them is compiled in a build, as far as ``#if`` shows."""
    return len({c.guard for c in chosen}) == len(chosen)


def are_twins(found: Sequence[Known]) -> bool:
    """Whether the definitions are one function, with a version for each of several builds."""
    defined = [one.definition for one in found]
    alike = len({(one.scope, one.parameters) for one in defined}) == 1
    pairs = combinations((one.guard for one in defined), 2)
    return alike and len(defined) > 1 and all(exclude_each_other(*pair) for pair in pairs)


# ------------------------------------------------------------------------------ many rows

KERNEL_KINDS = frozenset(("function", "impl_func", "meta_func"))
"""The kinds of definitions that can be kernels."""
ALIAS_SCOPES = ("at", "c10", "at::native", "at::sparse", "at::sparse_csr")
"""The scopes that declare the type aliases in parameters of kernels."""

Linked = tuple[str, str, str, str, str]
"""Kind, confidence, rule, reason and numbers of the definitions, as stored."""
Kernels = dict[str, list[tuple[str, list[str]]]]
"""The kernels of each overload: dispatch key and files of the definitions."""


class Candidates:
    """The definitions that could be kernels, by name, with their numbers."""

    def __init__(self, definitions: Iterable[tuple[int, Definition]]) -> None:
        self._named: dict[str, list[Definition]] = defaultdict(list)
        self._numbers: dict[int, int] = {}
        for number, definition in definitions:
            self._named[definition.name].append(definition)
            self._numbers[id(definition)] = number

    def of(self, row: Row) -> list[Definition]:
        """The definitions with a name that the row wants."""
        return [one for name in wanted_names(row) for one in self._named.get(name, ())]

    def numbers(self, definitions: Iterable[Definition]) -> str:
        """The numbers of some, as they are kept."""
        return ",".join([str(self._numbers[id(one)]) for one in definitions])


def link_rows(
    rows: Iterable[Row], candidates: Candidates, aliases: Mapping[str, str], has_sources: bool
) -> tuple[list[Linked], Kernels]:
    """The stored link of each row, in order, and the kernels of the overloads."""
    matcher = Matchers(dict(aliases))
    links: list[Linked] = []
    kernels: Kernels = {}
    last: Row | None = None
    for row in rows:
        if last is None or not is_same_kernel(row, last):
            link = link_kernel(row, candidates.of(row), matcher.of(row), has_sources)
            numbers = candidates.numbers(link.definitions)
        last = row
        links.append((link.kind, link.confidence, link.rule, link.reason, numbers))
        paths = [d.location.path for d in link.definitions]
        kernels.setdefault(row.op, []).append((row.key, paths))
    return links, kernels


class Matchers:
    """Makes matchers, with a cache of normalized types."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._normal = cache(lambda type_: normalize(type_, aliases))
        self._types = cache(lambda text: tuple(map(self._normal, split_parameters(text))))

    def of(self, row: Row) -> Callable[[str], str]:
        """The matcher for the kernel of a row."""
        expected: list[tuple[str, ...]] = []  # most rows never ask

        def match(parameters: str) -> str:
            if not expected:
                expected.append(tuple(map(self._normal, _parameters(row))))
            found = self._match(parameters, expected[0])
            if found in ("same", "options"):
                return found
            old = with_out_first(expected[0], row.native)
            return "out first" if self._types(parameters) == old else found

        return match

    def _match(self, parameters: str, expected: tuple[str, ...]) -> str:
        types = self._types(parameters)
        if len(types) != len(expected):
            return "options" if types == with_options_as_one(expected) else "no"
        if expected == types:
            return "same"
        return "no" if any(map(_differ, types, expected)) else "arity"


def _differ(written: str, expected: str) -> bool:
    """Whether two types are known and different in kind: ``double`` and ``Tensor``."""
    marks = {parameter_mark(one).rstrip("?") for one in (written, expected)}
    return len(marks) > 1 and "" not in marks


def _parameters(row: Row) -> tuple[str, ...]:
    if row.symbol.endswith("::meta"):
        return meta_parameters(row.source_function)
    if row.kind_hint == "structured":
        return structured_parameters(row.source_function)
    return native_parameters(row.native, "_symint" in row.symbol)
