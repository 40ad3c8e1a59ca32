"""Names and texts as programs print them: tests of CI, guards of Dynamo, Inductor's code, variables
with their values, what compilers miss. Each leads to the line behind it, or to none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.queries.index import Index
from tests.indexing import opened, write

FILES = {
    "aten/src/ATen/native/native_functions.yaml": (
        "- func: halve(Tensor self) -> Tensor\n  variants: function, method\n"
        "  dispatch:\n    CPU: halve_cpu\n"
        "- func: halve.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: halve_out\n"
        "- func: _pad(Tensor self) -> Tensor\n  dispatch:\n    CPU: pad_cpu\n"
    ),
    "aten/src/ATen/native/cuda/Halve.cu": (
        "namespace at::native { namespace {\n"
        "__global__ void halve_vectorized_kernel(int n) {}\n"
        "void halve_vectorized(int n) {}\n"
        "}}\n"
    ),
    "c10/core/DispatchKey.h": (
        "#define C10_FORALL_BACKEND_COMPONENTS(_, extra) _(CPU, extra) _(CUDA, extra)\n"
        "#define C10_FORALL_FUNCTIONALITY_KEYS(_) _(Dense, )\n"
        "namespace c10 {\nenum class DispatchKey { Undefined, Dense };\n}\n"
    ),
    "CMakeLists.txt": ('option(USE_HALVES "halve" ON)\nif(HALF_BUILD_ONLY)\n  set(X 1)\nendif()\n'),
    "setup.py": (
        "entry_points = {\n"
        '    "console_scripts": ["halverun = torch.frames:main"],\n'
        "}\n"
        'if os.getenv("HALVE_WHEEL"):\n    pass\n'
    ),
    "torch/__init__.py": "",
    "torch/csrc/halves.cpp": (
        "static PyMethodDef rows[] = {\n"
        '  {"_cut_now", cut_now, METH_NOARGS, nullptr},\n};\n'
        'static PyModuleDef def = {PyModuleDef_HEAD_INIT, "torch._C._deep.halves", "", -1, rows};\n'
        'void aoti_torch_written(int n) { getenv("HALVE_BY"); }\n'
    ),
    "torch/frames.py": (
        "def main():\n    pass\n\n\n"
        "class Frame:\n    def __init__(self):\n        self.taken = []\n\n"
        "    def evaluate(self):\n        def pick(x):\n            return x\n\n"
        "        return pick\n\n\n"
        "class AsyncHalver:\n    def wait(self):\n        pass\n\n\n"
        "def write(n):\n"
        '    return f"tl.load({n})"\n\n\n'
        'HEAD = f"""\n    cut_tensor = torch._C._deep.halves._cut_now\n"""\n'
        'register_artifact("halves_verbose")\n\nparser.add_argument("--halve-by")\n\n'
        'NAMES = {"___check_halves": main}\n'
    ),
    "cmake/Halves.cmake": "set(A 1)\ninclude(B)\n",
    "c10/core/Half.h": (
        "namespace c10 {\nstruct Half {\n  Half();\n  ~Half() override;\n};\n"
        "struct LEAF_MATCH {};\n}\n"
    ),
    "torch/_halver/ir.py": (
        "import numpy as np\n\nclass Node:\n    def cut(self):\n        pass\n\n"
        "    def LEAF_MATCH(self):\n        return np.ones(3)\n\n\n"
        "def lower(log, i, x):\n"
        '    log.debug("wrap_to_half %s %s", i, x)\n'
        '    log.debug("compiled halves do not support create_half")\n'
        '    return f"hbuf{i}"\n\n\n'
        "def read(a, b, c):\n"
        '    assert a == b, f"req {a} mismatch halves {b} vs {c}"\n'
        "    return Node.lower_all(  # Calls into what lowers each of them\n        a, b)\n\n\n"
        "def later(table, key):\n    out = table[key](*key, 'compiled halves do')  # type: ignore\n"
        "    hooks.cut_all if hooks else None,\n"
    ),
    "torch/csrc/autograd/functions/gather.h": (
        "namespace torch::autograd {\nstruct GatherGrad : public Node {\n"
        "  variable_list apply(variable_list&& grads) { return grads; }\n};\n}\n"
    ),
    "torch/autograd/function.py": "class FunctionMeta(type):\n    pass\n",
    "aten/src/ATen/native/cpu/Half.cpp": (
        "namespace at::rows {\ninline namespace CPU_CAPABILITY {\n"
        "#if defined(CPU_CAPABILITY_AVX2)\ntemplate <> struct Wide<float> {};\n#endif\n"
        "template <class T> struct Wide {};\nvoid halve_rows(int n) {}\n}}\n"
    ),
    "torch/several.py": "class A:\n    def cut(self):\n        pass\n" * 2,
    "torch/other.py": "class Event:\n    def wait(self):\n        pass\n",
    "torch/_dynamo/__init__.py": "",
    "torch/_dynamo/guards.py": (
        "class GuardBuilder:\n"
        "    def helper(self, key):\n"
        '        return f"{key} == {key!r}"\n\n'
        "    def ID_MATCH(self, ref, value):\n"
        '        return f"___check_obj_id({ref}, {value})"\n\n'
        "    def EQUALS_MATCH(self, ref, value):\n"
        '        return f"{ref} == {value!r}"\n\n'
        "    def LENGTH(self, ref, value):\n"
        '        return f"len({ref}) == {len(value)}"\n'
    ),
    "torch/testing/_internal/common_methods_invocations.py": (
        "op_db = [\n    OpInfo('halve',\n           dtypes=floating_types()),\n]\n"
    ),
    "torch/testing/_internal/programs.py": (
        "class Trained:\n    def __init__(self):\n        self.made = torch.frames.Frame(1)\n"
        "\n\ndef train_halves():\n    pass\n"
    ),
    "test/test_halves.py": (
        "class TestHalves(TestCase):\n"
        "    @ops(op_db)\n"
        "    def test_out(self, device, dtype, op):\n        pass\n\n"
        "    def test_cut(self, device):\n        pass\n\n"
        "    test_kept = made_by(3)\n"
    ),
    "test/test_others.py": (
        "class TestOthers(TestCase):\n    def test_store(self):\n        pass\n\n"
        "    def test_cut(self):\n        pass\n"
    ),
}
TESTS, GUARDS = "test/test_halves.py", "torch/_dynamo/guards.py"
GATHER = "torch/csrc/autograd/functions/gather.h"
IR, CPU = "torch/_halver/ir.py", "aten/src/ATen/native/cpu/Half.cpp"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write(tmp_path_factory.mktemp("printed"), FILES)
    with opened(root, tmp_path_factory.mktemp("cache")) as index:
        yield index


@pytest.mark.parametrize(
    ("name", "expected", "sure"),
    [
        ("TestHalves.test_cut", f"test {TESTS}:6", "exact"),
        ("DISABLED test_cut (__main__.TestHalves)", f"test {TESTS}:6", "exact"),
        ("test_cut (__main__.TestHalvesCPU.test_cut_cpu) ... ok", f"test {TESTS}:6", "exact"),
        ("python test/test_halves.py -k test_cut", f"test {TESTS}:6", "exact"),
        ("test_halves.py::TestHalvesCUDA::test_cut_cuda_float16", f"test {TESTS}:6", "by rule"),
        ("TestHalvesCPU::test_out_halve_cpu_float32", f"test {TESTS}:3", "by rule"),
        ("test_out_halve_cpu_float32", f"test {TESTS}:3", "by rule"),
        ("TestHalves.test_kept", f"test {TESTS}:9", "exact"),
        ("TestHalves.test_gone", f"class {TESTS}:1", "by rule"),
        ("L['x'].y == 3", f"text {GUARDS}:9", "by rule"),
        ("___check_obj_id(L['self'], 94)", f"text {GUARDS}:6", "by rule"),
        ("len(L['xs']) == 2  # a.py:3 in f", f"text {GUARDS}:12", "by rule"),
        ("| | +- EQUALS_MATCH: L['x'] == 3", f"method {GUARDS}:8", "by rule"),
        ("HALVE_BY=1", "variable torch/csrc/halves.cpp:5", "exact"),
        ("-DUSE_HALVES:BOOL=ON", "variable CMakeLists.txt:1", "exact"),
        ("export USE_HALVES=0", "variable CMakeLists.txt:1", "exact"),
        ("HALF_BUILD_ONLY", "variable CMakeLists.txt:2", "exact"),
        ("HALVE_WHEEL", "variable setup.py:4", "exact"),
        ("halverun", "function torch/frames.py:1", "exact"),
        ("__halves_verbose", "read torch/frames.py:28", "by rule"),
        ("cut_tensor", "read torch/frames.py:26", "by rule"),
        ("tl.load", "text torch/frames.py:22", "by rule"),
        ("async_halver.wait()", "method torch/frames.py:17", "by rule"),
        ("frame.taken", "attribute torch/frames.py:7", "by rule"),
        ("torch._C._deep.halves._cut_now", "attribute torch/csrc/halves.cpp:2", "exact"),
        ("at::native::(anonymous namespace)::halve_vec...", "__global__ {}:2", "by rule"),
        ("void at::native::halve_vec...    0.00%   9.5ms   4", "__global__ {}:2", "by rule"),
        ("  0.01%  125.22us  32  3.9us  at::native::halve_vectorized", "function {}:3", "exact"),
        ('==PROF== Profiling "halve_vectorized" - 71: 0%....100%', "function {}:3", "exact"),
        ("error LNK2019: unresolved external symbol halve_vectorized", "function {}:3", "exact"),
        ("‘halve_vectorized’ was not declared in this scope", "function {}:3", "exact"),
        ('File "/x/torch/frames.py", line 2, in pick', "function torch/frames.py:10", "by rule"),
        ('File "/x/torch/frames.py", line 11, in pick', "file torch/frames.py:11", "exact"),
        ("/x/torch/frames.py(11): pick", "file torch/frames.py:11", "exact"),
        ("torch/frames.py(2): pick", "function torch/frames.py:10", "by rule"),
        ("aoti_torch_written", "function torch/csrc/halves.cpp:5", "exact"),
        (r'File "C:\x\torch\frames.py", line 2, in pick', "function torch/frames.py:10", "by rule"),
        (
            "https://github.com/x/y/blob/main/torch/frames.py#L11-L12",
            "file torch/frames.py:11",
            "exact",
        ),
        ("#2  0x07 in at::native::halve_vectorized (n=1) at a.cpp:3", "function {}:3", "exact"),
        ("#2  0x07 in (anonymous namespace)::halve_vectorized(int) ()", "function {}:3", "exact"),
        ('mode="halves_verbose"', "read torch/frames.py:28", "by rule"),
        ("self.taken = []", "text torch/frames.py:7", "exact"),
        ("at::rows::AVX2::halve_rows(int)", f"function {CPU}:7", "exact"),
        ("#1 at::rows::DEFAULT::halve_rows(n=1) at a.cpp:3", f"function {CPU}:7", "exact"),
        ("at::rows::Wide", f"class {CPU}:6", "exact"),
        ("Trained", "class torch/testing/_internal/programs.py:1", "by rule"),
        ("<GatherGrad object at 0x7f>", f"class {GATHER}:2", "exact"),
        ("tensor([2.], grad_fn=<GatherGrad>)", f"class {GATHER}:2", "exact"),
        ("torch::autograd::GatherGrad", f"class {GATHER}:2", "exact"),
        ("torch::autograd::GatherGrad::apply", f"function {GATHER}:3", "exact"),
        ("def train_halves():", "text torch/testing/_internal/programs.py:6", "ambiguous"),
        ("train_halves", "function torch/testing/_internal/programs.py:6", "ambiguous"),
        ("pick", "function torch/frames.py:10", "ambiguous"),
        (
            "<torch.autograd.function.MyFnBackward object at 0x7f>",
            "class torch/autograd/function.py:1",
            "by rule",
        ),
        ("self.made = torch.frames.Frame(1)", "class torch/frames.py:5", "exact"),
        ("self.taken, _ = torch.frames.Frame(2,", "class torch/frames.py:5", "exact"),
        ("if torch.frames.main() == 0:", "function torch/frames.py:1", "exact"),
        ("/x/torch/several.py in cut(self)", "function torch/several.py:2", "ambiguous"),
        ("if not torch.frames.main():", "function torch/frames.py:1", "exact"),
        ("for x in torch.frames.Frame(3)[0].f():", "class torch/frames.py:5", "exact"),
        ("class Mine(torch.frames.Frame):", "class torch/frames.py:5", "exact"),
        ("from torch.frames import Frame, write", "module torch/frames.py:1", "exact"),
        ("/x/torch/frames.py in pick(x)", "function torch/frames.py:10", "by rule"),
        ("File ~/torch/frames.py:2, in Frame.pick(x)", "function torch/frames.py:10", "by rule"),
        ("--> 19     return Node.lower_all(", f"text {IR}:19", "exact"),
        (">       return Node.lower_all(", f"text {IR}:19", "exact"),
        (">>> torch.frames.main()", "function torch/frames.py:1", "exact"),
        ("In [12]: torch.frames.main()", "function torch/frames.py:1", "exact"),
        ("❱ 19 │   return Node.lower_all(", f"text {IR}:19", "exact"),
        ("void (anonymous namespace)::halve_vectorized<4, f(int)::X>", "function {}:3", "exact"),
        ("_ZN2at6native16halve_vectorizedIZNS0_1fEiEUliE_EEviT_", "function {}:3", "exact"),
        ("_ TestHalves.test_cut _", f"test {TESTS}:6", "exact"),
        ("TestOthersCPU.test_out_cpu", "class test/test_others.py:1", "by rule"),
        (
            ".venv/site-packages/torch/frames.py:2: in pick",
            "function torch/frames.py:10",
            "by rule",
        ),
        (
            "2025-11-12T11:25:13.49Z FAILED [0.1s] a/test/test_halves.py::TestHalves::test_cut - E",
            f"test {TESTS}:6",
            "exact",
        ),
        ("torch.frames.AsyncHalver:", "class torch/frames.py:16", "exact"),
        ("raise Frame(3)", "class torch/frames.py:5", "by rule"),
        ("--halve-by=3", "text torch/frames.py:30", "by rule"),
        ("___check_halves", "read torch/frames.py:32", "by rule"),
        ("--halve_by 3", "text torch/frames.py:30", "by rule"),
        ("TypeError: main() missing 1 required positional argument: 'n'", "", "by rule"),
        ("frame #5: halve_vectorized from {}:9", "function {}:3", "exact"),
        ("=== Host Frame:at::native::halve_vectorized(int) [0x34]", "function {}:3", "exact"),
        ("frame #6: operator() from ../torch/other.py:1", "file torch/other.py:1", "exact"),
        ("with torch.frames.Frame(0) as f:", "class torch/frames.py:5", "exact"),
        ("cmake/Halves.cmake:2 (include)", "file cmake/Halves.cmake:2", "exact"),
        ("CMake Error at cmake/Halves.cmake:1 (set):", "file cmake/Halves.cmake:1", "exact"),
        ("c10::Half::~Half()", "member c10/core/Half.h:4", "by rule"),
        ("LEAF_MATCH", "class c10/core/Half.h:6", "ambiguous"),
        ("ir.Node.cut", f"method {IR}:4", "by rule"),
        ("np.ones", f"text {IR}:8", "by rule"),
        ("Node.lower_all(  # Calls into what lowers each of them", f"text {IR}:19", "exact"),
        ('File "/x/torch/gone.py", line 9, in write', "function torch/frames.py:21", "by rule"),
        ("op_ut,third_party.x-y.test_halves.TestHalves,test_cut", f"test {TESTS}:6", "exact"),
        ("out = table[key](*key, 'compiled halves do')", f"text {IR}:24", "exact"),
        ("hooks.cut_all if hooks else None,", f"text {IR}:25", "exact"),
        ("hbuf0", f"text {IR}:14", "by rule"),
        (
            "wrap_to_half L['x'] (2, 2) Context(sizes=[3], more=[4], and_many=[5], others=[6])",
            f"error {IR}:12",
            "exact",
        ),
        (
            "AssertionError: req Metadata(fqn='a.b', offset=Size([0])) mismatch halves 3 vs 4",
            f"error {IR}:18",
            "exact",
        ),
    ],
)
def test_what_is_printed_leads_to_its_line(
    printed: Index, name: str, expected: str, sure: str
) -> None:
    match = printed.resolve(name.replace("{}", "a.cu"))
    assert match.confidence == sure, match
    if expected:
        assert match.hits, f"{name} leads nowhere"
        kind, _, where = expected.partition(" ")
        found = f"{match.hits[0].kind} {match.hits[0].location}"
        assert found == f"{kind} {where.format('aten/src/ATen/native/cuda/Halve.cu')}"


@pytest.mark.parametrize(
    "name",
    [
        'File "/x/torch/gone.py", line 9, in pick',
        "DISABLED test_store_of_another (__main__.TestGone)",
        "TestGone.test_x_cpu",
        "USE_NOTHING=ON",
        "create_half_input L_x_",
        "Frame.<locals>.halve",
        "xs = [f(x) for x in 'compiled halves do not support create_half']",
    ],
)
def test_nothing_is_told_of_what_is_not_there(printed: Index, name: str) -> None:
    assert printed.resolve(name).kind == "none"


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("extern_kernels.halve", "halve"),
        ("aoti_torch_cpu_halve_out", "halve.out"),
        ("aoti_torch_cuda__pad", "_pad"),
    ],
)
def test_names_in_compiled_code_lead_to_operators_by_rule(
    printed: Index, name: str, operator: str
) -> None:
    match = printed.resolve(name)
    assert match.overloads[0] == operator
    assert match.confidence == "by rule"
    assert match.note


def test_a_kernel_of_inductor_names_the_operators_in_it(printed: Index) -> None:
    match = printed.resolve("triton_poi_fused__pad_halve_0")
    assert [hit.op for hit in match.hits] == ["_pad", "halve"]
    assert "pointwise" in match.note


def test_a_made_test_names_the_opinfo_in_it(printed: Index) -> None:
    match = printed.resolve("TestHalvesCPU::test_out_halve_cpu_float32")
    assert [hit.kind for hit in match.hits] == ["test", "opinfo"]


def test_a_namespace_names_what_it_holds(printed: Index) -> None:
    match = printed.resolve("at::native")
    assert "halve_vectorized" in match.hits[0].detail
