"""On which device each row ran, and which operator launched which device work."""

from __future__ import annotations

from collections.abc import Sequence

from navigator.trace.columns import NONE, work_launched
from navigator.trace.table import ANNOTATION, CALL, COMPILE, OP, Table

PYTHON_KEYS = frozenset({"PythonDispatchMode", "PythonSubclass"})
"""Regions that torch records where it asks a ``__torch_dispatch__``."""


class Places:
    """Settles the rows and device kernels of one window after the other."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.device_kind = "cuda"
        """Of devices that the trace only numbers."""
        self._kernels_done = self._launches_done = 0
        self._seen: tuple[set[int], set[int]] = (set(), set())
        """Where the program ran, and where the compiler did."""

    def settle(
        self, rows: Sequence[int], external: Sequence[int], places: dict[int, str] | None
    ) -> None:
        """``external``: of each row its External id, by which ``places`` tells devices."""
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
        """Of an operator that makes a tensor from none: where its caller runs, if that was given
        nothing that may name a device, or else where the next operator takes what was made."""
        table, above = self.table, self.table.parent[row]
        if self._may_be_fake(row):
            return NONE
        if above >= 0 and table.kind[above] != CALL and table.has_tensors(above):
            given = table.inputs_of(above)
            if not any(one.kind == "other" for one in given):
                return self._device(self._one_place(above))
        made = next((one.value for one in table.inputs_of(row) if one.kind == "scalars"), None)
        while row >= 0 and table.next_sibling[row] < 0 and table.kind[row] == OP:
            row = table.parent[row]  # which returns what was made
        user = table.next_sibling[row] if row >= 0 else NONE
        taken = table.inputs_of(user) if user >= 0 and table.kind[user] == OP else ()
        if any(one.kind == "tensor" and str([*one.shape]) == made for one in taken):
            return self._one_place(user)
        return NONE

    def _may_be_fake(self, row: int) -> bool:
        """Whether Python answers for the dispatcher around a row: what it takes for a tensor of
        the CPU may be one without memory."""
        while row >= 0 and self.table.name_of(row) not in PYTHON_KEYS:
            row = self.table.parent[row]
        return row >= 0

    def _one_place(self, row: int) -> int:
        """NONE where the tensors of a row are on several devices."""
        place = self.table.place[row]
        return NONE if place >= 0 and "+" in self.table.places[place] else place

    def _device(self, place: int) -> int:
        """A place of any layout as one of a tensor that is made there."""
        places = self.table.places
        return place if place < 0 else places.number(places[place].partition("/")[0])

    def _place_factory(self, row: int, place: str) -> None:
        """An operator that makes the result of a call from no tensor ran where that is, and so did
        those of its kind that it called."""
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
        elsewhere = any(place not in {"cpu", *table.unreal_places} for place in table.places.values)
        self.table.default_place = "" if elsewhere or len(self.table.kernels) else "cpu"

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
        """What launches device work of which the trace says nothing runs on some device."""
        launches = self.table.launches
        for number in range(self._launches_done, len(launches)):
            if work_launched(launches.names[launches.name[number]]):
                self._on_device(launches.op[number], self.device_kind)
        self._launches_done = len(launches)

    def _on_device(self, row: int, device: str) -> None:
        """What launches device work runs on that device, and so does what called it."""
        place = self.table.places.number(
            f"{self.device_kind}:{device}" if device.isdecimal() else device
        )
        while row >= 0 and self.table.place[row] < 0:
            self.table.place[row] = place
            row = self.table.parent[row]


def _place_of(output: str) -> str:
    """``meta`` of ``float32[2, 8] meta``, the result of a call."""
    return output.rpartition("] ")[2]
