"""The card of an operator: a summary in a few lines of what computes it on each device, its
gradient, and what relates to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from indexes.codegen.registration import Registration
from indexes.codegen.variants import signature_of
from indexes.linking.facts import Link
from indexes.linking.graph import DEVICES
from indexes.linking.python.compilers import Compilers
from indexes.linking.python.links import python_ways, registered, tested_without_autograd, words_of
from indexes.linking.python.paths import (
    NamedTest,
    named_tests,
    operator_targets,
    place_of,
    skipping_rule,
)
from indexes.linking.registrations import REFUSES, around_dispatch, kernels_over_cpp
from indexes.model.answers import (
    AutocastPolicy,
    Card,
    CardLine,
    Counted,
    Inductor,
    NamedPlace,
    Route,
    Surroundings,
    TestCount,
)
from indexes.model.schema import SchemaKind, parse_schema
from indexes.model.vocabulary import (
    RUNTIME_KEY,
    DerivativeEntry,
    KernelRow,
    Location,
    NativeFunction,
    OperatorSummary,
    Role,
)
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.routing.argument_values import COMPOSITE
from indexes.queries.routing.routes import LACKS
from indexes.store.registrations import written_for

_KEYS = {"CPU": "1", "CUDA": "2", "MPS": "3"}
_MOST_NAMES = 2
_SHORT = 44
"""Longest condition shown, in characters, with the count of others."""
_UNREAD = "gradient unknown"
"""Shown for an operator whose entry could not be read, and its derivative with it."""
_EXTENSIONS = "extensions: --with DIR"
_USUAL_KEYS = frozenset(("CPU", "CUDA", "MPS", "XPU", "PrivateUse1", "Meta", RUNTIME_KEY))


def card(index: IndexedTree, native: NativeFunction, found: Sequence[Route]) -> Card:
    """The card of an overload."""
    (summary,) = index.facts.summaries([native.full_name])
    around = surroundings(index, native)
    gradient = _derivative(index, native, found)
    is_unread = gradient.entry is None and summary.kind == "unknown"
    kind = ", ".join(filter(None, (summary.kind, _UNREAD if is_unread else gradient.status)))
    lines = (
        *_with_python(index, native, _device_lines(index, native, summary, found)),
        *_runtime_lines(index, native, summary),
        _gradient(native, gradient, index),
        *_python(index, native, around),
        _compilers(around),
        *_autocast(around),
        _tests(index, native, around),
        _more(native, summary),
    )
    return Card(native.schema, kind, native.location, tuple(filter(None, lines)))


# ---------------------------------------------------------------------------------- devices


def _device_lines(
    index: IndexedTree, native: NativeFunction, summary: OperatorSummary, found: Sequence[Route]
) -> Iterator[CardLine]:
    for device in dict.fromkeys((*_KEYS, *(one.device for one in found))):
        own = [one for one in found if one.device == device]
        has_own = device in _KEYS or device in summary.keys
        if own and (has_own or own[0].kind != "none"):
            yield _device_line(native, own)
        elif device in summary.keys and not own:
            yield CardLine(device, _absent(index, native, device), key=_KEYS.get(device, ""))
        elif found and not own:
            yield CardLine(device, LACKS.format(device), key=_KEYS.get(device, ""))
    routed = {*_KEYS, *(one.device for one in found)}
    if others := [one for one in DEVICES if one in summary.keys and one not in routed]:
        first, *more = others
        note = f"also {', '.join(more)} · {_EXTENSIONS}" if more else _EXTENSIONS
        yield CardLine(first, _absent(index, native, first), None, note)


def _absent(index: IndexedTree, native: NativeFunction, device: str) -> str:
    """What the registries say of a kernel without a definition, which an extension may have."""
    rows = index.facts.kernels(native.full_name)
    named = next((row.symbol for row in rows if row.key == device and row.symbol), "its kernel")
    return f"{named}: not in this tree"


def _with_python(
    index: IndexedTree, native: NativeFunction, lines: Iterable[CardLine]
) -> Iterator[CardLine]:
    """The lines of devices, each followed by the Python kernels that replace its kernel."""
    over: dict[str, list[Registration]] = {}
    for row in () if native.defined_by else _python_rows(index, native):
        over.setdefault(row.key, []).append(row)
    for line in lines:
        yield line
        if rows := over.pop(line.label, None):
            yield _taken_over(rows)
    yield from map(_taken_over, over.values())


def _taken_over(rows: Sequence[Registration]) -> CardLine:
    row, *others = rows
    when = row.condition.rpartition(" and ")[2]
    note = "in Python, under conditions" + f" · {len(others)} more" * bool(others)
    way = f"if {when} > {row.kernel.rpartition('.')[2]}"
    return CardLine(row.key, way, row.location, note)


def _python_rows(index: IndexedTree, native: NativeFunction) -> Iterator[Registration]:
    targets = operator_targets(native)
    python = index.facts.python
    return kernels_over_cpp(row for target in targets[:1] for row in python.by_target(target))


def _runtime_lines(
    index: IndexedTree, native: NativeFunction, summary: OperatorSummary
) -> Iterator[CardLine]:
    """The kernel of a runtime other than PyTorch's, which has no device."""
    rows = index.facts.kernels(native.full_name) if RUNTIME_KEY in summary.keys else ()
    for row in [one for one in rows if one.key == RUNTIME_KEY][:1]:
        opens = f"torchnav op {native.full_name} --key {RUNTIME_KEY}"
        where = row.definitions[0].location if row.definitions else row.registered
        name = row.symbol.rpartition("::")[2]
        yield CardLine(RUNTIME_KEY, name, where, row.reason, opens)


