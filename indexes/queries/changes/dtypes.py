"""Plans for a dtype missing in a kernel: the dtype dispatch macro, and the OpInfo."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import replaced
from indexes.queries.changes.model import Change, ChangeStep, Parts
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.tree import Tree

_SCALAR = regex(r"\b(BFloat16|Half)\b")
_MACRO = regex(r"\b(AT_DISPATCH_\w+?)(?:_AND(\d?))?\(\s*([^\n]*)")
_TORCH = {"Half": ("torch.half", "torch.float16"), "BFloat16": ("torch.bfloat16",)}
"""Python names of dtypes."""
_DTYPES = regex(r"(\s*dtypes\s*=\s*)(\w+?)(?:_and)?\(([^()]*)\)")


def plan(tree: Tree, change: Change) -> Parts:
    """The steps to support the gap's dtypes in the CPU kernel."""
    gap = change.gap
    if gap is None or change.op is None:
        text = (
            "which dtype is missing is read from the OpInfo, and this one names none for CUDA alone"
        )
        return Parts((), missing=(text,))
    missing = list(dict.fromkeys(_SCALAR.findall(gap.what)))
    steps = [*_macros(tree, change, missing), *_opinfo(tree, change.op, missing)]
    return Parts(tuple(steps), tests=operator_runs(tree, change.op), title=gap.what)


def _macros(tree: Tree, change: Change, missing: Sequence[str]) -> Iterator[ChangeStep]:
    """The dispatch macros in the CPU kernel's code, and dtype checks before them."""
    assert change.op is not None
    routes = [r for r in tree.index.routes(change.op) if r.device in ("CPU", "")]
    ends = [route.location for route in routes]
    ways = [way.location for route in routes for way in route.via[1:]]
    kernels = tree.kernels.get(change.op, {}).get("CPU")
    own = [definition.location for definition in (kernels.definitions if kernels else ())]
    seen = set()
    for where in dict.fromkeys((*own, *ways, *ends)):
        lines = tree.lines_of(where)
        for at, text in enumerate(lines, where.line):
            if (match := _MACRO.search(text)) and (where.path, at) not in seen:
                seen.add((where.path, at))
                yield _macro_step(tree, Location(where.path, at), text, match, missing)
    if not seen:
        for where in dict.fromkeys((*own, *ends)):
            what = f"make the kernel support {' and '.join(missing)}"
            yield ChangeStep("edit", where, what, (), "it has no AT_DISPATCH macro")


def _macro_step(
    tree: Tree, where: Location, text: str, match: re.Match[str], missing: Sequence[str]
) -> ChangeStep:
    macro, count, _ = match.groups()
    what, why = (
        f"add {' and '.join(missing)} to {match[0].partition('(')[0]}",
        "it names the dtypes",
    )
    if macro.endswith("_V2") or f"k{missing[0]}" in text:
        return ChangeStep("edit", where, what, (), why)
    had = int(count or 1) if count is not None else 0
    total = had + len(missing)
    name = f"{macro}_AND{total if total > 1 else ''}"
    new = text.replace(
        match[0].partition("(")[0] + "(", f"{name}({_arguments(missing)}, ", 1
    ).rstrip()
    if not tree.index.definitions(name):
        return ChangeStep("edit", where, f"{what}; the tree has no {name}", (), why)
    return ChangeStep("edit", where, what, replaced(tree, where, [new.rstrip()]), why)


def _arguments(missing: Sequence[str]) -> str:
    return ", ".join(f"at::k{one}" for one in missing)


def _opinfo(tree: Tree, op: str, missing: Sequence[str]) -> Iterator[ChangeStep]:
    """The lines of its OpInfos with the CPU's dtypes."""
    what, why = "list them in the OpInfo", "test_dtypes asserts that the list is what is supported"
    for path, fact in tree.opinfos(op):
        lines = tree.lines(path, fact.line, max(fact.line, fact.end_line))
        for at, text in enumerate(lines, fact.line):
            if match := _DTYPES.match(text):
                where = Location(path, at)
                given = [one.strip() for one in match[3].split(",") if one.strip()]
                given += [_TORCH[one][0] for one in missing if not {*_TORCH[one]} & {*given}]
                new = f"{match[1]}{match[2]}_and({', '.join(given)}){text[match.end() :]}"
                yield ChangeStep("edit", where, what, replaced(tree, where, [new]), why)
