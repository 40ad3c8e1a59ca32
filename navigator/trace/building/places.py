"""Determines the device of each row, and the operator that launched each device kernel."""

from __future__ import annotations

from collections.abc import Sequence

from navigator.trace.columns import NONE, work_launched
from navigator.trace.table import ANNOTATION, CALL, COMPILE, OP, Table

PYTHON_KEYS = frozenset({"PythonDispatchMode", "PythonSubclass"})
"""Regions in which torch calls a ``__torch_dispatch__``."""


class Places:
    """Determines devices and launchers window by window."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.device_kind = "cuda"
        """The type of devices that the trace only numbers."""
        self._kernels_done = self._launches_done = 0
        self._seen: tuple[set[int], set[int]] = (set(), set())
        """Places where the program ran, and where the compiler did."""

    def settle(
        self, rows: Sequence[int], external: Sequence[int], places: dict[int, str] | None
    ) -> None:
        """``external``: the External id of each row, by which ``places`` has devices."""
        if places is not None:
            self._place(rows, external, places)
        self._assign_kernels()
        self._place_launches()
        self._set_default(rows)

    def _place(self, rows: Sequence[int], external: Sequence[int], places: dict[int, str]) -> None:
        table = self.table
        cpu = table.places.number("cpu")
        for row, number in zip(rows, external, strict=True):
            place = places.get(number)
            if place is not None:
                table.place[row] = table.places.number(place)
            elif table.kind[row] in (OP, ANNOTATION) and table.has_tensors(row):
                table.place[row] = cpu
            elif table.kind[row] == CALL:
                self._place_factory(table.last_child[row], _place_of(table.outputs.get(row, "")))
        for row in rows:
            if table.kind[row] == OP and table.place[row] < 0:
                table.place[row] = self._place_of_caller(row)

    def _place_of_caller(self, row: int) -> int:
        """The device of an operator that makes a tensor from none: its caller's, if the caller was
        given nothing that may name a device, else that of the next operator to use the tensor."""
        table, above = self.table, self.table.parent[row]
        if self._may_be_fake(row):
            return NONE
        if above >= 0 and table.kind[above] != CALL and table.has_tensors(above):
            inputs = table.inputs_of(above)
            if not any(one.kind in ("other", "any") for one in inputs):
                return self._device(self._one_place(above))
        made = next((one.value for one in table.inputs_of(row) if one.kind == "scalars"), None)
        while row >= 0 and table.next_sibling[row] < 0 and table.kind[row] == OP:
            row = table.parent[row]  # the caller that returns the tensor
        user = table.next_sibling[row] if row >= 0 else NONE
        taken = table.inputs_of(user) if user >= 0 and table.kind[user] == OP else ()
        if any(one.kind == "tensor" and str([*one.shape]) == made for one in taken):
            return self._one_place(user)
        return NONE

    def _may_be_fake(self, row: int) -> bool:
        """Whether a ``__torch_dispatch__`` runs around a row: CPU tensors may be fake."""
        around = (row, *self.table.ancestors(row))
        return any(self.table.name_of(one) in PYTHON_KEYS for one in around)

    def _one_place(self, row: int) -> int:
        """NONE if the tensors of a row are on several devices."""
        place = self.table.place[row]
        return NONE if place >= 0 and "+" in self.table.places[place] else place

    def _device(self, place: int) -> int:
        """The device of a place, without the layout."""
        places = self.table.places
        return place if place < 0 else places.number(places[place].partition("/")[0])

    def _place_factory(self, row: int, place: str) -> None:
        """If a call's result is made from no tensor, its operator and the factory operators below
        it ran on the result's device."""
        table, waiting = self.table, [row] if row >= 0 and place else []
        while waiting:
            row = waiting.pop()
            if table.kind[row] == OP and table.place[row] < 0 and not table.has_tensors(row):
                table.place[row] = table.places.number(place)
                waiting += table.children(row)

    def _set_default(self, rows: Sequence[int]) -> None:
        table = self.table
        for row in rows:
            if table.place[row] >= 0:
                self._seen[table.phase[row] == COMPILE].add(table.place[row])
        outside, compiling = self._seen
        table.unreal_places = {table.places[number] for number in compiling - outside}
        off_cpu = any(place not in {"cpu", *table.unreal_places} for place in table.places.values)
        self.table.default_place = "" if off_cpu or len(self.table.kernels) else "cpu"

    def _assign_kernels(self) -> None:
        kernels, launches = self.table.kernels, self.table.launches
        waiting = [n for n in range(self._kernels_done, len(kernels)) if kernels.op[n] < 0]
        for number in waiting:
            launch = launches.numbers.get(kernels.correlation[number])
            if launch is None:
                kernels.reasons[number] = "its launch is not in the trace"
                continue
            row, name = launches.op[launch], launches.names[launches.name[launch]]
            kernels.launch[kernels.correlation[number]] = name
            if row >= 0:
                kernels.assign(number, row)
                device, _ = kernels.places[kernels.place[number]]
                self._on_device(row, device)
            else:
                kernels.reasons[number] = "launched outside of any recorded operator"
        self._kernels_done = len(kernels)

    def _place_launches(self) -> None:
        """Rows whose device work was not recorded run on a device of unknown number."""
        launches = self.table.launches
        for number in range(self._launches_done, len(launches)):
            if work_launched(launches.names[launches.name[number]]):
                self._on_device(launches.op[number], self.device_kind)
        self._launches_done = len(launches)

    def _on_device(self, row: int, device: str) -> None:
        """Rows that launch device work run on its device, and so do their callers."""
        place = self.table.places.number(
            f"{self.device_kind}:{device}" if device.isdecimal() else device
        )
        while row >= 0 and self.table.place[row] < 0:
            self.table.place[row] = place
            row = self.table.parent[row]


def _place_of(output: str) -> str:
    """``meta`` of ``float32[2, 8] meta``, the result of a call."""
    return output.rpartition("] ")[2]
