"""What stands around an operator in Python, joined from the rows of real files."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from indexes.linking.facts import Link
from indexes.linking.python.imports import resolve
from indexes.linking.python.links import around
from indexes.linking.python.paths import FactTable, bindings, entries, operator_named, skipping_rule
from indexes.model.files import PythonFact
from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.chains.sides import owners
from indexes.queries.places import stub_line
from indexes.readers.project.codeowners_file import read_codeowners
from indexes.readers.python.docs import is_page, read_page
from indexes.readers.python.module import read_python
from indexes.readers.yaml.native_functions import read_native_functions

YAML = "torchgen/packaged/ATen/native/native_functions.yaml"
WHEEL_FILES = (
    "torch/nn/functional.py",
    "torch/nn/modules/*.py",
    "torch/functional.py",
    "torch/_tensor.py",
    "torch/_refs/**/*.py",
    "torch/_decomp/*.py",
    "torch/_meta_registrations.py",
    "torch/nested/_internal/ops.py",
    "torch/_torch_docs.py",
    "torch/_tensor_docs.py",
    "torch/linalg/__init__.py",
    "torch/special/__init__.py",
    "torch/overrides.py",
    "torch/_inductor/lowering.py",
    "torch/_inductor/decomposition.py",
    "torch/testing/_internal/common_methods_invocations.py",
    "torch/testing/_internal/opinfo/definitions/*.py",
)


class Tree:
    """The rows of some files of a tree, and its operators."""

    def __init__(self, root: Path, patterns: tuple[str, ...], yaml: str) -> None:
        self.root = root
        paths = sorted({path for pattern in patterns for path in root.glob(pattern)})
        files = {str(path.relative_to(root)): self._read(path) for path in paths}
        for path, fact in list(resolve(files, self._bytes)):
            files[path] = (*files[path], fact)
        self.files = files
        self.facts = FactTable(files)
        functions, _ = read_native_functions((root / yaml).read_bytes(), yaml)
        self.ops = {function.full_name: function for function in functions}

    def _bytes(self, name: str) -> bytes | None:
        path = self.root / name
        return path.read_bytes() if path.is_file() else None

    def _read(self, path: Path) -> tuple[PythonFact, ...]:
        name = str(path.relative_to(self.root))
        data = path.read_bytes()
        return tuple(read_page(data, name)) if is_page(name) else read_python(data, name)[0]

    def text(self, path: str) -> bytes | None:
        """A file's content."""
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def line(self, location: Location) -> str:
        """The text of the line that a link points to."""
        return (self.text(location.path) or b"").decode().splitlines()[location.line - 1].strip()

    def around(self, name: str) -> tuple[Link, ...]:
        """The links of one overload."""
        return around(self.ops[name], self.facts)


@pytest.fixture(scope="module")
def wheel(torch_root: Path) -> Tree:
    return Tree(torch_root, WHEEL_FILES, YAML)


def _find(links: tuple[Link, ...], role: str, symbol: str) -> Link:
    found = [link for link in links if (link.role, link.symbol) == (role, symbol)]
    assert len(found) == 1, (role, symbol, [(link.role, link.symbol) for link in links])
    return found[0]


