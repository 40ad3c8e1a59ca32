"""What stands beside the places of a contribution."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from indexes.model.python import PythonCall
from indexes.model.vocabulary import Location
from indexes.queries.contribution.kin import (
    called_by,
    in_library,
    of_vectors,
    place_siblings,
    shader_math,
    shaders,
    vectors_called,
)
from indexes.queries.contribution.steps import Step
from indexes.queries.corpus import Corpus
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.store.lookup import Lookup

_SHADER = b"""#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
"""


def test_shaders_take_scalar_functions_from_a_header() -> None:
    corpus = cast(Corpus, SimpleNamespace(text=lambda path: _SHADER))
    steps = [Step("sibling", "", Location(path, 1), "") for path in ("a.mm", "a.metal")]
    (found,) = shader_math(corpus, steps)
    assert found.location == Location("c10/metal/special_math.h", 1)
    assert "a.metal" in found.rule


def test_a_shader_may_be_run_by_a_helper_and_by_the_older_macro() -> None:
    vulkan = "aten/src/ATen/native/vulkan"
    text = (
        "void product() {\n  run(GLSL_SPV(product));\n}\nvoid sum() {\n  run(GLSL_SPV(sum));\n}\n"
    )
    shader = f"{vulkan}/glsl/product.glsl"
    source = SimpleNamespace(text=lambda path: text, holds={shader}.__contains__)
    steps = [Step("helper", "product", Location(f"{vulkan}/Ops.cpp", 1, 3), "")]
    (found,) = shaders(cast(Source, source), steps)
    assert (found.location, found.rule) == (Location(shader, 1), "product runs it")


def test_a_kernel_that_runs_no_shader_itself_makes_what_runs_those_of_its_file() -> None:
    vulkan = "aten/src/ATen/native/vulkan"
    text = "void run() {\n  run(VK_KERNEL(conv2d));\n}\nTensor convolution() {\n  run();\n}\n"
    source = SimpleNamespace(text=lambda path: text, holds=lambda path: True)
    for role, found in (("kernel", [f"{vulkan}/glsl/conv2d.glsl"]), ("helper", [])):
        step = Step(role, "convolution", Location(f"{vulkan}/ops/Convolution.cpp", 4, 6), "")
        assert [s.location.path for s in shaders(cast(Source, source), [step])] == found


def test_loops_for_the_cpu_call_the_functions_of_vectors_once_of_each_file() -> None:
    places = [("aten/src/ATen/cpu/vec/vec_b.h", 3), ("aten/src/ATen/cpu/vec/vec_b.h", 9)]
    places += [("aten/src/ATen/cpu/vec/vec_a.h", 5), ("aten/src/ATen/native/cpu/Loops.h", 1)]
    known = [
        SimpleNamespace(definition=SimpleNamespace(qualified="lt", location=Location(*place)))
        for place in places
    ]
    named = {"lt": known}
    facts = cast(Lookup, SimpleNamespace(named=lambda name: named[name]))
    found = [str(one.location) for one in of_vectors(facts, "lt_.Tensor")]
    assert found == ["aten/src/ATen/cpu/vec/vec_a.h:5", "aten/src/ATen/cpu/vec/vec_b.h:3"]


def test_loops_for_the_cpu_lead_to_the_functions_on_vectors_that_they_call() -> None:
    loop = Location("aten/src/ATen/native/cpu/Loops.cpp", 3)
    places = {1: loop, 2: Location("aten/src/ATen/cpu/vec/functional.h", 7)}
    places[3] = Location("aten/src/ATen/cpu/vec/vec256/vec256_float.h", 7)
    known = {
        at: SimpleNamespace(
            id=at, definition=SimpleNamespace(qualified="f", location=where, kind="function")
        )
        for at, where in places.items()
    }
    edges = [SimpleNamespace(target=2), SimpleNamespace(target=3)]
    facts = SimpleNamespace(
        definitions_at=lambda path, line: [known[1]], edges=lambda at: edges, by_id=known.get
    )
    (found,) = vectors_called(cast(Lookup, facts), [loop])
    assert found.location == places[2]
    assert not [*vectors_called(cast(Lookup, facts), [places[2]])]


def test_what_a_class_calls_may_change_with_it_in_the_library_for_cpp_too() -> None:
    header = Location("torch/csrc/api/include/torch/nn/functional/fold.h", 43)
    fold = SimpleNamespace(definition=SimpleNamespace(qualified="F::fold", location=header))
    facts = cast(Lookup, SimpleNamespace(named=lambda name: [fold] if name == "fold" else []))
    there = Location("torch/nn/functional.py", 5535)
    calls = (
        PythonCall("torch.nn.functional.fold", 146, there),
        PythonCall("torch.relu", 147, None),  # a generated binding
    )
    assert [one.location for one in called_by(facts, calls)] == [there, header]


def test_a_module_of_the_library_for_cpp_is_a_class_of_another_name() -> None:
    header = Location("torch/csrc/api/include/torch/nn/modules/loss.h", 9)
    impl = SimpleNamespace(definition=SimpleNamespace(qualified="nn::FoldImpl", location=header))
    facts = cast(Lookup, SimpleNamespace(named=lambda name: [impl] if name == "FoldImpl" else []))
    assert [one.location for one in in_library(facts, "Fold")] == [header]


def test_a_method_has_that_of_its_own_class_in_the_c_library() -> None:
    api = "torch/csrc/api/src/nn/modules"
    known = [
        SimpleNamespace(
            definition=SimpleNamespace(
                qualified=f"torch::nn::{owner}::forward", location=Location(f"{api}/{at}.cpp", 1)
            )
        )
        for at, owner in enumerate(("FoldImpl", "UnfoldImpl", "FoldImpl::Options"))
    ]
    named = {"forward": known, "forwardImpl": []}
    facts = cast(Lookup, SimpleNamespace(named=lambda name: named[name]))
    found = [one.location.path for one in in_library(facts, "forward", "Fold")]
    assert found == [f"{api}/0.cpp"]


def test_the_source_beside_a_header_is_a_place_of_a_function_in_it(tree_index: Index) -> None:
    native = "aten/src/ATen/native"
    own = [Step("function", "", Location(f"{native}/Activation.h", 1), "")]
    beside = {s.location.path: s.rule for s in place_siblings(tree_index.facts, own)}
    assert (
        beside[f"{native}/Activation.cpp"] == f"declares or defines what {native}/Activation.h has"
    )