def _device_line(native: NativeFunction, found: Sequence[Route]) -> CardLine:
    route = found[0]
    opens = f"torchnav op {native.full_name} --key {route.device}"
    key = _KEYS.get(route.device, "")
    if route.kind == "none":
        return CardLine(route.device, route.note, route.location, "", opens, key)
    way = " > ".join(route.steps)
    return CardLine(route.device, way, route.location, device_note(found), opens, key)


def device_note(found: Sequence[Route]) -> str:
    """The library of a device's first route, its last short condition, and another step of it or
    way beside it."""
    route, parts = found[0], []
    if route.note:
        is_vendor = route.kind in ("library", "graph", "metal")
        parts.append(_of_vendor(route.note) if is_vendor else route.note)
    parts.append(_when(route.conditions))
    words: dict[str, str] = {}
    for one in found:
        words.setdefault(one.steps[-1], "with" if one.beside else "else")
    words.pop(route.steps[-1])
    others = sorted(words, key=lambda name: words[name] == "else")
    parts += [f"{words[name]} {name}" for name in others[:1]]
    parts += [f"{len(others) - 1} more"] * (len(others) > 1)
    return " · ".join(filter(None, parts))


def _when(conditions: Sequence[str]) -> str:
    """The last short condition of a route, and how many others there are."""
    others = f" and {len(conditions) - 1} more" * (len(conditions) > 1)
    if short := [one for one in conditions if len(one + others) <= _SHORT]:
        return short[-1] + others
    return f"{len(conditions)} condition{'s' * bool(others)}" if conditions else ""


def _of_vendor(symbol: str) -> str:
    """``convolution_forward::compute_v3`` for ``ideep::convolution_forward::compute_v3``: a method
    with its class, a free function alone."""
    return "::".join(symbol.split("::")[-2:] if symbol.count("::") > 1 else symbol.split("::")[-1:])


# --------------------------------------------------------------------------------- gradient


class _Gradient(NamedTuple):
    """How an operator is differentiated."""

    entry: DerivativeEntry | None
    """Its derivative entry, or that of an operator that it calls."""
    status: str
    then: str = ""
    """The Node of what makes the result of the entry's operator."""
    why: str = ""
    """What is known where there is no entry, for one made of operators."""


_YES, _NO = "differentiable", "not differentiable"
_UNCALLED = "what it calls is not in this source, and out= may raise"
_TESTED_WITHOUT = "its OpInfo has supports_autograd=False"


def _derivative(index: IndexedTree, native: NativeFunction, found: Sequence[Route]) -> _Gradient:
    facts, name = index.facts, native.full_name
    own = facts.derivative(name)[0]
    if _autograd_kernel(index, native) or (own is None and name in facts.differentiated_by_hand):
        return _Gradient(None, _YES)
    schema = parse_schema(native.schema)
    is_made = any(row.key == COMPOSITE[-1] for row in facts.kernels(name))
    if is_made and own is None and tested_without_autograd(native, index.facts.python):
        return _Gradient(None, _NO, why=_TESTED_WITHOUT)
    if is_made and own is None and schema.out_arguments and not found:
        return _Gradient(None, _UNREAD, why=_UNCALLED)
    if is_made and any(one.base_type == "Tensor" for one in schema.returns):
        from indexes.queries.recording import of_composite

        if made := of_composite(facts, name, found):
            return _Gradient(made.entry, _YES if made.carries else _NO, made.then, made.why)
    return _Gradient(own, _YES if own and any(_nodes(own)) else _NO)


def _autograd_kernel(index: IndexedTree, native: NativeFunction) -> KernelRow | None:
    rows = index.facts.kernels(native.full_name) if native.defined_by else ()
    found = (r for r in rows if r.key.startswith("Autograd") and r.rule != REFUSES)
    return next((one for one in found if one.definitions), None)


