"""What a change compiles again, counted over include graphs that are written here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.queries.impact.rebuild import NATIVE, Rebuild
from indexes.queries.index import Index
from indexes.readers.cxx.lexer import read_includes
from tests.indexing import opened, write

FILES = {
    "c10/core/Impl.h": "#pragma once\n",
    "aten/src/ATen/core/Tensor.h": "#include <ATen/core/TensorBody.h>\n",
    "aten/src/ATen/templates/TensorBody.h": "#include <c10/core/Impl.h>\n${methods}\n",
    "aten/src/ATen/templates/Function.h": "",
    "aten/src/ATen/templates/Operator.h": "",
    "aten/src/ATen/native/Pool.h": '#include "Near.h"\n',
    "aten/src/ATen/native/Near.h": "",
    "aten/src/ATen/native/Pool.cpp": (
        "#include <ATen/native/Pool.h>\n#include <ATen/core/Tensor.h>\n"
    ),
    "aten/src/ATen/native/Loss.cpp": "  # include <ATen/ops/relu.h>\n",
    "aten/src/ATen/native/cuda/Pool.cu": "#include <ATen/native/Pool.h>\n",
    "aten/src/ATen/native/test/pool_test.cpp": "#include <ATen/native/Pool.h>\n",
    "aten/src/ATen/native/cpu/PoolKernel.cpp": "// #include <ATen/native/Pool.h>\n",
    "cmake/Codegen.cmake": "x\nforeach(i RANGE ${NUM_CPU_CAPABILITY_NAMES})\n",
    NATIVE: (
        "- func: relu(Tensor self) -> Tensor\n"
        "- func: neg(Tensor self) -> Tensor\n  variants: function, method\n"
    ),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write(tmp_path_factory.mktemp("includes"), FILES)
    (root / "aten/src/ATen/native/Base.cpp").write_text(
        "namespace at::native { Tensor relu(const Tensor& self) {} Tensor neg(const Tensor& x) {} }"
    )
    with opened(root, tmp_path_factory.mktemp("cache")) as index:
        yield index


@pytest.mark.parametrize(
    ("path", "kind", "objects"),
    [
        ("torch/nn/functional.py", "none", 0),
        ("aten/src/ATen/native/Pool.cpp", "source", 1),
        ("aten/src/ATen/native/cpu/PoolKernel.cpp", "source", 1),
        ("aten/src/ATen/native/Pool.h", "header", 2),  # a test is no part of the library
        ("aten/src/ATen/native/Near.h", "header", 2),  # by the folder of who includes it
        ("c10/core/Impl.h", "header", 1),  # through a header that torchgen makes
        ("aten/src/ATen/templates/TensorBody.h", "codegen", 1),
        (NATIVE, "codegen", 2),
        ("torchgen/gen.py", "codegen", 2),
        ("aten/src/ATen/native/mystery.bin", "unknown", 0),
    ],
)
def test_cost_of_a_file(index: Index, path: str, kind: str, objects: int) -> None:
    cost = Rebuild(index.source, index.facts).cost(path)
    assert (cost.kind, cost.objects, cost.total) == (kind, objects, cost.total)
    assert str(cost)


def test_an_entry_without_a_method_leaves_tensor_alone(index: Index) -> None:
    rebuild = Rebuild(index.source, index.facts)
    function, method = index.native("relu"), index.native("neg")
    assert function is not None
    assert method is not None
    assert rebuild.cost(NATIVE, function).objects == 1  # Loss.cpp alone includes its header
    assert rebuild.cost(NATIVE, method).objects == 2


def test_a_kernel_for_cpu_capabilities_names_the_loop(index: Index) -> None:
    cost = Rebuild(index.source, index.facts).cost("aten/src/ATen/native/cpu/PoolKernel.cpp")
    assert [str(one) for one in cost.evidence] == ["cmake/Codegen.cmake:2"]


def test_includes() -> None:
    text = b'#include <a/b.h>\n#  include "c-d.h" // x\n//#include <no.h>\n#import <e/f+g.h>\n'
    assert [(one.name, one.quoted) for one in read_includes(text)] == [
        ("a/b.h", False),
        ("c-d.h", True),
        ("e/f+g.h", False),
    ]
