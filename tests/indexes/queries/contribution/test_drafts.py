"""Entries drafted for a new operator: the whole group, in the shape of a neighbour's."""

from __future__ import annotations

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.contribution.drafts import Drafts
from tests.indexes.queries.contribution.yaml_entries import natives

NATIVES = natives(
    """
- func: mish(Tensor self) -> Tensor
  structured_delegate: mish.out
  python_module: nn
  tags: [core, pointwise]

- func: mish_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: mish.out
  python_module: nn

- func: mish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  python_module: nn
  dispatch:
    CPU, CUDA: mish_out
    SparseCPU: mish_sparse_out

- func: mish_backward(Tensor grad_output, Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: mish_backward

- func: roll(Tensor self, int[1] shifts) -> Tensor
  variants: function, method
  dispatch:
    CPU: roll_cpu
    CUDA: rolling
  autogen: roll.out

- func: max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)
  structured_delegate: max.dim_max

- func: max.dim_max(Tensor self, int dim, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!) values, Tensor(b!) indices)
  structured: True
  dispatch:
    CPU, CUDA: max_out

- func: other(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: other

- func: narrow(Tensor self, SymInt start) -> Tensor
  dispatch:
    CompositeImplicitAutograd: narrow_symint

- func: diagonal(Tensor(a) self, int offset=0) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: diagonal

- func: diagonal_copy(Tensor self, int offset=0) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: diagonal_copy
  tags: view_copy
  autogen: diagonal_copy.out
"""  # noqa: E501 lines as YAML has them
)
BY_NAME = {one.full_name: one for one in NATIVES}


def _draft(schema: str, *models: str) -> dict[str, str]:
    found = Drafts(NATIVES).group(parse_schema(schema), [BY_NAME[one] for one in models])
    return {one.name: "\n".join(one.lines) for one in found}


def test_a_structured_group_with_its_backward() -> None:
    draft = _draft("foo(Tensor self) -> Tensor", "mish", "other", "roll")
    assert list(draft) == ["foo", "foo_", "foo.out", "foo_backward"]
    assert draft["foo"].splitlines() == [
        "- func: foo(Tensor self) -> Tensor",
        "  structured_delegate: foo.out",
        "  python_module: nn",
        "  tags: pointwise",
    ]
    assert draft["foo.out"].splitlines() == [
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        "  structured: True",
        "  structured_inherits: TensorIteratorBase",
        "  python_module: nn",
        "  dispatch:",
        "    CPU, CUDA: foo_out",
    ]
    assert "CPU, CUDA: foo_backward" in draft["foo_backward"]


def test_a_module_without_in_place_variants_gets_none() -> None:
    assert "special_foo_" in _draft("special_foo(Tensor self) -> Tensor", "mish")
    special = natives("- func: special_i0(Tensor self) -> Tensor\n  python_module: special\n")
    drafted = Drafts([*NATIVES, *special]).group(
        parse_schema("special_foo(Tensor self) -> Tensor"), [BY_NAME["mish"]]
    )
    assert [one.name for one in drafted] == [
        "special_foo",
        "special_foo.out",
        "special_foo_backward",
    ]


def test_kernels_that_do_not_hold_the_name_get_it() -> None:
    draft = _draft("foo(Tensor self, int[1] shifts) -> Tensor", "roll")
    assert "    CPU: foo_cpu\n    CUDA: foo_cuda\n  autogen: foo.out" in draft["foo"]


def test_a_family_whose_kernels_are_named_apart_from_it() -> None:
    foreach = """- func: _foreach_sin(Tensor[] self) -> Tensor[]
  dispatch:
    CompositeExplicitAutograd: foreach_tensor_sin_slow
    CUDA: foreach_tensor_sin_cuda
"""
    found = natives(foreach)
    schema = parse_schema("_foreach_gelu(Tensor[] self) -> Tensor[]")
    (entry,) = Drafts(found).group(schema, found)
    assert entry.lines[2:] == (
        "    CompositeExplicitAutograd: foreach_tensor_gelu_slow",
        "    CUDA: foreach_tensor_gelu_cuda",
    )


def test_outs_are_named_as_what_is_returned() -> None:
    draft = _draft("foo(Tensor self, int dim) -> (Tensor q, Tensor r)", "max.dim")
    assert draft["foo.out"].startswith(
        "- func: foo.out(Tensor self, int dim, *, Tensor(a!) q, Tensor(b!) r)"
        " -> (Tensor(a!) q, Tensor(b!) r)"
    )


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("foo_(Tensor(a!) self) -> Tensor(a!)", ["foo", "foo_", "foo.out", "foo_backward"]),
        (
            "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            ["foo", "foo_", "foo.out", "foo_backward"],
        ),
        ("foo(Tensor(a) self) -> Tensor(a)", ["foo", "foo_", "foo_backward"]),
        ("foo(Tensor self) -> bool", ["foo", "foo_backward"]),
        ("mish.Scalar(Tensor self, Scalar x) -> Tensor", ["mish.Scalar"]),
    ],
)
def test_which_entries_there_are(schema: str, names: list[str]) -> None:
    found = list(_draft(schema, "mish"))
    assert [one for one in found if not one.startswith("mish") or one in names][: len(names)] == (
        names
    )


def test_a_kernel_of_symbolic_sizes_is_for_schemas_that_have_them() -> None:
    draft = _draft("foo(Tensor self, int n) -> Tensor", "narrow")
    assert draft["foo"] == "- func: foo(Tensor self, int n) -> Tensor"
    draft = _draft("foo(Tensor self, SymInt n) -> Tensor", "narrow")
    assert "CompositeImplicitAutograd: foo_symint" in draft["foo"]


def test_a_view_gets_the_variant_that_copies() -> None:
    draft = _draft("foo(Tensor(a) self, int dim) -> Tensor(a)", "diagonal")
    assert draft["foo_copy"].splitlines() == [
        "- func: foo_copy(Tensor self, int dim) -> Tensor",
        "  dispatch:",
        "    CompositeExplicitAutogradNonFunctional: foo_copy",
        "  autogen: foo_copy.out",
        "  tags: view_copy",
    ]


def test_an_operator_without_neighbours_is_its_schema() -> None:
    assert _draft("foo() -> Tensor") == {"foo": "- func: foo() -> Tensor"}


def test_simpler_drafts_follow_fuller_ones() -> None:
    schema = parse_schema("foo(Tensor self, int[1] shifts) -> Tensor")
    choices = Drafts(NATIVES).choices(schema, [BY_NAME["roll"]])
    texts = ["\n".join(line for one in draft for line in one.lines) for draft in choices]
    assert "autogen" in texts[0]
    assert not any("autogen" in text for text in texts[1:])
    assert texts[-1] == "- func: foo(Tensor self, int[1] shifts) -> Tensor"
