"""What pasted names can mean."""

from __future__ import annotations

import re
import time
from functools import partial

import pytest

from indexes.queries.naming.query import NameKind
from indexes.queries.naming.spelling import parse_name
from indexes.source.source import Source
from tests.growth import least_seconds, takes_less


@pytest.mark.parametrize(
    ("text", "kind", "operator"),
    [
        ("add", "bare", "add"),
        ("  `softmax` ", "bare", "softmax"),
        ("__and__", "bare", "__and__"),
        ("aten::add.Tensor", "operator", "add.Tensor"),
        ("aten::mode.values", "operator", "mode.values"),
        ("mode.values", "python", "mode.values"),
        ("torch.ops.aten.add.Tensor", "operator", "add.Tensor"),
        ("torch.ops.aten.add.default", "operator", "add"),
        ("aten.add.Tensor", "operator", "add.Tensor"),
        ("%5 : Tensor = aten::add(%1, %2, %3)", "operator", "add"),
        ("return %7 + aten::relu(%2)", "operator", "relu"),
        (
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "operator",
            "add.Tensor",
        ),
        ("- func: relu(Tensor self) -> Tensor", "operator", "relu"),
        ("aten::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "operator", "add.out"),
        ("<OpOverload(op='aten.add', overload='Tensor')>", "operator", "add.Tensor"),
        ("<built-in method addmm of type object at 0x7f8>", "bare", "addmm"),
        ("nn.Module: Linear_12", "bare", "Linear"),
        ("<method 'add' of 'torch._C.TensorBase' objects>", "bare", "add"),
        ("at::add", "operator", "add"),
        ("at::Tensor::add_", "operator", "add_"),
        ("THPVariable_linalg_norm", "operator", "linalg_norm"),
        ('m.impl("add.Tensor", TORCH_FN(f))', "operator", "add.Tensor"),
        ('m.impl(TORCH_SELECTIVE_NAME("aten::cumsum"), f)', "operator", "cumsum"),
    ],
)
def test_the_operator_meant_first(text: str, kind: NameKind, operator: str) -> None:
    query = parse_name(text)
    assert (query.kind, query.operators[0]) == (kind, operator)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("'torch.softmax',", "torch.softmax"),
        ("torch.add", "torch.add"),
        ("torch.add(x, y)", "torch.add"),
        ("y = torch.addmm(b, x, w)", "torch.addmm"),
        ("Tensor.add_", "torch.Tensor.add_"),
        ("F.relu", "torch.nn.functional.relu"),
        ("nn.functional.softmax", "torch.nn.functional.softmax"),
        ("torch.linalg.norm", "torch.linalg.norm"),
        ("linalg.norm", "torch.linalg.norm"),
        ("_VF.dropout", "torch._VF.dropout"),
        ("torch._C._nn.nll_loss", "torch._C._nn.nll_loss"),
        ("<class 'torch.nn.modules.linear.Linear'>", "torch.nn.modules.linear.Linear"),
    ],
)
def test_a_python_path(text: str, path: str) -> None:
    query = parse_name(text)
    assert (query.kind, query.paths[0]) == ("python", path)


def test_what_a_method_is_called_on_may_be_a_tensor() -> None:
    assert parse_name("x.add_(y)").called_on == "x"
    assert parse_name("numpy.add").called_on == ""
    assert parse_name("torch.add(x)").called_on == ""


@pytest.mark.parametrize(
    ("text", "method", "operator"),
    [
        ("x @ y", "__matmul__", "matmul"),
        ("-x", "__neg__", "neg"),
        ("1 - x", "__rsub__", "sub"),
        ("x // 2", "__floordiv__", "floor_divide"),
        ("x **= 2", "__ipow__", "pow_"),
        ("x.grad > 0", "__gt__", "gt"),
        ("1 < x", "__gt__", "gt"),
        ("2 == x", "__eq__", "eq"),
        ("x@y", "__matmul__", "matmul"),
        ("bool(x > 0)", "__bool__", "is_nonzero"),
        ("len(x)", "__len__", "len"),
    ],
)
def test_a_sign_is_a_method_of_a_tensor(text: str, method: str, operator: str) -> None:
    query = parse_name(text)
    assert (query.kind, query.base) == ("python", method)
    assert query.paths[0] == f"torch.Tensor.{method}"
    assert operator in query.operators


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("with torch.no_grad():", "torch.no_grad()"),
        ("@torch.no_grad()", "torch.no_grad()"),
        ("import torch.fx as fx", "torch.fx"),
        ("from torch.nn import functional as F", "torch.nn.functional"),
        ("from torch.nn import *", "torch.nn"),
        ("return F.relu(x)", "F.relu(x)"),
        ("raise RendezvousClosedError()", "RendezvousClosedError()"),
        ("if x.is_cuda:", "x.is_cuda"),
        ("return x", ""),
        ("raise ValueError('x')", ""),
        ("with open('x') as file:", ""),
        ("for x, y in loader:", ""),
        ("def forward(self, x):", ""),
    ],
)
def test_a_statement_is_about_what_it_calls(text: str, subject: str) -> None:
    query = parse_name(text)
    assert (query.kind, query.base) == ("statement", subject)