_BY_HAND = "written by hand, registered for Autograd"


def _gradient(native: NativeFunction, gradient: _Gradient, index: IndexedTree) -> CardLine:
    entry, status, then, why = gradient
    opens = f"torchnav op {native.full_name} --role derivative"
    if entry is None and (row := _autograd_kernel(index, native)):
        where = row.definitions[0].location
        return CardLine("grad", row.symbol, where, f"registered for {row.key}", opens, "4")
    if entry is None and (known := index.facts.differentiated_by_hand.get(native.full_name)):
        found = known.definition
        return CardLine("grad", found.name, found.location, _BY_HAND, opens, "4")
    if entry is None:
        own, rule = index.facts.derivative(native.full_name)
        if status == _YES:
            status, rule = f"{status} through what it calls", _own_on(index, native, own)
        return CardLine("grad", status, None, why or rule, opens, "4")
    usual, *others = dict.fromkeys(_nodes(entry)) or [status]
    text, own = usual, index.facts.derivative(native.full_name)[0]
    formulas = [*_formulas(entry), *_for_other_keys(entry, others)]
    if own != entry:
        text = f"{text} via {entry.op}" + f", then {then}" * bool(then)
        formulas += filter(None, [_own_on(index, native, own)])
    return CardLine("grad", text, entry.location, " · ".join(formulas), opens, "4")


def _nodes(entry: DerivativeEntry) -> Iterator[str]:
    return (one.grad_fn for one in entry.sets if one.grad_fn)


def _for_other_keys(entry: DerivativeEntry, nodes: Sequence[str]) -> Iterator[str]:
    """``SumBackwardAutogradNestedTensor1 for AutogradNestedTensor``."""
    return (f"{one.grad_fn} for {one.key}" for one in entry.sets if one.grad_fn in nodes)


def _own_on(index: IndexedTree, native: NativeFunction, own: DerivativeEntry | None) -> str:
    """``LinearBackward0 for MPS``: where an operator's own formula serves, and not those of the
    operators that its composite kernel calls."""
    nodes = ", ".join(_nodes(own)) if own else ""
    keys = [r.key for r in index.facts.kernels(native.full_name) if r.key not in COMPOSITE]
    return f"{nodes} for {', '.join(dict.fromkeys(keys))}" if nodes and keys else ""


def _formulas(entry: DerivativeEntry) -> Iterator[str]:
    """``self: grad * other``, from the first Node of the entry."""
    made = next((one for one in entry.sets if one.grad_fn), None)
    for one in made.formulas if made else ():
        if one.kind == "gradient":
            yield f"{', '.join(one.inputs)}: {' '.join(one.text.split())}"


# ----------------------------------------------------------------------------------- around


def _python(index: IndexedTree, native: NativeFunction, around: Surroundings) -> Iterator[CardLine]:
    if not around.python:
        return
    first, *others = sorted(around.python, key=_is_made)
    skipped = skipping_rule(native, index.facts.python)
    if skipped and first.location == place_of(skipped):
        yield _bound_by_hand(index, native, first.location)
        return
    note = ", ".join(one.name for one in others[:_MOST_NAMES])
    if len(others) > _MOST_NAMES:
        note += f" and {len(others) - _MOST_NAMES} more"
    yield CardLine("Python", first.name, first.location, note, "", "5")


_HOLDERS = {"torch": "_VariableFunctions", "torch.Tensor": "TensorBase"}
"""Where bindings of functions and methods stand."""


def _bound_by_hand(index: IndexedTree, native: NativeFunction, skipped: Location) -> CardLine:
    """Where C++ binds an operator for which no binding is generated."""
    from indexes.queries.python_names.bound import Bound

    bound = Bound(index)
    for owner, holder in _HOLDERS.items():
        if found := bound.places(f"torch._C.{holder}.{native.name}"):
            return CardLine("Python", f"{owner}.{native.name}", found[0].location, "", "", "5")
    text = f"no binding: torch.ops.aten.{native.name}"
    return CardLine("Python", text, skipped, "", "", "5")


def _is_made(one: NamedPlace) -> bool:
    """Whether a name is generated or private, with no Python source that users see."""
    return not one.location.path.endswith(".py") or "._" in one.name


def _compilers(around: Surroundings) -> CardLine:
    inductor, core = around.inductor, around.core
    words = {"fallback": "falls back to ATen", "none": "no lowering: falls back to ATen"}
    status = words.get(inductor.status, inductor.status)
    return CardLine("Inductor", f"{status} · core ATen: {core.text}", inductor.location)


def _autocast(around: Surroundings) -> Iterator[CardLine]:
    policies: dict[str, list[str]] = {}
    for one in around.autocast:
        devices = policies.setdefault(one.policy, [])
        devices += [one.device] if one.device not in devices else []
    if policies:
        covered = (f"{policy} on {', '.join(devices)}" for policy, devices in policies.items())
        yield CardLine("autocast", " · ".join(covered), around.autocast[0].location)


