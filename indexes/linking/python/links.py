"""Everything in Python related to an operator, as links with reasons.

Rows of Python files are joined to an operator by the rules of PyTorch's own registries: by operator
name if a registration names it, by the path of its binding if a file passes that on. Python's entry
points are bindings, one for each variant of a YAML entry; functions that pass calls on to them, or
replace them and call them (``torch.einsum`` in torch/functional.py); and modules of torch.nn, whose
``forward`` calls those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexes.codegen.registration import MetaRules, served_by_cpp
from indexes.codegen.variants import is_composite_implicit
from indexes.linking.facts import Link
from indexes.linking.python.paths import (
    MAX_TESTS,
    Binding,
    Entry,
    Found,
    PythonIndex,
    bindings,
    entries,
    named_tests,
    operator_targets,
    place_of,
    skipping_rule,
)
from indexes.model.files import PythonFact, unpack
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Location, NativeFunction, Role

_REGISTERED: dict[str, tuple[Role, str]] = {
    "decomposition": ("decomposition", "register_decomposition enters it in {table}"),
    "meta_registration": ("meta_registration", "register_meta, or an impl for the Meta key"),
    "fake_impl": (
        "meta_registration",
        "implementation for fake tensors: register_op_impl, register_fake",
    ),
    "jagged": ("registration", "register_jagged_func: the kernel for jagged nested tensors"),
    "lowering": ("registration", "register_lowering or make_fallback: Inductor's lowering"),
    "onnx": ("registration", "ONNX symbolic: onnx_symbolic or onnx_impl"),
    "py_impl": ("registration", "Python kernel: py_impl or torch.library.impl for a dispatch key"),
    "autograd_impl": ("registration", "torch.library.register_autograd"),
    "sharding": ("registration", "DTensor's sharding rule: register_op_strategy"),
}
_ORDER = "python docs decomposition ref meta_registration registration opinfo test owner".split()


def around(op: NativeFunction, facts: PythonIndex) -> tuple[Link, ...]:
    """The links of one overload, by role."""
    links = [*python_ways(op, facts), *registered(op, facts), *_tests(op, facts)]
    return tuple(sorted(dict.fromkeys(links), key=lambda link: _ORDER.index(link.role)))


def registered(op: NativeFunction, facts: PythonIndex) -> Iterator[Link]:
    """What Python files register, document and list for one overload."""
    names = names_of(op, facts)
    yield from _overrides(names, facts)
    yield from _docs(names, facts)
    yield from _registrations(op, facts)
    yield from _references(names, facts)
    yield from _opinfo(op, facts)


# ------------------------------------------------------------------------- registrations


def _registrations(op: NativeFunction, facts: PythonIndex) -> Iterator[Link]:
    overload, packet = operator_targets(op)
    rows = [(one, target) for target in (overload, packet) for one in facts.by_target(target)]
    metas = _Metas(op, overload, [*(one for one, _ in rows), *facts.by_target("Meta")])
    for found, target in rows:
        _, fact = found
        if fact.kind in _REGISTERED:
            yield _registration(found, target == packet, metas.left(fact))
            yield from metas.implied(found)


def _registration(found: Found, packet: bool, left: str) -> Link:
    _, fact = found
    role, rule = _REGISTERED[fact.kind]
    detail = unpack(fact.detail)
    rule = rule.format(table=_table(fact, detail))
    if packet:
        rule += f"; {fact.target} stands for all of its overloads"
    certain = not packet and "when" not in detail
    note = ", ".join(filter(None, (left, _note(detail))))
    link = python_link(role, found, rule, "exact" if certain else "by rule")
    return replace(link, note=note, keys=(detail["key"],) if "key" in detail else ())


def _table(fact: PythonFact, detail: dict[str, str]) -> str:
    if "registry" not in detail:
        return f"torch._decomp's {detail.get('type', 'post_autograd')} table"
    registry = detail["registry"]
    return f"the table {registry if '.' in registry else _module(fact) + '.' + registry}"


def _module(fact: PythonFact) -> str:
    return fact.symbol.rpartition(".")[0]


def _note(detail: dict[str, str]) -> str:
    parts = [detail.get("note", "")]
    off = detail.get("register_dispatcher") == "False"
    parts += ["not with the dispatcher: register_dispatcher=False"] if off else []
    parts += [f"only if {detail['when']}"] if "when" in detail else []
    parts += [f"through {detail['by']}"] if "by" in detail else []
    parts += [f"made from {detail['of']}"] if "of" in detail else []
    parts += [f"opset {detail['opset']}"] if "opset" in detail else []
    return ", ".join(filter(None, parts))


class _Metas:
    """Decides which rows of an operator are its Meta kernel."""

    def __init__(self, op: NativeFunction, overload: str, rows: list[Found]) -> None:
        self._op = op
        self._overload = overload
        self._rules = MetaRules.of([(path, row) for path, row in rows if row.kind == "meta_rule"])
        self._ruled = [row for _, row in rows if self._rules.by(row)]

    def left(self, fact: PythonFact) -> str:
        """The rule for a meta function in its table, while C++ serves the Meta key."""
        rule = self._rules.by(fact)
        if rule is None or fact.kind != "meta_registration" or not self._leaves(rule):
            return ""
        return f"{_name(rule)} leaves the operator to C++"

    def implied(self, found: Found) -> Iterator[Link]:
        """A decomposition is the Meta kernel if there is no meta function."""
        _, fact = found
        rule = self._rules.by(fact)
        if rule is None or fact.kind != "decomposition" or self._leaves(rule):
            return
        if any(row.kind == "meta_registration" for row in self._ruled):
            return
        if _unsure(fact) and not all(map(_unsure, self._ruled)):
            return
        why = f"{_name(rule)} registers a decomposition for the Meta key too"
        link = python_link("meta_registration", found, why, "by rule")
        yield replace(link, evidence=(place_of(rule),), keys=("Meta",))

    def _leaves(self, rule: Found) -> bool:
        if rule is self._rules.activate:
            composite = is_composite_implicit(self._op)
            return self._rules.leaves(self._overload, self._op, composite)
        return self._rules.only_where_none(rule) and served_by_cpp(self._op)


def _name(rule: Found) -> str:
    _, fact = rule
    return fact.symbol.rpartition(".")[2]


def _unsure(fact: PythonFact) -> bool:
    return "when" in unpack(fact.detail)


def _references(names: Sequence[str], facts: PythonIndex) -> Iterator[Link]:
    rules = {
        "ref": "{symbol} is the Python reference of {name}",
        "prim": "primitive whose eager implementation is {name}",
    }
    functions = (name.replace("torch.Tensor.", "torch.", 1) for name in names)
    for name in dict.fromkeys(functions):
        for found in facts.by_target(name):
            _, fact = found
            if fact.kind in rules:
                rule = rules[fact.kind].format(symbol=fact.symbol, name=name)
                yield python_link("ref", found, rule, "by rule")


# --------------------------------------------------------------------------- ways in

_RANKS = (
    regex(r"torch(?:\.[a-z]\w*)*\.[a-z]\w*$"),
    regex(r"torch\.nn\.functional\.[a-z]\w*$"),
    regex(r"torch\.Tensor\.[a-z]\w*$"),
    regex(r"torch\.nn\.[A-Z]\w*$"),
)
"""Order of names: public functions first, torch.nn.functional's last."""
_BASE = {"torch": "torch._VF", "torch.Tensor": "torch._C.TensorBase"}
"""Where a binding is still available if Python defines a function of its name."""


