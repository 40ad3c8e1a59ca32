# mypy: allow-untyped-defs
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo, ReductionOpInfo, UnaryUfuncInfo


def sample_inputs_softmax_variant(op_info, device, dtype, requires_grad):
    yield None


op_db: list[OpInfo] = [
    UnaryUfuncInfo(  #! hop abs opinfo
        "abs",
        aliases=("absolute",),
        ref=None,
    ),
    UnaryUfuncInfo("sin", ref=None),  #! hop sin opinfo
    BinaryUfuncInfo(  #! hop add.Tensor opinfo
        "add",
        supports_out=True,
    ),
    OpInfo(  #! hop cumsum opinfo
        "cumsum",
        dtypesIfCUDA=None,
    ),
    # the name differs from the operator's: aten_name tells
    OpInfo(  #! hop softmax.int opinfo; hop _softmax_backward_data opinfo
        "softmax",
        aliases=("special.softmax", "nn.functional.softmax"),
        aten_name="softmax",
        aten_backward_name="_softmax_backward_data",  # its line is the entry's, above
        sample_inputs_func=sample_inputs_softmax_variant,
    ),
    OpInfo(  #! hop relu opinfo
        "nn.functional.relu",
        aten_name="relu",
    ),
    ReductionOpInfo(  #! hop mean opinfo
        "mean",
        nan_policy="propagate",
    ),
    *(
        OpInfo(  #! hop index_put opinfo
            "index_put",
            variant_test_name=f"of_{kind}",
        )
        for kind in ("mean", "amax")
    ),
]
op_db.append(
    OpInfo(  #! hop mm opinfo
        "mm",
        decomp_aten_name="addmm",
        variant_test_name="appended",
    )
)
unary_ufuncs = [op for op in op_db if isinstance(op, UnaryUfuncInfo)]
