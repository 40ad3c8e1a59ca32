"""Which vendor's library a call goes to: each gives its functions a prefix of its own."""

from __future__ import annotations

from functools import cache

from indexes.linking.facts import Call
from indexes.model.regex import regex

_BLAS = tuple(
    f"{t}{name}_"
    for t in "sdcz"
    for name in (
        "rotg rotmg rot rotm swap scal copy axpy dot dotu dotc nrm2 asum gemv gbmv hemv hbmv hpmv "
        "symv sbmv spmv trmv tbmv tpmv trsv tbsv tpsv ger geru gerc her hpr her2 hpr2 syr spr syr2 "
        "spr2 gemm symm hemm syrk herk syr2k her2k trmm trsm"
    ).split()
)
"""The routines that the BLAS standard names."""
_LAPACK = tuple(
    f"{t}{name}" for t in "sdcz" for name in "getr potr geqr orm org unm ung sy he ge tr".split()
)
_LIBRARIES = (
    ("cuBLAS", ("cublas",), regex(r"cublas(?:Lt)?[A-Z]\w*$")),
    ("cuDNN", ("cudnn",), regex(r"cudnn[A-Z]\w*$")),
    ("cuSPARSE", ("cusparse",), regex(r"cusparse[A-Z]\w*$")),
    ("cuSOLVER", ("cusolver",), regex(r"cusolver[A-Z]\w*$")),
    ("cuFFT", ("cufft",), regex(r"cufft[A-Z]\w*$")),
    ("MIOpen", ("miopen",), regex(r"miopen[A-Z]\w*$")),
    ("hipBLAS", ("hipblas", "rocblas"), regex(r"(?:hipblas|rocblas)\w+$")),
    ("MAGMA", ("magma_",), regex(r"magma_\w+$")),
    ("NCCL", ("nccl",), regex(r"nccl[A-Z]\w*$")),
    ("Metal", ("mtl_",), regex(r"mtl_\w+$")),
    (
        "MKL",
        ("mkl_", "Dfti", "vml", "vms", "vmd", "vsl", "dss_", "pardiso"),
        regex(r"(?:mkl_\w+|(?:Dfti|vml|vms|vmd|vsl)[A-Z]\w*|(?:dss_|pardiso)\w+)$"),
    ),
    ("BLAS", ("cblas_", *_BLAS), regex(r"(?:cblas_\w+|[a-z0-9]+_)$")),
    ("LAPACK", _LAPACK, regex(r"[sdcz][a-z]{4,6}\d?(?:_rook|_rk|_aa)?_$")),
    ("pocketfft", ("pocketfft",), regex(r"pocketfft\w*$")),
)
"""Of each library what its names begin with, and what they are: a regular expression is made
only when a name begins so."""
_QUALIFIED_LIBRARIES = {
    "ideep": "oneDNN",
    "dnnl": "oneDNN",
    "fbgemm": "FBGEMM",
    "cub": "CUB",
    "thrust": "Thrust",
    "cutlass": "CUTLASS",
    "pocketfft": "pocketfft",
    "cudnn_frontend": "cuDNN",
    "nccl": "NCCL",
    "sparse_gemm": "",
    "xnnpack": "",
}
APPLE = frozenset(("MPSGraph", "Metal"))
"""They are called with messages: PyTorch's own functions with their names stand for them."""


def library_of(call: Call) -> str:
    """The library whose function a call names, by the prefix its vendor gives every name."""
    if call.kind == "name":
        return ""
    first = call.qualifier.partition("::")[0]
    if named := _QUALIFIED_LIBRARIES.get(first):
        return named
    if not is_plain(call):
        return ""
    return _library_by_name(call.name)


def is_plain(call: Call) -> bool:
    """Whether a name alone tells the library, not a namespace of the vendor's."""
    return call.qualifier.partition("::")[0] in ("at", "native", "")


@cache
def _library_by_name(name: str) -> str:
    if "MPSGraph" in name:
        return "MPSGraph"
    if "MetalShaderLibrary" in name:
        return "Metal"
    for library, beginnings, pattern in _LIBRARIES:
        if name.startswith(beginnings) and pattern.match(name):
            return library
    return ""
