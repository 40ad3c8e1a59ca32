"""Which vendor's library a name belongs to."""

from __future__ import annotations

import pytest

from indexes.linking.facts import Call
from indexes.linking.visible import library_of


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("dtrsm_", "BLAS"),
        ("sgemm_", "BLAS"),
        ("zdotu_", "BLAS"),
        ("cblas_sgemm", "BLAS"),
        ("zher2k_", "BLAS"),
        ("cheevd_", "LAPACK"),
        ("dgetrf_", "LAPACK"),
        ("sorgqr_", "LAPACK"),
        ("dsytrf_rook_", "LAPACK"),
        ("zpotri_", "LAPACK"),
        ("check_shape_and_partition_", ""),
        ("sub_", ""),
        ("copy_", ""),
        ("vmlSetMode", "MKL"),
        ("vmsSin", "MKL"),
        ("vmlaq_f32", ""),
        ("mkl_sparse_d_mm", "MKL"),
        ("DftiComputeForward", "MKL"),
        ("Dfti", ""),
        ("encodeToCommandBuffer", "Metal"),
        ("encodeToCommandEncoder", "Metal"),
        ("commandBuffer", ""),
    ],
)
def test_a_name_tells_the_library(name: str, library: str) -> None:
    assert library_of(Call(name, "", 1, "call", "")) == library
