"""How much of a tree is linked, and how well: every property of torchnav with its counts.

Each measure compares answers with something independent of linking: the text of the line, a count
by another rule, the running torch, or tables verified by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from indexes.linking.device_names.libraries import RUNTIME
from indexes.model.vocabulary import DerivativeEntry, KernelRow
from indexes.queries.audit.acceptance import Score, score_all, score_names
from indexes.queries.audit.checks import (
    SourceLines,
    dispatches_of,
    functions_of,
    misplaced_formulas,
    misplaced_kernels,
    misplaced_registrations,
    nodes_of,
    stub_reach,
)
from indexes.queries.audit.graph import BothWays, EdgeText, all_edges, with_text
from indexes.queries.audit.launched import Reached, led_back
from indexes.queries.audit.measure import Measure, Measured, counted
from indexes.queries.audit.ways import Computing, named_ways, names_what_computes
from indexes.queries.dispatch_path.live import PROBE, Installed, LiveTable, compare
from indexes.queries.index import Index

BACKENDS = ("CPU", "AutogradCPU", "Tracer", "BackendSelect")
"""Keys whose computed table must agree with the running dispatcher without exception."""
DEVICES = ("CPU", "CUDA")
"""Devices for which every public name is looked up."""
MOST_LINES = 40
"""Most lines of an operator's default answer."""
LAYERS = ("ADInplaceOrView", "Functionalize", "Meta")


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """Facts about the installed torch."""

    version: str
    same_version: bool
    """Whether the tree is its source."""
    tables: Mapping[str, LiveTable]
    nodes: frozenset[str]


def measures(
    index: Index,
    live: LiveFacts | None = None,
    acceptance: Path | None = None,
    names: Path | None = None,
) -> Iterator[Measure]:
    """Each measure as it is done."""
    rows = list(index.kernel_rows())
    yield pairs(index, rows)
    yield kernel_lines(index, rows)
    yield registrations(index)
    yield stubs(index, rows)
    yield dtypes(index)
    yield both_ways(index)
    yield edge_lines(index)
    yield launched(index)
    yield from formulas(index, live)
    if live is not None:
        yield tables(index, live)
    if acceptance is not None:
        yield from (_scored(score) for score in score_all(index, acceptance))
    if names is not None:
        yield _scored(score_names(index, names))


# ------------------------------------------------------------------------------ links


def pairs(index: Index, rows: Iterable[KernelRow]) -> Measure:
    """Every (overload, dispatch key), by how its kernel was found; "elsewhere", if no C++ file of
    the tree names it, as those of MTIA."""
    has_sources = index.source.kind != "wheel"
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    short = []
    verdicts = [(row, _verdict(row)) for row in rows]
    lacking = {row.symbol for row, verdict in verdicts if verdict == "missing"}
    unnamed = _unnamed(index, lacking) if has_sources else frozenset()
    for row, verdict in verdicts:
        if verdict == "missing" and row.symbol in unnamed:
            verdict = "elsewhere"
        counts[verdict] += 1
        kinds[f"of kind {row.kind}"] += 1
        if verdict in ("ambiguous", "missing"):
            places = ", ".join(str(d.location) for d in row.definitions)
            short.append(f"{row.op} {row.key}: {row.symbol}: {places or row.reason}")
    total = sum(counts.values())
    met = len(short) <= 0.005 * total if has_sources else None
    shown = tuple(short if has_sources else ())
    name = "(overload, key) pairs with a kernel"
    return Measure(name, "at least 99.5 %", total, {**counts, **kinds}, met, shown)


def _verdict(row: KernelRow) -> str:
    if row.definitions or row.kind == "generated":
        return row.confidence if row.definitions else row.kind
    return "missing"


def _unnamed(index: Index, symbols: Set[str]) -> Set[str]:
    """The symbols whose names are in no C++ file."""
    names = {symbol: symbol.rpartition("::")[2].encode() for symbol in symbols}
    for path in index.facts.paths("cpp") if names else ():
        text = index.source.content(path)
        names = {symbol: name for symbol, name in names.items() if name not in text}
    return names.keys()


def kernel_lines(index: Index, rows: Iterable[KernelRow]) -> Measure:
    """Whether the answered lines have the kernels, by their text."""
    total, wrong = misplaced_kernels(rows, SourceLines(index))
    return _lines("lines that hold the definition", total, wrong)


def registrations(index: Index) -> Measure:
    """REGISTER_* lines with the registered functions."""
    counts: Counter[str] = Counter()
    short = list(misplaced_registrations(index.stub_rows(), SourceLines(index)))
    for row in index.stub_rows():
        if row.definition:
            counts["linked"] += 1
        elif "nullptr" in row.reason or "lambda" in row.reason:
            counts["nullptr" if "nullptr" in row.reason else "lambda"] += 1
        else:
            counts["not found"] += 1
            short.append(f"{row.registration}: {row.stub}: {row.reason}")
    return counted("REGISTER_* lines to the registered function", "100 %", counts, short)


