"""The kernels of an operator as hops: its delegate, its meta function, those of each key, generated
ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from indexes.linking.facts import Details
from indexes.linking.graph import Node, device_of_key
from indexes.model.lines import grouped
from indexes.model.vocabulary import Definition, KernelRow, Location, NativeFunction
from indexes.queries.chains.steps import MAIN_KEYS, SPECIAL, UNUSUAL, Place, Row, nodes_of
from indexes.queries.chains.walk import ChainWalk, Lister

_UFUNC_TEMPLATES = {"CPU": "UfuncCPU.cpp", "CUDA": "UfuncCUDA.cu"}


class Kernels(Lister):
    """Lists the kernels of operators for a walk."""

    def __init__(self, walk: ChainWalk) -> None:
        super().__init__(walk)
        self.source = walk.index.source
        self._computes_itself = cache(self._by_itself)

    def of(self, place: Place, native: NativeFunction) -> None:
        """Lists an overload's delegate, meta and kernels, those of most interest first."""
        under = self._delegate(native, place.hop)
        rows = self.facts.kernels(native.full_name)
        if place.dispatches == 0 or self.extent.full:
            for group in _grouped([row for row in rows if row.key == "Meta"]):
                self._meta(group, under)
        groups = _grouped([row for row in rows if row.key != "Meta"])
        for group in sorted(groups, key=lambda one: _extra_cost(one, rows)):
            steps = [s for n in place.nodes for row in group for s in self.graph.row_steps(n, row)]
            if steps or not place.nodes[0].device:  # otherwise for another device than this way
                self._kernel_row(place, Row(group, steps, under, _extra_cost(group, rows)))
        if native.doubt:
            self.hops.miss(place.hop, "kernel", native.full_name, native.doubt)
        elif not rows:
            self._no_kernel(native, place.hop)

    def _kernel_row(self, place: Place, row: Row) -> None:
        """Lists a kernel with its keys, unless it is of little interest and of an operator on the
        way."""
        if (row.is_special and place.dispatches and not self.extent.full) or self.walk.is_full:
            if row.steps:
                self.walk.fold(place, self.works.of(row.steps[0].lower))
                self.walk.continues.setdefault(place.hop, row.first.op)
        elif row.first.kind == "ufunc" and row.first.definitions:
            self._ufunc(place, row)
        elif row.first.kind == "generated":
            self._generated(place, row)
        elif row.first.kind == "python":
            self._python(place, row)
        elif not row.first.definitions:
            first = row.first
            self.hops.miss(row.parent, "kernel", first.symbol, first.reason, row.keys)
        else:
            for found in row.first.definitions:
                self._kernel(place, row, found)

    def _delegate(self, native: NativeFunction, parent: int) -> int:
        out = native.structured_delegate and self.facts.native(native.structured_delegate)
        if not out:
            return parent
        line = native.field_lines.get("structured_delegate", native.location.line)
        rule = f"structured_delegate: {out.full_name} names the kernels"
        evidence = [Location(native.location.path, line)]
        return self.walk.entry(parent, "delegate", out, rule, evidence=evidence)

    def _no_kernel(self, native: NativeFunction, parent: int) -> None:
        if native.defined_by:
            reason = "nothing in this tree registers a kernel for it"
            self.hops.miss(parent, "kernel", native.full_name, reason)
            return
        line = native.field_lines.get("dispatch", native.location.line)
        reason = f"dispatch: {{}} at {native.location.path}:{line}: no C++ kernel at all"
        self.hops.miss(parent, "kernel", native.full_name, reason)

    def _meta(self, rows: Sequence[KernelRow], parent: int) -> None:
        row, keys, line = rows[0], [r.key for r in rows], self._yaml_line(rows[0])
        if not row.definitions:
            self.hops.miss(parent, "meta", row.symbol, row.reason, keys)
        for found in row.definitions:
            dtypes, what = self.walk.dtypes(found), (found, row.rule, row.confidence)
            self.hops.add_definition(
                parent, "meta", *what, keys=keys, evidence=[line], dtypes=dtypes
            )

    def _kernel(self, place: Place, row: Row, found: Definition) -> None:
        nodes = row.nodes_of(self.facts.known(found))
        hop = self.hops.add_definition(
            row.parent,
            "kernel",
            found,
            row.first.rule,
            row.first.confidence,
            device=_only_device(row.keys),
            keys=row.keys,
            evidence=[self._yaml_line(row.first)],
            dtypes=self.walk.dtypes(found),
            work=self.works.of(nodes[0]) if nodes else None,
        )
        if nodes:
            composite = row.first.key.startswith("Composite")
            follows = composite or not any(map(self._computes_itself, nodes))
            cost = place.cost + 1 + row.cost
            self.walk.enter(Place(hop, nodes, follows, place.dispatches, cost))

    def _python(self, place: Place, row: Row) -> None:
        """A Python kernel, and the operator that it calls if known."""
        made, found = row.first, row.first.definitions[0]
        hop = self.hops.add(
            row.parent,
            "kernel",
            made.symbol,
            found.location,
            made.rule,
            made.confidence,
            keys=row.keys,
            device=_only_device(row.keys),
            work="dispatches" if row.steps else "helps",
        )
        if row.steps:
            below = place.below(hop, (), row.cost)
            self.walk.first_dispatch(below, nodes_of(row.steps), follows=True)

    def _by_itself(self, start: Node) -> bool:
        """Whether a function computes without dispatching again."""
        below = (step.lower for step in self.graph.without_dispatch(start))
        return self._computes(start) or any(map(self._computes, below))

    def _computes(self, node: Node) -> bool:
        return isinstance(node.what, int) and self.works.computing(node.what) is not None

    def _ufunc(self, place: Place, row: Row) -> None:
        """Hops for torchgen's kernel, stub and loop around inner loops."""
        made, loop, device = row.first, row.first.definitions[0], _only_device(row.keys)
        rule = f"{made.rule}; torchgen generates {made.symbol}, this is the arithmetic it calls"
        hop = self.hops.add(
            row.parent,
            "kernel",
            made.symbol,
            loop.location,
            rule,
            "by rule",
            keys=row.keys,
            evidence=[self._yaml_line(made)],
            guard=loop.guard,
            device=device,
            work="computes",
        )
        self._ufunc_template(made, hop, device)
        self._ufunc_stub(made, hop, device)
        rule = "an inner loop named in ufunc_inner_loop; torchgen writes the loop around it"
        below = place.below(hop, (), row.cost)
        for found in made.definitions:
            self.inner_loop(below, row, found, rule)

    def _ufunc_template(self, row: KernelRow, parent: int, device: str | None) -> None:
        name = _UFUNC_TEMPLATES[device or ""]
        if path := self.source.locate(f"ATen/templates/{name}"):
            rule = "the template from which torchgen makes the kernel"
            what = (row.symbol, Location(path, 1), rule)
            self.hops.add(parent, "generated", *what, "by rule", device=device, work="computes")

    def _ufunc_stub(self, row: KernelRow, parent: int, device: str | None) -> None:
        base = row.symbol.removeprefix("ufunc_").rpartition("_")[0]
        for use in self.facts.stub_uses(f"{base}_stub") if device == "CPU" else ():
            rule = f"{use.macro}: the stub is {use.what} here; torchgen defines and registers it"
            what = (f"{base}_stub", use.location, rule)
            self.hops.add(parent, "stub", *what, "by rule", work="dispatches")

    def inner_loop(self, place: Place, row: Row, found: Definition, rule: str) -> None:
        nodes = row.nodes_of(self.facts.known(found))
        hop = self.hops.add_definition(
            place.hop,
            "device_kernel",
            found,
            rule,
            "by rule",
            device=nodes[0].device if len(nodes) == 1 else None,
            evidence=[self._yaml_line(row.first)],
            work="computes",
        )
        if nodes:
            self.walk.enter(place.below(hop, nodes))

    def _generated(self, place: Place, row: Row) -> None:
        """A generated kernel, and the operator that it calls."""
        made, template = row.first, self._template(row.first)
        if template is None:
            self.hops.miss(row.parent, "generated", made.symbol, made.reason, row.keys)
            return
        what, evidence = (made.symbol, template, made.reason), [self._yaml_line(made)]
        details: Details = {"work": "dispatches"}
        hop = self.hops.add(
            row.parent, "generated", *what, "by rule", keys=row.keys, evidence=evidence, **details
        )
        self.walk.first_dispatch(place.below(hop, (), row.cost), nodes_of(row.steps), follows=True)

    def _template(self, row: KernelRow) -> Location | None:
        name = "RegisterDispatchKey.cpp"
        if row.key.endswith("NonFunctional") or row.op.partition(".")[0].endswith("_copy"):
            name = "CompositeViewCopyKernels.cpp"
        path = self.source.locate(f"ATen/templates/{name}") or self.source.locate(
            f"aten/src/ATen/templates/{name}"
        )
        return Location(path, 1) if path else None

    def _yaml_line(self, row: KernelRow) -> Location:
        """The line of the YAML or of a registration that makes it a kernel."""
        if row.registered:
            return row.registered
        native = self.facts.native(row.op)
        assert native is not None
        source = native
        if native.structured_delegate and native.dispatch is None:
            source = self.facts.native(native.structured_delegate) or native
        for kernel in source.dispatch or ():
            if kernel.key == row.key:
                return Location(source.location.path, kernel.line)
        return source.location


def _only_device(keys: Sequence[str]) -> str | None:
    devices = list(filter(None, map(device_of_key, keys)))
    return devices[0] if len(devices) == 1 else None


def _grouped(rows: Sequence[KernelRow]) -> list[list[KernelRow]]:
    """Groups rows of one symbol, as the YAML often lists their keys."""
    return list(grouped(((row.symbol, row.kind), row) for row in rows).values())


def _extra_cost(group: Sequence[KernelRow], rows: Sequence[KernelRow]) -> int:
    """The extra distance through kernels for unusual tensors (sparse, quantized, nested), and
    composite ones beside backends."""
    keys = {row.key for row in group}
    if not keys.isdisjoint(MAIN_KEYS):
        return 0
    if not any(key.startswith("Composite") for key in keys):
        return SPECIAL
    return UNUSUAL if any(row.key in MAIN_KEYS for row in rows) else 0
