"""What stands beside an operator's kernels: derivative, formulas and their functions; Python names,
docs, decompositions, OpInfo, tests and owners; batch rules and autocast policies."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from indexes.codegen.derivatives import repeated
from indexes.linking.facts import Edge, HopList, Link
from indexes.linking.formulas import FormulaFunction, formula_functions
from indexes.linking.graph import Graph, Node, Step
from indexes.linking.python.links import around
from indexes.linking.registrations import around_dispatch
from indexes.linking.usual_conditions import taken
from indexes.model.vocabulary import (
    Confidence,
    DerivativeEntry,
    KernelRow,
    Location,
    NativeFunction,
)
from indexes.queries.chains.steps import MAIN_KEYS
from indexes.readers.project.codeowners_file import OwnerRule, OwnerRules, read_codeowners
from indexes.source.source import Source
from indexes.store.lookup import Lookup
from indexes.store.registrations import UNSEEN, StoredPython, written_for


def add_derivative(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds the derivative entry, its formulas and their functions, and autograd kernels written by
    hand; for a composite operator, those of the operators that it calls."""
    op = native.full_name
    entry, rule, _ = facts.derived(op)
    through, others = ([], []) if _has_own(op, facts) else through_operators(op, facts)
    if entry is not None:
        rule += _for_some(native, facts) if through else ""
        sure: Confidence = "exact" if entry.op == op else "by rule"
        _add_entry(native, parent, rule, sure, facts, hops, source)
    for other in filter(None, map(facts.native, through)):
        rule = f"differentiable through {other.full_name}: autograd records what is called"
        _add_entry(other, parent, rule, "by rule", facts, hops, source)
    if others:
        rule = "recorded only outside the usual case of dense, real, 2-D tensors"
        hops.add(parent, "derivative", ", ".join(others), native.location, rule, "by rule")
    written = around_dispatch(op, written_for(facts, op), facts)
    by_hand = [link for link in written if link.role == "derivative"]
    for link in by_hand:
        _add(link, parent, hops)
    if not (through or entry or by_hand):
        _add_none(native, parent, rule, facts, hops)


def _add_entry(
    native: NativeFunction,
    parent: int,
    rule: str,
    sure: Confidence,
    facts: Lookup,
    hops: HopList,
    source: Source,
) -> None:
    entry, _, nodes = facts.derived(native.full_name)
    assert entry is not None
    what, note = (entry.op, entry.location, rule, sure), ", ".join(nodes.values())
    number = hops.add(parent, "derivative", *what, note=note)
    formulas = _add_formulas(repeated(entry, native), number, hops)
    for function in formula_functions(entry, facts):
        if parent_of := formulas.get(function.formula.location.line):
            _add_function(function, parent_of, facts, hops, source)


def through_operators(op: str, facts: Lookup) -> tuple[list[str], list[str]]:
    """The operators by whose formulas a composite operator is differentiated, nearest first; those
    that only copy, view or allocate if there are no others. Separately, those called only in
    unusual cases."""
    graph, works = Graph(facts), facts.works
    found: dict[str, bool] = {}
    """Of each operator, whether the way to it is unusual."""
    seen: set[Node] = set()
    pending = deque([Node("operator", op)])
    later: deque[Node] = deque()
    while pending or later:
        is_unusual = not pending
        node = (pending or later).popleft()
        if node in seen:
            continue
        seen.add(node)
        if node.kind == "operator" and _has_own(str(node.what), facts):
            found[str(node.what)] = is_unusual
            continue
        for step in filter(_is_recorded, graph.down(node)):
            (later if is_unusual or _is_unusual(step, facts) else pending).append(step.lower)
    nodes = [Node("operator", name) for name in found]
    leading = [n for n in nodes if works.of(n) == "dispatches" and works.leads(n)]
    names = [str(node.what) for node in leading or nodes]
    usual = [name for name in names if not found[name]]
    return usual or names, [name for name in names if found[name] and usual]


def _is_unusual(step: Step, facts: Lookup) -> bool:
    """Whether a step needs a condition that does not hold for usual tensors."""
    choices = facts.conditions(step.why) if isinstance(step.why, Edge) else ()
    return any(all(taken(one, key) is False for key in MAIN_KEYS) for one in choices)


def _for_some(native: NativeFunction, facts: Lookup) -> str:
    keys = [r.key for r in facts.kernels(native.full_name) if not r.key.startswith("Composite")]
    return f"; for {', '.join(keys)}, elsewhere autograd records what the composite kernel calls"


