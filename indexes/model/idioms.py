"""PyTorch's macro families, one row each, and the arguments of their uses.

Readers, codegen, linking, the store and queries all use this table. It says what the ``#define``
alone does not: which argument is the stub, the function, the key. A macro that only saves typing
(``OP_DECOMPOSE``, ``VMAP_SUPPORT``) needs no row: it is expanded by the tree's own ``#define``.

A new idiom is one row here, and a use of it in ``tests/tree`` with a mark beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from indexes.model.regex import regex

_Begin = Literal["declared", "defined", "registered", "impl_func", "meta_func", "library"]
_Inside = Literal["bindings", "dtypes", "cases", "scalar types", "function", "operator"]
Meaning = Literal[_Begin, _Inside, "opens", "closes"]
STUB_LINES = frozenset(("declared", "defined", "registered"))
"""The roles of a line about a stub."""
STRUCTURED: frozenset[Meaning] = frozenset(("impl_func", "meta_func"))
"""Kinds of definitions of structured kernels' functions."""
INTERPRETED = STUB_LINES | STRUCTURED | {"library"}
"""Meanings at namespace scope that the ``#define`` does not show."""
LIBRARY_METHODS = frozenset(("impl", "impl_UNBOXED", "def", "fallback"))
"""The registering methods of ``torch::Library`` (torch/library.h)."""


@dataclass(frozen=True, slots=True)
class Idiom:
    """A family of macros."""

    names: str
    """The regular expression for whole names."""
    means: Meaning
    """What a use does with a stub (``declared``, ``defined``, ``registered``), what it begins
    (``impl_func``, ``meta_func`` or a ``library`` block), chooses by (``dtypes``) or lists
    (``cases``, ``scalar types``), what its argument names (``function``, ``operator``), or that it
    ``opens`` or ``closes`` a namespace."""
    defined_in: str
    """PyTorch's file with the ``#define``."""
    arguments: str = "..."
    """The roles of its arguments, as in the ``#define``; ``...`` for any number of others."""
    device: str = ""
    r"""The device of a registration; ``\1`` for the first group of ``names``; empty if it depends
    on how the file is compiled."""

    def argument(self, role: str, given: Sequence[str]) -> str:
        """The argument with a role; empty if there is none."""
        roles = self.arguments.split()
        if role not in roles:
            return ""
        at, others = roles.index(role), roles.index("...") if "..." in roles else len(roles)
        if at > others:
            at = max(at + len(given) - len(roles), others)
        return given[at].strip() if at < len(given) else ""


_STUBS = "aten/src/ATen/native/DispatchStub.h"
_META = "aten/src/ATen/TensorMeta.h"
_TYPES = "aten/src/ATen/Dispatch.h"
_POINTER = "c10/core/CompileTimeFunctionPointer.h"
_LIBRARY = "torch/library.h"
_STABLE = "torch/csrc/stable/library.h"
_HIDDEN = "torch/headeronly/macros/Macros.h"
_DEVICE = r"\w*REGISTER_(CUDA|XPU|HIP|MPS|MTIA|PRIVATEUSE1)_DISPATCH"

IDIOMS = (
    # A pointer for each device and CPU capability; lines all over the tree set the entries.
    Idiom("DECLARE_DISPATCH", "declared", _STUBS, "... stub"),
    Idiom("DEFINE_DISPATCH", "defined", _STUBS, "stub"),
    Idiom("REGISTER_DISPATCH", "registered", _STUBS, "stub ... function"),
    Idiom(_DEVICE, "registered", _STUBS, "stub ... function", r"\1"),
    Idiom(r"\w*REGISTER_NO_\w+_DISPATCH", "registered", _STUBS, "stub", "CPU"),
    Idiom(r"\w*REGISTER_ARCH_DISPATCH", "registered", _STUBS, "stub architecture function", "CPU"),
    # REGISTER_AVX2_DISPATCH, REGISTER_ALL_CPU_DISPATCH, ALSO_REGISTER_AVX512_DISPATCH
    Idiom(r"\w*REGISTER_\w+_DISPATCH", "registered", _STUBS, "stub ... function", "CPU"),
    # What torchgen declares as structured_add_out::impl and structured_add_Tensor::meta
    Idiom("TORCH_IMPL_FUNC", "impl_func", _META, "operator"),
    Idiom("TORCH_(?:PRECOMPUTE_)?META_FUNC", "meta_func", _META, "operator"),
    Idiom("TORCH_(?:PRECOMPUTE_)?META_FUNC2", "meta_func", _META, "operator overload"),
    # A function whose body registers operators and kernels: m.def(...), m.impl(...)
    Idiom("TORCH_LIBRARY", "library", _LIBRARY, "namespace library"),
    Idiom("TORCH_LIBRARY_FRAGMENT", "library", _LIBRARY, "namespace library"),
    Idiom("TORCH_LIBRARY_IMPL", "library", _LIBRARY, "namespace key library"),
    # The same in extensions that are built against torch's stable ABI (torch/csrc/stable)
    Idiom("STABLE_TORCH_LIBRARY", "library", _STABLE, "namespace library"),
    Idiom("STABLE_TORCH_LIBRARY_FRAGMENT", "library", _STABLE, "namespace library"),
    Idiom("STABLE_TORCH_LIBRARY_IMPL", "library", _STABLE, "namespace key library"),
    # namespace torch::stable {, with a visibility
    Idiom("HIDDEN_NAMESPACE_BEGIN", "opens", _HIDDEN),
    Idiom("HIDDEN_NAMESPACE_END", "closes", _HIDDEN),
    # What an extension gives Python by pybind11: m.def("scale", &scale)
    Idiom("PYBIND11_(?:EMBEDDED_)?MODULE", "bindings", "pybind11/pybind11.h", "module library ..."),
    # A switch over ScalarType, what stands in one, and the macro that lists all types
    # (THO_: in torch/headeronly, for extensions too)
    Idiom(r"(?:_?AT|THO)_DISPATCH_CASE\w*", "cases", _TYPES),
    Idiom(r"(?:_?AT|THO)_DISPATCH_\w+", "dtypes", _TYPES),
    Idiom("AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS", "scalar types", "c10/core/ScalarType.h"),
    # Around the name of a kernel or of an operator
    Idiom("TORCH_(?:SELECTIVE_)?FN", "function", _POINTER, "function"),
    Idiom("TORCH_BOX", "function", _STABLE, "function"),
    Idiom("TORCH_SELECTIVE_(?:NAME|SCHEMA)", "operator", _LIBRARY, "operator"),
    Idiom("ATEN_FN2?", "operator", "aten/src/ATen/templates/Operators.h", "operator overload"),
)
"""The first row that matches a name counts."""


