"""Messages of errors through the resolver: the line, the function around it, the operators."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from indexes.queries.naming.errors import _in_turn
from indexes.queries.naming.spelling import parse_name
from indexes.queries.pasted import pasted
from tests.indexing import grown, opened, write
from tests.tree_marks import NATIVE

FOR_RELU = "Boolean inputs not supported for relu"
ENTRY = {"aten/src/ATen/native/native_functions.yaml": "- func: mul(Tensor self) -> Tensor\n"}
LINEAR_ALGEBRA = "aten/src/ATen/native/LinearAlgebra.cpp"


def test_a_check_with_its_function_and_operators(tree_index: Index) -> None:
    found = tree_index.resolve("RuntimeError: self must be a matrix")
    first, *others = found.hits
    assert (found.kind, found.confidence, first.kind) == ("error", "exact", "error")
    assert first.location.path == LINEAR_ALGEBRA
    assert first.name.endswith("mm")
    assert first.detail == "TORCH_CHECK: self must be a matrix"
    assert {hit.op for hit in others} >= {"mm"}


def test_a_dispatch_table_behind_a_message_takes_no_room(tree_index: Index) -> None:
    table = "".join(
        f"Key{at}: registered at /pytorch/build/aten/src/ATen/RegisterCPU.cpp:{at} [kernel]\n"
        for at in range(400)
    )
    message = "RuntimeError: self must be a matrix"
    assert tree_index.resolve(f"{message}\n\n{table}") == tree_index.resolve(message)


def test_an_operator_without_a_kernel_for_its_arguments(tree_copy: Path, cache: Path) -> None:
    check = (
        "void OperatorEntry::reportError(DispatchKey key) const {\n"
        '  TORCH_CHECK_NOT_IMPLEMENTED(false, "Could not run \'", name_, "\' with arguments",\n'
        '    " from the \'", toString(key), "\' backend. ");\n}\n'
    )
    write(tree_copy, {"aten/src/ATen/core/dispatch/OperatorEntry.cpp": check})
    text = "Could not run 'aten::add.Tensor' with arguments from the 'SparseMPS' backend. This"
    with opened(tree_copy, cache) as index:
        raised, operator = index.resolve(f"NotImplementedError: {text}").hits
    assert raised.location.path.endswith("OperatorEntry.cpp")
    said = "named in the text; it had no kernel for SparseMPS; its entry has one for SparseCPU, "
    assert (operator.name, operator.detail[: len(said)]) == ("add.Tensor", said)


@pytest.mark.parametrize("cut", ["", " for", " for 'Half'"])
def test_a_dispatch_tells_what_it_covers(tree_index: Index, cut: str) -> None:
    found = tree_index.resolve(f'"addmm_impl_cpu_" not implemented{cut}')
    first, *others = found.hits
    assert first.name == "at::native::addmm_impl_cpu_"
    said = '"addmm_impl_cpu_": AT_DISPATCH_FLOATING_TYPES covers Double, Float'
    assert (first.kind, first.detail) == ("error", said)
    assert {hit.op for hit in others} >= {"mm", "addmm"}


def test_the_name_of_a_dispatch_alone_leads_to_its_macro(tree_index: Index) -> None:
    said = tree_index.resolve("\"div_floor_cpu\" not implemented for 'Half'")
    for name in ("div_floor_cpu", '"div_floor_cpu"'):
        assert tree_index.resolve(name).hits == said.hits
        assert said.hits[0] in tree_index.find(name)
    assert tree_index.resolve("div_floor_cp").kind == "none"


def test_an_error_of_a_library_leads_to_what_calls_it(tree_index: Index) -> None:
    text = "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasSgemm( handle, m, n)`"
    check, caller, *others = tree_index.resolve(f"RuntimeError: {text}").hits
    assert check.name == "TORCH_CUDABLAS_CHECK"
    assert (caller.kind, caller.name) == ("caller", "at::cuda::blas::gemm")
    assert caller.detail == "calls cublasSgemm"
    assert {hit.op for hit in others} >= {"addmm.out"}


def test_an_exception_without_a_message_leads_to_its_class_and_operator(tree_index: Index) -> None:
    raised = "torch._subclasses.fake_tensor.DynamicOutputShapeException"
    found = tree_index.resolve(f"{raised}: aten.nonzero.default")
    assert (found.kind, found.confidence) == ("error", "by rule")
    assert [hit.name for hit in found.hits] == [raised, "nonzero"]


def test_find_gives_the_same(tree_index: Index) -> None:
    text = "self must be a matrix"
    assert tree_index.find(text) == tree_index.resolve(text).hits
    (first, *_) = tree_index.find("tensor([1.], grad_fn=<AddmmBackward0>)")
    assert (first.kind, first.name) == ("grad_fn", "AddmmBackward0")


def test_each_line_that_says_it_has_its_operators() -> None:
    reaching = [("index_add", "index_add_"), ("index_add", "index_add_"), (), ("index_select",)]
    assert _in_turn(reaching) == ("index_add", "index_select", "index_add_")


def test_what_nobody_says(tree_index: Index) -> None:
    assert tree_index.resolve("the moon is made of green cheese").kind == "none"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("linear(): argument 'input' (position 1) must be Tensor, not int", "text"),
        ('Traceback (most recent call last):\n  File "x.py", line 3, in f\nKeyError: 3', "text"),
        ("RuntimeError: add", "text"),
        ("add(Tensor self, Tensor other) -> Tensor", "operator"),
        ("void at::native::add(int x, const Tensor& y)", "symbol"),
        ("x = torch.add(a, b)", "python"),
    ],
)
def test_what_reads_like_a_message(text: str, kind: str) -> None:
    assert parse_name(text).kind == kind


def test_a_dispatch_whose_name_is_no_literal(tree_index: Index) -> None:
    found = tree_index.resolve("RuntimeError: \"no_such_cpu\" not implemented for 'Half'")
    assert found.kind == "none" or found.confidence == "by rule"


@pytest.mark.parametrize(
    ("condition", "line", "confidence"),
    [("dim() == 0", 53, "exact"), ("dim() == 7", 60, "ambiguous")],
)
def test_an_assertion_is_found_by_its_file_and_condition(
    condition: str, line: int, confidence: str, tree_index: Index
) -> None:
    told = f'{condition} INTERNAL ASSERT FAILED at "/home/me/pytorch/c10/core/TensorImpl.h":60'
    found = tree_index.resolve(f"RuntimeError: {told}, please report a bug to PyTorch. ")
    first = found.hits[0]
    where = (first.location.path, first.location.line)
    assert where == ("c10/core/TensorImpl.h", line)
    assert found.confidence == confidence
    assert bool(found.note) == (confidence == "ambiguous")


_FALSE = """
bool One::first() const {
  TORCH_INTERNAL_ASSERT(false, "cannot call first on One");
}
bool One::second() const {
  TORCH_INTERNAL_ASSERT(false, "cannot call second on One");
}
"""


@pytest.mark.parametrize("place", ['"../c10/One.cpp":3', "../c10/One.cpp:3"])  # as before 1.6
def test_of_several_assertions_the_one_that_says_the_text(
    place: str, tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "c10/One.cpp").write_text(_FALSE)
    told = f"false INTERNAL ASSERT FAILED at {place}, please report a bug to PyTorch. "
    with opened(tree_copy, cache) as index:
        found = index.resolve(f"RuntimeError: {told}cannot call second on One")
        either = index.resolve(f"RuntimeError: {told}cannot")
    assert ([one.location.line for one in found.hits], found.confidence) == ([6], "exact")
    assert [one.location.line for one in either.hits] == [3, 6]
    assert (either.confidence, either.note[:7]) == ("ambiguous", "2 lines")


KERNEL = "aten/src/ATen/native/cuda/Indexing.cu"
PRINTED = (
    "/pytorch/{}:99: {}: block: [1,0,0], thread: [0,0,0] Assertion `{}` failed.\n"
    "RuntimeError: CUDA error: device-side assert triggered"
)


@pytest.mark.parametrize(
    "text",
    [
        'Assertion `src.numel() > 0 && "index out of range"` failed.',
        PRINTED.format(KERNEL, "indexSelectSmallIndex", 'src.numel() > 0 && "index out of range"'),
    ],
)
def test_an_assertion_on_a_device_is_found_by_its_condition(tree_index: Index, text: str) -> None:
    found = tree_index.resolve(text)
    assert (found.kind, found.confidence) == ("error", "exact")
    (hit,) = (hit for hit in found.hits if hit.kind == "error")
    assert hit.location.path == KERNEL
    assert hit.name.endswith("indexSelectSmallIndex")


def test_an_assertion_of_a_macro_leads_to_the_kernel_that_is_named(tree_index: Index) -> None:
    text = PRINTED.format(KERNEL, "void at::native::indexSelectSmallIndex<float, 1>(int)", "i < n")
    found = tree_index.resolve(text)
    (hit,) = found.hits
    assert (found.kind, found.confidence, hit.location.path) == ("error", "by rule", KERNEL)
    assert "macro" in found.note


def test_an_assertion_of_a_kernel_that_is_not_here_is_not_sure(tree_index: Index) -> None:
    condition = 'src.numel() > 0 && "index out of range"'
    found = tree_index.resolve(PRINTED.format(KERNEL, "indexSelectGoneIndex", condition))
    assert (found.confidence, found.hits[0].location.path) == ("ambiguous", KERNEL)
    assert found.note.startswith("this source has no kernel indexSelectGoneIndex")


def test_a_stack_without_a_message_leads_to_what_raised(tree_index: Index) -> None:
    place = "/build/aten/src/ATen/TensorUtils.cpp:99 (most recent call first):"
    (hit,) = tree_index.resolve(f"Exception raised from checkDim at {place}").hits
    assert (hit.name, hit.location.line) == ("at::checkDim", 10)
    assert tree_index.resolve(f"Exception raised from at at {place}").kind == "none"


def test_a_stack_leads_to_the_operators_on_it_and_to_what_raised(tree_index: Index) -> None:
    raised = "Exception raised from checkDim at /build/aten/src/ATen/TensorUtils.cpp:99 (most"
    frame = "frame #3: at::_ops::relu::redispatch(c10::DispatchKeySet) + 0xa9 (0x7 in lib.so)"
    stack = f"Apr 14 21:00:09 {raised}\nApr 14 21:00:09 {frame}\n"
    assert [hit.name for hit in tree_index.resolve(stack).hits] == ["at::checkDim", "relu"]
    found = tree_index.resolve(f"  what():  ended with: self must be a matrix\n{stack}")
    assert found.hits[0].name == "at::checkDim"
    assert "self must be a matrix" in found.hits[1].detail


_CHECKS = """
def check(one):
    assert not one