@pytest.mark.parametrize(
    ("op", "role", "symbol", "line"),
    [
        ("relu", "python", "torch.nn.functional.relu", "def relu("),
        ("relu", "python", "torch.nn.ReLU", "class ReLU("),
        ("relu", "decomposition", "torch._refs.nn.functional.relu", "def relu("),
        ("relu", "ref", "torch._refs.nn.functional.relu", "def relu("),
        ("relu", "opinfo", "nn.functional.relu", "UnaryUfuncInfo("),
        ("nll_loss_nd", "python", "torch.nn.functional.nll_loss", "def nll_loss("),
        ("nll_loss_nd", "python", "torch.nn.NLLLoss", "class NLLLoss("),
        ("dropout", "python", "torch.nn.functional.dropout", "def dropout("),
        ("dropout", "python", "torch.nn.Dropout", "class Dropout("),
        ("softmax.int", "python", "torch.nn.functional.softmax", "def softmax("),
        ("grid_sampler", "python", "torch.nn.functional.grid_sample", "def grid_sample("),
        ("adaptive_max_pool1d", "python", "torch.nn.AdaptiveMaxPool1d", "class AdaptiveMaxPool1d("),
        ("_unique2", "python", "torch.unique", "unique = boolean_dispatch("),
        ("_unique2", "python", "torch.Tensor.unique", "def unique("),
        ("_lu_with_info", "python", "torch.lu", "lu = boolean_dispatch("),
        ("einsum", "python", "torch.einsum", "def einsum("),
        ("cdist", "opinfo", "cdist", "OpInfo("),
        ("norm.Scalar", "python", "torch.Tensor.norm", "def norm("),
        ("gelu_backward", "opinfo", "nn.functional.gelu", "OpInfo("),
        ("linear", "python", "torch.nn.functional.linear", "linear = _add_docstr("),
        ("linear", "docs", "torch.nn.functional.linear", "linear = _add_docstr("),
        ("linalg_svd", "python", "torch.linalg.svd", "svd = _add_docstr("),
        ("linalg_svd", "ref", "torch._refs.linalg.svd", "def svd("),
        ("linalg_svd", "opinfo", "linalg.svd", "OpInfo("),
        ("add.Tensor", "docs", "torch.add", "add_docstr("),
        ("add.Tensor", "docs", "torch.Tensor.add", "add_docstr_all("),
        ("add.Tensor", "decomposition", "torch._refs.add", "def add("),
        ("add.Tensor", "opinfo", "add", "BinaryUfuncInfo("),
        ("add_.Tensor", "decomposition", "torch._refs.add_", "add_ = _make_inplace(add)"),
        ("_foreach_exp_", "opinfo", "_foreach_exp", "ForeachFuncInfo("),
        ("lstm.input", "python", "torch.nn.LSTM", "class LSTM("),
        ("max_pool2d", "python", "torch.nn.MaxPool2d", "class MaxPool2d("),
        ("special_zeta", "decomposition", "torch._refs.special.zeta", "def zeta("),
        (
            "_nested_get_values",
            "registration",
            "torch.nested._internal.ops.values_default",
            "def values_default(",
        ),
        ("_softmax", "decomposition", "torch._decomp.decompositions._softmax", "def _softmax("),
    ],
)
def test_the_line_of_each_link(wheel: Tree, op: str, role: str, symbol: str, line: str) -> None:
    link = _find(wheel.around(op), role, symbol)
    assert wheel.line(link.location).startswith(line)
    assert link.location.line <= max(link.location.end_line, link.location.line)
    assert link.rule


def test_siblings_are_not_mixed_in(wheel: Tree) -> None:
    symbols = {link.symbol for link in wheel.around("addmm")}
    assert not symbols & {"torch.add", "torch._refs.add", "add", "torch.addmv", "baddbmm"}
    relu = {link.symbol for link in wheel.around("relu")}
    assert not {symbol for symbol in relu if "rrelu" in symbol or "relu6" in symbol.lower()}


def test_an_overload_is_not_given_what_names_another(wheel: Tree) -> None:
    symbols = {link.symbol for link in wheel.around("fill_.Scalar")}
    assert "torch._decomp.decompositions.fill_tensor" not in symbols
    assert "torch._decomp.decompositions.fill_scalar" not in symbols
    assert {
        link.confidence for link in wheel.around("fill.Scalar") if link.role == "decomposition"
    } == {"exact"}


def test_a_decomposition_is_the_meta_kernel_only_where_there_is_none(wheel: Tree) -> None:
    meta = [link for link in wheel.around("abs") if link.role == "meta_registration"]
    assert [link.symbol for link in meta] == ["torch._refs.abs"]
    assert "activate_meta" in meta[0].rule
    assert wheel.line(meta[0].evidence[0]) == "def activate_meta():"
    own = [link for link in wheel.around("lerp.Scalar") if link.role == "meta_registration"]
    assert [link.symbol for link in own] == ["torch._meta_registrations.lerp"]


def test_evidence_names_the_decorator_and_the_call(wheel: Tree) -> None:
    link = _find(wheel.around("_softmax"), "decomposition", "torch._decomp.decompositions._softmax")
    assert wheel.line(link.evidence[0]) == "@register_decomposition(aten._softmax)"
    link = _find(wheel.around("nll_loss_nd"), "python", "torch.nn.functional.nll_loss")
    assert "torch._C._nn.nll_loss_nd(" in wheel.line(link.evidence[0])


