"""Functions are drafted in the style of the file that they are for."""

from __future__ import annotations

import ast

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.changes.python.drafts import (
    Renaming,
    decorators,
    for_others,
    function_lines,
    style_of,
    unknown_to,
)

_SCHEMA = parse_schema("solve(Tensor self, Tensor other, int dim=-1) -> Tensor")
_TO = Renaming("cross", "solve", frozenset(("solve",)), _SCHEMA, ())


def test_a_decorator_keeps_the_way_in_which_its_file_names_operators() -> None:
    for prefix in ("aten", "torch.ops.aten", "torch._ops.ops.aten"):
        lines = [f"@register_decomposition({prefix}.cross)"]
        assert decorators(lines, _TO) == (f"@register_decomposition({prefix}.solve)",)


def test_a_list_of_overloads_keeps_it_too() -> None:
    to = Renaming("cross", "solve", frozenset(("solve", "solve.out")), _SCHEMA, ())
    lines = ["@register([torch.ops.aten.cross.default, torch.ops.aten.cross.out])"]
    made = "@register([torch.ops.aten.solve.default, torch.ops.aten.solve.out])"
    assert decorators(lines, to) == (made,)


def test_a_file_without_annotations_gets_none() -> None:
    module = ast.parse("def cross(a, b, dim=-1):\n    return a\n")
    style = style_of(module, [("cross", parse_schema("cross(Tensor a, Tensor b) -> Tensor"))])
    assert function_lines("solve", _SCHEMA, style) == ("def solve(self, other, dim=-1):",)


def test_a_file_with_annotations_gets_its_own() -> None:
    module = ast.parse("def cross(a: TensorLike, b: TensorLike) -> TensorLike:\n    return a\n")
    style = style_of(module, [("cross", parse_schema("cross(Tensor a, Tensor b) -> Tensor"))])
    (line,) = function_lines("solve", _SCHEMA, style)
    assert line.endswith("dim: int = -1) -> TensorLike:")


@pytest.mark.parametrize(
    ("source", "default"),
    [
        ("class Reduction:\n    pass\n", "Reduction.MEAN.value"),
        ("from torch._decomp import Reduction\n", "Reduction.MEAN.value"),
        ("import torch\n", "1"),
    ],
)
def test_a_default_is_a_name_that_the_file_knows(source: str, default: str) -> None:
    schema = parse_schema("loss(Tensor self, int reduction=Mean) -> Tensor")
    (line,) = function_lines("loss", schema, style_of(ast.parse(source), []))
    assert f"reduction: int = {default})" in line


def test_a_decorator_of_functions_of_other_arguments_is_none_for_ours() -> None:
    made = "".join(f"@unary(KIND)\n@out_wrapper()\ndef f{at}(a): ...\n" for at in range(5))
    module = ast.parse(f"{made}@out_wrapper()\ndef g(n, a): ...\n")
    two = parse_schema("polygamma(int n, Tensor self) -> Tensor")
    assert for_others(module, "f1", two).startswith(" @unary is for functions of other arguments")
    assert not for_others(module, "g", two)
    assert not for_others(module, "f1", parse_schema("sin(Tensor self) -> Tensor"))


def test_what_a_name_is_made_of_follows_it() -> None:
    """And is missed where the file does not have it."""
    to = Renaming("_foreach_sign", "_foreach_sin", frozenset(), _SCHEMA, ())
    made = to.given("register_foreach(aten._foreach_sign, sign)")
    assert made == "register_foreach(aten._foreach_sin, sin)"
    other = Renaming("sign", "sin", frozenset(), _SCHEMA, ())
    assert other.given("register(aten.sign, signed)") == "register(aten.sin, signed)"
    assert unknown_to("ops.sin(x)\n", [f"+{made}"]) == " The file has no sin yet: make it first."
    assert unknown_to("sin = register(aten.sin)\n", [f"+{made}"]) == ""


@pytest.mark.parametrize(
    ("outs", "made"),
    [
        (("out",), "@out_wrapper()"),
        (("output",), '@out_wrapper("output")'),
        (("values", "indices"), '@out_wrapper("values", "indices")'),
    ],
)
def test_out_arguments_are_named_where_they_are_not_called_out(
    outs: tuple[str, ...], made: str
) -> None:
    to = Renaming("cross", "solve", frozenset(("solve",)), _SCHEMA, outs)
    assert decorators(["@out_wrapper()"], to) == (made,)