def other(one):
    assert not one
"""


@pytest.mark.parametrize(
    "frame",
    [
        '  File "/lib/torch/fx/checks.py", line 9, in other\n    assert not one\n           ^^^\n',
        "/lib/torch/fx/checks.py in other(one)\n      8 # before\n----> 9     assert not one\n\n",
    ],
)
def test_of_an_exception_that_no_line_says_the_last_frame(
    frame: str, tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "torch/fx/checks.py").write_text(_CHECKS)
    with opened(tree_copy, cache) as index:
        found = index.resolve(f"{frame}AssertionError: aten.mul.Tensor")
    line, operator = found.hits
    assert (line.location.path, line.location.line) == ("torch/fx/checks.py", 5)
    assert (operator.op, found.confidence) == ("mul.Tensor", "by rule")


@pytest.mark.parametrize(
    "method", ["wrapper_CUDA_Tensor_add", "wrapper_Tensor_add", "wrapper_CUDA_add_Tensor"]
)
def test_the_wrapper_that_checks_devices_names_its_operator(tree_index: Index, method: str) -> None:
    checked = f"(when checking argument for argument other in method {method})"
    found = tree_index.resolve(f"RuntimeError: self must be a matrix {checked}")
    assert "add.Tensor" in {hit.op for hit in found.hits if hit.detail == "named in the text"}
    assert tree_index.resolve("wrapper__relu").overloads[0] == "relu"


def test_an_exception_of_any_name_behind_its_frame(tree_index: Index) -> None:
    frame = '  File "/lib/torch/optim/swa.py", line 3, in f\n    raise self._made()\n'
    found = tree_index.resolve(f"{frame}torch.optim.swa.Unmet: self must be a matrix")
    assert (found.kind, found.hits[0].location.path) == ("error", LINEAR_ALGEBRA)


def test_what_the_runtime_of_cuda_adds_is_no_part_of_a_message() -> None:
    text = "RuntimeError: CUDA error: cut\nCUDA kernel errors might be asynchronously reported"
    assert pasted(text).text == "CUDA error: cut"


def test_a_value_is_rather_a_hole_than_other_words(tmp_path: Path) -> None:
    files = {
        "aten/src/ATen/native/native_functions.yaml": "- func: halve(Tensor self) -> Tensor\n",
        "c10/cuda/Other.cpp": (
            'void f() { TORCH_CHECK(0, "Out of halves. Tried to cut more than there is."); }'
        ),
        "c10/cuda/Value.cpp": (
            'void f() { TORCH_CHECK(0, "Out of halves. Tried to cut ", n, ". Device ", d, " has '
            'a total capacity of ", c, " of which some is free."); }'
        ),
    }
    with opened(write(tmp_path / "pytorch", files), tmp_path / "cache") as index:
        found = index.resolve("RuntimeError: Out of halves. Tried to cut 2 GiB (GPU 0; 15 in use)")
        assert [hit.location.path for hit in found.hits] == list(reversed(files))[:2]


def test_a_text_apart_from_what_raises_it_has_the_exception_beside_it(tree_index: Index) -> None:
    text = "Exporting the block 'x' to version 3 is not supported."
    hits = tree_index.resolve(f"torch.nn.UnsupportedError: {text}").hits
    assert [hit.kind for hit in hits] == ["error", "class"]
    assert hits[1].name.endswith(".UnsupportedError")


def test_a_message_in_a_message_comes_before_it(tree_index: Index) -> None:
    inner, outer = tree_index.resolve("reader's error: Unknown operand 118").hits
    assert inner.detail == "raise UnpicklingError: Unknown operand"
    assert outer.detail.startswith("message =: This file")


_REGISTRY = """{
  "GB0007": [{"Gb_type": "Call of a new name"}, {"Gb_type": "Call of an old name"}],
  "GB0008": [{"Gb_type": "No call"}],
  "GB0009": []
}"""
_BREAKING = """
def call(one):
    unimplemented(gb_type="Call of an old name", context=f"{one}")
    unimplemented(gb_type="Call of an old name and more", context=f"{one}")
