import torch

PRESERVED_ATEN_CIA_OPS = {
    torch.ops.aten.layer_norm.default,
}


class CustomDecompTable(dict):
    def __init__(self):
        from torch._decomp import _core_aten_decompositions_post_autograd

        self.decomp_table = _core_aten_decompositions_post_autograd()
        for op in _collect_all_valid_cia_ops_for_aten_namespace():
            if op not in PRESERVED_ATEN_CIA_OPS:
                self.decomp_table[op] = op
