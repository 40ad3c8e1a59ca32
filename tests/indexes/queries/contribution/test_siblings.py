"""Files of the same shape as one."""

from __future__ import annotations

from indexes.queries.contribution.siblings import siblings

_FILES = (
    "native/cuda/CompareEQKernel.cu",
    "native/cuda/CompareGEKernel.cu",
    "native/cuda/CompareLogKernel.cpp",
    "native/cpu/CompareLTKernel.cu",
    "native/cuda/CrossKernel.cu",
    "native/cuda/UpSampleNearest2d.cu",
    "native/cuda/UpSampleNearest3d.cu",
)


def test_a_name_differs_in_one_word_between_the_first_and_the_last() -> None:
    (found,) = siblings(["native/cuda/CompareGEKernel.cu"], _FILES)
    assert found == ("native/cuda/CompareEQKernel.cu", "native/cuda/CompareGEKernel.cu")
    (other,) = siblings(["native/cuda/UpSampleNearest3d.cu"], _FILES)
    assert other.path == "native/cuda/UpSampleNearest2d.cu"


def test_short_names_and_the_files_themselves_have_none() -> None:
    assert list(siblings(["native/cuda/CrossKernel.cu", "native/cuda/Cross.cu"], _FILES)) == []
    assert list(siblings(_FILES, _FILES)) == []
