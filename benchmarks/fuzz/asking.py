"""Inputs from people and programs: names, configuration, shared indexes, requests of agents."""

from __future__ import annotations

import csv
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.fuzz.targets import DATA, TREE, Run, Target, pieces
from indexes.build.builder import Builder
from indexes.build.sharing import export_index, import_index
from indexes.queries.index import Index
from indexes.queries.naming.spelling import parse_name
from indexes.readers.project.toml import parse_toml
from indexes.source.source import Source
from navigator.agents.answers import Answers
from navigator.agents.pages import compact
from navigator.sources import configured_python, configured_sources
from navigator.tui.config import load_config

_SPELLINGS = """add torch.add F.relu AddmmBackward0 at::native::add_kernel add_stub mul.Tensor
aten/src/ATen/native/BinaryOps.cpp:43 torch.nn.functional.linear torch.ops.aten.add.Tensor CUDA
AutogradCPU native_layer_norm_backward x.add_ __add__ grad_fn=<MulBackward0> aten::add.out
_ZN2at6native10add_kernelERNS_18TensorIteratorBaseERKN3c106ScalarE MKLDNN_ENABLED USE_MKLDNN
max_split_size_mb keepdim structured_add_out wrapper_CPU_add_Tensor ScaleBackward self.fc.weight
cublasSgemm nn.Linear.in_features a[0]=1 a@b torch._C._get_cudnn_allow_tf32 FLAGS_caffe2_x
cpp_fused_add_mul_0 triton_poi_fused_add_0 at::_ops::add_Tensor::call void(*)(int)
""".split()
_ERRORS = (
    "RuntimeError: expected scalar type Float but found Double",
    "Could not run 'aten::add.out' with arguments from the 'FPGA' backend.",
    '  File "/x/torch/nn/functional.py", line 20, in relu\nNotImplementedError: no',
    "derivative for aten::add is not implemented",
    "AttributeError: 'Tensor' object has no attribute 'foo'",
    "AttributeError: module 'torch.nn' has no attribute 'foo'",
    "ImportError: cannot import name 'foo' from partially initialized module 'torch.nn' (/x/y.py)",
    "ModuleNotFoundError: No module named 'torch.foo'",
    "TypeError: relu() missing 1 required positional argument: 'input'",
    "TypeError: unsupported operand type(s) for +: 'Tensor' and 'NoneType'",
    'expected n > 0 INTERNAL ASSERT FAILED at "aten/src/ATen/native/BinaryOps.cpp":43, please',
    (
        "Exception raised from add at ../x/BinaryOps.cpp:43 (most recent call first):\nframe #0:"
        " at::native::add(at::Tensor const&) + 0x12 (0x7f in /x/libtorch_cpu.so)\n"
    ),
    "/x/a.cu:12: f: block: [0,0,0], thread: [1,0,0] Assertion `a < b` failed.",
    "[rank0]: RuntimeError: CUDA error: no; CUBLAS_STATUS_NO when calling `cublasSgemm( a )`",
    "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0",
)


def _index(folder: Path) -> Index:
    return Index.open(Source.find(str(TREE)), folder / "cache")


def _kernel_names() -> list[bytes]:
    found: list[bytes] = []
    for name in ("traces.tsv", "wheel.tsv", "spellings.tsv"):
        with (DATA / "device_names" / name).open(newline="") as file:
            cells = (cell for row in csv.reader(file, delimiter="\t") for cell in row)
            found += [cell.encode() for cell in cells if len(cell) > 3]
    return found


def _names() -> list[bytes]:
    return [one.encode() for one in (*_SPELLINGS, *_ERRORS)] + _kernel_names()[::20]


def _asked(folder: Path) -> Run:
    index = _index(folder)

    def run(data: bytes) -> object:
        text = data.decode("utf-8", "replace")[:4000]
        return [parse_name(text), index.resolve(text), index.find(text, 20), index.filter(text)]

    return run


