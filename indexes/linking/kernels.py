"""First hop: from a row of native_functions.yaml to the definition of its kernel.

A kernel is found by namespace and parameter types, as the linker finds it, never by
its bare name: one row in eight has same-named overloads, and namesakes are common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexes.codegen.rows import Row
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Definition, KernelKind
from indexes.readers.cxx.idioms import STRUCTURED, meaning_of

_NATIVE = "at::native"
META = "structured_{}::meta"
"""What the meta function of a structured kernel is called."""
_META = regex(r"structured_(\w+)::meta$")
_INNER_LOOP = regex(r"\s*(\w+)")
_TEMPLATES = "aten/src/ATen/templates/"

Matcher = Callable[[str], str]
"""Parameter text -> ``same``, ``arity`` or ``no``, against the types that torchgen expects."""


@dataclass(frozen=True, slots=True)
class KernelLink:
    """The definitions of one row's kernel, or the reason why there are none."""

    kind: KernelKind
    definitions: tuple[Definition, ...]
    confidence: Confidence
    rule: str
    reason: str = ""


def wanted_names(row: Row) -> tuple[str, ...]:
    """Names of the definitions that ``link_kernel`` wants to choose from."""
    if name := wanted_name(row.symbol, row.kind_hint):
        return (name,)
    loops = row.source_function.ufunc_inner_loop.values()
    return tuple(dict.fromkeys(m.group(1) for v in loops if (m := _INNER_LOOP.match(v))))


def wanted_name(symbol: str, kind_hint: str) -> str:
    """The one name that a row wants, by its symbol alone; empty where its loops name several."""
    if meta := _META.match(symbol):
        return meta.group(1)
    return "" if kind_hint == "ufunc" else symbol.rpartition("::")[2]


def is_same_kernel(row: Row, other: Row) -> bool:
    """Whether two rows of an overload are linked alike: ``CPU, CUDA: add_out`` names one kernel."""
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
    """Chooses among the definitions that bear one of ``wanted_names``."""
    candidates = [c for c in candidates if not c.location.path.startswith(_TEMPLATES)]
    if row.kind_hint == "ufunc":
        return _ufunc(row, candidates, has_sources)
    if _META.match(row.symbol):
        metas = [c for c in candidates if c.kind == "meta_func"]
        return _structured(row, _fitting(metas, matches), has_sources)
    if row.kind_hint == "structured":
        kernels = [c for c in candidates if c.kind == "impl_func"]
        return _structured(row, _fitting(kernels, matches), has_sources)
    if row.kind_hint == "generated":
        return _generated(row, candidates, matches)
    return _plain(row, candidates, matches, has_sources)


def _missing(row: Row, candidates: Sequence[Definition], has_sources: bool) -> KernelLink:
    if not has_sources:
        reason = "the installed wheel holds no kernel sources; `torchnav clone` adds them"
    elif candidates:
        places = ", ".join(sorted({f"{c.scope or '(global)'}" for c in candidates})[:4])
        reason = f"no definition of {row.symbol} with these parameters; namesakes in {places}"
    else:
        reason = f"no definition of {row.symbol} in this tree"
    return KernelLink("missing", (), "exact", row.rule, reason)


def _generated(row: Row, candidates: Sequence[Definition], matches: Matcher) -> KernelLink:
    if row.symbol and not row.rule.startswith("autogen"):
        written = _same(_native(candidates), matches)
        if written:
            rule = f"{row.rule}; written by hand in this tree"
            return KernelLink("composite", tuple(written), "exact", rule)
    reason = f"generated at build time by torchgen: {row.rule}"
    return KernelLink("generated", (), "by rule", row.rule, reason)


def _structured(row: Row, candidates: Sequence[Definition], has_sources: bool) -> KernelLink:
    if not candidates:
        return _missing(row, (), has_sources)
    made = [c for c in candidates if c.macro and meaning_of(c.macro) not in STRUCTURED]
    rule = f"{row.rule}; {_head(candidates[0])} defines {row.symbol}"
    if made:
        rule = f"{row.rule}; {_made_by(made[0])}"
    return _several("macro" if made else "structured", candidates, rule, bool(made))


def _fitting(candidates: Sequence[Definition], matches: Matcher) -> Sequence[Definition]:
    """Those with the expected parameters, where there are several and some have them."""
    return _same(candidates, matches) or candidates if len(candidates) > 1 else candidates


def _head(definition: Definition) -> str:
    return definition.macro or "TORCH_IMPL_FUNC"


def _made_by(definition: Definition) -> str:
    return f"made by the macro {definition.macro}, defined at {definition.macro_location}"


def _plain(
    row: Row, candidates: Sequence[Definition], matches: Matcher, has_sources: bool
) -> KernelLink:
    native = _native(candidates)
    chosen = _same(native, matches)
    why = "in at::native with the parameter types that torchgen expects"
    if not chosen:
        chosen = [c for c in native if matches(c.parameters) == "arity"]
        why = "the only one in at::native with this number of parameters"
    if not chosen:
        return _missing(row, candidates, has_sources)
    made = [c for c in chosen if c.macro]
    kind: KernelKind = "macro" if made else "composite" if row.kind_hint == "composite" else "plain"
    rule = f"{row.rule}; {why}" + (f"; {_made_by(made[0])}" if made else "")
    if why.startswith("the only") and len(chosen) > 1 and not _exclusive(chosen):
        return KernelLink(kind, tuple(_ordered(chosen)), "ambiguous", rule)
    return _several(kind, chosen, rule, bool(made) or why.startswith("the only"))


def _native(candidates: Sequence[Definition]) -> list[Definition]:
    return [c for c in candidates if c.kind == "function" and c.scope == _NATIVE and not c.template]


def _same(candidates: Sequence[Definition], matches: Matcher) -> list[Definition]:
    return [c for c in candidates if matches(c.parameters) == "same"]


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
    """Whether a build compiles one of them at most, as far as ``#if`` tells."""
    return len({c.guard for c in chosen}) == len(chosen)


def _ufunc(row: Row, candidates: Sequence[Definition], has_sources: bool) -> KernelLink:
    loops = [c for c in candidates if c.kind == "function" and c.scope == f"{_NATIVE}::ufunc"]
    if row.key == "CUDA":
        loops = [c for c in loops if "!defined(__CUDACC__)" not in c.guard]
    if not loops:
        return _missing(row, (), has_sources)
    ordered = tuple(_ordered(loops))
    return KernelLink("ufunc", ordered, "by rule", row.rule)