"""
_PAGE = "For more details, please visit: https://pytorch.org/graph-breaks/gb/gb0007.html"


def test_the_number_of_a_graph_break_leads_to_the_lines_that_break(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "torch/_dynamo").mkdir(exist_ok=True)
    (tree_copy / "torch/_dynamo/graph_break_registry.json").write_text(_REGISTRY)
    (tree_copy / "torch/_dynamo/breaking.py").write_text(_BREAKING)
    with opened(tree_copy, cache) as index:
        for text in ("GB0007", "gb0007", _PAGE):
            found = index.resolve(text)
            places = [(hit.location.path, hit.location.line) for hit in found.hits]
            registry = ("torch/_dynamo/graph_break_registry.json", 2)
            assert places == [registry, ("torch/_dynamo/breaking.py", 3)]
        assert "no line" in index.resolve("GB0008").note
        assert index.resolve("GB0009").kind == "none"


@pytest.mark.parametrize("called", ["relu", "relu_"])
def test_what_the_last_frame_calls_comes_first(tree_index: Index, called: str) -> None:
    frame = f'  File "train.py", line 3, in f\n    return x.{called}()\n'
    first, other, *_ = tree_index.resolve(f"{frame}RuntimeError: {FOR_RELU}").hits
    assert first.name == f"at::native::{called}"
    assert other.kind == "error"


def test_a_function_of_python_is_not_reached_by_what_it_calls(tree_index: Index) -> None:
    (hit,) = tree_index.resolve("dropout probability has to be between 0 and 1, but got 3").hits
    assert (hit.name, hit.op) == ("torch.nn.functional.dropout", None)
    calling, block = tree_index.at("torch/nn/functional.py", 23)
    assert (calling.kind, calling.detail, block.kind) == ("functional", "", "def")
    assert (calling.rule, calling.operators) == (
        "calls these operators",
        ("relu_", "relu", "relu.out"),
    )


def test_a_message_that_no_line_has_is_no_name(tree_index: Index) -> None:
    with pytest.raises(
        NotFound, match=r"^no line of PyTorch .* is known to say 'xyzzy is gone': Python"
    ):
        tree_index.meant("RuntimeError: xyzzy\n  is gone")


def test_a_line_that_raises_another_exception_is_not_sure(tree_index: Index) -> None:
    text = "dropout probability has to be between 0 and 1, but got 3"
    own, other = (tree_index.resolve(f"{name}: {text}") for name in ("ValueError", "KeyError"))
    assert own.hits == other.hits
    assert (own.confidence, own.note) == ("exact", "")
    assert (other.confidence, other.note.partition(":")[0]) == (
        "ambiguous",
        "none of these raises KeyError",
    )


@pytest.mark.parametrize("before", ["", "aten::mul ", "RuntimeError: aten::mul "])
def test_a_message_may_name_operators(tmp_path: Path, before: str) -> None:
    check = 'TORCH_CHECK(false, kind, " Expected aten::mul or aten::add.");'
    files = {
        "aten/src/ATen/native/native_functions.yaml": "- func: mul(Tensor self) -> Tensor\n",
        "c10/merge.cpp": f"void merge() {{\n  {check}\n}}\n",
    }
    with opened(write(tmp_path / "pytorch", files), tmp_path / "cache") as index:
        first = index.resolve(f"{before}Expected aten::mul or aten::add.").hits[0]
    assert (first.kind, first.location.line) == ("error", 2)


@pytest.mark.parametrize(("line", "first"), [(3, ("c10/nccl.cpp", 3)), (2, ("c10/nccl.cpp", 1))])
def test_a_message_with_the_line_that_uses_its_macro(
    tmp_path: Path, line: int, first: tuple[str, int]
) -> None:
    macro = 'NCCL_CHECK(x) TORCH_CHECK(x == 0, "NCCL error in: ", __FILE__, ":", __LINE__)'
    code = f"#define {macro}\nvoid start() {{\n  NCCL_CHECK(begin());\n}}\n"
    with opened(write(tmp_path / "pytorch", {**ENTRY, "c10/nccl.cpp": code}), tmp_path) as index:
        hit = index.resolve(f"RuntimeError: NCCL error in: ../c10/nccl.cpp:{line}, no use").hits[0]
    assert (hit.location.path, hit.location.line) == first


def test_one_of_many_operators_is_not_shown_for_a_check_of_all(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    names = [f"sized_{letter}" for letter in "abcdefghij"]
    kernels = "".join(
        f"Tensor {one}(const Tensor& x) {{ return sized_a_part(checked(x)); }}\n" for one in names
    )
    code = """namespace at::native {
Tensor checked(const Tensor& x) { TORCH_CHECK(x.dim() < 9, "there may be nine of them"); }
Tensor sized_a_part(const Tensor& x) { TORCH_CHECK(x.dim() < 9, "that is the name of one"); }
"""
    files = {
        f"{NATIVE}native_functions.yaml": "".join(
            f"- func: {one}(Tensor self) -> Tensor\n" for one in names
        ),
        f"{NATIVE}Sized.cpp": f"{code}{kernels}}}\n",
    }
    with grown(tmp_path_factory, files) as index:
        of_all = index.resolve("RuntimeError: there may be nine of them").hits[0]
        named = index.resolve("RuntimeError: that is the name of one").hits[0]
    assert (of_all.name, of_all.op) == ("at::native::checked", None)
    assert (named.name, named.op) == ("at::native::sized_a_part", "sized_a")
