"""Operators of the grown tree, with what C++, YAML and Python say of each."""

from __future__ import annotations

from pathlib import Path

from tests.indexing import append

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


def write_operators(root: Path) -> None:
    yaml = "aten/src/ATen/native/native_functions.yaml"
    for name in _NAMES:
        keys = "CPU, CUDA, MPS" if name == "whole" else "CPU, CUDA"
        append(root, {yaml: _ENTRY.format(name=name, keys=keys)})
    for name in _STRUCTURED:
        append(root, {yaml: _CONVERTED.format(name=name)})
    append(root, {yaml: _TWICE})
    rows = (root / yaml).read_text()
    assert "    CUDA: empty_cuda\n" in rows
    (root / yaml).write_text(
        rows.replace("    CUDA: empty_cuda\n", "    CUDA: empty_cuda\n    MPS: empty_mps\n")
    )
    made = "\n".join(f"TORCH_IMPL_FUNC({n}_out)(const Tensor& self) {{}}" for n in _STRUCTURED)
    kernels = "aten/src/ATen/native/"
    append(
        root,
        {
            f"{kernels}Lonely.cpp": _KERNELS % made,
            f"{kernels}Lonely.h": (
                "namespace at::native {\n"
                "DECLARE_DISPATCH(void (*)(DeviceType, const Tensor&, int64_t), lonely_stub);\n}\n"
            ),
        },
    )
    register = (
        "namespace at::native {{ static void {0}_kernel(const Tensor& t, int64_t n) {{}}\n"
        "REGISTER_DISPATCH(lonely_stub, &{0}_kernel); }}\n"
    )
    append(
        root,
        {
            f"{kernels}cpu/LonelyKernel.cpp": register.format("cpu"),
            f"{kernels}cuda/LonelyKernel.cu": register.format("cuda"),
        },
    )
    for name, comment in (("count_here", "// one"), ("count_there", "// another")):
        text = "namespace at::native {\n" + _BODY.format(name=name, comment=comment) + "}\n"
        append(root, {f"{kernels}{name}.cpp": text})
    append(
        root,
        {
            f"{kernels}README.md": (
                "kernels which call\n    DispatchStub should NOT be"
                " registered as CompositeExplicitAutograd\n"
            ),
            "aten/src/ATen/functorch/BatchRulesWhole.cpp": "RULES_OF_ITS_OWN(whole, 1)\n",
            "tools/autograd/derivatives.yaml": "\n".join(
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
        },
    )


def write_python(root: Path) -> None:
    append(
        root,
        {
            "torch/_torch_docs.py": "\n".join(
                [
                    "",
                    'add_docstr(torch.lonely, r"""',
                    "lonely(input, length) -> Tensor",
                    "",
                    "The length is that of ``input[:length]``, not 'length'.",
                    "",
                    "Args:",
                    "    length (int): how long, :attr:`length`",
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
            "torch/_tensor_docs.py": "\n".join(
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
        },
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
    append(
        root,
        {
            "torch/_decomp/decompositions.py": (
                "\n\n@register_decomposition(aten.whole)\ndef whole(self, size):\n    return self\n"
            ),
            "torch/_inductor/lowering.py": (
                "\n\n# 1) Easy\n"
                "make_fallback(aten.lonely)  # try it\n\n"
                "# 5) Impossible\nmake_fallback(aten.twice)\n"
            ),
            "torch/overrides.py": (
                "\n\ndef get_ignored_functions():\n"
                "    Tensor = torch.Tensor\n"
                "    return {torch.ignored, Tensor.ignored}\n\n\n@decorated\n"
                "def more():\n    pass\n"
            ),
        },
    )