def python_ways(op: NativeFunction, facts: PythonIndex) -> tuple[Link, ...]:
    """The Python names of an operator: functions of torch and its modules, those of
    torch.nn.functional, methods, modules of torch.nn, then private names."""
    if op.defined_by:
        return (_torch_ops(op),)
    made = bindings(op)
    found = list(entries([one.path for one in made], facts))
    names = [*(one.path for one in made), *(entry.name for entry in found)]
    shadows = {one.path: list(_shadows(one, facts)) for one in made}
    links = [
        *(link for one in shadows.values() for link in one),
        *_bindings(op, made, [path for path, one in shadows.items() if one], facts),
        *(_entry(entry) for entry in found),
        *_modules(names, facts),
    ]
    return tuple(sorted(dict.fromkeys(links), key=lambda link: _order(link, op)))


def _torch_ops(op: NativeFunction) -> Link:
    """How Python calls an operator without a binding."""
    name = op.full_name.replace("::", ".") if "::" in op.name else f"aten.{op.full_name}"
    rule = "torch.ops finds every operator of the dispatcher by its name"
    return Link("python", f"torch.ops.{name}", op.location, rule, "by rule")


def names_of(op: NativeFunction, facts: PythonIndex) -> tuple[str, ...]:
    """The bindings of an operator, and the names that pass calls on to them."""
    paths = [binding.path for binding in bindings(op)]
    return (*paths, *(entry.name for entry in entries(paths, facts)))