def stubs(index: Index, rows: Iterable[KernelRow]) -> Measure:
    """Operators with a stub in their kernel's text: whether it is linked, and what runs behind
    it."""
    reach = stub_reach(rows, index)
    counts = {
        "linked": len(reach.linked),
        "linked, nothing registered": len(reach.unregistered),
        "not linked": len(reach.missed),
    }
    name = "operators whose kernel calls a stub: stub and device kernels"
    short = [f"{op}: {why}" for op, why in reach.missed.items()]
    return counted(name, "at least 99 %", counts, short, 0.01)


def dtypes(index: Index) -> Measure:
    """Uses of AT_DISPATCH macros with their dtypes."""
    found = dispatches_of(index)
    counts = {
        "dtypes": found.expanded,
        "layouts and others": found.other,
        "not read": len(found.unread),
    }
    return counted("AT_DISPATCH_* uses expanded to dtypes", "100 %", counts, found.unread)


# ------------------------------------------------------------------------------ graph


def both_ways(index: Index) -> Measure:
    """Steps of the graph down: each must be a step up, and vice versa."""
    graph = BothWays(index)
    up, down = list(graph.not_up()), list(graph.not_down())
    counts = {"steps": graph.steps, "only down": len(up), "only up": len(down)}
    short = tuple(f"{one.upper} -> {one.lower}" for one in (*up, *down))
    met = not short if graph.steps else None
    name = "A is in the chain of B if and only if B is reached from A"
    return Measure(name, "no exception", graph.steps, counts, met, short)


def drawn(index: Index, number: int, seed: int) -> Measure:
    """A random sample of steps, for checking by hand."""
    lines = SourceLines(index)
    steps = [with_text(step, index, lines) for step in BothWays(index).drawn(number, seed)]
    counts = {"drawn": len(steps), "seed": seed}
    name = "steps to open by hand"
    return Measure(name, "wrong at most 0.1 %", len(steps), counts, None, tuple(steps))


def edge_lines(index: Index) -> Measure:
    """Edges of the graph, by whether their line names the target."""
    text = EdgeText(index)
    problems = [(placed, text.problem(placed)) for placed in all_edges(index)]
    short = [f"{placed}: {problem}" for placed, problem in problems if problem]
    return _lines("edges whose line names what they lead to", len(problems), short)


def launched(index: Index) -> Measure:
    """``__global__`` functions, by whether they lead to operators."""
    found = led_back(index)
    with_text, silent = len(found.reasons), len(found.silent)
    total = found.operators + with_text + silent
    counts = {
        "lead back": found.operators,
        "do not, with the reason": with_text,
        "do not": silent,
        "generated, not asked": found.generated,
    }
    met = not silent if total else None
    name = "__global__ functions that lead back to operators"
    short = (*found.silent, *found.reasons)
    return Measure(name, "at least 98 %, the rest with a reason", total, counts, met, short)


# --------------------------------------------------------------------------- formulas


def formulas(index: Index, live: LiveFacts | None) -> Iterator[Measure]:
    """Derivative entries, their lines, Node names and functions in formulas."""
    entries = list(index.derivative_rows())
    total, wrong = misplaced_formulas(entries, index)
    counts = {"entries": len(entries), "formulas": total - len(entries), "wrong": len(wrong)}
    name, met = "entries and formulas of derivatives.yaml, with lines", not wrong if total else None
    yield Measure(name, "100 %", total, counts, met, tuple(wrong))
    if live is not None and live.same_version:
        yield nodes(index, live)
    yield functions(index, entries)


def nodes(index: Index, live: LiveFacts) -> Measure:
    """Node class names compared with the running torch's."""
    unknown, unexplained = nodes_of(index, live.nodes)
    short = [f"{name}: the installed torch has no such class" for name in unknown]
    short += [f"{name}: of the installed torch, from no entry" for name in unexplained]
    counts = {
        "of the installed torch": len(live.nodes),
        "not named here": len(unexplained),
        "not in the installed torch": len(unknown),
    }
    return Measure("Node class names", "100 %", len(live.nodes), counts, not short, tuple(short))


def functions(index: Index, entries: Iterable[DerivativeEntry]) -> Measure:
    """The links of functions in formulas."""
    found = functions_of(index, entries)
    counts = {
        "defined": found.defined,
        "operators": found.operators,
        "classes or std": found.other,
        "not in this tree": len(found.absent),
        "not found": len(found.unresolved),
    }
    met = not found.unresolved if index.source.kind != "wheel" else None
    short = (*found.unresolved, *found.absent) if met is not None else ()
    bar = "100 % of those that are not operators"
    return Measure("functions in formulas", bar, sum(counts.values()), counts, met, short)


# ------------------------------------------------------------------------------ routes


def named(index: Index) -> Iterator[Measure]:
    """Public names of operators, by whether a route leads to what computes."""
    for device, ways in named_ways(index, DEVICES).items():
        total = ways.computing + len(ways.silent)
        counts = {
            "with a route": ways.computing,
            "without": len(ways.silent),
            "said to compute nothing": len(ways.nothing),
        }
        met = ways.computing >= 0.99 * total if total else None
        name = f"public names that compute, with a route on {device}"
        yield Measure(name, "at least 99 %", total, counts, met, tuple(ways.silent))