def test_every_link_of_every_operator_points_into_a_file(wheel: Tree) -> None:
    lengths = {path: (wheel.text(path) or b"").count(b"\n") + 1 for path in (*wheel.files, YAML)}
    counts: dict[str, int] = {}
    for op in wheel.ops.values():
        for link in around(op, wheel.facts):
            counts[link.role] = counts.get(link.role, 0) + 1
            for place in (link.location, *link.evidence):
                assert 1 <= place.line <= lengths[place.path], (op.full_name, link)
    assert counts["decomposition"] > 900
    assert counts["opinfo"] > 2000
    assert counts["docs"] > 1500
    assert counts["ref"] > 700
    assert counts["python"] > 4000


# ------------------------------------------------------------------------- single rules


def _op(name: str, **fields: object) -> NativeFunction:
    given: dict[str, object] = {"overload": "", "schema": f"{name}(Tensor self) -> Tensor"}
    given |= {"location": Location("n.yaml", 7), "field_lines": {}, "dispatch": None}
    return NativeFunction(name=name, **{**given, **fields})  # type: ignore[arg-type]


def _table(**files: str) -> FactTable:
    paths = {"gen": "tools/autograd/gen_python_functions.py", "pyi": "tools/pyi/gen_pyi.py"}
    paths |= {"test": "test/test_x.py", "functional": "torch/nn/functional.py"}
    return FactTable(
        {
            paths[name]: read_python(source.encode(), paths[name])[0]
            for name, source in files.items()
        }
    )


GENERATOR = """
SKIP_PYTHON_BINDINGS = [
    "_skipped.*",
]
def is_py_torch_function(f):
    return f.python_module is None and Variant.function in f.variants
def gen():
    create_python_bindings_sharded(
        fm, functions, is_py_torch_function, "torch", "python_torch_functions.cpp", num_shards=3)
"""


def test_bindings_follow_from_the_entry() -> None:
    both = _op("add", variants=("function", "method"))
    assert [binding.path for binding in bindings(both)] == ["torch.add", "torch.Tensor.add"]
    gelu = _op("gelu", python_module="nn", variants=("function", "method"))
    assert [binding.path for binding in bindings(gelu)] == ["torch._C._nn.gelu"]


def test_a_generated_binding_names_its_template_and_generator() -> None:
    links = around(_op("relu"), _table(gen=GENERATOR))
    link = _find(links, "python", "torch.relu")
    assert link.location == Location("tools/autograd/templates/python_torch_functions.cpp", 0)
    assert "THPVariable_relu" in link.rule
    assert link.evidence[0] == Location("tools/autograd/gen_python_functions.py", 8, 8)


def test_a_skipped_binding_is_said_to_be() -> None:
    link = _find(around(_op("_skipped_one"), _table(gen=GENERATOR)), "python", "torch._skipped_one")
    assert link.location.line == 3
    assert "no binding" in link.rule


@pytest.mark.parametrize(
    ("pattern", "skipped"),
    [
        ("one_x*", "one_"),
        ("one|two", "two"),
        ("one_x?", "one_"),
        ("one.a(b", ""),
        ("onex{0}", "one"),
        ("_?one", "one"),
        ("one(_out|_in)?", "one_in"),
        ("one.two", "one_two"),
        ("one+", "onee"),
    ],
)
def test_a_skip_list_holds_patterns(pattern: str, skipped: str) -> None:
    facts = _table(gen=GENERATOR.replace("_skipped.*", pattern))
    names = ("one_", "two", "one", "one_in", "one_two", "onee", "on", "three")
    found = [name for name in names if skipping_rule(_op(name), facts)]
    assert found == [name for name in names if _whole(pattern, name)]
    assert not skipped or skipped in found


def _whole(pattern: str, name: str) -> bool:
    try:
        return re.match(f"^{pattern}$", name) is not None
    except re.error:
        return False


def test_without_the_generator_the_entry_itself_is_the_place() -> None:
    link = _find(around(_op("relu"), FactTable({})), "python", "torch.relu")
    assert (link.location, link.confidence) == (Location("n.yaml", 7), "by rule")


TESTS = '''
class TestX(TestCase):
    def test_add_out(self):
        torch.add(a, b)

    def test_addmm(self):
        torch.addmm(a, b, c)

    def test_add_module(self):
        self.net.add_module("x", y)

    def test_add_as_method(self):
        x.addcdiv(y)
        x.relu()

    def test_relu_method(self):
        """torch.relu(x)"""
        x.relu()
'''


def _tests(name: str) -> list[tuple[str, str]]:
    links = around(_op(name), _table(test=TESTS))
    return [(link.symbol, link.confidence) for link in links if link.role == "test"]


