"""Registrations written by hand in PyTorch's core, for trees without C++ sources.

With a checkout these are read from TORCH_LIBRARY_IMPL blocks. An installed wheel has only the
compiled result, so they are listed here, as of PyTorch 2.13, each with its file in PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator

from indexes.codegen.registration import Registration

_VARIABLE_TYPE = "torch/csrc/autograd/VariableTypeManual.cpp"
_TRACE_TYPE = "torch/csrc/autograd/TraceTypeManual.cpp"
_FUNCTIONALIZE = "aten/src/ATen/FunctionalizeFallbackKernel.cpp"
_VARIABLE_FALLBACK = "aten/src/ATen/core/VariableFallbackKernel.cpp"
_PYTHON_FALLBACK = "aten/src/ATen/core/PythonFallbackKernel.cpp"
_DYNAMIC_LAYER = "aten/src/ATen/functorch/DynamicLayer.cpp"
_AUTOCAST = "aten/src/ATen/autocast_mode.cpp"

_WRITING = "copy_ detach resize_ resize_as_ _fw_primal _make_dual"
_FUNCTIONALIZED = "resize_ lift lift_fresh lift_fresh_copy _to_copy _unsafe_view set_.source_Tensor"
_BY_HAND = (
    ("Autograd", "VariableType::", _VARIABLE_TYPE, f"{_WRITING} detach_"),
    ("ADInplaceOrView", "ADInplaceOrView::", _VARIABLE_TYPE, _WRITING),
    ("Tracer", "TraceType::", _TRACE_TYPE, "resize_ resize_as_ detach detach_ copy_"),
    ("Tracer", "", _TRACE_TYPE, "_backward set_data data is_leaf output_nr _version"),
    ("Tracer", "", _TRACE_TYPE, "requires_grad_ retain_grad _fw_primal _make_dual"),
    ("Functionalize", "at::functionalization::", _FUNCTIONALIZE, _FUNCTIONALIZED),
)
"""(key, namespace of the kernels or nothing for a fallthrough, file, operators)."""

_AUTOGRAD = "Other CPU XPU CUDA MTIA MAIA XLA Lazy MPS Meta HPU PrivateUse1"
_CASTING = "CPU CUDA MPS XPU MTIA MAIA"
_FALLBACKS = (
    ("BackendSelect", True, "aten/src/ATen/core/BackendSelectFallbackKernel.cpp"),
    ("Python", False, _PYTHON_FALLBACK),
    ("PythonDispatcher", False, _PYTHON_FALLBACK),
    ("PythonTLSSnapshot", False, _PYTHON_FALLBACK),
    ("PreDispatch", False, _PYTHON_FALLBACK),
    ("FuncTorchDynamicLayerBackMode", False, _DYNAMIC_LAYER),
    ("FuncTorchDynamicLayerFrontMode", False, _DYNAMIC_LAYER),
    ("FuncTorchGradWrapper", False, "aten/src/ATen/functorch/TensorWrapper.cpp"),
    ("FuncTorchVmapMode", True, "aten/src/ATen/functorch/VmapModeRegistrations.cpp"),
    ("FuncTorchBatched", False, "aten/src/ATen/functorch/LegacyBatchingRegistrations.cpp"),
    ("BatchedNestedTensor", False, "aten/src/ATen/functorch/LegacyBatchingRegistrations.cpp"),
    ("VmapMode", True, "aten/src/ATen/VmapModeRegistrations.cpp"),
    ("Batched", False, "aten/src/ATen/LegacyBatchingRegistrations.cpp"),
    ("Functionalize", False, _FUNCTIONALIZE),
    ("Conjugate", False, "aten/src/ATen/ConjugateFallback.cpp"),
    ("Negative", False, "aten/src/ATen/native/NegateFallback.cpp"),
    ("ZeroTensor", False, "aten/src/ATen/ZeroTensorFallback.cpp"),
    ("Named", False, "aten/src/ATen/core/NamedRegistrations.cpp"),
    ("Meta", False, "aten/src/ATen/core/MetaFallbackKernel.cpp"),
    ("Tracer", False, _TRACE_TYPE),
    ("ADInplaceOrView", True, _VARIABLE_FALLBACK),
    *((f"Autograd{backend}", False, _VARIABLE_FALLBACK) for backend in _AUTOGRAD.split()),
    *((f"Autocast{backend}", True, _AUTOCAST) for backend in _CASTING.split()),
)
"""(key, whether it is a fallthrough, file)."""


def handwritten_registrations() -> Iterator[Registration]:
    """All of them; for keys such as Conjugate and Autocast only the fallbacks."""
    for key, namespace, path, operators in _BY_HAND:
        for op in operators.split():
            name = op.replace(".", "_")
            kernel = f"{namespace}{name}" if namespace else "fallthrough"
            yield Registration(op, key, kernel, path, "written by hand", not namespace)
    for key, fallthrough, path in _FALLBACKS:
        kernel = "fallthrough" if fallthrough else "boxed fallback"
        yield Registration("", key, kernel, path, "written by hand", fallthrough)


INCOMPLETE = frozenset(
    {"FPGA", "Vulkan", "Metal", "Meta", "Named", "Conjugate", "Negative", "ZeroTensor", "Batched"}
    | {"BatchedNestedTensor", "VmapMode", "FuncTorchBatched", "FuncTorchVmapMode"}
    | {"FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode"}
    | {f"Autocast{backend}" for backend in (*_CASTING.split(), "XLA", "HPU")}
    | {"Autocast", "AutocastIPU", "AutocastPrivateUse1"}
)
"""Keys with more handwritten kernels than are listed here, whose fallback rows are uncertain."""
