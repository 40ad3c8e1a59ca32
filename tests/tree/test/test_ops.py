# Owner(s): ["module: unknown"]

from functools import partial

from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db, unary_ufuncs
from torch.testing._internal.common_utils import parametrize

_checked_ops = partial(ops, dtypes=None)


class TestCommon:
    @ops(op_db, allowed_dtypes=None)
    def test_out(self, device, dtype, op):
        pass

    @ops(
        [op for op in op_db if op.supports_out],
        dtypes=None,
    )
    def test_out_warning(self, device, op):
        pass

    @_checked_ops(unary_ufuncs)
    def test_numerics(self, device, dtype, op):
        pass

    def test_masked_sin(self, device):
        pass

    @parametrize("op", ref_names)
    def test_references(self, device, op):
        pass

    @parametrize("fn_name", ["sin", "cos"])
    def test_functions(self, device, fn_name):
        pass


class TestForgotten:
    @ops(op_db)
    def test_never_made(self, device, dtype, op):
        pass


instantiate_device_type_tests(TestCommon, globals(), only_for=("cpu", "cuda"))
