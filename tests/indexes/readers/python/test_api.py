"""Python entry points, docs, OpInfo entries and generators, on snippets and on the wheel."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from indexes.model.files import SKIPPED, PythonFact, unpack
from indexes.readers.python.docs import is_page, read_page
from indexes.readers.python.module import read_python


def _facts(source: str | bytes, path: str) -> tuple[PythonFact, ...]:
    data = source.encode() if isinstance(source, str) else source
    facts, problems = read_python(data, path)
    assert problems == ()
    return facts


def _of(facts: tuple[PythonFact, ...], *kinds: str) -> list[tuple[str, str, int]]:
    return [(f.target, f.symbol, f.line) for f in facts if f.kind in kinds and f.target != f.symbol]


FUNCTIONAL = '''\
import torch
from torch import _VF, Tensor
from torch._C import _add_docstr

gelu = _add_docstr(
    torch._C._nn.gelu,
    r"""
gelu(input) -> Tensor
""",
)

def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Example::

    >>> torch.randn(2)
    """
    if has_torch_function_unary(input):
        return handle_torch_function(relu, (input,), input)
    if inplace:
        result = torch.relu_(input)
    else:
        result = torch.relu(input)
    return result

def dropout(input, p=0.5, inplace=False):
    return _VF.dropout_(input, p) if inplace else _VF.dropout(input, p)

def softmax(input: Tensor, dim=None):
    ret = (-input).softmax(dim)
    return ret

def normalize(input, eps):
    denom = torch.norm(input)
    return input / denom

max_pool2d = boolean_dispatch(if_true=with_indices, if_false=relu)
def with_indices(x): ...
'''


def test_functions_lead_to_what_they_return() -> None:
    facts = _facts(FUNCTIONAL, "torch/nn/functional.py")
    f = "torch.nn.functional"
    assert _of(facts, "functional", "alias") == [
        ("torch._C._nn.gelu", f"{f}.gelu", 5),
        ("torch.relu_", f"{f}.relu", 12),
        ("torch.relu", f"{f}.relu", 12),
        ("torch.dropout_", f"{f}.dropout", 25),
        ("torch.dropout", f"{f}.dropout", 25),
        ("torch.Tensor.softmax", f"{f}.softmax", 28),
        (f"{f}.with_indices", f"{f}.max_pool2d", 36),
        (f"{f}.relu", f"{f}.max_pool2d", 36),
    ]
    relu = next(one for one in facts if one.target == "torch.relu")
    assert (relu.end_line, unpack(relu.detail)["call"]) == (23, "22")


def test_tensor_methods_and_functions_of_torch() -> None:
    source = "import torch\nfrom torch import _C\nclass Tensor(_C.TensorBase):\n"
    source += "    __neg__ = _C.TensorBase.neg\n"
    source += "    def split(self, size, dim=0):\n        return torch._VF.split(self, size, dim)\n"
    facts = _facts(source, "torch/_tensor.py")
    assert _of(facts, "method", "alias") == [
        ("torch.Tensor.neg", "torch.Tensor.__neg__", 4),
        ("torch.split", "torch.Tensor.split", 5),
    ]
    facts = _facts(
        "from torch import _VF\ndef einsum(*args):\n    return _VF.einsum(args)\n",
        "torch/functional.py",
    )
    assert [f.symbol for f in facts if f.kind == "functional"] == ["torch.einsum", "torch.einsum"]


def test_modules_lead_to_what_their_forward_calls() -> None:
    source = """\
from .. import functional as F

class _ConvNd(Module):
    def forward(self, input):
        return self._conv_forward(input)

class Conv2d(_ConvNd):
    def __init__(self):
        self.mode = F.not_in_forward(1)

    def _conv_forward(self, input):
        return F.conv2d(F.pad(input), self.weight)

    def extra_repr(self):
        return ""

class NoForward(Module):
    def helper(self):
        return F.relu(self)
"""
    facts = _facts(source, "torch/nn/modules/conv.py")
    modules = [fact for fact in facts if fact.kind == "module"]
    f = "torch.nn.functional"
    assert [(m.target, m.symbol, m.line, m.end_line) for m in modules] == [
        (f"{f}.conv2d", "torch.nn.Conv2d", 7, 15),
        (f"{f}.pad", "torch.nn.Conv2d", 7, 15),
    ]
    assert unpack(modules[0].detail)["forward"] == "4"


def test_the_wheels_functional(torch_root: Path) -> None:
    path = "torch/nn/functional.py"
    data = (torch_root / path).read_bytes()
    lines = data.decode().splitlines()
    facts = [f for f in _facts(data, path) if f.kind == "functional" and f.target != f.symbol]
    by_symbol = {(fact.symbol.rpartition(".")[2], fact.target): fact for fact in facts}
    nll = by_symbol["nll_loss", "torch._C._nn.nll_loss_nd"]
    assert lines[nll.line - 1].startswith("def nll_loss(")
    assert "torch._C._nn.nll_loss_nd(" in lines[int(unpack(nll.detail)["call"]) - 1]
    assert len(facts) > 120
    for fact in facts:
        call = int(unpack(fact.detail)["call"])
        assert fact.target.rpartition(".")[2] in lines[call - 1]
        assert fact.line < call <= fact.end_line


# ---------------------------------------------------------------------------------- docs


def test_docstrings() -> None:
    source = '''\
