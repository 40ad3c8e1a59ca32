"""Variables that users set: where they are defined, then where they are read."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index

CUDNN, CUDA = "torch/backends/cudnn/__init__.py", "torch/backends/cuda/__init__.py"
CONTEXT = "aten/src/ATen/Context.cpp"
CONFIG, ALLOCATOR = "torch/_inductor/config.py", "c10/core/CPUAllocator.cpp"


def found(index: Index, name: str) -> list[tuple[str, str, int]]:
    match = index.resolve(name)
    assert match.kind == "variable"
    return [(hit.kind, hit.location.path, hit.location.line) for hit in match.hits]


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("max_autotune", [("variable", CONFIG, 9), ("read", CUDA, 20)]),
        ("torch._inductor.config.max_autotune", [("variable", CONFIG, 9), ("read", CUDA, 20)]),
        ("fx_graph_cache", [("variable", CONFIG, 10)]),
        ("torch._inductor.config.triton.cudagraphs", [("variable", CONFIG, 15)]),
        (
            "torch.backends.cuda.matmul.allow_tf32",
            [("variable", CUDA, 8), ("read", CUDA, 20), ("write", CUDA, 25)],
        ),
        (
            "torch.backends.cudnn.allow_tf32",
            [("variable", CUDNN, 35), ("read", CONTEXT, 5), ("read", CONTEXT, 10)],
        ),
        ("TORCHINDUCTOR_FX_GRAPH_CACHE", [("variable", CONFIG, 10)]),
        ("PYTORCH_NO_CPU_MEMORY_REPORT", [("variable", ALLOCATOR, 11)]),
        (
            "FLAGS_caffe2_report_cpu_memory_usage",
            [("variable", ALLOCATOR, 3), ("read", ALLOCATOR, 11)],
        ),
    ],
)
def test_definition_first_then_reads(
    tree_index: Index, name: str, places: list[tuple[str, str, int]]
) -> None:
    assert found(tree_index, name) == places


def test_a_name_of_several_is_ambiguous(tree_index: Index) -> None:
    match = tree_index.resolve("allow_tf32")
    assert {hit.name for hit in match.hits if hit.kind == "variable"} == {
        "torch.backends.cudnn.allow_tf32",
        "torch.backends.cuda.matmul.allow_tf32",
    }
    assert match.confidence == "ambiguous"


def test_find_knows_a_part_of_the_name(tree_index: Index) -> None:
    hits = tree_index.find("MAX_AUTOTUNE")
    assert ("variable", "TORCHINDUCTOR_MAX_AUTOTUNE") in [(hit.kind, hit.name) for hit in hits]
    assert ("class", "TestErrors") in [(h.kind, h.name) for h in tree_index.find("TestErr")]


def test_what_is_no_variable(tree_index: Index) -> None:
    assert tree_index.resolve("_private").kind != "variable"
    assert tree_index.resolve("torch.backends.no_such.allow_tf32").kind != "variable"


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("USE_MKLDNN", [("variable", "CMakeLists.txt", 2), ("read", ALLOCATOR, 14)]),
        ("BUILD_MODE", [("variable", "CMakeLists.txt", 5)]),
        ("max_pool_size", [("read", ALLOCATOR, 16)]),
    ],
)
def test_what_nothing_defines_is_found_where_it_is_asked_for(
    tree_index: Index, name: str, places: list[tuple[str, str, int]]
) -> None:
    assert found(tree_index, name) == places


@pytest.mark.parametrize("name", ["BUILD_DECOY", "no_such_size", "not_given"])
def test_a_name_in_a_comment_is_none(tree_index: Index, name: str) -> None:
    assert tree_index.resolve(name).kind == "none"


def test_a_slip_of_the_keyboard_in_an_environment_variable(tree_index: Index) -> None:
    match = tree_index.resolve("TORCHINDUCTOR_FX_GRAPH_CACH")
    assert match.suggestions == ("TORCHINDUCTOR_FX_GRAPH_CACHE",)
