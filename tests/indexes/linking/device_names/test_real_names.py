"""Device kernel names from real wheels, traces and reports, in the spelling of each tool."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from indexes.linking.device_names.resolver import Resolver
from indexes.queries.index import Index
from tests.indexes.linking.device_names.device_name_table import (
    ELEMENTWISE,
    N,
    name_of,
    path_of,
    rows,
)

# ------------------------------------------------------------------------- real names


def test_names_of_the_wheel(resolver: Resolver) -> None:
    mistakes = []
    for row in rows("wheel.tsv"):
        answer = resolver.resolve(row["name"])
        found = (name_of(answer.source), path_of(answer), name_of(answer.launcher))
        if found != (row["source"], row["file"], row["launcher"]):
            mistakes.append((row, found, answer.reason))
    assert mistakes == []


def test_no_name_of_the_wheel_leads_to_another_cu(resolver: Resolver) -> None:
    for row in rows("wheel.tsv"):
        path = path_of(resolver.resolve(row["name"]))
        if row["compiled in"] and path.endswith(".cu"):
            assert path.rsplit("/", 1)[-1] == f"{row['compiled in']}.cu"


def test_every_kernel_of_the_traces_is_told(resolver: Resolver) -> None:
    mistakes = []
    for row in rows("traces.tsv"):
        answer = resolver.resolve(row["name"])
        found = (answer.library or "", name_of(answer.source), path_of(answer))
        if found != (row["library"], row["source"], row["file"]):
            mistakes.append((row, found))
        assert answer.source or (answer.library and answer.reason)
    assert mistakes == []


def test_no_aten_kernel_of_the_traces_is_unresolved(resolver: Resolver) -> None:
    aten = [row["name"] for row in rows("traces.tsv") if row["category"] == "ATen"]
    assert len(aten) == 18
    assert [n for n in aten if resolver.resolve(n).source is None] == []


def test_spellings_of_every_tool(resolver: Resolver) -> None:
    mistakes = []
    for row in rows("spellings.tsv"):
        answer = resolver.resolve(row["name"])
        found = {
            "library": answer.library or "",
            "source": name_of(answer.source),
            "file": path_of(answer),
            "launcher": name_of(answer.launcher),
            "confidence": answer.confidence,
            "reason": answer.reason,
        }
        wrong = {k: (row[k], v) for k, v in found.items() if row[k] != v}
        if wrong:
            mistakes.append((row["name"], wrong))
    assert mistakes == []


COMPARE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::compare_scalar_kernel<int>"
    "(at::TensorIteratorBase&, at::native::(anonymous namespace)::OpType, int)::"
    "{lambda(int)#1}, std::array<char*, 2ul> >"
)
MEAN = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps"
    "<float, float, float, float>, unsigned int, float, 4> >"
)
SOFTMAX = (
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 4, false, false>"
    "(float*, float const*, int, int, int, bool const*, int, bool)"
)
EFFICIENT = (
    "fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<"
    "cutlass::half_t, cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)"
)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (COMPARE, "cuda/CompareKernels.cu:47"),
        (ELEMENTWISE.format("at::native::CUDAFunctor_add<float>"), "ufunc/add.h:15"),
        (ELEMENTWISE.format("at::native::FillFunctor<int>"), "cuda/FillKernel.cu:13"),
        (MEAN, "SharedReduceOps.h:163"),
        (SOFTMAX, "cuda/PersistentSoftmax.cuh:68"),
        (EFFICIENT, "transformers/cuda/mem_eff_attention/kernels/cutlassF_f16_aligned.cu:71"),
    ],
    ids=["lambda", "ufunc", "functor", "reduction", "kernel", "vendored"],
)
def test_places_checked_by_hand(resolver: Resolver, name: str, place: str) -> None:
    source = resolver.resolve(name).source
    assert source is not None
    assert str(source.location) == N + place


# ------------------------------------------------------------------------- spellings


def nsys(name: str) -> str:
    """A kineto name as NVIDIA's demangler spells it."""
    name = name.replace("(anonymous namespace)", "<unnamed>")
    name = re.sub(r"\{lambda\(([^{}#]*)\)#(\d+)\}", r"[lambda(\1) (instance \2)]", name)
    name = name.replace("operator()(", "operator ()(")
    name = re.sub(r"(?<=[<, ])(-?\d+)(?=[,>])", r"(int)\1", name)
    name = re.sub(r"(?<=[<, ])true(?=[,>])", "(bool)1", name)
    return name.replace("> >", ">>").replace("*", " *").replace("&", " &")


