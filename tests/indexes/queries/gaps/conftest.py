"""A tree with two new operators: ``lonely`` lacks all that can be lacking, ``whole`` nothing.

Beside them stand operators that lack as much and are no gaps: internal ones, backwards, such
as PyTorch ignores."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.kinds import ALL
from indexes.queries.gaps.model import GapFilter, GapList
from indexes.queries.index import Index
from indexes.source.source import Source
from tests.tree_marks import TREE

_ENTRY = """
- func: {name}(Tensor self, int size) -> Tensor
  variants: function, method
  dispatch:
    {keys}: {name}
"""
_CONVERTED = """
- func: {name}(Tensor self, Tensor other, float size) -> Tensor
  structured_delegate: {name}.out

- func: {name}.out(Tensor self, Tensor other, float size, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA, MPS: {name}_out
"""
_TWICE = """
- func: twice(Tensor self, Tensor other, float size) -> Tensor
  dispatch:
    CPU, CUDA, MPS: twice

- func: twice.out(Tensor self, Tensor other, float size, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU, CUDA, MPS: twice_out

- func: everywhere(Tensor self, int size=2, int? dim=None, float scale=1) -> Tensor
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: everywhere
"""
_NAMES = ("lonely", "whole", "_hidden", "lonely_backward", "ignored")
_STRUCTURED = tuple(f"settled_{at}" for at in range(4))

_KERNELS = """
#include <ATen/native/Lonely.h>

namespace at::native {

DEFINE_DISPATCH(lonely_stub);

Tensor lonely(const Tensor& self, int64_t size) {
  // TODO: take negative sizes too,
  // as whole does
  TORCH_CHECK(size > 0);
  TORCH_CHECK(self.dim() == 2, "lonely: expected 2 dimensions, got ", self.dim());
  const char* words = "TODO is no comment here";
  TORCH_CHECK(words);
  TORCH_INTERNAL_ASSERT(self.numel() > 1);
  return self;
}

Tensor whole(const Tensor& self, int64_t size) {
  // TORCH_CHECK(size > 0);
  TORCH_INTERNAL_ASSERT(self.is_cuda() || self.layout() == kStrided);
  TORCH_CHECK(self.dim() == 2, "whole: expected 2 dimensions, got ", self.dim());
  TORCH_INTERNAL_ASSERT(self.dim() == 2);
  return self;
}

Tensor _hidden(const Tensor& self, int64_t size) {
  TORCH_CHECK(size > 0);
  return self;
}

Tensor lonely_backward(const Tensor& self, int64_t size) { return self; }
Tensor ignored(const Tensor& self, int64_t size) { return self; }

// TODO: Make this structured, for
// speed
Tensor everywhere(
    const Tensor& self, int64_t size, std::optional<int64_t> dim, double scale) {
  lonely_stub(self.device().type(), self, size);
  return self;
}

Tensor twice(const Tensor& self, const Tensor& other, double size) {
  // TODO: one
  Tensor first = self;
  // TODO: another
  return first;
}
Tensor& twice_out(const Tensor& self, const Tensor& other, double size, Tensor& out) { return out; }
%s
} // namespace at::native
"""
_BODY = """
static void {name}(const Tensor& self) {{
  {comment}
  int64_t rows = self.size(0);
  int64_t columns = self.size(1);
  int64_t sum = 0;
  for (int64_t row = 0; row < rows; row++) {{
    for (int64_t column = 0; column < columns; column++) {{
      sum += row * column;
      sum -= row;
      sum -= column;
    }}
  }}
  TORCH_INTERNAL_ASSERT(sum >= 0, "the sum is ", sum);
  record(sum);
}}
"""


def _append(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text() if file.exists() else ""
    file.write_text(before + text)


def _write_operators(root: Path) -> None:
    yaml = "aten/src/ATen/native/native_functions.yaml"
    for name in _NAMES:
        keys = "CPU, CUDA, MPS" if name == "whole" else "CPU, CUDA"
        _append(root, yaml, _ENTRY.format(name=name, keys=keys))
    for name in _STRUCTURED:
        _append(root, yaml, _CONVERTED.format(name=name))
    _append(root, yaml, _TWICE)
    rows = (root / yaml).read_text()
    assert "    CUDA: empty_cuda\n" in rows
    (root / yaml).write_text(
        rows.replace("    CUDA: empty_cuda\n", "    CUDA: empty_cuda\n    MPS: empty_mps\n")
    )
    made = "\n".join(f"TORCH_IMPL_FUNC({n}_out)(const Tensor& self) {{}}" for n in _STRUCTURED)
    kernels = "aten/src/ATen/native/"
    _append(root, f"{kernels}Lonely.cpp", _KERNELS % made)
    _append(
        root,
        f"{kernels}Lonely.h",
        "namespace at::native {\n"
        "DECLARE_DISPATCH(void (*)(DeviceType, const Tensor&, int64_t), lonely_stub);\n}\n",
    )
    register = (
        "namespace at::native {{ static void {0}_kernel(const Tensor& t, int64_t n) {{}}\n"
        "REGISTER_DISPATCH(lonely_stub, &{0}_kernel); }}\n"
    )
    _append(root, f"{kernels}cpu/LonelyKernel.cpp", register.format("cpu"))
    _append(root, f"{kernels}cuda/LonelyKernel.cu", register.format("cuda"))
    for name, comment in (("count_here", "// one"), ("count_there", "// another")):
        text = "namespace at::native {\n" + _BODY.format(name=name, comment=comment) + "}\n"
        _append(root, f"{kernels}{name}.cpp", text)
    _append(
        root,
        f"{kernels}README.md",
        "kernels which call\n    DispatchStub should NOT be"
        " registered as CompositeExplicitAutograd\n",
    )
    _append(root, "aten/src/ATen/functorch/BatchRulesWhole.cpp", "RULES_OF_ITS_OWN(whole, 1)\n")
    _append(
        root,
        "tools/autograd/derivatives.yaml",
        "\n".join(
            [
                "",
                "- name: lonely(Tensor self, int size) -> Tensor",
                "  self: grad * size",
                "",
                "- name: whole(Tensor self, int size) -> Tensor",
                "  self: grad * size",
                "  result: auto_linear",
                "",
                "- name: twice(Tensor self, Tensor other, float size) -> Tensor",
                "  self: grad",
                '  other: not_implemented("twice")',
                "",
            ]
        ),
    )


def _write_python(root: Path) -> None:
    _append(
        root,
        "torch/_torch_docs.py",
        "\n".join(
            [
                "",
                'add_docstr(torch.lonely, r"""',
                "lonely(input, length) -> Tensor",
                '""")',
                "",
                'add_docstr(torch.whole, r"""',
                "whole(input, size) -> Tensor",
                '""")',
                "",
                'add_docstr(torch.twice, r"""',
                "thrice(input, other, size) -> Tensor",
                '""")',
                "",
            ]
        ),
    )
    _append(
        root,
        "torch/_tensor_docs.py",
        "\n".join(
            [
                "",
                'add_docstr_all("whole", r"""',
                "whole(size) -> Tensor",
                '""")',
                "",
                'add_docstr_all("everywhere", r"""',
                "everywhere(size=None, dim=0, scale=1.0)",
                '""")',
                "",
                'add_docstr_all("relu_", r"""',
                "relu_() -> Tensor",
                '""")',
                "",
            ]
        ),
    )
    databases = root / "torch/testing/_internal/common_methods_invocations.py"
    info = """    OpInfo(
        "{name}",
        dtypes=floating_types_and(torch.bfloat16),
        dtypesIfCUDA=floating_types_and({cuda}torch.bfloat16),
    ),
"""
    rows = info.format(name="lonely", cuda="torch.half, ") + info.format(name="whole", cuda="")
    text = databases.read_text()
    head = "op_db: list[OpInfo] = [\n"
    assert head in text
    databases.write_text(text.replace(head, head + rows))
    _append(
        root,
        "torch/_decomp/decompositions.py",
        "\n\n@register_decomposition(aten.whole)\ndef whole(self, size):\n    return self\n",
    )
    _append(
        root,
        "torch/_inductor/lowering.py",
        "\n\n# 1) Easy\n"
        "make_fallback(aten.lonely)  # try it\n\n# 5) Impossible\nmake_fallback(aten.twice)\n",
    )
    _append(
        root,
        "torch/overrides.py",
        "\n\ndef get_ignored_functions():\n"
        "    Tensor = torch.Tensor\n    return {torch.ignored, Tensor.ignored}\n\n\n@decorated\n"
        "def more():\n    pass\n",
    )


