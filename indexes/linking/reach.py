"""Second and third hop: from a kernel to stubs, loops, launches and libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from indexes.linking.choices import Choices
from indexes.linking.computing import LOOK_AHEAD, Computing, in_place, is_given_nothing
from indexes.linking.dtypes import Dtypes
from indexes.linking.facts import Call, Facts, Known, StubUse
from indexes.linking.hops import HopList
from indexes.linking.stubs import device_of, stub_row
from indexes.linking.vendors import APPLE, is_plain
from indexes.linking.visible import (
    is_header,
    path_device,
    visible_functions,
    visible_functors,
    visible_stub,
)
from indexes.model.vocabulary import Choice, Confidence, Definition, DtypeDispatch, Location
from indexes.readers.cxx.bodies import LOOPS

MAX_DEPTH = 6


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

    def walk(
        self, kernel: Known, parent: int, devices: Sequence[str], max_depth: int = MAX_DEPTH
    ) -> Reached:
        """Follows ``kernel``. ``devices`` are those its keys are for; empty means every one."""
        reached = Reached()
        self._max_depth = max_depth
        self._visit(kernel, parent, tuple(devices), reached, {kernel.id}, 0)
        return reached

    def _visit(
        self,
        known: Known,
        parent: int,
        devices: tuple[str, ...],
        reached: Reached,
        seen: set[int],
        depth: int,
    ) -> None:
        reached.visited.append((known, parent))
        for call in self._calls(known, depth):
            if self.hops.full:
                return
            if uses := visible_stub(call, known, self.facts):
                self._stub(call, known, uses, parent, devices, reached, seen, depth)
            elif library := self._computing.vendor(call, known):
                self._library(call, known, library, parent, reached)
                if is_plain(call) and library not in APPLE:  # a stand-in, in other builds
                    self._function(call, known, parent, devices, reached, seen, depth)
            elif call.kind == "launch":
                self._launch(call, known, parent, reached)
            elif self._is_operator(call):
                reached.operators.append(OperatorCall(call, known, parent))
            elif call.kind != "member":
                self._function(call, known, parent, devices, reached, seen, depth)
            elif call.name in LOOPS:
                reached.computes = True

    def _calls(self, known: Known, depth: int) -> Sequence[Call]:
        """The calls of a function, what they mean about to be asked for where it is followed."""
        calls = self.facts.calls(known)
        if depth < self._max_depth:
            named = (one.name for one in calls if one.kind == "call" and not self._is_operator(one))
            self.facts.expect(named)
        return calls

    def _is_operator(self, call: Call) -> bool:
        if call.kind == "member":
            return False
        first = call.qualifier.lstrip(":").split("::")
        if first == ["at"] or first[:2] == ["at", "_ops"] or first[0] == "_ops":
            return bool(self.facts.overloads(operator_base(call)))
        return False

    # ------------------------------------------------------------------- stubs

    def _stub(
        self,
        call: Call,
        caller: Known,
        uses: Sequence[StubUse],
        parent: int,
        devices: tuple[str, ...],
        reached: Reached,
        seen: set[int],
        depth: int,
    ) -> None:
        reached.computes = True
        # Of a name that is passed on only the text tells the line.
        line = call.line or (self._choices.line(call, caller) if self._choices else 0)
        at = Location(caller.definition.location.path, line or caller.definition.location.line)
        how = "passed on by name" if call.kind == "name" else "called through its dispatch table"
        number = self.hops.add(
            parent,
            "call",
            call.name,
            at,
            f"{call.name} is a stub, {how}",
            "exact",
            evidence=[uses[0].location],
            choices=self.choices(call, caller),
        )
        self.stub(number, call.name, uses, devices, reached, seen, depth)

    def stub(
        self,
        parent: int,
        name: str,
        uses: Sequence[StubUse],
        devices: tuple[str, ...],
        reached: Reached,
        seen: set[int],
        depth: int,
    ) -> None:
        """Adds a stub's declaration, definition and registrations for ``devices``."""
        for use in uses:
            if use.what != "registered":
                rule = f"{use.macro}: the stub is {use.what} here"
                self.hops.add(parent, "stub", name, use.location, rule, "exact", guard=use.guard)
        registered = [u for u in uses if u.what == "registered"]
        if not registered:
            self._unregistered(parent, name, uses)
        for use in registered:
            if not devices or device_of(use) in devices:
                self._registration(parent, use, reached, seen, depth)

    def _unregistered(self, parent: int, name: str, uses: Sequence[StubUse]) -> None:
        if self._ufunc_stub(parent, name):
            return
        what = "declared" if all(u.what == "declared" for u in uses) else "defined"
        reason = f"{name} is {what} but no line of this tree registers a function on it"
        self.hops.miss(parent, "registration", name, reason)

    def _ufunc_stub(self, parent: int, name: str) -> bool:
        """torchgen defines and registers ``add_stub`` from ``ufunc_inner_loop`` of ``add.out``."""
        for native in self.facts.overloads(name.removesuffix("_stub")):
            if native.ufunc_inner_loop and name.endswith("_stub"):
                line = native.field_lines.get("ufunc_inner_loop", native.location.line)
                rule = f"torchgen defines and registers {name} from ufunc_inner_loop of "
                for row in self.facts.kernels(native.full_name):
                    for found in row.definitions if row.kind == "ufunc" else ():
                        self.hops.add_definition(
                            parent,
                            "device_kernel",
                            found,
                            rule + native.full_name,
                            "by rule",
                            device=row.key,
                            evidence=[Location(native.location.path, line)],
                        )
                return True
        return False

    def _registration(
        self, parent: int, use: StubUse, reached: Reached, seen: set[int], depth: int
    ) -> None:
        row = stub_row(use, self.facts)
        number = self.hops.add(
            parent,
            "registration",
            f"{row.macro}({row.stub}, {row.function})",
            use.location,
            f"{row.macro} sets the {row.device} entry of the stub",
            "exact",
            device=row.device,
            guard=use.guard,
        )
        if row.definition is None:
            self.hops.miss(number, "device_kernel", f"{row.stub}: {row.function}", row.reason)
        rule = "the registered function, in the file of its registration"
        if row.alternatives:
            rule += "; one definition for each build configuration"
        definitions = row.alternatives or filter(None, (row.definition,))
        for definition in definitions:
            inner = self.hops.add_definition(
                number,
                "device_kernel",
                definition,
                rule,
                "exact",
                device=row.device,
                evidence=[use.location],
                dtypes=self.dtypes(definition),
            )
            known = self.facts.known(definition)
            if known and known.id not in seen:
                seen.add(known.id)
                self._visit(known, inner, (row.device,), reached, seen, depth + 1)

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

    def _library(
        self, call: Call, caller: Known, library: str, parent: int, reached: Reached
    ) -> None:
        if self._choices and self._choices.declares(call, caller):
            return
        reached.computes = True
        at = Location(caller.definition.location.path, call.line)
        name = f"{call.qualifier}::{call.name}" if call.qualifier else call.name
        apple = library in APPLE
        rule = f"runs code of {library}" if apple else f"a function of {library}"
        confidence: Confidence = "by rule" if apple else "exact"
        self.hops.add(
            parent,
            "library",
            name,
            at,
            rule,
            confidence,
            note=library,
            choices=self.choices(call, caller),
        )

    def _launch(self, call: Call, caller: Known, parent: int, reached: Reached) -> None:
        reached.computes = True
        found = [k for k in visible_functions(call, caller, self.facts) if k.definition.cuda_global]
        at = Location(caller.definition.location.path, call.line)
        if not found:
            reason = f"launched with <<<>>> at {at} through a name that is no __global__ function"
            self.hops.miss(parent, "launch", call.name, reason)
        for known in found:
            self.hops.add_definition(
                parent,
                "launch",
                known.definition,
                "a __global__ function launched with <<<>>>",
                "exact" if len(found) == 1 else "ambiguous",
                device="CUDA",
                evidence=[at],
                choices=self.choices(call, caller),
            )

    def _function(
        self,
        call: Call,
        caller: Known,
        parent: int,
        devices: tuple[str, ...],
        reached: Reached,
        seen: set[int],
        depth: int,
    ) -> None:
        if depth >= self._max_depth:
            return
        if call.name in LOOPS:
            reached.computes = True
            return
        found = visible_functions(call, caller, self.facts)
        if call.template or not found:
            self._functors(call, caller, parent, devices, reached, seen, depth)
        if call.kind == "name":
            found = [
                k for k in found if k.definition.location.path == caller.definition.location.path
            ]
        wanted = [k for k in found if self._worth_showing(k, caller, devices)]
        fresh = [k for k in wanted[:24] if k.id not in seen]
        # All overloads are placed before any is followed: one may lead to another.
        placed = [(k, self._place(call, caller, k, wanted, parent, seen)) for k in fresh]
        for known, number in placed:
            self._visit(in_place(known, caller), number, devices, reached, seen, depth + 1)

    def _functors(
        self,
        call: Call,
        caller: Known,
        parent: int,
        devices: tuple[str, ...],
        reached: Reached,
        seen: set[int],
        depth: int,
    ) -> None:
        for functor, methods in visible_functors(call, caller, self.facts):
            at = Location(caller.definition.location.path, call.line)
            fresh = [m for m in methods if m.id not in seen]
            near = self._is_near(functor, caller)
            if not fresh or not (near or self._computing.leads_to(fresh[0], 3)):
                continue
            number = self.hops.add_definition(
                parent,
                "call",
                functor.definition,
                f"a functor given to {call.name}",
                "exact",
                evidence=[at, *(m.definition.location for m in methods)],
            )
            for method in fresh:
                seen.add(method.id)
                self._visit(method, number, devices, reached, seen, depth + 1)

    def _is_near(self, known: Known, caller: Known) -> bool:
        path = known.definition.location.path
        return path == caller.definition.location.path or "/native/" in path

    def _place(
        self,
        call: Call,
        caller: Known,
        known: Known,
        found: Sequence[Known],
        parent: int,
        seen: set[int],
    ) -> int:
        seen.add(known.id)
        at = Location(caller.definition.location.path, call.line or caller.definition.location.line)
        rule = "called by the function above"
        if len(found) > 1:
            rule += f"; one of {len(found)} overloads, the argument types decide"
        device = path_device(known.definition.location.path) or None
        if owner := self._owner(call, known):
            parent = self.hops.add_definition(
                parent,
                "call",
                owner.definition,
                f"the class of {call.name}",
                "exact",
                evidence=[at],
            )
        return self.hops.add_definition(
            parent,
            self._computing.role(call, known, caller),
            known.definition,
            rule,
            "exact" if len(found) == 1 else "ambiguous",
            device=device if device in ("CPU", "CUDA", "MPS", "XPU") else None,
            evidence=[at],
            dtypes=self.dtypes(known.definition),
            choices=self.choices(call, caller),
        )

    def _owner(self, call: Call, known: Known) -> Known | None:
        """The class whose static function a qualified call names: ``vec_softmax<T>::apply``."""
        scope, _, name = known.definition.scope.rpartition("::")
        if not call.qualifier.endswith(name):
            return None
        for owner in self.facts.named(name):
            found = owner.definition
            same_file = found.location.path == known.definition.location.path
            if found.kind == "class" and found.scope == scope and same_file:
                return owner
        return None

    def _worth_showing(self, known: Known, caller: Known, devices: tuple[str, ...]) -> bool:
        path = known.definition.location.path
        device = path_device(path)
        if devices and device in ("CPU", "CUDA", "MPS", "XPU") and device not in devices:
            return False
        if path == caller.definition.location.path and not is_header(path):
            return True
        if is_given_nothing(known, caller):
            return False
        if not path.startswith(("aten/", "third_party/")) and "/ATen/" not in path:
            return False
        return bool(self._computing.leads_to(known, LOOK_AHEAD))


def operator_base(call: Call) -> str:
    """The operator in a call: ``add`` for ``at::add_out``, ``at::_ops::add_Tensor::call``."""
    if "_ops" in call.qualifier:
        name = call.qualifier.rpartition("::")[2]
        return name.rpartition("_")[0] or name
    return call.name.removesuffix("_symint").removesuffix("_outf").removesuffix("_out")
