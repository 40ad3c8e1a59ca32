"""One resolver: whatever a name is, all commands say the same of it."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import pytest

from navigator.cli.main import main

SOFTMAX = "aten/src/ATen/native/SoftMax.cpp"
OPERATORS = [
    "add",
    "add.Tensor",
    "aten::add.Tensor",
    "torch.add",
    "torch.relu(x)",
    "Tensor.add_",
    "x.add_(y)",
    "x.add_",
    "torch.ops.aten.add.Tensor",
    "at::add",
    "at::Tensor::add_",
    "at::_ops::add_Tensor::call",
    "wrapper_CPU_add_Tensor",
    "THPVariable_add",
    "%5 : Tensor = aten::add(%1, %2, %3)",
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "<OpOverload(op='aten.add', overload='Tensor')>",
    "MulBackward0",
    "grad_fn=<MulBackward0>",
    "c10d::barrier",
    "torch.ops.c10d.barrier",
]
PYTHON = [
    "F.relu",
    "torch.nn.functional.relu",
    "nn.functional.softmax",
    "torch.optim.Adam",
    "optim.Adam.step",
    "torch.optim.zero_grad",
    "Tensor.backward",
]
CXX = [
    "mul_stub",
    "REGISTER_DISPATCH(mul_stub, &mul_kernel)",
    "at::native::mul_kernel",
    "mul_kernel_cuda",
    "softmax_lastdim_kernel_impl",
]
OTHERS = [f"{SOFTMAX}:32", "SoftMax.cpp:32"]
NOTHING = [
    "sofmax",
    "aten::add.Bogus",
    "c10d::nothing",
    "torch.mul_kernel",
    "torch.optim.mul_kernel",
    "foo::mul_kernel",
    "torch.nn.functional.convolution_backward_stub",
    "nn.Relu6",
    "Tensor.softmax_lastdim_kernel_impl",
    "NoSuch.cpp:3",
    "NoSuchBackward0",
]
COMMANDS = ("op", "at", "callers", "impact", "contribute", "find")


def asked(tree: tuple[str, ...], *arguments: str) -> tuple[int, Any]:
    """The exit code of a command and its answer."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        status = main([arguments[0], *tree, "--json", "--", *arguments[1:]])
    text = out.getvalue()
    return status, json.loads(text.partition("\n")[0]) if text else {}


@pytest.mark.parametrize("name", [*OPERATORS, *PYTHON, *CXX, *OTHERS])
def test_a_name_is_found_by_every_command(small_tree: tuple[str, ...], name: str) -> None:
    assert {command: asked(small_tree, command, name)[0] for command in COMMANDS} == dict.fromkeys(
        COMMANDS, 0
    )


@pytest.mark.parametrize("name", NOTHING)
def test_a_name_that_means_nothing_is_found_by_none(small_tree: tuple[str, ...], name: str) -> None:
    told = {command: asked(small_tree, command, name) for command in (*COMMANDS, "table", "uses")}
    assert {command: status for command, (status, _) in told.items()} == dict.fromkeys(told, 1)
    assert {json.dumps(answer["error"]["suggestions"]) for _, answer in told.values()} == {
        json.dumps(told["op"][1]["error"]["suggestions"])
    }


@pytest.mark.parametrize("name", [*PYTHON, *CXX])
def test_all_say_the_same_first_place(small_tree: tuple[str, ...], name: str) -> None:
    first = asked(small_tree, "op", name)[1]["match"]["hits"][0]
    place = (first["path"], first["line"])
    found = asked(small_tree, "find", name)[1]["hits"][0]
    assert (found["path"], found["line"]) == place
    at = asked(small_tree, "at", name)[1]["places"]
    assert any(one["path"] == place[0] and one["line"] <= place[1] for one in at)


@pytest.mark.parametrize("name", [*OPERATORS, "F.relu", "nn.functional.softmax"])
def test_all_say_the_same_operator(small_tree: tuple[str, ...], name: str) -> None:
    operator = asked(small_tree, "op", name)[1]["op"]["name"]
    assert asked(small_tree, "contribute", name)[1]["subject"]["name"] == operator
    assert asked(small_tree, "table", name)[1]["op"] == operator
    assert operator in {one["op"] for one in asked(small_tree, "find", name)[1]["hits"]}


def test_a_name_of_python_is_told_before_the_operator_that_it_calls(
    small_tree: tuple[str, ...],
) -> None:
    answer = asked(small_tree, "op", "F.relu")[1]
    assert answer["match"]["kind"] == "python"
    assert answer["match"]["hits"][0]["kind"] == "function"
    assert answer["match"]["hits"][0]["path"] == "torch/nn/functional.py"
    assert answer["op"]["name"] == "relu"


def test_namesakes_are_told_and_never_the_answer(small_tree: tuple[str, ...]) -> None:
    status, answer = asked(small_tree, "op", "torch.mul_kernel")
    assert status == 1
    assert any("at::native" in one for one in answer["error"]["namesakes"])


class TestKeysAndKinds:
    @pytest.mark.parametrize("key", ["CUDA", "cuda", "Cuda"])
    def test_any_case(self, small_tree: tuple[str, ...], key: str) -> None:
        status, answer = asked((*small_tree, "--key", key), "op", "mul.Tensor")
        kernels = [one["keys"] for one in answer["hops"] if one["role"] == "kernel"]
        assert status == 0
        assert kernels
        assert all("CUDA" in keys for keys in kernels if keys)

    @pytest.mark.parametrize(
        ("options", "arguments", "near"),
        [
            (("--key", "CUDAA"), ("op", "mul.Tensor"), "CUDA"),
            (("--role", "kernels"), ("op", "mul.Tensor"), "kernel"),
            (("--work", "compute"), ("op", "mul.Tensor"), "computes"),
            (("--device", "cdua"), ("contribute", "mul.Tensor"), "cuda"),
            (("--kind", "functoin"), ("find", "mul"), "function"),
            (("--key", "CUDAA"), ("gaps",), "CUDA"),
            (("--kind", "tood"), ("gaps",), "todo"),
        ],
    )
    def test_what_there_is_not_is_refused_with_near_words(
        self,
        small_tree: tuple[str, ...],
        options: tuple[str, ...],
        arguments: tuple[str, ...],
        near: str,
    ) -> None:
        errors = StringIO()
        with redirect_stdout(StringIO()), redirect_stderr(errors):
            assert main([arguments[0], *small_tree, *options, "--", *arguments[1:]]) == 2
        assert near in errors.getvalue()

    def test_find_gives_hits_of_a_kind(self, small_tree: tuple[str, ...]) -> None:
        hits = asked((*small_tree, "--kind", "STUB"), "find", "mul")[1]["hits"]
        assert {one["kind"] for one in hits} == {"stub"}