_EXCEPTION = """
// Deprecated alias. Use TORCH_CHECK(false, ...) to fail.
#define AT_OLD_ERROR(...)                       \\
  do {                                          \\
    ::c10::detail::deprecated_AT_OLD_ERROR();   \\
    TORCH_CHECK(false, __VA_ARGS__);            \\
  } while (false)
"""
_THROWS = """
namespace at::native {

void thrower(int64_t size) {
  TORCH_CHECK(size, "thrower: no size");
  if (size < 0) throw std::runtime_error("below zero");
  // throw std::runtime_error("in a comment");
  if (size > 9) throw std::runtime_error("above nine");
}

void old_style(int64_t size) {
  AT_OLD_ERROR("old_style: ", "AT_OLD_ERROR(in words)");
}

} // namespace at::native
"""


def _write_checks(root: Path) -> None:
    """Errors raised as the tree no longer raises them, and a folder that never did otherwise."""
    _append(root, "c10/util/Exception.h", _EXCEPTION)
    _append(root, "aten/src/ATen/native/Throws.cpp", _THROWS)
    alone = 'inline void alone() { throw std::runtime_error("no c10 here"); }\n'
    _append(root, "torch/csrc/runtime_alone/model.h", alone)
    _append(root, "aten/src/ATen/native/Made.h", f"// @generated by a script\n{alone}")
    _append(root, "torch/csrc/runtime_alone/test/test_model.cpp", alone)


