"""The registry of decompositions."""


def register_decomposition(aten_op, registry=None, *, type="post_autograd", unsafe=False):
    def decomposition_decorator(fn):
        return fn

    return decomposition_decorator
