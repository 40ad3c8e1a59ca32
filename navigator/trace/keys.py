"""From where an operator's inputs are to the kernels that may serve it."""

from __future__ import annotations

from collections.abc import Sequence

from navigator.trace.model import Input, TraceOp

_BACKENDS = {
    name.lower(): name
    for name in "CPU CUDA HIP XPU MPS Meta XLA HPU MTIA Vulkan Lazy IPU MAIA VE".split()
}
"""``c10::DeviceType`` to the backend's part of a dispatch key (c10/core/Backend.h). A device of
another name is that of a plug-in, which has the key PrivateUse1."""
_LAYOUTS = {
    "sparse_coo": "Sparse",
    **dict.fromkeys(("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"), "SparseCsr"),
    "_mkldnn": "Mkldnn",
    "jagged": "NestedTensor",
}
_QUANTIZED = ("qint", "quint")


def backend_keys(op: TraceOp, device_types: Sequence[str]) -> tuple[str, ...]:
    """``("CUDA",)``, ``("SparseCPU",)``, ``("QuantizedCPU",)``: the keys its inputs select.

    Where the trace does not say on which device it ran, one for each of ``device_types``; none
    where it shows tensors of an unknown layout.
    """
    prefix = _functionality(op.layout, op.inputs)
    if prefix is None:
        return ()
    types = (op.device.partition(":")[0],) if op.device else device_types
    return tuple(prefix + _BACKENDS.get(kind, "PrivateUse1") for kind in types)


def _functionality(layout: str, inputs: Sequence[Input]) -> str | None:
    for part in layout.split("+"):
        prefix = _LAYOUTS.get(part.rpartition("/")[2])
        if prefix is not None:
            return prefix
    if any(value.dtype.startswith(_QUANTIZED) for value in inputs):
        return "Quantized"
    return None if any(map(_is_unknown, inputs)) else ""


def _is_unknown(value: Input) -> bool:
    """A tensor with sizes and no strides among inputs that have them: sparse or blocked."""
    return value.kind == "tensor" and bool(value.shape) and value.strides == ()


def serving_keys(key: str) -> tuple[str, ...]:
    """The dispatch keys and aliases a kernel for ``key`` is looked for under, in the order of
    ``OperatorEntry::computeDispatchTableEntryWithDebug``."""
    nested = ("CompositeImplicitAutogradNestedTensor",) if key.startswith("NestedTensor") else ()
    functional = () if key.startswith("Sparse") else ("CompositeExplicitAutogradNonFunctional",)
    return (key, *functional, "CompositeExplicitAutograd", *nested, "CompositeImplicitAutograd")