def _write_expectations(root: Path) -> None:
    """Tests that are excused, and a test file without an owner."""
    databases = root / "torch/testing/_internal/common_methods_invocations.py"
    text = databases.read_text()
    head = '    OpInfo(\n        "lonely",\n'
    assert head in text
    rows = """        sample_inputs_func=sample_inputs_lonely,
        skips=(
            # the result depends on the order
            DecorateInfo(unittest.expectedFailure, "TestJit", "test_alias", device_type="cuda"),
            DecorateInfo(unittest.skip("Skipped!"), "TestCommon", "test_out"),  # too slow
            # DecorateInfo(unittest.expectedFailure, "TestJit", "test_in_a_comment"),
        ),
"""
    tried = '    OpInfo(\n        "whole",\n'
    text = text.replace(tried, f"{tried}        error_inputs_func=error_inputs_whole,\n")
    samples = "def sample_inputs_lonely(op_info, device):\n    yield SampleInput(1)\n\n\n"
    databases.write_text(samples + text.replace(head, head + rows))
    _append(root, "test/test_nobody.py", '# Owner(s): ["module: unknown"]\n')
    _append(
        root,
        "test/test_old.py",
        '# Owner(s): ["module: nn"]\nclass TestOld:\n    def test_it(self): pass\n',
    )
    _append(root, "test/dynamo_expected_failures/TestOld.test_it", "")
    _append(root, "test/dynamo_skips/TestOldCUDA.test_made_cuda_float32", "")
    _append(
        root,
        "torch/testing/_internal/dynamo_test_failures.py",
        'dynamo_skips = {\n    "TestOlder.test_in_a_set",\n}\n',
    )
    old = "from torch.words.said import older\n\n\ndef test_now():\n    torch.words.older()\n"
    _append(root, "test/test_words.py", f"# Owner(s): []\n{old}    torch.older()\n")
    _append(root, "torch/_refs/__init__.py", "\n\ndef whole(self, size):\n    return self\n")
    _append(root, "torch/words/__init__.py", "from torch.words.said import older\n")
    _append(root, "mypy.ini", "[mypy-torch.functional.*]\nignore_errors = True\n\n[mypy]\nx = 1\n")
    _append(root, "torch/untyped.py", "# mypy: allow-untyped-defs\n\n\ndef one(x):\n    pass\n")