_PATTERNS = [(regex(row.names), row) for row in IDIOMS]


def names_of(*meanings: Meaning) -> str:
    """A regular expression for all names with one of these meanings, as a non-capturing group."""
    return f"(?:{'|'.join(row.names for row in IDIOMS if row.means in meanings)})"


@lru_cache(16384)
def idiom_of(macro: str) -> Idiom | None:
    return next((row for pattern, row in _PATTERNS if pattern.fullmatch(macro)), None)


def meaning_of(macro: str) -> Meaning | None:
    """What a macro means; None if it is no idiom."""
    row = idiom_of(macro)
    return row.means if row else None


def is_interpreted(macro: str) -> bool:
    """Whether uses of a macro at namespace scope are read as they are, not expanded."""
    return meaning_of(macro) in INTERPRETED


def stub_of(macro: str, arguments: str) -> str:
    """The stub of a line, as written (``cpublas::gemm_stub``); empty if none."""
    row = idiom_of(macro)
    return row.argument("stub", arguments.split(",")) if row else ""


class LibraryBlock(NamedTuple):
    """The arguments of a registration block's macro."""

    namespace: str
    key: str
    library: str
    """The library's variable: ``m``."""


@lru_cache(4096)
def library_block(arguments: str) -> LibraryBlock:
    """Reads ``aten, CPU, m``."""
    given = [part.strip() for part in arguments.split(",")]
    rows = [row for row in IDIOMS if row.means == "library"]
    row = next((row for row in rows if len(row.arguments.split()) == len(given)), rows[0])
    return LibraryBlock(*(row.argument(role, given) for role in ("namespace", "key", "library")))


LOOPS = frozenset(
    "parallel_for parallel_reduce for_each serial_for_each foreach_reduced_elt".split()
)
"""Loops over elements on the CPU: at::parallel_for and methods of TensorIterator."""

ELEMENT_LOOPS = frozenset(("cpu_kernel", "cpu_kernel_vec"))
"""Loops of CPU kernels over a function of single elements (native/cpu/Loops.h)."""


# ---------------------------------------------------------------------- arguments


def close(text: str, opened: int, pair: str = "()") -> int:
    """Offset of the bracket that closes the one at ``opened``; -1 if there is none."""
    depth, at = 0, opened
    while (closed := text.find(pair[1], at)) >= 0:
        depth += text.count(pair[0], at, closed) - 1
        if not depth:
            return closed
        at = closed + 1
    return -1


_SIGN = regex(r'"(?:\\.|[^"\\])*"?|->|[()\[\]{}<>,]')
"""A string, an arrow, a bracket or a comma."""


def split_outside(text: str, *, angles: bool = False) -> list[str]:
    """The parts between commas outside brackets and strings; ``angles``: whether ``<>`` are
    brackets, which they are not for the preprocessor."""
    parts, start, depth, angle = [], 0, 0, 0
    for found in _SIGN.finditer(text):
        sign = found[0]
        if sign == "," and not (depth or angle):
            parts.append(text[start : found.start()])
            start = found.end()
        elif sign in ("<", ">"):
            angle = max(angle + (1 if sign == "<" else -1), 0) if angles else 0
        else:
            depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
    return [*parts, text[start:]]


def first_argument(text: str, start: int) -> str:
    """The text from ``start`` to the comma or bracket that ends an argument; empty if there is
    none."""
    depth = 0
    for found in _SIGN.finditer(text, start):
        sign = found[0]
        if not depth and sign in (",", ")", "]", "}"):
            return text[start : found.start()]
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
    return ""


_NESTS = regex(r"[\"(\[{)\]}]")


def split_arguments(text: str) -> list[str]:
    """Top-level arguments of a macro use."""
    if not text.strip():
        return []
    parts = split_outside(text) if _NESTS.search(text) else text.split(",")
    return [part.strip() for part in parts]


VENDOR_NAMESPACES = {
    "ideep": "oneDNN",
    "dnnl": "oneDNN",
    "fbgemm": "FBGEMM",
    "cub": "CUB",
    "hipcub": "hipCUB",
    "thrust": "Thrust",
    "cutlass": "CUTLASS",
    "pocketfft": "pocketfft",
    "cudnn_frontend": "cuDNN",
    "nccl": "NCCL",
    "aotriton": "AOTriton",
    "sparse_gemm": "",
    "xnnpack": "",
}
"""The library of each vendor's namespace, whose functions return no tensors; empty for PyTorch's
own."""