def llvm(name: str) -> str:
    """A kineto name as LLVM's demangler spells its lambdas."""

    def quoted(found: re.Match[str]) -> str:
        number = int(found[2])
        return f"'lambda{number - 2 if number > 1 else ''}'({found[1]})"

    return re.sub(r"\{lambda\(([^{}#]*)\)#(\d+)\}", quoted, name).replace("> >", ">>")


@pytest.mark.parametrize("respell", [nsys, llvm, lambda name: f"{name} [clone .kd]"])
def test_the_same_name_spelled_by_another_tool(resolver: Resolver, respell) -> None:  # type: ignore[no-untyped-def]
    for row in rows("wheel.tsv"):
        if not row["name"].startswith("_Z"):
            assert name_of(resolver.resolve(respell(row["name"])).source) == row["source"]


def test_without_its_parameters(resolver: Resolver) -> None:
    name = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>"
    assert path_of(resolver.resolve(name)) == f"{N}cuda/layer_norm_kernel.cu"


def test_a_name_cut_off_never_leads_elsewhere(resolver: Resolver) -> None:
    chance = random.Random(3)
    for row in chance.sample([r for r in rows("wheel.tsv") if r["name"][0] != "_"], 60):
        name = row["name"]
        for end in chance.sample(range(20, len(name)), min(20, len(name) - 20)):
            for cut in (name[:end], name[:end] + "...", name[:end] + "…"):
                answer = resolver.resolve(cut)
                if path_of(answer).endswith(".cu") and answer.confidence != "ambiguous":
                    assert path_of(answer) == row["file"], cut
                assert answer.source or answer.reason


def test_cut_inside_the_lambda_owner_s_parameters(resolver: Resolver) -> None:
    cut = (
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::Te..."
    )
    answer = resolver.resolve(cut)
    assert path_of(answer) == f"{N}cuda/ActivationGeluKernel.cu"


def test_cut_inside_the_owner_s_name_gives_the_launcher_alone(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void at::native::vectorized_elementwise_kernel<4, at::native::Gelu..."
    )
    assert answer.source is None
    assert name_of(answer.launcher) == "at::native::vectorized_elementwise_kernel"
    assert "cut off" in answer.reason


# ------------------------------------------------------------------------- real trees


def test_kernels_of_the_small_tree(tree_index: Index) -> None:
    answer = tree_index.kernel_name(
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>"
        "(int, float, float const*)"
    )
    assert path_of(answer) == f"{N}cuda/layer_norm_kernel.cu"
    assert answer.confidence == "exact"


@pytest.mark.checkout
def test_names_of_the_wheel_in_a_full_tree(checkout_index: Index) -> None:
    wrong, resolved, there = [], 0, 0
    for row in rows("wheel.tsv"):
        path = path_of(checkout_index.kernel_name(row["name"]))
        is_there = _stands_in(Path(checkout_index.info.root, row["file"]), row["source"])
        there += is_there
        resolved += is_there and bool(path)
        expected = row["compiled in"]
        if expected and path.endswith(".cu") and path.rsplit("/", 1)[-1] != f"{expected}.cu":
            wrong.append((row, path))
    assert wrong == []
    assert resolved >= 0.97 * there
    assert there > 0.8 * len(rows("wheel.tsv"))


def _stands_in(file: Path, symbol: str) -> bool:
    """Whether this version has the function: the names are those of another."""
    return file.is_file() and symbol.rpartition("::")[2].encode() in file.read_bytes()