def _tests(index: IndexedTree, native: NativeFunction, around: Surroundings) -> CardLine:
    tests, docs = around.tests, around.docs
    are_here = bool(tests.files) or any(index.facts.paths("test"))
    parts = ["none named after it: see callers" if are_here else "not in this source"]
    if tests.files:
        parts = [f"{_counted(tests.files, 'file')}, {_counted(tests.tests, 'test')}"]
    parts += [_counted(len(around.opinfo), "OpInfo")] if around.opinfo else []
    parts += [f"docs: {docs.count}"] if docs.count else ["docs: none found by name"]
    opens = f"torchnav op {native.full_name} --role test"
    return CardLine("tests", " · ".join(parts), tests.location, "", opens, "6")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _more(native: NativeFunction, summary: OperatorSummary) -> CardLine:
    others = [key for key in summary.keys if key not in _USUAL_KEYS and "Composite" not in key]
    words = f"{_counted(len(others), 'other key')}: table" if others else ""
    calls = "called by: callers" if summary.called else ""
    text = " · ".join(filter(None, ("whole chain: --chain", calls, words)))
    return CardLine("more", text, None, "", f"torchnav op {native.full_name} --chain")


# ------------------------------------------------------------------ what stands around


def surroundings(index: IndexedTree, native: NativeFunction) -> Surroundings:
    """What relates to an overload. The tests are those named for it that call it."""
    facts = index.facts
    python = facts.python
    links = _by_role(registered(native, python))
    around = around_dispatch(native.full_name, written_for(facts, native.full_name), facts)
    dispatched = _by_role(around)
    compilers = Compilers(native, python)
    return Surroundings(
        python=_named(python_ways(native, python)),
        inductor=_inductor(index, native, compilers),
        core=compilers.core(),
        decompositions=compilers.decompositions(),
        meta=_named(links["meta_registration"]),
        autocast=tuple(_policies(dispatched["autocast"])),
        batch_rule=next(iter(_named(dispatched["batch_rule"])), None),
        docs=_count(links["docs"]),
        opinfo=_named(links["opinfo"]),
        tests=_test_count(named_tests(words_of(native, python), python)),
    )


_Roles = dict[Role, list[Link]]
_USED: tuple[Role, ...] = ("meta_registration", "docs", "opinfo", "autocast", "batch_rule")


def _by_role(links: Iterable[Link]) -> _Roles:
    found: _Roles = {role: [] for role in _USED}
    for link in links:
        found.setdefault(link.role, []).append(link)
    return found


def _named(links: Iterable[Link]) -> tuple[NamedPlace, ...]:
    return tuple(dict.fromkeys(NamedPlace(link.symbol, link.location) for link in links))


def _count(links: Sequence[Link]) -> Counted:
    return Counted(len(links), links[0].location if links else None)


def _how_far(test: NamedTest) -> tuple[bool, int, int]:
    name = test.symbol.rpartition(".")[2]
    return not test.qualified, test.path.count("/"), len(name)


def _test_count(named: Sequence[NamedTest]) -> TestCount:
    if not named:
        return TestCount()
    first = min(named, key=_how_far)
    where = Location(first.path, first.line, first.end_line)
    return TestCount(len({one.path for one in named}), len(named), where)


# ------------------------------------------------------------------- compilers


def _inductor(index: IndexedTree, native: NativeFunction, compilers: Compilers) -> Inductor:
    """What Inductor does. Its graphs are functional, so an in-place or out= overload without a rule
    of its own is treated as the functional one."""
    own = compilers.inductor()
    functional = _functional(index, native) if own.status == "none" else None
    if functional is None:
        return own
    found = Compilers(functional, index.facts.python).inductor()
    if found.status == "none":
        return own
    return replace(found, note=f"as {functional.full_name}, once functionalized")


def _functional(index: IndexedTree, native: NativeFunction) -> NativeFunction | None:
    schema = parse_schema(native.schema)
    if schema.kind is SchemaKind.FUNCTIONAL:
        return None
    signature = signature_of(native)
    for other in index.facts.overloads(native.space + schema.base):
        is_functional = parse_schema(other.schema).kind is SchemaKind.FUNCTIONAL
        if is_functional and signature_of(other) == signature:
            return other
    return None


# -------------------------------------------------------------- dispatcher


def _policies(links: Iterable[Link]) -> Iterator[AutocastPolicy]:
    for link in links:
        if link.note:
            device = link.keys[0].removeprefix("Autocast") or "CUDA"
            yield AutocastPolicy(device, link.note.removeprefix("policy "), link.location)
