"""Files of the same shape as one."""

from __future__ import annotations

from indexes.queries.contribution.siblings import parts, siblings, twins

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


def test_parts_have_the_name_of_a_file_and_more() -> None:
    others = ["a/VulkanCopy.h", "a/Vulkan.cpp", "b/VulkanCopy.cpp", "a/Vulkans.cpp", "a/Copy.cpp"]
    assert list(parts(["a/Vulkan.cpp"], others)) == [("a/VulkanCopy.h", "a/Vulkan.cpp")]


def test_short_names_and_the_files_themselves_have_none() -> None:
    assert list(siblings(["native/cuda/CrossKernel.cu", "native/cuda/Cross.cu"], _FILES)) == []
    assert list(siblings(_FILES, _FILES)) == []


def test_dimensions_are_one_family_also_with_none_in_the_name() -> None:
    files = [
        f"native/Adaptive{name}.cpp" for name in ("AvgPooling", "AvgPooling3d", "MaxPooling2d")
    ]
    found = siblings(files[:1], [*files, "native/AdaptiveAvgPooling.h", "native/Pooling3d.cpp"])
    assert [one.path for one in found] == files[1:]


def test_a_twin_has_the_name_for_another_device_and_the_same_layout() -> None:
    native = "aten/src/ATen/native"
    there = ["UnaryOps.h", "cuda/UnaryOpsKernel.cu", "mps/operations/UnaryOps.mm"]
    others = ["sparse/SparseUnaryOps.cpp", "BinaryOps.cpp"]
    found = twins([f"{native}/UnaryOps.cpp"], [f"{native}/{one}" for one in (*there, *others)])
    assert [one.path for one in found] == [f"{native}/{one}" for one in there]
