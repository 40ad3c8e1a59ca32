"""Second and third hop: from a kernel to stubs, loops, launches and libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from indexes.linking.choices import Choices
from indexes.linking.dtypes import Dtypes
from indexes.linking.facts import Call, Details, Facts, HopList, Known, StubUse
from indexes.linking.registrations import device_of, stub_row
from indexes.linking.visible import (
    APPLE,
    LOOK_AHEAD,
    Computing,
    in_place,
    is_given_nothing,
    is_header,
    is_plain,
    path_device,
    visible_functions,
    visible_functors,
    visible_stub,
)
from indexes.model.vocabulary import Choice, Confidence, Definition, DtypeDispatch, Location
from indexes.readers.cxx.bodies import LOOPS

MAX_DEPTH = 6
_MOST_OVERLOADS = 24
_DEVICES = ("CPU", "CUDA", "MPS", "XPU")


@dataclass(slots=True)
class OperatorCall:
    """A call of another operator, to be followed or shown."""

    call: Call
    caller: Known
    parent: int


@dataclass(slots=True)
class Reached:
    """What walking one kernel met."""

    computes: bool = False
    """Whether a stub, a loop, a launch or a library was reached."""
    operators: list[OperatorCall] = field(default_factory=list)
    visited: list[tuple[Known, int]] = field(default_factory=list)
    """Every function walked, with its hop."""


@dataclass(frozen=True, slots=True)
class _Site:
    """A function on the way: what its calls are made in."""

    known: Known
    hop: int
    """What is added for its calls hangs under this hop."""
    devices: tuple[str, ...]
    """Those that the way is for; empty for every one."""
    depth: int

    @property
    def path(self) -> str:
        return self.known.definition.location.path

    def at(self, line: int) -> Location:
        """A line of its file; where the line is not known (0), that of the function."""
        return Location(self.path, line or self.known.definition.location.line)


class Walker:
    """Adds what a kernel reaches as hops under it."""

    def __init__(
        self,
        facts: Facts,
        hops: HopList,
        dtypes: Dtypes | None = None,
        choices: Choices | None = None,
    ) -> None:
        self.facts = facts
        self.hops = hops
        self._dtypes = dtypes
        self._choices = choices
        self._max_depth = MAX_DEPTH
        self._computing = Computing(facts)
        self._reached = Reached()
        self._seen: set[int] = set()

    def walk(
        self, kernel: Known, parent: int, devices: Sequence[str], max_depth: int = MAX_DEPTH
    ) -> Reached:
        """Follows ``kernel``. ``devices`` are those its keys are for; empty means every one."""
        self._reached, self._seen, self._max_depth = Reached(), {kernel.id}, max_depth
        self._visit(_Site(kernel, parent, tuple(devices), 0))
        return self._reached

    def _visit(self, site: _Site) -> None:
        self._reached.visited.append((site.known, site.hop))
        for call in self._calls(site):
            if self.hops.full:
                return
            self._follow(call, site)

    def _follow(self, call: Call, site: _Site) -> None:
        if uses := visible_stub(call, site.known, self.facts):
            self._stub(call, uses, site)
        elif library := self._computing.vendor(call, site.known):
            self._library(call, library, site)
            if is_plain(call) and library not in APPLE:  # a stand-in, in other builds
                self._function(call, site)
        elif call.kind == "launch":
            self._launch(call, site)
        elif self._is_operator(call):
            self._reached.operators.append(OperatorCall(call, site.known, site.hop))
        elif call.kind != "member":
            self._function(call, site)
        elif call.name in LOOPS:
            self._reached.computes = True

    def _calls(self, site: _Site) -> Sequence[Call]:
        """The calls of a function, what they mean about to be asked for where it is followed."""
        calls = self.facts.calls(site.known)
        if site.depth < self._max_depth:
            named = (one.name for one in calls if one.kind == "call" and not self._is_operator(one))
            self.facts.expect(named)
        return calls

    def _is_operator(self, call: Call) -> bool:
        first = call.qualifier.lstrip(":").split("::")
        named = first == ["at"] or first[:2] == ["at", "_ops"] or first[0] == "_ops"
        return call.kind != "member" and named and bool(self.facts.overloads(operator_base(call)))

    # ------------------------------------------------------------------- stubs

    def _stub(self, call: Call, uses: Sequence[StubUse], site: _Site) -> None:
        """Adds a stub's declaration, definition and registrations for the devices."""
        self._reached.computes = True
        # Of a name that is passed on only the text tells the line.
        line = call.line or (self._choices.line(call, site.known) if self._choices else 0)
        how = "passed on by name" if call.kind == "name" else "called through its dispatch table"
        rule, choices = f"{call.name} is a stub, {how}", self.choices(call, site.known)
        what = (call.name, site.at(line), rule)
        hop = self.hops.add(site.hop, "call", *what, evidence=[uses[0].location], choices=choices)
        for use in uses:
            if use.what != "registered":
                rule = f"{use.macro}: the stub is {use.what} here"
                self.hops.add(hop, "stub", call.name, use.location, rule, guard=use.guard)
        registered = [use for use in uses if use.what == "registered"]
        if not registered and not self._ufunc_stub(hop, call.name):
            self._unregistered(hop, call.name, uses)
        for use in registered:
            if not site.devices or device_of(use) in site.devices:
                self._registration(use, replace(site, hop=hop))

    def _unregistered(self, parent: int, name: str, uses: Sequence[StubUse]) -> None:
        what = "declared" if all(u.what == "declared" for u in uses) else "defined"
        reason = f"{name} is {what} but no line of this tree registers a function on it"
        self.hops.miss(parent, "registration", name, reason)

    def _ufunc_stub(self, parent: int, name: str) -> bool:
        """torchgen defines and registers ``add_stub`` from ``ufunc_inner_loop`` of ``add.out``."""
        overloads = self.facts.overloads(name.removesuffix("_stub"))
        made = [one for one in overloads if one.ufunc_inner_loop and name.endswith("_stub")]
        for native in made[:1]:
            line = native.field_lines.get("ufunc_inner_loop", native.location.line)
            at = [Location(native.location.path, line)]
            rule = f"torchgen defines and registers {name} from ufunc_inner_loop of "
            rule += native.full_name
            for row in self.facts.kernels(native.full_name):
                for found in row.definitions if row.kind == "ufunc" else ():
                    self.hops.add_definition(
                        parent, "device_kernel", found, rule, "by rule", device=row.key, evidence=at
                    )
        return bool(made)

    def _registration(self, use: StubUse, site: _Site) -> None:
        row = stub_row(use, self.facts)
        symbol = f"{row.macro}({row.stub}, {row.function})"
        rule = f"{row.macro} sets the {row.device} entry of the stub"
        hop = self.hops.add(
            site.hop, "registration", symbol, use.location, rule, device=row.device, guard=use.guard
        )
        if row.definition is None:
            self.hops.miss(hop, "device_kernel", f"{row.stub}: {row.function}", row.reason)
        rule = "the registered function, in the file of its registration"
        if row.alternatives:
            rule += "; one definition for each build configuration"
        for found in row.alternatives or filter(None, (row.definition,)):
            at, dtypes = [use.location], self.dtypes(found)
            inner = self.hops.add_definition(
                hop, "device_kernel", found, rule, device=row.device, evidence=at, dtypes=dtypes
            )
            known = self.facts.known(found)
            if known and known.id not in self._seen:
                self._seen.add(known.id)
                self._visit(_Site(known, inner, (row.device,), site.depth + 1))

    # ---------------------------------------------------------- functions, launches

    def choices(self, call: Call, caller: Known) -> tuple[Choice, ...]:
        """What decides at run time whether a call is made."""
        return self._choices.of(call, caller) if self._choices else ()

    def dtypes(self, definition: Definition) -> tuple[DtypeDispatch, ...]:
        """The dtypes that a function is made for."""
        known = self._dtypes and self.facts.known(definition)
        if not known or not self._dtypes:
            return ()
        names = [call.name for call in self.facts.calls(known)]
        self._dtypes.know(names)
        dispatches = any(map(self._dtypes.dispatches, names))
        return self._dtypes.of(definition) if dispatches else ()

    def _library(self, call: Call, library: str, site: _Site) -> None:
        if self._choices and self._choices.declares(call, site.known):
            return
        self._reached.computes = True
        name = f"{call.qualifier}::{call.name}" if call.qualifier else call.name
        apple = library in APPLE
        rule = f"runs code of {library}" if apple else f"a function of {library}"
        sure: Confidence = "by rule" if apple else "exact"
        what = (name, Location(site.path, call.line), rule, sure)
        choices = self.choices(call, site.known)
        self.hops.add(site.hop, "library", *what, note=library, choices=choices)

    def _launch(self, call: Call, site: _Site) -> None:
        self._reached.computes = True
        visible = visible_functions(call, site.known, self.facts)
        found = [known.definition for known in visible if known.definition.cuda_global]
        at = Location(site.path, call.line)
        if not found:
            reason = f"launched with <<<>>> at {at} through a name that is no __global__ function"
            self.hops.miss(site.hop, "launch", call.name, reason)
        rule = "a __global__ function launched with <<<>>>"
        sure: Confidence = "exact" if len(found) == 1 else "ambiguous"
        choices = self.choices(call, site.known) if found else ()
        for one in found:
            self.hops.add_definition(
                site.hop, "launch", one, rule, sure, device="CUDA", evidence=[at], choices=choices
            )

    def _function(self, call: Call, site: _Site) -> None:
        if site.depth >= self._max_depth:
            return
        if call.name in LOOPS:
            self._reached.computes = True
            return
        found = visible_functions(call, site.known, self.facts)
        if call.template or not found:
            self._functors(call, site)
        if call.kind == "name":
            found = [k for k in found if k.definition.location.path == site.path]
        wanted = [k for k in found if self._worth_showing(k, site)]
        fresh = [k for k in wanted[:_MOST_OVERLOADS] if k.id not in self._seen]
        # All overloads are placed before any is followed: one may lead to another.
        placed = [(k, self._place(call, k, len(wanted), site)) for k in fresh]
        for known, hop in placed:
            inside = in_place(known, site.known)
            self._visit(_Site(inside, hop, site.devices, site.depth + 1))

    def _functors(self, call: Call, site: _Site) -> None:
        for functor, methods in visible_functors(call, site.known, self.facts):
            fresh = [method for method in methods if method.id not in self._seen]
            path = functor.definition.location.path
            near = path == site.path or "/native/" in path
            if not fresh or not (near or self._computing.leads_to(fresh[0], 3)):
                continue
            evidence = [Location(site.path, call.line), *(m.definition.location for m in methods)]
            rule = f"a functor given to {call.name}"
            hop = self.hops.add_definition(
                site.hop, "call", functor.definition, rule, evidence=evidence
            )
            for method in fresh:
                self._seen.add(method.id)
                self._visit(_Site(method, hop, site.devices, site.depth + 1))

    def _place(self, call: Call, known: Known, overloads: int, site: _Site) -> int:
        """Adds the hop of a function that is called, one of so many overloads."""
        self._seen.add(known.id)
        found, parent, at = known.definition, site.hop, [site.at(call.line)]
        rule = "called by the function above"
        if overloads > 1:
            rule += f"; one of {overloads} overloads, the argument types decide"
        if owner := self._owner(call, known):
            class_rule = f"the class of {call.name}"
            parent = self.hops.add_definition(parent, "call", owner, class_rule, evidence=at)
        role = self._computing.role(call, known, site.known)
        device = path_device(found.location.path)
        details: Details = {"dtypes": self.dtypes(found), "choices": self.choices(call, site.known)}
        details["device"] = device if device in _DEVICES else None
        sure: Confidence = "exact" if overloads == 1 else "ambiguous"
        return self.hops.add_definition(parent, role, found, rule, sure, evidence=at, **details)

    def _owner(self, call: Call, known: Known) -> Definition | None:
        """The class whose static function a qualified call names: ``vec_softmax<T>::apply``."""
        scope, _, name = known.definition.scope.rpartition("::")
        if not call.qualifier.endswith(name):
            return None
        for owner in self.facts.named(name):
            found = owner.definition
            same_file = found.location.path == known.definition.location.path
            if found.kind == "class" and found.scope == scope and same_file:
                return found
        return None

    def _worth_showing(self, known: Known, site: _Site) -> bool:
        path = known.definition.location.path
        device = path_device(path)
        if site.devices and device in _DEVICES and device not in site.devices:
            return False
        if path == site.path and not is_header(path):
            return True
        of_operators = path.startswith(("aten/", "third_party/")) or "/ATen/" in path
        if is_given_nothing(known, site.known) or not of_operators:
            return False
        return bool(self._computing.leads_to(known, LOOK_AHEAD))


def operator_base(call: Call) -> str:
    """The operator in a call: ``add`` for ``at::add_out``, ``at::_ops::add_Tensor::call``."""
    if "_ops" in call.qualifier:
        name = call.qualifier.rpartition("::")[2]
        return name.rpartition("_")[0] or name
    return call.name.removesuffix("_symint").removesuffix("_outf").removesuffix("_out")
