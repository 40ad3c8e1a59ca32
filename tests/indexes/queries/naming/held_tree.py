"""A small tree with names as people hold them, for ``test_held_names``."""

from __future__ import annotations

FILES = {
    "aten/src/ATen/native/native_functions.yaml": (
        "- func: halve(Tensor self) -> Tensor\n  device_check: NoCheck\n"
        "  dispatch:\n    CPU: halve_cpu\n"
        "- func: fold.Times_out(Tensor self, int times, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: fold_cpu\n"
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
    "c10/core/Types.h": (
        "#define FORALL_TYPES(_) _(float, Single) _(int, Whole)\n"
        "#define DEFINE_TYPE(_, name) constexpr int k##name = 1;\n"
        "namespace c10 {\nFORALL_TYPES(DEFINE_TYPE)\n}\n"
    ),
    "c10/core/Api.h": "#define HALVE_EXTERN(x) HALVE_API extern x\n#define HALVE_API __halved\n",
    "torch/csrc/Module.cpp": (
        'static PyMethodDef methods[] = {\n  {"_halve_now", halve_now, METH_NOARGS, nullptr},\n};\n'
    ),
    "torch/csrc/bind.cpp": (
        'void init(py::module m) {\n  py::class_<Halver>(m, "Halver")\n'
        '      .def("_half", &half);\n'
        '  m.def("_twice", &twice)\n      .def("_thrice", &thrice);\n}\n'
    ),
    "torch/_C/__init__.pyi": (
        "def _halve_now() -> None: ...\ndef _half() -> None: ...\n"
        "def _twice() -> None: ...\ndef _thrice() -> None: ...\n"
        "class Halver:\n    def wait(self) -> None: ...\n"
    ),
    "torch/_tensor.py": "class Tensor:\n    def backward(self):\n        pass\n",
    "torch/frames.py": (
        "class _Meta(type):\n    @property\n    def WORLD(cls):\n        return 1\n\n\n"
        "class group(metaclass=_Meta):\n    pass\n\n\n"
        "class Refused(Exception):\n    pass\n\n\n"
        "class Context:\n    def __call__(self, fn):\n"
        "        def _halved():\n"
        '            raise ValueError(f"Trying to halve {fn} but no rule is known. Give one.")\n\n'
        '        name = unique_id("__halved_fn")\n'
        "        def backward():\n            pass\n"
        "        return _halved\n\n\n"
        'def _key(number):\n    return f"<halved_by_key>.{number}"\n\n\n'
        'TWICE = "Trying to halve the tensor a second time (or what is gone). Values are freed."\n'
    ),
    "torch/random.py": "def seed():\n    pass\n\n\ndef halve_seeds():\n    pass\n",
    "torch/seeded.py": "import random\n",
    "torch/_copies/random.py": "def shuffle(x):\n    pass\n",
    "torch/deep/exc.py": "class Refused(Exception):\n    pass\n",
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
    "torch/__init__.py": "from torch._tensor import Tensor\nfrom torch._C import Halver\n",
    "torch/deep/halver.py": "class Halver:\n    def wait(self):\n        pass\n",
    "cmake/HalveConfig.cmake.in": "if(HALVE_CXX_FLAGS)\nendif()\n",
    "c10/core/Call.h": (
        "namespace c10 {\nstruct Call {\n  int operator()(int n) { return n; }\n};\n"
        "int weigh(int n) { return n; }\nint weigh(const Call& c) { return 1; }\n}\n"
    ),
    "aten/src/ATen/native/cuda/Halve.cu": (
        "namespace at::native {\nvoid index() {\n"
        '  CUDA_KERNEL_ASSERT(-n <= i && i < n && "halves out of bounds");\n}\n}\n'
    ),
    "torch/deep/config.py": (
        "import sys\nfrom torch.deep.config_module import install\n\nhalves = 2\n"
        "install(sys.modules[__name__])\n"
    ),
    "torch/deep/config_module.py": (
        "class ConfigModule:\n    def patch(self):\n        pass\n\n\n"
        "def install(module):\n    class Installed(ConfigModule):\n        pass\n\n"
        "    module.__class__ = Installed\n"
    ),
    "torch/deep/optim.py": "from torch.optim import Optimizer\n",
    "torch/deep/user.py": "import torch.deep.refusals as ref\nimport torch.optim as func\n",
    "torch/deep/refusals.py": (
        'def one(x):\n    raise RuntimeError("Expected halved argument")\n\n\n'
        'def two(x):\n    raise ValueError(f"Halving the tensor {x} by {x} is not supported")\n\n\n'
        "def three(x):\n    raise ValueError(\n"
        '        f"Refused: halving {x}. Please feel free to request support or submit a change "\n'
        '        "request on the page of the project"\n    )\n\n\n'
        'def _get_name():\n    def step_on():\n        pass\n\n    return "HalvedReLU2d"\n\n\n'
        "def _other():\n    def step_on():\n        pass\n"
    ),
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
    "tools/pyi/gen_pyi.py": 'fm.write_with_template("torch/_C/d.pyi", "torch/_C/d.pyi.in", env)\n',
    "torch/_C/d.pyi.in": "",
    "torch/deep/ruled.py": (
        "@rule(\n    1,\n)\n@other\ndef ruled():\n    x = 1\n\n\n"
        "y = 2\n\n\nclass Rules:\n    @other\n    def one(self):\n        pass\n"
    ),
    "torch/processes/__init__.py": "\nfrom multiprocessing import *\n",
    "test/test_pictures.py": "import cvlib\nimport other as model\n",
    "torchgen/model.py": "class NativeFunction:\n    device_check: str\n",
    "docs/source/deep.rst": ".. currentmodule:: torch.deep\n.. autofunction:: export\n"
    ".. autofunction:: torch.deep.inner.types.pad\n",
}