def _has_own(op: str, facts: Lookup) -> bool:
    """Whether autograd uses the operator's own formulas for all tensors; not for ``matmul``, whose
    composite kernel comes before them where a backend has no kernel."""
    keys = {row.key for row in facts.kernels(op)}
    own = "CompositeImplicitAutograd" not in keys or {"CPU", "CUDA"} <= keys
    return own and facts.derivative(op)[0] is not None


def _is_recorded(step: Step) -> bool:
    """Whether autograd records what is called on this path: below an operator only in kernels of
    operators without an autograd kernel of their own."""
    row = step.why
    return not isinstance(row, KernelRow) or row.key == "CompositeImplicitAutograd"


def _add_none(native: NativeFunction, parent: int, rule: str, facts: Lookup, hops: HopList) -> None:
    """Adds that there is no derivative, as expected for a composite operator."""
    op = native.full_name
    if any(row.key == "CompositeImplicitAutograd" for row in facts.kernels(op)):
        hops.add(parent, "derivative", op, native.location, _RECORDED, "by rule")
    else:
        hops.miss(parent, "derivative", op, rule)


_RECORDED = (
    "autograd records the operators that it calls: as CompositeImplicitAutograd it needs no entry "
    "in derivatives.yaml"
)


def _add_formulas(entry: DerivativeEntry, parent: int, hops: HopList) -> dict[int, int]:
    added = {}
    for one in entry.sets:
        keys = () if one.key == "Default" else (one.key,)
        for formula in one.formulas:
            inputs, where = ", ".join(formula.inputs), formula.location
            text, rule = f"{inputs}: {formula.text}", f"{formula.kind} formula for {inputs}"
            added[where.line] = hops.add(parent, "derivative", text, where, rule, keys=keys)
    return added


def _add_function(
    function: FormulaFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    name, evidence = function.name, [function.formula.location]
    if found := function.definition:
        rule, several = "called in the formula", function.candidates > 1
        if several:
            rule += f"; one of {function.candidates} overloads, the argument types decide"
        sure: Confidence = "ambiguous" if several else "exact"
        hops.add_definition(parent, "formula_function", found, rule, sure, evidence=evidence)
    elif function.operator:
        where = facts.overloads(function.operator)[0].location
        rule = "an operator called in the formula"
        hops.add(parent, "call", name, where, rule, "by rule", evidence=evidence)
    else:
        hops.miss(parent, "formula_function", name, _why_not_found(source))


def _why_not_found(source: Source) -> str:
    if source.locate("FunctionsManual.cpp"):
        return "no function of that name in the scopes that the formulas see"
    return "FunctionsManual.cpp is not in this source; `torchnav clone` adds it"


# ----------------------------------------------------------------------------- around it


def add_python_links(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds what relates to an overload in Python, its batch rules and autocast policies, and the
    owners of its kernels' files."""
    for link in around(native, StoredPython(facts.store)):
        _add(link, parent, hops)
    if source.kind == "wheel":
        hops.miss(parent, "batch_rule", native.full_name, UNSEEN)
    for link in around_dispatch(native.full_name, written_for(facts, native.full_name), facts):
        _add(link, parent, hops)
    _add_owners(native, parent, facts, hops, source)


def _add(link: Link, parent: int, hops: HopList) -> None:
    what, how, places = (link.symbol, link.location), (link.rule, link.confidence), link.evidence
    hops.add(parent, link.role, *what, *how, keys=link.keys, evidence=places, note=link.note)


def _add_owners(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    path = source.locate("CODEOWNERS")
    if path is None:
        return
    rules, _ = read_codeowners(source.read(path), path)
    rows = facts.kernels(native.full_name)
    files = dict.fromkeys(d.location.path for r in rows for d in r.definitions)
    for link in owners([native.location.path, *files], rules, path):
        _add(link, parent, hops)


def owners(paths: Iterable[str], rules: OwnerRules, codeowners: str) -> tuple[Link, ...]:
    """Who is notified of changes to files, with the deciding CODEOWNERS rule."""
    links: dict[OwnerRule, Link] = {}
    for path in paths:
        rule = rules.deciding(path)
        if rule and rule.owners and rule not in links:
            why = f"CODEOWNERS: {rule.pattern} is the last rule that matches {path}"
            place = Location(codeowners, rule.line, rule.line)
            links[rule] = Link("owner", " ".join(rule.owners), place, why, "exact", rule.section)
    return tuple(links.values())