def test_words_that_begin_like_a_statement_are_a_message() -> None:
    for text in ("return value of the function was not used", "import failed: no module"):
        assert parse_name(text).kind == "text", text


@pytest.mark.parametrize(
    "text", ["foo-bar", "x is None", "not x", "x - ", "a and b", "-1", "1 + 2"]
)
def test_what_calls_no_method_of_a_tensor_is_no_sign(text: str) -> None:
    assert parse_name(text).kind in ("symbol", "text")


@pytest.mark.parametrize(
    ("text", "operators", "calls"),
    [
        ("a[0] = 1", ("fill_", "copy_", "select"), "select, then fill_"),
        ("a[-1, 2:] = b", ("copy_", "fill_", "slice", "select"), "select, then slice, then copy_"),
        ("a[a > 0] = 1", ("index_put_",), "index_put_"),
        ("a[0, [1, 2]] = b", ("index_put_", "select"), "select, then index_put_"),
        ("a[...] = 0", ("fill_", "copy_"), "fill_"),
        ("a[i] = 1", ("index_put_",), "an integer|after integers"),
        ("a[0]", ("select",), "select"),
        ("a[None, 0]", ("select", "unsqueeze"), "unsqueeze, then select"),
        ("a[mask]", ("index",), "masks"),
    ],
)
def test_indexing_calls_what_its_indices_say(
    text: str, operators: tuple[str, ...], calls: str
) -> None:
    query = parse_name(text)
    assert (query.kind, query.operators) == ("python", operators)
    assert re.search(calls, query.note)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("__add__", "add"),
        ("__iadd__", "add_"),
        ("Tensor.__rsub__", "sub"),
        ("__truediv__", "div"),
        ("at::add_outf", "add.out"),
        ("at::_ops::add_Tensor::call", "add.Tensor"),
        ("at::_ops::add__Tensor::redispatch", "add_.Tensor"),
        ("at::_ops::_softmax_backward_data_out::call", "_softmax_backward_data.out"),
        ("torch::autograd::VariableType::(anonymous namespace)::mul_Tensor", "mul.Tensor"),
        ("wrapper_CPU_add_Tensor", "add.Tensor"),
        ("at::(anonymous namespace)::wrapper_CPU__nonzero(at::Tensor const&)", "nonzero"),
        ("wrapper_CPU_out_nonzero_out", "nonzero.out"),
        ("structured_add_out::impl", "add.out"),
        ("at::meta::structured_add_Tensor::meta", "add.Tensor"),
        ("TORCH_META_FUNC2(add, Tensor)", "add.Tensor"),
        ("TORCH_IMPL_FUNC(add_out)", "add.out"),
    ],
)
def test_an_operator_to_try(text: str, operator: str) -> None:
    assert operator in parse_name(text).operators


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("SoftMax.cpp:303", "SoftMax.cpp", 303),
        ("aten/src/ATen/native/SoftMax.cpp:303:5", "aten/src/ATen/native/SoftMax.cpp", 303),
        ("torch/nn/functional.py", "torch/nn/functional.py", 0),
        ('  File "/x/torch/nn/functional.py", line 7, in relu', "/x/torch/nn/functional.py", 7),
    ],
)
def test_a_place(text: str, path: str, line: int) -> None:
    query = parse_name(text)
    assert (query.kind, query.base, query.line) == ("place", path, line)


@pytest.mark.parametrize(
    "text",
    [
        "\"geqrf_cpu\" not implemented for 'Half'",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "Could not run 'aten::add.out' with arguments from the 'CUDA' backend",
        "expected at::Tensor to be defined",
    ],
)
def test_words(text: str) -> None:
    assert parse_name(text).kind == "text"


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("AddmmBackward0", "AddmmBackward0"),
        ("<AddmmBackward0 object at 0x7f00>", "AddmmBackward0"),
        ("grad_fn=<MulBackward0>", "MulBackward0"),
        ("tensor([2.], grad_fn=<MulBackward0>)", "MulBackward0"),
        ("torch::autograd::generated::MulBackward0", "MulBackward0"),
        ("torch::autograd::generated::MulBackward0::apply", "MulBackward0"),
        ("autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0"),
        ("MulBackward", "MulBackward0"),
        ("<torch.autograd.function.MyFnBackward object at 0x7f>", "MyFnBackward"),
    ],
)
def test_a_node_class(text: str, node: str) -> None:
    query = parse_name(text)
    assert query.kind == "grad_fn"
    assert node in query.grad_fns
    assert not query.operators


