"""Operators visible to tracing without a decomposition, a meta kernel or a lowering."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from indexes.model.files import unpack
from indexes.model.regex import regex
from indexes.model.schema import SchemaKind
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Difficulty, Gap, Kind
from indexes.queries.gaps.statements import expected_failures
from indexes.queries.gaps.tree import Tree

EXPECTED = "test/expect/HasDecompTest.test_has_decomposition.expect"
LOWERINGS = "torch/_inductor/lowering.py"
_PROXY = "test/test_proxy_tensor.py"


def lacks_expected(tree: Tree) -> str:
    """Which operators need a decomposition is computed by a test of PyTorch."""
    return tree.lacks(EXPECTED)


def find_decompositions(tree: Tree) -> Iterator[Gap]:
    """Public operators for ordinary tensors in HasDecompTest's expect file, unless they are core
    (and stay in traces) or impossible by Inductor's list. Where out= variants alone are listed, the
    operator has one, or is composite."""
    impossible = {op for op, _, section in _fallbacks(tree) if section and section not in _LEVELS}
    listed = {
        line.strip().removeprefix("aten::"): Location(EXPECTED, number)
        for number, line in enumerate(tree.text(EXPECTED).splitlines(), 1)
    }
    public = [op for op in tree.public if op in listed and tree.is_dense(op)]
    wanted = tree.by_name(op for op in public if _wants(tree, op, impossible))
    for ops in wanted:
        yield _decomposition(tree, ops, tuple(listed[op] for op in ops))
    taken = {tree.natives[ops[0]].name for ops in wanted}
    for ops in tree.by_name(op for op in listed if op in tree.natives):
        is_out = all(tree.schemas[op].kind is SchemaKind.OUT for op in ops)
        name = tree.natives[ops[0]].name
        if name not in taken and not is_out and not _is_decomposed(tree, ops[0]):
            gap = _decomposition(tree, ops, tuple(listed[op] for op in ops))
            yield replace(gap, confidence="possible")


def _wants(tree: Tree, op: str, impossible: set[str]) -> bool:
    native = tree.natives[op]
    return (
        tree.returns_tensor(op)
        and not tree.is_random_or_dynamic(op)
        and "core" not in native.tags
        and not _is_decomposed(tree, op)
        and bool(tree.opinfos(op))
        and not any(a.annotation for a in tree.schemas[op].arguments)
        and not {op, native.name} & impossible
        and not _is_lowered(tree, op)
    )


def _is_lowered(tree: Tree, op: str) -> bool:
    rows = tree.registered(op, "lowering")
    return any("fallback" not in unpack(fact.detail).get("note", "") for _, fact in rows)


def _is_decomposed(tree: Tree, op: str) -> bool:
    """Whether torch._decomp's own table has it."""
    rows = tree.registered(op, "decomposition")
    return any("registry" not in unpack(fact.detail) for _, fact in rows)


def _decomposition(tree: Tree, ops: list[str], listed: tuple[Location, ...]) -> Gap:
    place = tree.natives[ops[0]].location
    what = f"no decomposition of {', '.join(ops)}"
    rule = "HasDecompTest lists it among the overloads that need a decomposition and lack one;"
    rule += " it is not tagged core"
    return Gap(place, what, rule, (*listed, place), ops[0], stated=True)


# ------------------------------------------------------------------------------- meta


def lacks_meta(tree: Tree) -> str:
    return tree.lacks("torch/_meta_registrations.py") or tree.lacks_keys()


def find_meta(tree: Tree) -> Iterator[Gap]:
    """Public operators with CPU and CUDA kernels but nothing for Meta."""
    notes = _noted(tree)
    public = [op for op in tree.public if tree.is_dense(op) and tree.returns_tensor(op)]
    wanted = [op for op in public if tree.opinfos(op)]
    wanted += [op for op in notes if op in tree.natives and op not in tree.public_set]
    listed = tree.by_name(op for op in wanted if _lacks_meta_kernel(tree, op))
    for ops in listed:
        yield _meta(tree, ops, [place for op in ops for place in notes.get(op, [])])
    for ops in tree.others(tree.natives[ops[0]].name for ops in listed):
        if all(_lacks_meta_kernel(tree, op) for op in ops) and tree.keys(ops[0]) & _DEVICES:
            yield replace(_meta(tree, ops, []), confidence="possible")


_DEVICES = frozenset({"CPU", "CUDA"})


def _lacks_meta_kernel(tree: Tree, op: str) -> bool:
    tags = set(tree.natives[op].tags)
    if tags & {"data_dependent_output", "dynamic_output_shape"}:
        return False  # no meta kernel can know the shape
    if _is_decomposed(tree, op):
        return False
    keys = {*tree.kernels[op], *tree.library_keys(op)}
    if any(key == "Meta" or key.startswith("Composite") for key in keys):
        return False
    kinds = ("meta_registration", "fake_impl", "py_impl")
    return not any(tree.registered(op, kind) for kind in kinds)


