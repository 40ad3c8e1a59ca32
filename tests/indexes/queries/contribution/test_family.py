"""Where people name operators: definitions, registrations and lists, and no calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.contribution.family import Members, family_mentions, is_of_space, mentions

MEMBERS = Members(
    ["exp", "special_i0", "max"], ["exp", "special_i0", "max", "max_pool2d", "exp2"], ["special"]
)


def _named(path: str, *lines: str) -> list[tuple[str, int]]:
    found = mentions(MEMBERS, path, "\n".join(lines) + "\n")
    return [(one.member, one.location.line) for one in found]


@pytest.mark.parametrize(
    ("path", "line", "named"),
    [
        ("a.cpp", "Tensor exp(const Tensor& self) {", True),
        ("a.cpp", "REGISTER_DISPATCH(exp_stub, &exp_kernel)", True),
        ("a.h", "DECLARE_DISPATCH(unary_fn, exp_stub);", True),
        ("a.cpp", '  m.impl("exp", exp_batch_rule);', True),
        ("a.h", "  _(aten, exp) \\", True),
        ("a.cpp", "  UNARY_POINTWISE(exp);", True),
        ("a.cpp", "TORCH_META_FUNC(exp)(const Tensor& self) {", True),
        ("a.h", "inline Tensor i0(const Tensor& self) {", True),
        ("Math.h", "static inline T calc_exp(T x) {", True),
        ("a.cpp", "  return at::exp(self);", False),
        ("a.cpp", "  auto y = x.exp();", False),
        ("a.cpp", "  return exp(x);", False),
        ("a.cpp", "#include <ATen/ops/exp.h>", False),
        ("a.cpp", "// exp is slow", False),
        ("a.cpp", "Tensor max_pool2d(const Tensor& self) {", False),
        ("a.cpp", "Tensor exp2(const Tensor& self) {", False),
        ("a.py", "def exp(a):", True),
        ("a.py", "    torch.exp: lambda input: -1,", True),
        ("a.py", "    torch.special.i0: lambda input: -1,", True),
        ("a.py", "    y = torch.special.i0(x)", False),
        ("a.py", "add_docstr(torch.exp,", True),
        ("a.py", '    UnaryUfuncInfo("exp",', True),
        ("a.py", "    y = torch.exp(x)", False),
        ("a.py", "import exp", False),
        ("a.py", "    exp = 3", False),
        ("derivatives.yaml", "- name: exp(Tensor self) -> Tensor", True),
        ("torch.rst", "    exp", True),
        ("torch.rst", ".. autofunction:: torch.exp", True),
        ("torch.rst", "Take the exp of a tensor, then wait.", False),
        ("test/expect/a.expect", "aten::exp", True),
    ],
)
def test_a_line(path: str, line: str, named: bool) -> None:
    assert bool(_named(path, line)) == named


def test_each_member_once_with_its_first_line() -> None:
    assert _named("a.py", "x = 1", "def max(a):", "def exp(a):", "def exp(a):") == [
        ("max", 2),
        ("exp", 3),
    ]


@pytest.mark.parametrize(
    ("path", "space", "own"),
    [
        ("torch/linalg/__init__.py", "linalg", True),
        ("docs/source/linalg.rst", "linalg", True),
        ("torch/csrc/api/include/torch/linalg.h", "linalg", True),
        ("aten/src/ATen/native/cuda/ForeachUnaryOp.cu", "_foreach", True),
        ("aten/src/ATen/native/cuda/AmpKernels.cu", "linalg", False),
        ("docs/source/torch.rst", "", False),
    ],
)
def test_where_a_namespace_may_be_left_out(path: str, space: str, own: bool) -> None:
    assert is_of_space(path, space) == own


def test_files_of_a_tree(tmp_path: Path) -> None:
    for path, text in (
        ("torch/a.py", "def exp(a):\n"),
        ("torch/b.py", "x = 1\n"),
        ("third_party/c.py", "def exp(a):\n"),
        (".git/d.py", "def exp(a):\n"),
        ("docs/e.rst", "exp\n"),
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    read = {path.name: path for path in tmp_path.rglob("*") if path.is_file()}
    found = family_mentions(
        lambda _: MEMBERS, str(tmp_path), lambda path: read[path.rpartition("/")[2]].read_bytes()
    )
    assert [path for path, _ in found] == ["docs/e.rst", "torch/a.py"]
