"""Names on objects: methods without their class, initials, files by their stem."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.index import Index
from tests.indexing import append, opened

OPTIMIZER = "torch.optim.Optimizer"
DDP = "torch.nn.parallel.DistributedDataParallel"


@pytest.mark.parametrize("called_on", ["optimizer", "self.optimizer", "optimizer_2", "opt"])
def test_a_method_is_that_of_the_class_that_is_named_as_the_object(
    tree_index: Index, called_on: str
) -> None:
    found = tree_index.resolve(f"{called_on}.add_param_group(group)")
    assert (found.kind, found.text) == ("python", f"{OPTIMIZER}.add_param_group")
    assert found.note == f"if {called_on} is a {OPTIMIZER}"
    assert found.confidence == "by rule"


def test_a_method_of_an_unknown_object_is_that_of_each_class(tree_index: Index) -> None:
    found = tree_index.resolve("thing.step")
    assert found.text == f"{OPTIMIZER}.step"  # from which others derive
    assert len(found.hits) > 1
    assert (found.confidence, found.note) == ("ambiguous", f"if thing is a {OPTIMIZER}")
    only = tree_index.resolve("thing.no_sync")
    assert (only.text, only.confidence) == (f"{DDP}.no_sync", "ambiguous")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("add_param_group", f"{OPTIMIZER}.add_param_group"),
        ("no_sync", f"{DDP}.no_sync"),
        ("unwrap_module", "torch.nn.parallel.distributed._Wrapper.unwrap_module"),
    ],
)
def test_a_method_alone_is_a_name(tree_index: Index, text: str, name: str) -> None:
    assert tree_index.resolve(text).text == name


@pytest.mark.parametrize(
    "text", ["unwrap_text", "torch.optim.no_sync", "AWrapper.cpp", "_Wrapper.cpp"]
)
def test_what_no_class_has_is_no_method(tree_index: Index, text: str) -> None:
    assert tree_index.resolve(text).kind == "none"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("self.weight.mul", "torch.Tensor.mul"),
        ("tensor.mul", "torch.Tensor.mul"),
        ("x.grad.mul_(y)", "torch.Tensor.mul_"),
    ],
)
def test_a_member_of_a_tensor(tree_index: Index, text: str, name: str) -> None:
    found = tree_index.resolve(text)
    assert found.text == name
    assert found.note == f"if {text.rpartition('.')[0]} is a tensor"


def test_initials_of_a_documented_class_lead_to_it(tree_index: Index) -> None:
    found = tree_index.resolve("DDP")
    assert (found.text, found.confidence) == (DDP, "ambiguous")
    assert found.note == f"DDP are the initials of {DDP}"
    assert tree_index.resolve("DDX").kind == "none"


def test_a_file_is_found_without_its_ending(tree_index: Index) -> None:
    found = tree_index.resolve("QuantizedLinear")
    assert found.kind == "place"
    assert [hit.name.rpartition("/")[2] for hit in found.hits] == ["QuantizedLinear.cpp"]


def test_an_object_may_be_named_as_a_module_is(tree_index: Index) -> None:
    found = tree_index.resolve("optim.add_param_group")
    assert (found.text, found.note) == (
        f"{OPTIMIZER}.add_param_group",
        f"if optim is a {OPTIMIZER}",
    )
    assert tree_index.resolve("optim.no_sync").kind == "none"


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        (
            "ctx.needs_input_grad",
            "torch._C._FunctionBase.needs_input_grad",
            ("torch/csrc/autograd/python_function.cpp", 5),
        ),
        (
            "store.compare_set(key)",
            "Store.compare_set",
            ("torch/csrc/distributed/c10d/init.cpp", 8),
        ),
    ],
)
def test_a_member_that_only_cxx_gives(
    tree_index: Index, text: str, name: str, place: tuple[str, int]
) -> None:
    found = tree_index.resolve(text)
    (hit,) = found.hits
    assert (found.text, hit.location.path, hit.location.line) == (name, *place)
    assert found.note == f"if {text.partition('.')[0]} is a {name.rpartition('.')[0]}"
    assert found.confidence == "ambiguous"


@pytest.mark.parametrize("text", ["thing.is_no_member", "thing.no_member_either"])
def test_a_function_of_a_module_is_no_member(tree_index: Index, text: str) -> None:
    assert tree_index.resolve(text).kind == "none"


def test_a_private_function_is_a_name_too(tree_index: Index) -> None:
    found = tree_index.resolve("_unify")
    assert (found.kind, found.text) == ("python", "torch.fx.unification._unify")


def test_a_parameter_leads_to_the_documented_functions_that_have_it(tree_index: Index) -> None:
    found = tree_index.resolve("find_unused_inputs")
    assert [(hit.name, hit.location.line) for hit in found.hits] == [(DDP, 8)]
    assert (found.confidence, found.note) == ("exact", f"a parameter of {DDP}")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("_inner", "torch.nn.modules.module._outer._inner"),
        ("unwrap_local", "torch.nn.parallel.distributed._Wrapper.make.unwrap_local"),
        ("MadeFunctionBackward", "torch.nn.modules.module._outer.MadeFunction"),
        ("structured_delegate", "torch.nn.modules.module.structured.structured_delegate"),
    ],
)
def test_what_stands_in_functions_and_what_is_spelled_as_something_else(
    tree_index: Index, text: str, name: str
) -> None:
    assert tree_index.resolve(text).text == name


def test_a_node_is_of_a_class_of_autograd_alone(tree_index: Index) -> None:
    assert tree_index.resolve("BlockBackward").kind == "none"


def test_an_object_named_as_a_function_may_be_a_tensor(tree_index: Index) -> None:
    found = tree_index.resolve("einsum.mul")
    assert (found.text, found.note) == ("torch.Tensor.mul", "if einsum is a tensor")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from torch.optim import Optimizer", OPTIMIZER),
        ("with torch.nn.parallel.DistributedDataParallel(net) as net:", DDP),
        ("@torch.nn.parallel.DistributedDataParallel", DDP),
        ("from torch.optim import *", "torch.optim"),
    ],
)
def test_a_statement_leads_to_what_it_names(tree_index: Index, text: str, name: str) -> None:
    found = tree_index.resolve(text)
    assert (found.kind, found.text) == ("python", name)


def test_what_is_imported_from_elsewhere_is_no_namesake(tree_index: Index) -> None:
    for text in (
        "import optim as np",
        "from mine import Optimizer",
        "import add",
        "from mine import add",
    ):
        assert tree_index.resolve(text).kind == "none", text


def test_a_member_is_that_of_the_class_that_defines_it(tree_index: Index) -> None:
    found = tree_index.resolve("adam.add_param_group(group)")
    assert (found.text, found.note) == (f"{OPTIMIZER}.add_param_group", f"if adam is a {OPTIMIZER}")


def test_what_a_package_has_from_another_is_imported_from_it(tree_copy: Path, cache: Path) -> None:
    append(tree_copy, {"functorch/__init__.py": "from torch.optim.optimizer import Optimizer\n"})
    with opened(tree_copy, cache) as index:
        (hit,) = index.resolve("from functorch import Optimizer").hits
    assert hit.name == "torch.optim.optimizer.Optimizer"
