"""Names as people hold them, from profiles, headers and settings, that no operator and no
definition has: each leads to a line, and none to a namesake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from tests.indexes.queries.naming.held_tree import FILES
from tests.indexing import opened, write


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write(tmp_path_factory.mktemp("held"), FILES)
    with opened(root, tmp_path_factory.mktemp("cache")) as index:
        yield index


def place(index: Index, name: str) -> str:
    match = index.resolve(name)
    assert match.hits, f"{name} leads nowhere"
    return f"{match.hits[0].kind} {match.hits[0].location}"


POOL, HALVE = "c10/core/Pool.h", "aten/src/ATen/native/Halve.cpp"
SCATTER, GEMM = "caller torch/csrc/cuda/nccl.cpp:1", f"file {HALVE}:4"
EXPORT = "function torch/deep/__init__.py:1"
CALL = "function c10/core/Call.h"
LAYER = "file torch/deep/layer.py:1"
HALVES = "error aten/src/ATen/native/cuda/Halve.cu:3"
PAGE = "Please feel free to request support or submit a change request on the page of the project"
ASSERTED = 'Assertion `i >= -n && i < n && "halves out of bounds"` failed.'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("c10::pool", f"namespace {POOL}:4"),
        ("c10::pool::kBlock", f"member {POOL}:2"),
        ("c10::pool::Pool::FULL", f"member {POOL}:6"),
        ("c10::pool::Pool::_singleton", f"member {POOL}:7"),
        ("c10::pool::Pool::free_", f"member {POOL}:8"),
        ("c10::pool::Blocks", f"class {POOL}:3"),
        ("Blocks", f"class {POOL}:3"),
        ("frame #1: c10::pool::blocks() + 0x6d (0x7f0e in libc10.so)", f"function {POOL}:10"),
        ("nccl:send", f"text {HALVE}:6"),
        ("scheme._Hidden", "class torch/deep/inner/scheme.py:5"),
        ("_size_t", "attribute torch/deep/inner/types.py:1"),
        ("lr_decay", "attribute torch/deep/layer.py:2"),
        ("deep_graphs", "read torch/deep/inner/types.py:8"),
        ("prim::If", "text c10/core/kinds.h:2"),
        ("nccl:gather", f"text {HALVE}:5"),
        ("ProfilerStep#3", "text torch/loader.py:6"),
        ("ProfilerStep*", "text torch/loader.py:6"),
        ("Optimizer.step#SGD.step", "text torch/optim.py:4"),
        ("enumerate(DataLoader)#_Single.__next__", "text torch/loader.py:5"),
        ("max-speed", "text torch/loader.py:7"),
        ("TORCH_HALVE_DEBUG", "variable torch/loader.py:9"),
        ("inner.scheme.Scheme", "class torch/deep/inner/scheme.py:1"),
        ("keep_inputs", "function torch/deep/__init__.py:1"),
        ("ncclGather", f"caller {HALVE}:5"),
        ("ncclScatter", "caller torch/csrc/cuda/nccl.cpp:1"),
        ("device_check", "attribute torchgen/model.py:2"),
        ("at::kSingle", "member c10/core/Types.h:2"),
        ("torch.frames.group.WORLD", "property torch/frames.py:3"),
        ("torch._C._halve_now", "attribute torch/csrc/Module.cpp:2"),
        ("torch.frames._halved", "function torch/frames.py:17"),
        ("<function Context.__call__.<locals>.backward at 0x7f0e>", "function torch/frames.py:21"),
        ("torch._C._twice", "attribute torch/csrc/bind.cpp:4"),
        ("torch._C._half", "attribute torch/_C/__init__.pyi:2"),
        ("torch._C._thrice", "attribute torch/csrc/bind.cpp:5"),
        ("<function Context.__call__.<locals>._halved at 0x7f0e>", "function torch/frames.py:17"),
        ("<halved_by_key>.3", "text torch/frames.py:27"),
        ("__halved_fn_3", "text torch/frames.py:20"),
        ("__halved_fn_in_forward_at_3", "text torch/frames.py:20"),
        ("ImportError: /x/libtorch.so: undefined symbol: ncclScatter", SCATTER),
        ("ld: undefined reference to `c10::pool::blocks()'", f"function {POOL}:10"),
        ("symbol not found in flat namespace '__ZN3c104pool6blocksEv'", f"function {POOL}:10"),
        ("Negative: fallthrough registered at ../aten/src/ATen/native/Halve.cpp:4 [kernel]", GEMM),
        ("UserWarning: old. (Triggered internally at  /x/aten/src/ATen/native/Halve.cpp:4.)", GEMM),
        ('KeyError: 1\n  File "/x/torch/deep/__init__.py", line 9, in export', EXPORT),
        ("torch.frames.Refused: no words", "class torch/frames.py:11"),
        ("torch.deep.exc.Refused: no words", "class torch/deep/exc.py:1"),
        ("HalvedReLU2d", "read torch/deep/refusals.py:20"),
        ("HALVE_CXX_FLAGS", "variable cmake/HalveConfig.cmake.in:1"),
        ("HALVE_API", "read c10/core/Api.h:2"),
        ("error: ‘blocks’ is not a member of ‘c10::pool’", f"function {POOL}:10"),
        ("error: no member named 'blocks' in namespace 'c10::pool'", f"function {POOL}:10"),
        ("undefined reference to `c10::Call::operator()(int)'", f"{CALL}:3"),
        ("at::Call::operator()(int)", f"{CALL}:3"),
        ("c10::weigh(c10::Call const&)", f"{CALL}:6"),
        ("v.push_back(c10::weigh(2));", f"{CALL}:5"),
        ("sc.Layer(3)", "class torch/deep/layer.py:1"),
        ("@torch.deep.export(1)\ndef f(x):\n    return x", EXPORT),
        ("halver.wait", "attribute torch/_C/__init__.pyi:6"),
        ("torch.deep.config.patch(halves=3)", "method torch/deep/config_module.py:2"),
        ("ref.two(x)", "function torch/deep/refusals.py:5"),
        ("except Refused as e:", "class torch/frames.py:11"),
        (
            '  File "/x/site-packages/torch/deep/optim.py", line 1, in unrelated',
            "method torch/optim.py:8",
        ),
        ('  File "/x/site-packages/torch/deep/layer.py", line 1, in unrelated', LAYER),
        (
            '  File "/x/site-packages/torch/gone.py", line 1, in two',
            "function torch/deep/refusals.py:5",
        ),
        (f"Halving the tensor 'a' by 3 is not supported. {PAGE}", "error torch/deep/refusals.py:6"),
        (f"/x/Halve.cu:9: operator(): block: [0,0,0], thread: [1,0,0] {ASSERTED}", HALVES),
        ("Trying to halve the tensor a second time, but all is gone", "error torch/frames.py:30"),
    ],
)
def test_a_name_leads_to_its_line(held: Index, name: str, expected: str) -> None:
    assert place(held, name) == expected


def test_a_node_of_torchscript_leads_to_what_handles_it_too(held: Index) -> None:
    match = held.resolve("prim::If")
    assert [(hit.location.path, hit.detail[:8]) for hit in match.hits] == [
        ("c10/core/kinds.h", "_(prim, "),
        (HALVE, "void low"),
    ]


def test_a_line_is_told_whole_as_it_is_written(held: Index) -> None:
    (hit,) = held.resolve("ncclScatter").hits
    assert hit.detail == "void scatter() { CHECK(ncclScatter(0)); } // naïve"


@pytest.mark.parametrize("name", ["halve_2", "halve_default", "halve_default_1"])
def test_a_node_of_a_graph_leads_to_the_operator_that_it_calls(held: Index, name: str) -> None:
    match = held.resolve(name)
    assert (match.overloads, match.confidence) == (("halve",), "by rule")
    assert match.note == "a node of a graph, which FX names after what it calls: halve"


def test_a_node_of_a_graph_may_be_of_a_function_of_python(held: Index) -> None:
    match = held.resolve("getitem_4")
    assert match.note.endswith("names after what it calls: Python's operator.getitem")
    assert match.confidence == "by rule"


def test_a_node_of_a_graph_may_be_named_after_one_overload(held: Index) -> None:
    assert held.resolve("fold_times_out_3").overloads == ("fold.Times_out",)


def test_a_line_of_a_graph_leads_to_the_operator_that_it_calls(held: Index) -> None:
    line = 'halve_1: "f32[2, 3][3, 1]cpu" = torch.ops.aten.halve.default(x_1);  x_1 = None'
    assert held.resolve(line).overloads == ("halve",)


@pytest.mark.parametrize(
    "text",
    [
        "NotImplementedError: Can't run 'aten::halve' on this",
        "torch.frames.Refused: aten.halve.default",
    ],
)
def test_a_text_that_nothing_says_leads_to_the_operator_in_it(held: Index, text: str) -> None:
    match = held.resolve(text)
    assert [hit.name for hit in match.hits if hit.kind == "operator"] == ["halve"]
    assert match.confidence == "by rule"


def test_a_message_that_is_the_lesser_part_of_a_sentence_is_not_sure(held: Index) -> None:
    match = held.resolve("Expected halved argument scales to have a type of floats, but got bytes")
    assert match.hits[0].location.line == 2
    assert match.confidence == "ambiguous"
    assert "no line says all of this" in match.note


def test_a_message_with_a_value_behind_it_is_sure(held: Index) -> None:
    match = held.resolve(
        "ValueError: Halving the tensor 'a' by 3 is not supported. It is a view now."
    )
    assert match.confidence == "exact"


def test_an_exception_with_its_module_is_no_other_of_that_name(held: Index) -> None:
    assert len(held.resolve("torch.frames.Refused: no words").hits) == 1


def test_a_line_behind_the_end_of_a_file_is_told(held: Index) -> None:
    match = held.resolve("torch/deep/layer.py:90")
    assert match.confidence == "by rule"
    assert match.note == "torch/deep/layer.py has 3 lines here; the torch that ran differs"


def test_a_module_is_not_what_a_line_calls(held: Index) -> None:
    assert held.resolve("optim").kind == "python"
    assert held.resolve("out = optim(1)").kind != "python"


def test_a_kernel_of_a_library_is_known_by_a_name_that_a_table_cut(held: Index) -> None:
    match = held.resolve("ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_st...")
    assert "a device kernel of cuBLAS" in match.note


def test_a_namespace_tells_how_much_it_holds(held: Index) -> None:
    note = held.resolve("c10::pool").note
    assert note == "a namespace: 4 definitions in 1 file, most of them in c10/core"


@pytest.mark.parametrize("name", ["cublasDasum", "cublasDgemm_v2", "ncclScatter"])
def test_a_function_of_a_vendor_is_no_device_kernel(held: Index, name: str) -> None:
    match = held.resolve(name)
    assert "not of PyTorch" in match.note
    assert "device kernel" not in match.note
    assert ("no line of this source calls it" in match.note) == (name == "cublasDasum")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "c10::pool::kBlocks",
            "c10::pool::Pool::f",
            "c10::poo",
            "at::pool",
            "a#b",
            "c10::kDouble",
        ),
        *("layer.unrelated", "return step_on(1)"),
        *("group.PLANET", "torch.frames._other", "halved_2", "unknown_halve_1"),
        'KeyError: 1\n  File "/home/me/halve/deep/__init__.py", line 9, in export',
        "KeyError: (Triggered internally at aten/src/ATen/native/Halve.cpp:400)",
    ],
)
def test_what_is_not_there_leads_nowhere(held: Index, name: str) -> None:
    assert held.resolve(name).kind == "none"


def test_a_wheel_says_what_it_lacks_where_a_name_leads_nowhere(
    held: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacks = ("kernels (.cpp): torchnav clone", "tests: torchnav clone")
    monkeypatch.setattr(held, "info", replace(held.info, kind="wheel", missing=lacks))
    said = r"in PyTorch [^;]+; not here: kernels \(.cpp\), tests: torchnav clone$"
    with pytest.raises(NotFound, match=said):
        held.meant("createNothing")


@pytest.mark.parametrize("text", ["out = weigh(x)", "weigh(*xs)", "weigh(x, by=2)"])
def test_what_a_program_calls_may_be_a_function_of_its_own(held: Index, text: str) -> None:
    found = held.resolve(text)
    assert [hit.name for hit in found.hits[:1]] == ["c10::weigh"]
    assert found.confidence == "ambiguous"
    assert found.note == "unless weigh is a function of the program itself"
    assert not held.resolve("weigh(x);").note


def test_no_program_calls_a_module_or_a_member(held: Index) -> None:
    for text in ("out = layer(x)", "lr_decay(*xs)"):
        assert held.resolve(text).kind == "none"
        assert held.resolve(text.partition("(")[0].removeprefix("out = ")).kind != "none"


def test_a_program_calls_what_is_public(held: Index) -> None:
    found = held.resolve("out = export(model, keep_inputs=True)")
    assert (found.hits[0].name, found.note) == ("torch.deep.export", "")


def test_names_of_python_that_a_module_takes_over(held: Index) -> None:
    found = held.resolve("torch.processes.Process")
    assert place(held, "torch.processes.Process") == "attribute torch/processes/__init__.py:2"
    assert found.note == "multiprocessing.Process, which is Python's own"
    assert held.resolve("torch.processes.Proces").kind == "none"


@pytest.mark.parametrize(
    ("line", "name"), [(1, "ruled"), (2, "ruled"), (4, "ruled"), (13, "Rules.one"), (12, "Rules")]
)
def test_a_decorator_is_part_of_what_it_decorates(held: Index, line: int, name: str) -> None:
    (found,) = held.at("torch/deep/ruled.py", line)
    assert found.name == f"torch.deep.ruled.{name}"


def test_a_frame_whose_function_is_nowhere_here_says_so(held: Index) -> None:
    found = held.resolve('  File "/x/site-packages/torch/deep/optim.py", line 1, in gone')
    assert found.note == "torch/deep/optim.py has no function gone here; the torch that ran differs"
    assert found.confidence == "by rule"


def test_the_class_of_what_ended_a_program_of_cxx(held: Index) -> None:
    text = "terminate called after throwing an instance of 'c10::pool::Pool'"
    assert held.resolve(text).hits == held.resolve("c10::pool::Pool").hits != ()


@pytest.mark.parametrize("text", ["torch/_C/d.pyi", "/x/site-packages/torch/_C/d.pyi:3"])
def test_a_stub_file_of_no_repository_leads_to_what_makes_it(held: Index, text: str) -> None:
    found = held.resolve(text)
    places = [(hit.kind, hit.location.path) for hit in found.hits]
    assert places == [("generated", "torch/_C/d.pyi.in"), ("generator", "tools/pyi/gen_pyi.py")]
    made = "is generated from torch/_C/d.pyi.in by tools/pyi/gen_pyi.py"
    assert found.note == f"torch/_C/d.pyi {made}"


def test_what_stands_between_functions_is_part_of_none(held: Index) -> None:
    with pytest.raises(NotFound):
        held.at("torch/deep/ruled.py", 9)


def test_a_package_that_tests_import_is_no_tensor(held: Index) -> None:
    assert held.resolve("cvlib.halve").note == "cvlib.halve, which is not PyTorch's"
    assert "which is not" not in held.resolve("model.halve").note
    assert held.resolve("random.shuffle").note == "random.shuffle, which is not PyTorch's"
    assert held.resolve("random.seed").note == "random.seed, which is not PyTorch's"
    assert held.resolve("random.halve_seeds").hits[0].location.path == "torch/random.py"


@pytest.fixture
def files_read(held: Index, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read from now on, as often as each is."""
    read: list[str] = []
    bytes_of = held.source.read

    def recorded(_: object, path: str) -> bytes:
        read.append(path)
        return bytes_of(path)

    monkeypatch.setattr(type(held.source), "read", recorded)
    return read


@pytest.mark.parametrize("name", ["no_such_setting", "no_such_3", "no::such", "no-such", "no:such"])
def test_an_unknown_name_reads_no_kernel(held: Index, files_read: list[str], name: str) -> None:
    assert held.resolve(name).kind == "none"
    assert [path for path in files_read if path.endswith(".cpp")] == []


def test_a_module_is_read_once_for_all_names(held: Index, files_read: list[str]) -> None:
    for name in ("optim.Optimizer", "optim.SGD"):
        held.resolve(name)
    assert files_read.count("torch/__init__.py") <= 1


def test_only_files_that_name_a_member_are_read(
    held: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    content = held.source.content

    def recorded(_: object, path: str) -> bytes:
        read.append(path)
        return content(path)

    monkeypatch.setattr(type(held.source), "content", recorded)
    assert place(held, "optimizer.step") == "method torch/optim.py:2"
    assert {path for path in read if path.endswith(".py")} == {"torch/optim.py"}