_NO_META = regex(r"aten[.:]+([\w.]+)\s*-\s*couldn't find symbolic meta")


def _noted(tree: Tree) -> dict[str, list[Location]]:
    """Operators whose tracing tests are expected to fail without a meta kernel."""
    found: dict[str, list[Location]] = {}
    for one in expected_failures(tree.text(_PROXY), _PROXY):
        if match := _NO_META.search(one.comment):
            found.setdefault(match[1].removesuffix(".default"), []).append(one.location)
    return found


def _meta(tree: Tree, ops: list[str], notes: list[Location]) -> Gap:
    place = tree.natives[ops[0]].location
    what = f"no Meta kernel for {', '.join(ops)}"
    have = " and ".join(sorted(tree.keys(ops[0]) & {"CPU", "CUDA"}))
    rule = f"kernels for {have}, no structured delegate, no register_meta, no decomposition"
    if notes:
        rule += "; test_proxy_tensor expects it to fail: couldn't find symbolic meta function"
    return Gap(place, what, rule, (place, *notes), ops[0], keys=("Meta",), stated=bool(notes))


# -------------------------------------------------------------------------- lowerings

# what is easy for those who know Inductor is no first change
_LEVELS: dict[str, Difficulty] = {"Easy": "medium", "Medium": "medium", "Difficult": "hard"}
_SECTION = regex(r"^# \d\) (\w+)", re.MULTILINE)
_FALLBACK = regex(r"^make_fallback\(aten\.(\w+(?:\.\w+)?)", re.MULTILINE)


def lacks_lowerings(tree: Tree) -> str:
    """Lowerings are in one file, with fallbacks under headings by difficulty from 2.1 on."""
    return tree.lacks(LOWERINGS)


def _fallbacks(tree: Tree) -> list[tuple[str, int, str]]:
    """(operator, line, heading) of every make_fallback; the heading may be empty."""
    text = tree.text(LOWERINGS)
    headings = [(m.start(), m[1]) for m in _SECTION.finditer(text)]
    found = []
    for match in _FALLBACK.finditer(text):
        above = [word for start, word in headings if start < match.start()]
        line = text.count("\n", 0, match.start()) + 1
        found.append((match[1].removesuffix(".default"), line, above[-1] if above else ""))
    return found


def find_lowerings(tree: Tree) -> Iterator[Gap]:
    """Operators with Inductor fallbacks, those under headings with the difficulty; then operators
    without lowering and decomposition."""
    text = tree.lines(LOWERINGS)
    seen: set[str] = set()
    for op, line, section in _fallbacks(tree):
        name = op.partition(".")[0]
        overloads = tree.overloads.get(name, [])
        wanted = (not section or section in _LEVELS) and overloads and name not in seen
        seen.add(name)
        if wanted:
            exact = op if op in overloads else overloads[0]
            yield _lowering(tree, exact, line, section, text[line - 1])
    for ops in tree.others(seen):
        if _is_functional(tree, ops[0]) and not any(_is_compiled(tree, op) for op in ops):
            yield _unlowered(tree, ops)


def _is_functional(tree: Tree, op: str) -> bool:
    """Whether it changes no arguments, as Inductor requires."""
    return tree.schemas[op].kind is SchemaKind.FUNCTIONAL


def _is_compiled(tree: Tree, op: str) -> bool:
    kinds = ("lowering", "decomposition")
    return any(tree.registered(op, kind) for kind in kinds)


def _unlowered(tree: Tree, ops: list[str]) -> Gap:
    place = tree.natives[ops[0]].location
    what = f"Inductor has no lowering of {tree.natives[ops[0]].name}"
    rule = "neither a lowering nor a decomposition is registered: Inductor calls the kernel"
    return Gap(place, what, rule, (place,), ops[0], keys=("Inductor",), confidence="possible")


def _lowering(tree: Tree, op: str, line: int, section: str, text: str) -> Gap:
    native = tree.natives[op]
    comment = text.partition("#")[2].strip()
    where = Location(LOWERINGS, line)
    what = f"Inductor has no lowering of {native.name}"
    rule = f'make_fallback under the heading "{section}"' if section else "make_fallback"
    rule += f": {comment}" if comment else ""
    evidence, level = (where, native.location), _LEVELS.get(section, "medium")
    return Gap(where, what, rule, evidence, op, keys=("Inductor",), stated=True, difficulty=level)


KINDS = (
    Kind(
        "decomposition",
        "medium",
        "operators without a decomposition",
        find_decompositions,
        lacks_expected,
        python=True,
    ),
    Kind("meta", "medium", "operators without a Meta kernel", find_meta, lacks_meta, python=True),
    Kind(
        "lowering",
        "medium",
        "operators that Inductor does not lower",
        find_lowerings,
        lacks_lowerings,
        graded=True,
        python=True,
    ),
)