def _placed(folder: Path) -> Run:
    """``at``, ``uses`` and others that read a file of the tree by its name."""
    index = _index(folder)

    def run(data: bytes) -> object:
        text = data.decode("utf-8", "replace")[:2000]
        path, _, line = text.rpartition(":")
        number = int(line) if line.isdecimal() and len(line) < 9 else len(text)
        found: list[object] = [index.uses(text, 20), index.definitions(text)]
        return [*found, index.at(path or text, number), index.read(path or text)]

    return run


def _resolver(folder: Path) -> Run:
    index = _index(folder)

    def run(data: bytes) -> object:
        return index.kernel_name(data.decode("utf-8", "replace")[:8000])

    return run


def _config(folder: Path) -> Run:
    file = folder / "config.toml"

    def run(data: bytes) -> object:
        file.write_bytes(data)
        load_config(file)
        return [configured_sources(file), configured_python(file)]

    return run


def _toml(_folder: Path) -> Run:
    return lambda data: parse_toml(data.decode())


_CONFIG = (
    b'theme = "nord"\neditor = "nvim +{line} {path}"\npython = "~/x/bin/python"\n',
    b'[keys]\n"go.definition" = "d,f12"\n\n[[sources]]\npath = "~/x"\nname = "xpu"\n',
    b'a = 1979-05-27T07:32:00Z\nb = [1, 2.5, true, {c = "\\u00e9"}]\nd.e.f = """x\ny"""\n',
)


def _shared_seeds() -> list[bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(Source.find(str(TREE)), Path(folder))
        builder.run()
        path, _ = export_index(builder, Path(folder, "shared"))
        return [path.read_bytes()]


def _import(folder: Path) -> Run:
    """The whole file is mutated without cutting it, since the seeds are large."""
    builder = Builder(Source.find(str(TREE)), folder / "cache")
    builder.run()
    builder.files()
    file = folder / "shared.index"

    def run(data: bytes) -> object:
        file.write_bytes(data)
        return import_index(builder, file)

    return run


_REQUESTS: list[dict[str, Any]] = [
    {"tool": "locate", "name": "add.Tensor", "limit": 5, "cursor": ""},
    {"tool": "chain", "op": "mul.out", "key": "CPU", "depth": 1, "limit": 9, "cursor": "3"},
    {"tool": "dispatch", "op": "add.Tensor", "key": "CUDA", "limit": 40, "cursor": ""},
    {"tool": "users", "symbol": "add_stub", "direction": "up", "depth": 2, "limit": 9},
    {"tool": "users", "symbol": "add.Tensor", "direction": "down", "depth": 1, "cursor": "1"},
    {"tool": "tests", "what": "add.Tensor", "limit": 3},
]


def _agents(folder: Path) -> Run:
    answers = Answers(_index(folder))

    def run(data: bytes) -> object:
        try:
            given = json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None  # the protocol's library answers this
        if not isinstance(given, dict) or str(given.get("tool")) not in _FORMS:
            return None
        tool = str(given.pop("tool"))
        forms = _FORMS[tool]
        required = next(iter(forms)) in given
        if (
            not required
            or given.get("direction", "up") not in ("up", "down")
            or not all(
                name in forms and isinstance(one, forms[name]) for name, one in given.items()
            )
        ):
            return None  # pydantic refuses it
        with redirect_stdout(StringIO()):
            return compact(getattr(answers, tool)(**given))

    return run


_FORMS: dict[str, dict[str, type]] = {
    "locate": {"name": str, "limit": int, "cursor": str},
    "chain": {"op": str, "key": str, "depth": int, "limit": int, "cursor": str},
    "dispatch": {"op": str, "key": str, "limit": int, "cursor": str},
    "users": {"symbol": str, "direction": str, "depth": int, "limit": int, "cursor": str},
    "tests": {"what": str, "limit": int, "cursor": str},
}


TARGETS = (
    Target("names", _names, _asked),
    Target("places", lambda: [*_names(), *pieces([TREE / "CODEOWNERS"], 60)], _placed),
    Target("kernel names", _kernel_names, _resolver),
    Target("config", lambda: [*_CONFIG], _config),
    Target("toml", lambda: [*_CONFIG], _toml, (ValueError,)),
    Target("shared indexes", _shared_seeds, _import),
    Target("agents", lambda: [json.dumps(one).encode() for one in _REQUESTS], _agents),
)