def test_tests_that_name_and_call_the_operator() -> None:
    assert _tests("add") == [("TestX.test_add_out", "by rule")]
    assert _tests("addmm") == [("TestX.test_addmm", "by rule")]
    assert [name for name, _ in _tests("relu")] == ["TestX.test_relu_method"]


def test_a_user_of_an_operator_is_no_entry_to_it() -> None:
    source = "import torch\nfrom torch import Tensor\n"
    source += "def mixture(x: Tensor):\n    return torch.relu(x)\n"
    source += "def relu(x: Tensor):\n    return torch.relu(x)\n"
    found = [entry.name for entry in entries(("torch.relu",), _table(functional=source))]
    assert found == ["torch.nn.functional.relu"]


def test_lines_of_generated_stubs() -> None:
    table = _table(
        pyi='fm.write_with_template(\n    "torch/_C/_nn.pyi",\n    "torch/_C/_nn.pyi.in", env)\n'
        'fm.write_with_template("torch/_C/__init__.pyi", "torch/_C/__init__.pyi.in", env)\n'
        'fm.write_with_template("torch/_C/_VariableFunctions.pyi", "torch/_C/v.pyi.in", env)\n'
    )
    installed = "/usr/lib/python3/site-packages/torch/_C/_VariableFunctions.pyi"
    found = stub_line(installed, 3, b"import x\n@overload\ndef add(a): ...\n", table)
    assert found is not None
    assert (found.python_path, found.template.path) == ("torch.add", "torch/_C/v.pyi.in")
    assert found.generator == Location("tools/pyi/gen_pyi.py", 5, 5)
    gelu = stub_line("torch/_C/_nn.pyi", 1, b"def gelu(x): ...\n", table)
    assert gelu is not None
    assert gelu.python_path == "torch._C._nn.gelu"
    method = b"class TensorBase:\n    def add_(self, other): ...\n"
    add_ = stub_line("torch/_C/__init__.pyi", 2, method, table)
    assert add_ is not None
    assert add_.python_path == "torch.Tensor.add_"
    unread = stub_line("torch/_C/_nn.pyi", 1, None, table)
    assert unread is not None
    assert unread.python_path == ""
    assert stub_line("torch/hand_written.pyi", 1, b"", table) is None


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("aten::add.Tensor", "add.Tensor"),
        ("aten::relu.default", "relu"),
        ("aten::add", "add"),
        ("torch.add", "add"),
        ("torch.Tensor.add_", "add_"),
        ("torch._C._nn.gelu", "gelu"),
        ("torch.nn.functional.relu", ""),
        ("prims::add", ""),
    ],
)
def test_the_operator_that_a_target_names(target: str, name: str) -> None:
    assert operator_named(target) == name


def test_owners_of_several_files() -> None:
    rules, _ = read_codeowners(b"# Autograd\n/torch/autograd/ @a @b\n*.py @c\n", "CODEOWNERS")
    links = owners(["torch/autograd/x.cpp", "torch/autograd/y.cpp", "z.c"], rules, "CODEOWNERS")
    assert [(link.symbol, link.location.line, link.note) for link in links] == [
        ("@a @b", 2, "Autograd")
    ]


# ----------------------------------------------------------------------------- checkout


@pytest.mark.checkout
def test_questions_that_people_ask_on_a_checkout() -> None:
    patterns = (
        "torch/nn/functional.py",
        "torch/nn/modules/*.py",
        "tools/autograd/*.py",
        "tools/pyi/*.py",
        "test/test_nn.py",
        "docs/source/*.rst",
    )
    root = Path(os.environ["TORCHNAV_CHECKOUT"])
    tree = Tree(root, patterns, "aten/src/ATen/native/native_functions.yaml")
    nll = tree.around("nll_loss_nd")
    functional = _find(nll, "python", "torch.nn.functional.nll_loss")
    assert "torch._C._nn.nll_loss_nd(" in tree.line(functional.evidence[0])
    binding = _find(nll, "python", "torch._C._nn.nll_loss_nd")
    assert (root / binding.location.path).is_file()
    assert {link.symbol for link in tree.around("dropout")} >= {"torch.nn.Dropout"}
    stub = stub_line("torch/_C/_VariableFunctions.pyi", 9, None, tree.facts)
    assert stub is not None
    assert (root / stub.template.path).is_file()
    relu_tests = [link for link in tree.around("relu") if link.role == "test"]
    assert relu_tests
    assert all(tree.line(link.location).startswith("def test_") for link in relu_tests)
