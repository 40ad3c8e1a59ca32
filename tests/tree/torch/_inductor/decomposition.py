import torch
import torch._decomp as decomp
from torch._decomp import (
    core_aten_decompositions,
    get_decompositions,
    remove_decompositions,
)

aten = torch.ops.aten

inductor_decompositions = get_decompositions(
    [
        aten._softmax,
        aten.native_layer_norm,
    ]
)
decompositions = {**core_aten_decompositions(), **inductor_decompositions}

decomps_to_exclude = [
    aten.embedding,  # Inductor lowers it
    aten._softmax_backward_data,
]

remove_decompositions(decompositions, decomps_to_exclude)


def register_decomposition(ops):
    return decomp.register_decomposition(ops, decompositions)


@register_decomposition([aten._softmax_backward_data])
def _softmax_backward_data(grad_output, output, dim, input_dtype):  #! hop _softmax_backward_data decomposition
    return grad_output


@register_decomposition(aten.mm)
def mm(self, input2):  #! hop mm decomposition
    if self.shape[0] == 1:
        return self * input2
    return NotImplemented


@register_decomposition(aten.cumsum)
def cumsum(x, dim):  #! hop cumsum decomposition
    return NotImplemented
