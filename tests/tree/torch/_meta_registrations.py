# mypy: allow-untyped-defs
import torch

aten = torch._ops.ops.aten


def register_meta(op):
    def wrapper(fn):
        return fn

    return wrapper


@register_meta([aten._fft_c2c.default, aten._fft_c2c.out])
def meta_fft_c2c(self, dim, normalization, forward):  #! hop _fft_c2c meta_registration
    return self.new_empty(self.shape)


@register_meta(aten.index_select.default)
def meta_index_select(self, dim, index):  #! hop index_select meta_registration
    return self


def meta_unused(self):
    return self