_DOCUMENTED = '''
class Said:
    r"""A class.

    See :class:`torch.words.said.Said`, :meth:`~torch.words.said.Said.well` and
    :func:`torch.never_there`, or
    https://github.com/pytorch/pytorch/blob/main/torch/words/said.py and
    https://github.com/pytorch/pytorch/blob/main/torch/words/unsaid.py

    Args:
        one (int): what it is for:
            in two lines
        uno: not there
    """

    def __init__(self, one):
        pass

    def well(self, one, two, device=None, *, rate=0.5):
        """Args:
            one, two: both
            rate (float): how much. Default: ``0.25``
        """

    def first(self, device):
        """Args:
            first: custom
        """
        return device


def leaves(one, two, device):
    """Args:
        one: the first
    """


def custom(one, device):
    """Args:
        one (int): the first
    """


def _hidden(one):
    """Args:
        two: nobody minds
    """


@deprecated("use stars", category=FutureWarning)
def older():
    pass


def stars(one, **kwargs):
    """Args:
        one: the first
        two: among the others
    """
'''
_CONF = """
coverage_ignore_functions = [
    # torch.words.said
    "leaves",
    "went_away",
    "stars",
]
coverage_ignore_classes = [
    # torch.words.said
    "Said",
]
"""


def _write_docs(root: Path) -> None:
    """Docstrings that say something else, names that are nowhere, excuses from docs."""
    _append(root, "torch/words/said.py", _DOCUMENTED)
    _append(root, "docs/source/conf.py", _CONF)
    _append(root, "docs/source/said.rst", ".. autofunction:: torch.words.said.stars\n")


def _write_tests(root: Path) -> None:
    _append(
        root,
        "test/functorch/test_vmap.py",
        'class TestVmap:\n    @skipOps("TestVmap",'
        ' "test_op_has_batch_rule", {\n        xfail("lonely", ""),  # no rule\n    })\n'
        "    def test_op_has_batch_rule(self): ...\n",
    )
    _append(
        root,
        "test/functorch/test_ops.py",
        '@skipOps("TestOperators", "test_jvpvjp", {\n'
        '    xfail("lonely"),  # NYI: forward-AD for lonely\n})\n'
        "def test_jvpvjp(self): ...\n",
    )
    _append(root, "CODEOWNERS", "\n/aten/src/ATen/native/ @kernel-people\n")
    _append(
        root,
        "test/test_mps.py",
        "UNIMPLEMENTED_XFAILLIST = {\n    'lonely': None,\n    'twice': [torch.uint8],\n}\n",
    )
    _append(
        root,
        "test/expect/HasDecompTest.test_has_decomposition.expect",
        "aten::_hidden\naten::lonely\naten::lonely_backward\naten::whole\n",
    )
    _append(
        root,
        "docs/source/tensors.rst",
        ".. currentmodule:: torch\n\n.. autosummary::\n\n    Tensor.whole\n    Tensor.relu\n",
    )


@pytest.fixture(scope="session")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index of the tree with the two operators."""
    root = Path(shutil.copytree(TREE, tmp_path_factory.mktemp("gaps") / "pytorch"))
    _write_operators(root)
    _write_python(root)
    _write_tests(root)
    _write_checks(root)
    _write_docs(root)
    _write_expectations(root)
    cache = tmp_path_factory.mktemp("gaps-index")
    with contextlib.closing(Index.open(Source.find(str(root)), cache)) as index:
        yield index


@pytest.fixture(scope="session")
def answer(grown: Index) -> GapList:
    """All gaps of that tree."""
    return find_gaps(grown, GapFilter(ALL))
