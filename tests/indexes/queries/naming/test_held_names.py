"""Names as people hold them, from profiles, headers and settings, that no operator and no
definition has: each leads to a line, and none to a namesake."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.index import Index
from tests.indexing import opened

FILES = {
    "aten/src/ATen/native/native_functions.yaml": (
        "- func: halve(Tensor self) -> Tensor\n  device_check: NoCheck\n"
        "  dispatch:\n    CPU: halve_cpu\n"
    ),
    "aten/src/ATen/native/Halve.cpp": (
        "namespace at::native {\n"
        "Tensor halve_cpu(const Tensor& self) { return self; }\n"
        "struct Brgemm { void device_check(int d) {} };\n"
        "void gemm() { BLAS_CHECK(cublasDgemm(0)); }\n"
        'void gather() { run([&] { return ncclGather(0); }, "nccl:gather"); }\n'
        'void send() { run(str("nccl:send ", 1)); }\n'
        "void lower(Node* n) { switch (n->kind()) { case prim::If: return; } }\n"
        "}\n"
    ),
    "torch/csrc/cuda/nccl.cpp": "void scatter() { CHECK(ncclScatter(0)); } // naïve",
    "c10/core/Pool.h": (
        "namespace c10::pool {\n"
        "constexpr int kBlock = 64;\n"
        "using Blocks = std::vector<int>;\n"
        "struct Pool {\n"
        "  int next() { return free_[0]; }\n"
        "  enum Full { FULL };\n"
        "  static Pool _singleton;\n"
        "  int free_[4];\n"
        "};\n"
        "inline int blocks() { return kBlock; }\n"
        "}\n"
        "namespace c10 { struct Symbol {\n"
        "  static Symbol pool(const std::string& s);\n"
        "}; }\n"
        "namespace at { using namespace c10; int none(); inline int none() { return 0; } }\n"
    ),
    "c10/core/kinds.h": "#define FORALL_KINDS(_) \\\n  _(prim, If) \\\n  _(prim, Loop)\n",
    "torch/__init__.py": "",
    "torch/optim.py": (
        "class Optimizer:\n"
        "    def step(self):\n"
        '        """See "Optimizer.step#Adam.step"."""\n'
        '        name = f"Optimizer.step#{type(self).__name__}.step"\n'
        "        with record_function(name):\n"
        "            pass\n\n"
        "    def unrelated(self, step_size=1):\n"
        "        step = step_size\n"
    ),
    "torch/loader.py": (
        "def enumerate(items):\n    return items\n\n\n"
        'name = f"enumerate(DataLoader)#{kind}.__next__"\n'
        'row = "ProfilerStep#" + str(3)\n'
        'MODES = {"max-speed": {}}\n'
        'debug = os.environ.get(\n    "TORCH_HALVE_DEBUG", None\n)\n'
    ),
    "torch/deep/inner/scheme.py": "class Scheme:\n    pass\n\n\nclass _Hidden:\n    pass\n",
    "torch/deep/inner/types.py": (
        "_size_t = int\n\n\ndef pad(size: _size_t, by=0):\n    pass\n\n\n"
        'register_artifact("deep_graphs")\nlr_decay = 3\n'
    ),
    "torch/deep/layer.py": "class Layer:\n    lr_decay: int\n",
    "torch/deep/_private.py": "class _Options:\n    keep_inputs = False\n",
    "torch/deep/__init__.py": "def export(model, keep_inputs=False):\n    pass\n",
    "torchgen/model.py": "class NativeFunction:\n    device_check: str\n",
    "docs/source/deep.rst": ".. currentmodule:: torch.deep\n.. autofunction:: export\n"
    ".. autofunction:: torch.deep.inner.types.pad\n",
}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("held")
    for name, text in FILES.items():
        path: Path = root / "pytorch" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(opened(root / "pytorch", root / "cache"))


def place(index: Index, name: str) -> str:
    match = index.resolve(name)
    assert match.hits, f"{name} leads nowhere"
    return f"{match.hits[0].kind} {match.hits[0].location}"


POOL, HALVE = "c10/core/Pool.h", "aten/src/ATen/native/Halve.cpp"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("c10::pool", f"namespace {POOL}:4"),
        ("c10::pool::kBlock", f"member {POOL}:2"),
        ("c10::pool::Pool::FULL", f"member {POOL}:6"),
        ("c10::pool::Pool::_singleton", f"member {POOL}:7"),
        ("c10::pool::Pool::free_", f"member {POOL}:8"),
        ("c10::pool::Blocks", f"class {POOL}:3"),
        ("Blocks", f"class {POOL}:3"),
        ("frame #1: c10::pool::blocks() + 0x6d (0x7f0e in libc10.so)", f"function {POOL}:10"),
        ("nccl:send", f"text {HALVE}:6"),
        ("scheme._Hidden", "class torch/deep/inner/scheme.py:5"),
        ("_size_t", "attribute torch/deep/inner/types.py:1"),
        ("lr_decay", "attribute torch/deep/layer.py:2"),
        ("deep_graphs", "read torch/deep/inner/types.py:8"),
        ("prim::If", "text c10/core/kinds.h:2"),
        ("nccl:gather", f"text {HALVE}:5"),
        ("ProfilerStep#3", "text torch/loader.py:6"),
        ("ProfilerStep*", "text torch/loader.py:6"),
        ("Optimizer.step#SGD.step", "text torch/optim.py:4"),
        ("enumerate(DataLoader)#_Single.__next__", "text torch/loader.py:5"),
        ("max-speed", "text torch/loader.py:7"),
        ("TORCH_HALVE_DEBUG", "variable torch/loader.py:9"),
        ("inner.scheme.Scheme", "class torch/deep/inner/scheme.py:1"),
        ("keep_inputs", "function torch/deep/__init__.py:1"),
        ("ncclGather", f"caller {HALVE}:5"),
        ("ncclScatter", "caller torch/csrc/cuda/nccl.cpp:1"),
        ("device_check", "attribute torchgen/model.py:2"),
    ],
)
def test_a_name_leads_to_its_line(held: Index, name: str, expected: str) -> None:
    assert place(held, name) == expected


def test_a_node_of_torchscript_leads_to_what_handles_it_too(held: Index) -> None:
    match = held.resolve("prim::If")
    assert [(hit.location.path, hit.detail[:8]) for hit in match.hits] == [
        ("c10/core/kinds.h", "_(prim, "),
        (HALVE, "void low"),
    ]


def test_a_line_is_told_whole_as_it_is_written(held: Index) -> None:
    (hit,) = held.resolve("ncclScatter").hits
    assert hit.detail == "void scatter() { CHECK(ncclScatter(0)); } // naïve"


def test_a_namespace_tells_how_much_it_holds(held: Index) -> None:
    note = held.resolve("c10::pool").note
    assert note == "a namespace: 4 definitions in 1 file, most of them in c10/core"


@pytest.mark.parametrize("name", ["cublasDasum", "cublasDgemm_v2", "ncclScatter"])
def test_a_function_of_a_vendor_is_no_device_kernel(held: Index, name: str) -> None:
    match = held.resolve(name)
    assert "not of PyTorch" in match.note
    assert "device kernel" not in match.note
    assert ("no line of this source calls it" in match.note) == (name == "cublasDasum")


@pytest.mark.parametrize(
    "name", ["c10::pool::kBlocks", "c10::pool::Pool::f", "c10::poo", "at::pool", "a#b"]
)
def test_what_is_not_there_leads_nowhere(held: Index, name: str) -> None:
    assert held.resolve(name).kind == "none"


def test_only_files_that_name_a_member_are_read(
    held: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    content = held.source.content

    def recorded(_: object, path: str) -> bytes:
        read.append(path)
        return content(path)

    monkeypatch.setattr(type(held.source), "content", recorded)
    assert place(held, "optimizer.step") == "method torch/optim.py:2"
    assert {path for path in read if path.endswith(".py")} == {"torch/optim.py"}