def screens(answers: Iterable[tuple[Computing, Sequence[str]]]) -> Measure:
    """First screens of verified operators, by whether they name the computing function.

    Parameters:
        answers: What was verified, and the lines of the operator's answer.
    """
    found = Measured("first screens that name the function that computes", 0.95)
    for wanted, lines in answers:
        names = ", ".join(sorted(wanted.names)) or "that nothing does"
        right = names_what_computes(lines, wanted)
        found.add(right, f"{wanted.op} {wanted.device}: not {names}")
    return found.measure()


def lengths(answers: Iterable[tuple[str, int]]) -> Measure:
    """The number of lines of each operator's default answer."""
    lines = dict(answers)
    long = sorted((op for op, n in lines.items() if n > MOST_LINES), key=lambda op: -lines[op])
    counts = {
        "median": round(median(lines.values())) if lines else 0,
        "most": max(lines.values(), default=0),
        "longer": len(long),
    }
    met = not long if lines else None
    short = tuple(f"{op}: {lines[op]}" for op in long)
    name = "lines of the default answer of operators"
    return Measure(name, f"at most {MOST_LINES}", len(lines), counts, met, short)


# ----------------------------------------------------------------------------- tables


def tables(index: Index, live: LiveFacts) -> Measure:
    """The computed dispatch tables compared with the running dispatcher."""
    keys = index.dispatch.keys
    installed = Installed.of(live.tables.get(PROBE, {}), keys, live.same_version)
    operators = [op for op in index.dispatch.operators() if live.tables.get(op)]
    differ: Counter[str] = Counter()
    short: list[str] = []
    for op in operators:
        for one in compare(index.table(op), live.tables[op], keys, installed):
            differ[one.key] += 1
            if not one.reason or one.key in (*BACKENDS, *LAYERS):
                theirs = one.theirs.kind if one.theirs else "nothing"
                why = one.reason or "not explained"
                short.append(f"{op} {one.key}: {one.ours.kind}, there {theirs}: {why}")
    total = len(operators)
    counts = {key: total - differ[key] for key in (*BACKENDS, *LAYERS)}
    counts["other keys that differ, explained"] = sum(
        n for key, n in differ.items() if key not in (*BACKENDS, *LAYERS)
    ) - sum(1 for line in short if "not explained" in line)
    good = all(not differ[k] for k in BACKENDS) and all(differ[k] <= 0.001 * total for k in LAYERS)
    good = good and not any("not explained" in s for s in short)
    name = f"operators whose table agrees with torch {live.version}"
    bar = f"{', '.join(BACKENDS)} 100 %; {', '.join(LAYERS)} 99.9 %"
    return Measure(name, bar, total, counts, good if live.same_version else None, tuple(short))


def launches(index: Index, trace: str, names: Iterable[str]) -> Measure:
    """Device kernels of a trace: each must lead to its source or library."""
    counts: Counter[str] = Counter()
    short = []
    for name, times in Counter(names).items():
        answer = index.kernel_name(name)
        verdict = "in the tree" if answer.source else "of a library" if answer.library else "open"
        counts[verdict] += times
        if verdict == "open":
            short.append(f"{name}: {answer.reason}")
    return counted(f"launches in {trace}", "all classified", counts, short)


def chained(
    index: Index, trace: str, launched: Iterable[tuple[str, Sequence[str]]]
) -> Iterator[Measure]:
    """Device kernels of a trace, by whether they are in the chain of the launching operator and of
    those around it; copies and fills separately.

    Parameters:
        launched: The name of each kernel, and the operators it ran in, innermost first.
    """
    reached = Reached(index)
    own = Measured(f"kernels of {trace} in the chain of the operator that launched them", 0.99)
    around = Measured(f"kernels of {trace} in the chains of the operators around it", 0.95)
    for name, operators in launched:
        kernel = index.kernel_name(name)
        if kernel.library == RUNTIME:
            continue
        moved = bool(operators) and reached.moves(operators[0])
        for number, base in enumerate(operators[:1] if moved else operators):
            runs = reached.runs(base, kernel)
            if runs is not None:
                measured = around if number else own
                measured.add(runs, f"{base}: {kernel.library or name}")
                measured.by_rule += runs and reached.is_by_rule(base, kernel)
    yield from (own.measure(), around.measure())


def _lines(name: str, total: int, wrong: Collection[str]) -> Measure:
    counts = {"right": total - len(wrong), "wrong": len(wrong)}
    return counted(name, "wrong at most 0.1 %", counts, wrong, 0.001)


def _scored(score: Score) -> Measure:
    counts = {"right": score.right, "wrong": len(score.wrong), "unresolved": len(score.open)}
    short = (*(f"wrong: {w}" for w in score.wrong), *(f"unresolved: {o}" for o in score.open))
    return Measure(score.table, score.bar, score.total, counts, score.met, short)
