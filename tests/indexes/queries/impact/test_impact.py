"""What is reached when something changes: on the small tree, whose ways are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.model.errors import NotFound
from indexes.model.impact import Impact
from indexes.queries.impact.answers import Impacts
from indexes.queries.index import Index
from indexes.serialize.impact import impact_json
from tests.indexing import append, opened

NATIVE = "aten/src/ATen/native"


@pytest.fixture(scope="module")
def impacts(tree_index: Index) -> Impacts:
    return Impacts(tree_index)


def _reached(found: Impact, dispatches: int = 0) -> dict[str, tuple[str, ...]]:
    return {o.name: o.aspects for o in found.operators if o.dispatches <= dispatches}


def _kinds(found: Impact, operator: str) -> list[str]:
    step = next(o.step for o in found.operators if o.name == operator)
    return [one.kind for one in found.way(step)]


def test_a_function_registered_on_a_stub_reaches_the_operators_that_call_the_stub(
    impacts: Impacts,
) -> None:
    found = impacts.impact("softmax_kernel_impl", tests=False)
    assert _reached(found).keys() == {"_softmax", "_softmax.out"}
    assert _kinds(found, "_softmax.out") == ["function", "stub", "function", "operator"]
    way = found.way(next(o.step for o in found.operators if o.name == "_softmax.out"))
    assert way[1].evidence is not None
    assert way[1].evidence.path == f"{NATIVE}/cpu/SoftMaxKernel.cpp"
    assert way[2].evidence is not None
    assert way[2].evidence.path == f"{NATIVE}/SoftMax.cpp"


def test_a_composite_is_reached_through_the_operator_that_it_calls(impacts: Impacts) -> None:
    found = impacts.impact("softmax_kernel_impl", tests=False)
    further = {o.name: o for o in found.operators if o.dispatches == 1}
    assert "softmax.int" in further
    none = impacts.impact("softmax_kernel_impl", dispatches=0, tests=False)
    assert "softmax.int" not in _reached(none, 9)


def test_a_method_of_a_template_class_leads_to_its_caller(impacts: Impacts) -> None:
    found = impacts.impact("vec_softmax::apply", tests=False)
    assert "_softmax" in _reached(found)
    other = impacts.impact("vec_host_softmax_lastdim::apply", tests=False)
    callers = {s.symbol.rpartition("::")[2] for s in other.steps if s.parent == 0}
    assert callers == {"softmax_lastdim_kernel_impl"}


@pytest.mark.parametrize("symbol", ["QConvInt8::run", "QConvInt8"])
def test_a_registered_method_of_a_template_class_leads_to_its_operators(
    impacts: Impacts, symbol: str
) -> None:
    found = impacts.impact(symbol, tests=False)
    assert set(_reached(found)) == {"quantized::conv2d.new", "quantized::conv3d.new"}


def test_a_formula_function_reaches_backward_alone(impacts: Impacts) -> None:
    found = impacts.impact("mul_tensor_backward", tests=False)
    assert _reached(found)["mul.Tensor"] == ("backward",)
    assert "add.Tensor" not in _reached(found)
    assert _kinds(found, "mul.Tensor") == ["function", "formula", "operator"]


def test_a_decomposition_and_its_helper(impacts: Impacts) -> None:
    helper = "torch._decomp.decompositions.softmax_backward_helper"
    found = impacts.impact(helper, tests=False)
    assert _reached(found) == {"_softmax_backward_data": ("decomposition",)}
    assert _kinds(found, "_softmax_backward_data") == ["python", "python", "operator"]


def test_confidence_of_a_way_is_that_of_its_weakest_step(impacts: Impacts) -> None:
    rank = {"exact": 0, "by rule": 1, "ambiguous": 2}
    for symbol in ("softmax_kernel_impl", "maybe_multiply", "mul_tensor_backward"):
        found = impacts.impact(symbol, tests=False)
        for one in found.operators:
            worst = max(rank[step.confidence] for step in found.way(one.step))
            assert rank[one.confidence] == worst, (symbol, one.name)


def test_ambiguous_steps_count_their_candidates(impacts: Impacts) -> None:
    found = impacts.impact("softmax_kernel_impl", tests=False)
    ambiguous = [step for step in found.steps if step.confidence == "ambiguous"]
    assert all(step.candidates > 1 for step in ambiguous)


def test_callers_are_told_with_their_lines(impacts: Impacts, tree_index: Index) -> None:
    found = impacts.callers("softmax_backward_helper")
    users = [s for s in found.steps if s.parent is not None]
    assert [s.symbol for s in users] == ["torch._decomp.decompositions._softmax_backward_data"]
    assert users[0].evidence is not None
    line = tree_index.read(users[0].evidence.path).split("\n")[users[0].evidence.line - 1]
    assert "softmax_backward_helper(" in line


def test_a_place_means_the_innermost_definition(impacts: Impacts, tree_index: Index) -> None:
    path = f"{NATIVE}/cpu/SoftMaxKernel.cpp"
    lines = tree_index.read(path).split("\n")
    at = next(n for n, text in enumerate(lines, 1) if "vec_softmax<scalar_t, false>" in text)
    starts = impacts.starts(f"{path}:{at}")
    assert [s.node.symbol.rpartition("::")[2] for s in starts] == ["softmax_kernel_impl"]


def test_a_line_about_a_stub_means_the_stub(impacts: Impacts, tree_index: Index) -> None:
    path = f"{NATIVE}/SoftMax.cpp"
    lines = tree_index.read(path).split("\n")
    at = next(n for n, text in enumerate(lines, 1) if "DEFINE_DISPATCH(softmax_kernel)" in text)
    assert "_softmax.out" in _reached(impacts.impact(f"{path}:{at}", tests=False))


def test_public_classes_and_functions_whose_python_code_is_reached(
    tree_copy: Path, cache: Path
) -> None:
    file = tree_copy / "torch/optim/_adam.py"
    calling = file.read_text().replace("return torch.mul", "_step(params)\n    return torch.mul")
    file.write_text(f"{calling}\n\ndef _step(x): ...\n")
    table = "\nimport torch\n\ndef table():\n    return {torch.optim.adam: 1}\n"
    append(tree_copy, {"torch/overrides.py": table})
    with opened(tree_copy, cache) as index:
        found = Impacts(index).impact("torch.optim._adam._step")
    names = {api.name for api in found.apis}
    assert "torch.optim.adam" in names
    assert "torch.overrides.table" not in names


def test_python_names_and_tests_stand_at_the_end(impacts: Impacts) -> None:
    found = impacts.impact("abs_kernel")
    assert "torch.abs" in {api.name for api in found.apis}
    commands = [test.command for test in found.tests]
    assert any("_abs_cpu" in command for command in commands)


def test_tests_of_more_operators_are_counted_and_listed_when_asked_for(impacts: Impacts) -> None:
    few = impacts.impact("softmax_kernel_impl", most=0)
    left = next(line for line in few.unresolved if "--all lists them" in line)
    whole = impacts.impact("softmax_kernel_impl", most=None)
    bases = {one.name.partition(".")[0] for one in whole.operators}
    assert left.startswith(f"tests of {len(bases)} more operators")
    assert not any("--all" in line for line in whole.unresolved)
    assert {t.command for t in few.tests} < {t.command for t in whole.tests}


def test_what_is_written_with_signs_is_said_not_to_be_looked_for(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / "aten/src/ATen/TensorOperators.h").write_text(
        "#define AT_FORALL_BINARY_OPS(_) \\\n"
        "  _(*, x.mul(y), y.mul(x)) \\\n  _(-,  \\\n    x.sub(y), 0)\n"
        "Tensor& operator*=(const Tensor & other) {\n  return mul_(other);\n}\n"
    )
    with opened(tree_copy, cache) as index:
        found = Impacts(index).impact("mul_kernel", tests=False)
        (said,) = (line for line in found.unresolved if line.startswith("mul: "))
        assert "with *, " in said
        assert "TensorOperators.h:2" in said
        assert not any(line.startswith("sub: ") for line in found.unresolved)
        other = Impacts(index).impact("softmax_kernel_impl", tests=False)
        assert not any("TensorOperators.h" in line for line in other.unresolved)


def test_a_macro_without_parameters_reaches_what_uses_it(tree_copy: Path, cache: Path) -> None:
    header, kernel = tree_copy / "c10/core/Limits.h", tree_copy / f"{NATIVE}/Activation.cpp"
    header.write_text("#ifdef WIDE\n#define LIMIT 64\n#else\n#define LIMIT 32\n#endif\n")
    text = kernel.read_text()
    kernel.write_text(text.replace("self.scalar_type() != at::kBool", "self.dim() < LIMIT", 1))
    with opened(tree_copy, cache) as index:
        found = Impacts(index).impact("LIMIT", tests=False)
    assert "relu" in _reached(found)
    assert [str(s.location) for s in found.steps if s.parent is None] == [
        "c10/core/Limits.h:2",
        "c10/core/Limits.h:4",
    ]
    (use,) = {s.rule for s in found.steps if s.kind == "function" and s.parent in (0, 1)}
    assert use == "uses the macro, whose definition #if chooses"


def test_an_unknown_name_says_so(impacts: Impacts) -> None:
    with pytest.raises(NotFound):
        impacts.impact("no_such_symbol_anywhere")
    with pytest.raises(NotFound):
        impacts.impact("no/such/file.cpp")


def test_json_has_every_key(impacts: Impacts) -> None:
    answer = json.loads(json.dumps(impact_json("x", impacts.impact("softmax_kernel_impl"))))
    assert list(answer)[2:-1] == ["symbol", "steps", "operators", "apis", "tests", "unresolved"]
    assert list(answer)[-1] == "folded"
    numbers = {step["id"] for step in answer["steps"]}
    assert all(step["parent"] in numbers | {None} for step in answer["steps"])
    assert all(one["step"] in numbers for one in answer["operators"])


def test_methods_macros_and_using_namespaces(tree_copy: Path, cache: Path) -> None:
    folder = tree_copy / NATIVE
    (folder / "Extra.h").write_text(
        "#pragma once\n"
        "namespace at::native {\n"
        "struct Scaler {\n  Scaler() { }\n  int scaled(int x) { return x; }\n};\n"
        "struct Other {\n  int scaled(int x) { return x; }\n};\n"
        "#define TWICE_OF(x) twice_impl(x)\n"
        "}\n"
    )
    (folder / "Extra.cpp").write_text(
        "#include <ATen/native/Extra.h>\n"
        "namespace at::helpers {\nint helped(int x) { return x; }\n}\n"
        "namespace at::native {\n"
        "using namespace at::helpers;\n"
        "int twice_impl(int x) { return x; }\n"
        "int by_method() { Scaler s; return s.scaled(1); }\n"
        "int by_other() { Other s; return s.scaled(1); }\n"
        "int by_unknown() { return make().scaled(1); }\n"
        "int by_macro() { return TWICE_OF(2); }\n"
        "int by_using() { return helped(2); }\n"
        "int by_local(int twice_impl) { return use(twice_impl); }\n"
        "int by_name() { return use(twice_impl); }\n"
        "}\n"
    )
    with opened(tree_copy, cache) as index:
        found = Impacts(index)

        def users(symbol: str) -> dict[str, str]:
            steps = found.callers(symbol).steps
            return {
                s.symbol.rpartition("::")[2]: s.confidence for s in steps if s.parent is not None
            }

        assert users("Scaler::scaled") == {"by_method": "by rule", "by_unknown": "ambiguous"}
        assert users("Other::scaled") == {"by_other": "by rule", "by_unknown": "ambiguous"}
        assert "by_method" in users("Scaler::Scaler")
        assert users("TWICE_OF") == {"by_macro": "exact"}
        assert users("twice_impl") == {"by_macro": "exact", "by_name": "exact"}
        assert users("helped") == {"by_using": "exact"}


def test_a_wheel_knows_the_formulas_of_functions_that_it_does_not_hold(wheel: Index) -> None:
    found = Impacts(wheel).impact("mul_tensor_backward", tests=False)
    assert _reached(found)["mul.Tensor"] == ("backward",)
    assert any("torchnav clone" in line for line in found.unresolved)
