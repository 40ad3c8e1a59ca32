"""What a change most likely edits."""

from __future__ import annotations

from indexes.model.vocabulary import Location
from indexes.queries.contribution.likely import is_seldom, will_change
from indexes.queries.contribution.steps import Step

NATIVE = "aten/src/ATen/native"


def step(role: str, path: str, symbol: str = "") -> Step:
    return Step(role, symbol, Location(path, 1), "")


def test_of_an_operator_it_is_what_computes_on_a_gpu_or_else_where_its_kernel_begins() -> None:
    paths = ("UnaryOps.cpp", "quantized/cpu/qtanh.cpp", "cpu/UnaryOpsKernel.cpp")
    steps = [step("schema", f"{NATIVE}/native_functions.yaml")]
    steps += [step("kernel", f"{NATIVE}/{path}") for path in paths]
    assert will_change(steps, True) == {f"{NATIVE}/UnaryOps.cpp"}
    steps += [step("registration", f"{NATIVE}/cuda/UnaryGeometricTanhKernel.cu")]
    steps += [step("device_kernel", f"{NATIVE}/cuda/jit_utils.cpp")]
    assert will_change(steps, True) == {f"{NATIVE}/cuda/UnaryGeometricTanhKernel.cu"}


def test_what_python_defines_under_its_name_changes_and_what_only_calls_it_may() -> None:
    kernel = f"{NATIVE}/ReduceOps.cpp"
    steps = [
        step("kernel", kernel),
        step("python", "torch/nn/functional.py", "torch.nn.functional.norm"),
    ]
    assert will_change(steps, True) == {kernel}
    steps += [step("python", "torch/functional.py", "torch.norm")]
    assert will_change(steps, True) == {kernel, "torch/functional.py"}
    asked = step("function", "torch/functional.py", "torch.functional.norm")
    assert will_change([asked, *steps], True) == {"torch/functional.py"}


def test_without_kernels_of_ordinary_tensors_it_is_the_first_there_is() -> None:
    sparse = f"{NATIVE}/sparse/SparseTensorMath.cpp"
    assert will_change([step("kernel", sparse)], True) == {sparse}
    assert will_change([step("derivative", "d.yaml")], True) == {"d.yaml"}
    python = [step("python", f"{path}.py") for path in ("tools/gen", "torch/overrides", "torch/nn")]
    assert will_change(python, True) == {"torch/nn.py"}


def test_of_a_place_it_is_the_place() -> None:
    steps = [step("error", "a.cpp"), step("operator", "n.yaml"), step("around", "b.cpp")]
    assert will_change(steps, False) == {"a.cpp"}


def test_what_lists_or_documents_an_operator_hardly_ever_changes_with_it() -> None:
    templates = "tools/autograd/templates"
    listed = [step("docs", "docs/source/torch.rst"), step("python", "torch/overrides.py")]
    listed += [step("python", f"{templates}/python_torch_functions.cpp")]
    listed += [step("registration", "torch/onnx/symbolic_opset9.py")]
    listed += [step("batch_rule", "aten/src/ATen/functorch/BatchRulesHelper.h")]
    assert all(map(is_seldom, listed))
    edited = [step("python", "torch/functional.py"), step("registration", f"{NATIVE}/cuda/A.cu")]
    edited += [step("batch_rule", "aten/src/ATen/functorch/BatchRulesUnaryOps.cpp")]
    assert not any(map(is_seldom, edited))