def python_link(
    role: Role, found: Found, rule: str, sure: Confidence = "exact", symbol: str = ""
) -> Link:
    """A link to a row of a Python file."""
    path, fact = found
    where = place_of(found)
    return Link(role, symbol or fact.symbol, where, rule, sure, "", _evidence(path, fact))


def _evidence(path: str, fact: PythonFact) -> tuple[Location, ...]:
    detail = unpack(fact.detail)
    lines = [detail[key] for key in ("at", "call", "forward") if key in detail]
    return tuple(Location(path, int(line), int(line)) for line in lines if line.isdecimal())


def _order(link: Link, op: NativeFunction) -> tuple[int, bool]:
    """Sort key: the kind of name, then names like the operator's own."""
    name = link.symbol
    rank = next((at for at, kind in enumerate(_RANKS) if kind.match(name)), len(_RANKS))
    if name.startswith("torch.nn.functional."):
        rank = 1
    own = op.name.strip("_").replace("_", "").lower()
    return rank, name.rpartition(".")[2].replace("_", "").lower() != own


# ------------------------------------------------------------------------- bindings


def _shadows(binding: Binding, facts: PythonIndex) -> Iterator[Link]:
    """The Python function under the public name of a binding, which calls or replaces it."""
    rows = [row for row in facts.by_target(binding.path) if row[1].symbol == binding.path]
    rows = [row for row in rows if row[1].kind in ("functional", "method", "alias")]
    called = [row for row in rows if "binding" in unpack(row[1].detail)]
    for path, fact in (called or rows)[:1]:
        does = "and calls the binding" if called else "in the place of the binding"
        rule = f"{path} defines {binding.path} {does}"
        yield python_link("python", (path, fact), rule, "exact" if called else "by rule")


def _bindings(
    op: NativeFunction, made: Sequence[Binding], shadowed: Sequence[str], facts: PythonIndex
) -> Iterator[Link]:
    """The generated binding with its template and generator."""
    skipped = skipping_rule(op, facts)
    if "generated" in op.tags and "view_copy" not in op.tags:
        return
    for binding in made:
        name = _beneath(binding.path) if binding.path in shadowed else binding.path
        if skipped:
            rule = f"no binding is generated: the generator skips {skipped[1].symbol!r}"
            yield Link("python", name, place_of(skipped), rule, "by rule")
            continue
        generators = [row for row in facts.by_target(binding.chosen_by) if row[1].kind == "binding"]
        for generator in generators:
            yield _generated(op, name, generator)
        if not generators:
            rule = f"{binding.chosen_by} makes the binding; its generator is not in this tree"
            yield Link("python", name, op.location, rule, "by rule")


def _beneath(path: str) -> str:
    """The name of a binding whose public name a Python function has."""
    owner, _, name = path.rpartition(".")
    return f"{_BASE.get(owner, owner)}.{name}"


def _generated(op: NativeFunction, path: str, generator: Found) -> Link:
    source, fact = generator
    template = Location(f"{source.rpartition('/')[0]}/templates/{fact.symbol}", 0)
    rule = f"binding THPVariable_{op.name} in {fact.symbol}, generated from this template"
    evidence = (place_of(generator), op.location)
    return Link("python", path, template, rule, "by rule", evidence=evidence)


# -------------------------------------------------------------- functions and modules


def _entry(entry: Entry) -> Link:
    _, fact = entry.found
    if fact.kind == "alias":
        rule = f"{entry.name} is assigned from {entry.through}"
        return python_link("python", entry.found, rule, symbol=entry.name)
    rule = f"returns what {entry.through} gives"
    if not entry.through.startswith("torch.Tensor."):
        return python_link("python", entry.found, rule, symbol=entry.name)
    link = python_link("python", entry.found, rule, "by rule", symbol=entry.name)
    return replace(link, note="a method of an argument, taken for a tensor")


def _modules(names: Sequence[str], facts: PythonIndex) -> Iterator[Link]:
    for name in names:
        for path, fact in facts.by_target(name):
            detail = unpack(fact.detail)
            if fact.kind == "module" and ("returned" in detail or "binding" in detail):
                yield python_link("python", (path, fact), f"forward calls {name}")


