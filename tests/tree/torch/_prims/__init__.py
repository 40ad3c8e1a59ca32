import torch
from torch import Tensor


def _make_prim(*, schema, return_type, meta, impl_aten, doc):
    ...


def _make_elementwise_binary_prim(name, *, type_promotion, **kwargs):
    return _make_prim(schema=f"{name}(Tensor self, Tensor other) -> Tensor", **kwargs)


def _fma_aten(a: Tensor, b: Tensor, c: Tensor) -> Tensor: #! runs prims::fma CompositeExplicitAutograd
    return a * b + c


mul = _make_elementwise_binary_prim( #! operator prims::mul; runs prims::mul Autograd,CompositeExplicitAutograd
    "mul",
    impl_aten=torch.mul,
    doc="",
    type_promotion=None,
)
def _fma_meta(a, b, c): #! runs prims::fma Meta
    return a


fma = _make_prim( #! operator prims::fma; runs prims::fma Autograd
    schema="fma(Tensor a, Tensor b, Tensor c) -> Tensor",
    return_type=None,
    meta=_fma_meta,
    impl_aten=_fma_aten,
    doc="",
)
iota = _make_prim( #! operator prims::iota; runs prims::iota Autograd,BackendSelect,CompositeExplicitAutograd
    schema="iota(SymInt length, *, Device device) -> Tensor",
    return_type=None,
    meta=None,
    impl_aten=torch.arange,
    doc="",
)