from torch._C import _add_docstr as add_docstr, _linalg
add_docstr(
    torch.abs,
    r"""
abs(input)
    add_docstr(torch.not_this, "")
""",
)
# add_docstr(torch.nor_this, "")
svd = add_docstr(_linalg.linalg_svd, "...")
def add_docstr_all(method, docstr):
    add_docstr(getattr(torch._C.TensorBase, method), docstr)
add_docstr_all("add_", "...")
class Tensor:
    detach = _C._add_docstr(
        _C.TensorBase.detach,
        "...",
    )
'''
    facts = [f for f in _facts(source, "torch/x.py") if f.kind == "docs"]
    assert [(f.target, f.line, f.end_line) for f in facts] == [
        ("torch.abs", 2, 8),
        ("torch._C._linalg.linalg_svd", 10, 10),
        ("torch.Tensor.add_", 13, 13),
        ("torch.Tensor.detach", 15, 18),
    ]


@pytest.mark.parametrize("name", ["_torch_docs.py", "_tensor_docs.py"])
def test_every_docstring_of_the_wheel(torch_root: Path, name: str) -> None:
    data = (torch_root / "torch" / name).read_bytes()
    written = {
        (node.lineno, node.end_lineno)
        for node in ast.parse(data).body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).startswith("add_docstr")
    }
    found = {(f.line, f.end_line) for f in _facts(data, f"torch/{name}") if f.kind == "docs"}
    assert found == written
    assert len(found) > 350


def test_overrides_of_the_wheel(torch_root: Path) -> None:
    data = (torch_root / "torch/overrides.py").read_bytes()
    lines = data.decode().splitlines()
    facts = [fact for fact in _facts(data, "torch/overrides.py") if fact.kind == "override"]
    assert len(facts) > 800
    assert all(lines[f.line - 1].strip().startswith(f.symbol) for f in facts)
    assert {"torch.add", "torch.Tensor.add_", "torch.nn.functional.relu"} & {
        f.target for f in facts
    } >= {"torch.add", "torch.nn.functional.relu"}


def test_pages() -> None:
    page = b"""\
.. currentmodule:: torch

Math
----
.. autosummary::
    :toctree: generated
    :nosignatures:

    abs
    nn.functional.relu

Text with add in it

.. autofunction:: torch.linalg.svd(A)
"""
    facts = read_page(page, "docs/source/torch.rst")
    assert [(f.target, f.line) for f in facts] == [
        ("torch.abs", 9),
        ("torch.nn.functional.relu", 10),
        ("torch.linalg.svd", 14),
    ]
    assert is_page("docs/source/torch.rst")
    assert not is_page("docs/cpp/x.cpp")


def test_methods_on_a_page_are_of_the_class_around_them() -> None:
    page = b"""\
.. currentmodule:: torch.utils.tensorboard.writer

.. autoclass:: SummaryWriter

   .. automethod:: __init__
   .. automethod:: add_graph

.. autofunction:: flush
.. automethod:: Other.close
"""
    base = "torch.utils.tensorboard.writer"
    names = [fact.target for fact in read_page(page, "docs/source/tensorboard.rst")]
    assert names == [
        f"{base}.{one}"
        for one in (
            "SummaryWriter",
            "SummaryWriter.__init__",
            "SummaryWriter.add_graph",
            "flush",
            "Other.close",
        )
    ]


# ------------------------------------------------------------------- tests and generators


def test_tests_and_their_owners() -> None:
    source = '# Owner(s): ["module: nn", "oncall: jit"]\n\nclass TestNN(TestCase):\n'
    source += "    def helper(self): pass\n    def test_relu(self): pass\ndef test_free(): pass\n"
    facts = _facts(source, "test/nn/test_nn.py")
    assert [(f.kind, f.symbol, f.line) for f in facts] == [
        ("owner", "module: nn", 1),
        ("owner", "oncall: jit", 1),
        ("class", "TestNN", 3),
        ("test", "TestNN.test_relu", 5),
        ("test", "test_free", 6),
    ]


GENERATOR = """
_SKIP_PYTHON_BINDINGS = [
    "alias",
    "_cumsum.*",  # [] in a comment
    "is_sparse_csr",
]
SKIP_PYTHON_BINDINGS_SIGNATURES = [
    "add.Scalar(Tensor self, Scalar other) -> Tensor",
]
def is_py_variable_method(f: NativeFunction) -> bool:
    return f.python_module is None and Variant.method in f.variants
def is_py_nn_function(f: NativeFunction) -> bool:
    return f.python_module == "nn"
def gen(out):
    create_python_bindings(
        fm,
        methods,
        is_py_variable_method,
        None,
        "python_variable_methods.cpp",
        method=True,
    )
    create_python_bindings(fm, functions, is_py_nn_function, "torch.nn", "python_nn_functions.cpp")
"""


def test_what_the_generators_make() -> None:
    facts = _facts(GENERATOR, "tools/autograd/gen_python_functions.py")
    assert [(f.target, f.symbol, f.line) for f in facts if f.kind.startswith("binding")] == [
        ("variant:method", "python_variable_methods.cpp", 15),
        ("python_module:nn", "python_nn_functions.cpp", 23),
        (SKIPPED, "alias", 3),
        (SKIPPED, "_cumsum.*", 4),
        (SKIPPED, "is_sparse_csr", 5),
        (SKIPPED, "add.Scalar(Tensor self, Scalar other) -> Tensor", 8),
    ]
    stubs = _facts(
        'fm.write_with_template(\n    "torch/_C/_nn.pyi",\n    "torch/_C/_nn.pyi.in",\n    env)\n'
        "write(out, 'torch/_VF.pyi', TEMPLATE, env)\n",
        "tools/pyi/gen_pyi.py",
    )
    assert [(f.target, f.symbol, f.line) for f in stubs] == [
        ("torch/_C/_nn.pyi", "torch/_C/_nn.pyi.in", 1),
        ("torch/_VF.pyi", "torch/_VF.pyi.in", 5),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "torch/nn/functional.py",
        "torch/overrides.py",
        "test/test_x.py",
        "torch/_torch_docs.py",
        "torch/testing/_internal/x.py",
        "tools/pyi/gen_pyi.py",
        "torch/nn/modules/x.py",
    ],
)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff add_docstr( OpInfo( F.relu(",
        b"def f(:",
        b"x = [\n OpInfo('a",
        b'"""',
        b"op_db = [\n    OpInfo(\n]\n",
        b"write_with_template('a.pyi'",
    ],
)
def test_bad_input_never_raises(path: str, data: bytes) -> None:
    facts, problems = read_python(data, path)
    assert all(re.fullmatch(r"[\w-]+", fact.kind) for fact in facts)
    assert all(problem.path == path for problem in problems)