@pytest.mark.parametrize(
    ("text", "kind", "symbol"),
    [
        ("at::native::add_kernel", "symbol", "at::native::add_kernel"),
        (
            "at::native::add_kernel(at::TensorIteratorBase&, c10::Scalar const&)",
            "symbol",
            "at::native::add_kernel",
        ),
        (
            "void at::native::(anonymous namespace)::softmax_warp_forward<float, X<8>, false>(int)",
            "symbol",
            "at::native::(anonymous namespace)::softmax_warp_forward",
        ),
        ("Engine::evaluate_function", "library", "Engine::evaluate_function"),
        (
            "torch::autograd::generated::details::mul_tensor_backward",
            "symbol",
            "torch::autograd::generated::details::mul_tensor_backward",
        ),
        ("_ZN2at6native3fooEv", "symbol", "at::native::foo"),
        ("quantized::linear", "library", "quantized::linear"),
        ("at::native::structured_add_out::impl(at::Tensor const&)", "symbol", "add_out"),
        ("TORCH_LIBRARY_IMPL(aten, CPU, m)", "symbol", "TORCH_LIBRARY_IMPL"),
        ("REGISTER_DISPATCH(add_stub", "stub", "add_stub"),
        ("REGISTER_DISPATCH(add_stub, &add_kernel)", "stub", "add_stub"),
        ("DECLARE_DISPATCH(structured_binary_fn_alpha, add_stub)", "stub", "add_stub"),
        ("DEFINE_DISPATCH(GeluKernel);", "stub", "GeluKernel"),
        ("&add_stub", "stub", "add_stub"),
        ("cpublas::gemm_stub", "stub", "cpublas::gemm_stub"),
    ],
)
def test_a_symbol(text: str, kind: NameKind, symbol: str) -> None:
    query = parse_name(text)
    assert query.kind == kind
    assert symbol in query.symbols


def test_what_is_kept_for_messages() -> None:
    query = parse_name("torch.ops.aten.add.Tensor")
    assert (query.base, query.overload, query.namespace) == ("add", "Tensor", "aten")
    assert parse_name("torch.ops.aten.add.default").overload == ""
    assert parse_name("add").overload is None
    assert parse_name(" add ").raw == " add "


HOSTILE = [
    "",
    " ",
    "(((",
    "<<<>>>",
    "::",
    ".",
    "\0\x1b[31m",
    "=" * 1000,
    "a" * 100_000,
    "<" * 50_000,
    "add.Tensor(" * 2000,
    "torch." * 20_000,
    "%5 : " * 5000,
    "x_" * 3000 + "!",
    "a::" * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_anything_is_answered_soon(text: str) -> None:
    started = time.process_time()
    assert parse_name(text).raw == text
    assert time.process_time() - started < 0.5


def test_every_operator_of_the_installed_torch_in_every_spelling() -> None:
    source = Source.find()
    path = source.locate("native_functions.yaml")
    assert path
    schemas = re.findall(r"^- func: (.+)$", source.read(path).decode(), re.MULTILINE)
    assert len(schemas) > 2000
    for schema in schemas:
        full = schema.partition("(")[0]
        base, _, overload = full.partition(".")
        assert parse_name(schema).operators[0] == full
        assert parse_name(f"aten::{full}").operators[0] == full
        python = f"torch.ops.aten.{base}.{overload or 'default'}"
        assert parse_name(python).operators[0] == full
        unambiguous = f"{base}_{overload}" if overload else base
        assert full in parse_name(f"at::_ops::{unambiguous}::call").operators


def test_a_long_name_is_no_operator_in_thousands_of_ways() -> None:
    assert len(parse_name("structured_" + "a_" * 50_000).operators) < 10


@pytest.mark.parametrize(
    "text",
    [
        'os.environ["TORCH_LOGS"] = "+dynamo"',
        "os.environ.get('TORCH_LOGS')",
        'x = getenv("TORCH_LOGS");',
    ],
)
def test_a_variable_that_a_program_asks_for_is_meant_itself(text: str) -> None:
    assert parse_name(text).base == "TORCH_LOGS"


def test_an_expression_of_any_depth_is_read() -> None:
    assert parse_name(f"A{'.a' * 8000}").raw.startswith("A.a")


@pytest.mark.parametrize("part", ["\n", "what(): ", "E ", "frame #1: ", "Assertion `"])
def test_time_to_read_a_name_grows_with_its_length(part: str) -> None:
    few, many = (partial(parse_name, part * (length // len(part))) for length in (8000, 16000))
    assert takes_less(many, 3.5 * least_seconds(few) + 0.01)
