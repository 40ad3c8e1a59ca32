"""Peak performance of devices from their data sheets: dense, without structured sparsity.

Of numbers with and without matrix cores, the higher one is used. NVIDIA's sheets since Hopper give
numbers with sparsity, twice the dense numbers used here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

BANDWIDTH = "bandwidth"


@dataclass(frozen=True, slots=True)
class Peak:
    """A device's peak."""

    flops: Mapping[str, float] = field(default_factory=dict)
    """TFLOP/s by torch's name of the dtype; ``tf32``; ``float8`` for all 8-bit formats."""
    bandwidth: float | None = None
    """Memory bandwidth in GB/s."""
    source: str = ""

    def of(self, dtype: str, tf32: bool = False) -> float | None:
        """TFLOP/s for a dtype."""
        name = "tf32" if tf32 else "float8" if dtype.startswith("float8") else dtype
        return self.flops.get(name)


def _peak(source: str, bandwidth: float, half: float, **others: float) -> Peak:
    return Peak({"float16": half, "bfloat16": half, **others}, bandwidth, source)


_HOPPER = {"float64": 67.0, "float32": 67.0, "tf32": 494.5, "float8": 1979.0, "int8": 1979.0}
_AMPERE = {"float64": 19.5, "float32": 19.5, "tf32": 156.0, "int8": 624.0}
_CDNA3 = {"float64": 163.4, "float32": 163.4, "tf32": 653.7, "float8": 2614.9, "int8": 2614.9}
_H100 = "https://www.nvidia.com/en-us/data-center/h100/"
_A100 = (
    "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
    "nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf"
)
_AMD = "https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/data-sheets/"
_PEAKS: tuple[tuple[str, Peak], ...] = (
    (r"H200", _peak("https://www.nvidia.com/en-us/data-center/h200/", 4800.0, 989.5, **_HOPPER)),
    (r"H100 80GB HBM3", _peak(_H100, 3350.0, 989.5, **_HOPPER)),
    (r"A100[ -]SXM4-80GB", _peak(_A100, 2039.0, 312.0, **_AMPERE)),
    (r"A100[ -]80GB PCIe", _peak(_A100, 1935.0, 312.0, **_AMPERE)),
    (r"A100[ -](SXM4|PCIE)-40GB", _peak(_A100, 1555.0, 312.0, **_AMPERE)),
    (
        r"L4$",
        _peak(
            "https://resources.nvidia.com/en-us-gpu-resources/l4-tensor-datasheet",
            300.0,
            121.0,
            float32=30.3,
            tf32=60.0,
            float8=242.5,
            int8=242.5,
        ),
    ),
    (r"MI300X", _peak(f"{_AMD}amd-instinct-mi300x-data-sheet.pdf", 5300.0, 1307.4, **_CDNA3)),
    (
        r"MI300A",
        _peak(
            f"{_AMD}amd-instinct-mi300a-data-sheet.pdf",
            5300.0,
            980.6,
            float64=122.6,
            float32=122.6,
            tf32=490.3,
            float8=1961.2,
            int8=1961.2,
        ),
    ),
)
"""By a part of the device's name."""


def peak_of(devices: Iterable[str]) -> Peak | None:
    """The peak of a trace's devices by name; None if they are unknown or differ."""
    found = {name: _of(name) for name in devices}
    return next(iter(found.values())) if len(found) == 1 else None


def _of(name: str) -> Peak | None:
    return next((peak for pattern, peak in _PEAKS if re.search(rf"\b{pattern}", name)), None)


def parse_peak(text: str) -> Peak:
    """``bfloat16=989,tf32=494,bandwidth=3350``: TFLOP/s by dtype, GB/s of the memory.

    Raises a one-line ValueError for anything else.
    """
    values: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"{part!r} is neither DTYPE=TFLOPS nor bandwidth=GB/s") from None
    bandwidth = values.pop(BANDWIDTH, None)
    return Peak(values, bandwidth, "--peak")