# ---------------------------------------------------------------------------- documented


def _overrides(names: Sequence[str], facts: PythonIndex) -> Iterator[Link]:
    for name in names:
        rule = f"entry of {name} in torch.overrides.get_testing_overrides"
        for path, fact in facts.by_target(name):
            if fact.kind == "override":
                yield python_link("python", (path, fact), rule, symbol=f"overrides: {name}")


def _docs(names: Sequence[str], facts: PythonIndex) -> Iterator[Link]:
    for name in names:
        rows = list(facts.by_target(name))
        pages = sorted((path, fact) for path, fact in rows if fact.kind == "page")
        for path, fact in [(path, fact) for path, fact in rows if fact.kind == "docs"] + pages:
            rule = f"the page lists {name}" if fact.kind == "page" else f"docstring of {name}"
            yield python_link("docs", (path, fact), rule)


# --------------------------------------------------------------------------------- tests


def _functional(op: NativeFunction) -> str:
    return f"aten::{op.name[:-1]}" if op.name.endswith("_") else ""


_TESTED_AS = ("aten_backward_name", "decomp_aten_name")


def opinfo_entries(op: NativeFunction, facts: PythonIndex) -> Iterator[tuple[Found, str]]:
    """The OpInfo entries of an operator, each with the target by which it is found."""
    own, functional, names = f"aten::{op.name}", _functional(op), names_of(op, facts)
    seen: set[tuple[str, int, str]] = set()
    for target in dict.fromkeys([own, functional, *names]):
        for path, fact in facts.by_target(target):
            entry = path, fact.line, unpack(fact.detail).get("variant", "")
            if fact.kind == "opinfo" and entry not in seen:
                seen.add(entry)
                yield (path, fact), target


def tested_without_autograd(op: NativeFunction, facts: PythonIndex) -> bool:
    """Whether all OpInfos of an operator itself say ``supports_autograd=False``: that of an alias
    may have further variants."""
    name = f"aten::{op.name}"
    found = (unpack(one.detail) for (_, one), target in opinfo_entries(op, facts) if target == name)
    own = [one for one in found if "ref_of" not in one and one.keys().isdisjoint(_TESTED_AS)]
    return bool(own) and all("autograd" in one for one in own)


def _opinfo(op: NativeFunction, facts: PythonIndex) -> Iterator[Link]:
    for found, target in opinfo_entries(op, facts):
        yield _opinfo_link(found, target, _functional(op))


def _opinfo_link(found: Found, target: str, functional: str) -> Link:
    _, fact = found
    detail = unpack(fact.detail)
    name = target.removeprefix("aten::")
    keyword = next((key for key in _TESTED_AS if detail.get(key) == name), "aten_name")
    confidence: Confidence = "exact" if keyword in detail else "by rule"
    rule = f"{detail.get('cls', 'OpInfo')} with {keyword} {name}"
    if confidence != "exact":
        rule = f"{detail.get('cls', 'OpInfo')} of that name, which is its aten_name by default"
    if target == functional:
        rule, confidence = f"{rule}; its inplace_variant is the in-place form", "by rule"
    elif not target.startswith("aten::"):
        rule, confidence = f"OpInfo named, or with the alias, {target}", "by rule"
    variant = f"variant {detail['variant']}" if "variant" in detail else ""
    note = ", ".join(filter(None, (detail.get("db", ""), variant)))
    return replace(python_link("opinfo", found, rule, confidence), note=note)


def words_of(op: NativeFunction, facts: PythonIndex) -> tuple[str, ...]:
    """The words in names of an operator's tests: its own names, without modules."""
    words = (one.rpartition(".")[2].strip("_") for one in (op.name, *names_of(op, facts)))
    return tuple(dict.fromkeys(filter(None, words)))


def _tests(op: NativeFunction, facts: PythonIndex) -> Iterator[Link]:
    for test in named_tests(words_of(op, facts), facts, MAX_TESTS):
        rule = f"its name has {test.word!r} and it calls {test.call}"
        where = Location(test.path, test.line, test.end_line)
        sure: Confidence = "by rule" if test.qualified else "ambiguous"
        yield Link("test", test.symbol, where, rule, sure, evidence=(test.called_at,))
