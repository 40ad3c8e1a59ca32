"""Marks: short codes for the types of arguments, receivers and names.

``T`` tensor, ``L`` list of tensors, ``S`` Scalar, ``i`` integer, ``d`` floating point, ``b`` bool,
``I`` list of integers, ``A`` list of Scalars, ``s`` string, ``O`` TensorOptions, ``D`` dtype, ``N``
nothing (``nullopt``, ``{}``), ``G`` Generator, ``?`` unknown. ``.name`` is the result of ``name``,
``.name#1`` its second part, ``.name.other`` the result of the method ``other`` on it,
``.Type::name`` the result of a class's method, ``.name[]`` an element of it. Any other type is its
own mark: ``TensorIterator``.
"""

from __future__ import annotations

from functools import lru_cache

from indexes.model.errors import CXX_NESTING
from indexes.model.idioms import LOOPS, split_outside
from indexes.model.regex import ASCII, regex

UNKNOWN = "?"
LIST = "{"
ITERATOR = "P"
"""``x.begin()``, which converts to no other type."""
"""Stands before the mark of what an argument of a method holds in braces: ``x.index({i, j})``."""
SWITCHED = "switch"
"""The receiver of a call whose result a ``switch`` uses."""
_TYPES = {
    "T": "Tensor TensorBase TensorRef OptionalTensorRef OptionalTensor Variable TensorArg",
    "L": "TensorList ITensorListRef MaterializedITensorListRef variable_list tensor_list",
    "S": "Scalar",
    "i": "int64_t uint64_t int32_t uint32_t int16_t uint16_t int8_t uint8_t int unsigned long short"
    " size_t ssize_t ptrdiff_t SymInt char",
    "d": "double float SymFloat",
    "b": "bool",
    "I": "IntArrayRef SymIntArrayRef OptionalIntArrayRef OptionalSymIntArrayRef DimVector"
    " SymDimVector SymIntList IntList",
    "s": "string string_view basic_string_view",
    "O": "TensorOptions",
    "D": "ScalarType TypeMeta",
    "N": "nullopt_t",
    "G": "Generator",
}
_MARKS = {name: mark for mark, names in _TYPES.items() for name in names.split()}
"""The C++ types of ATen and c10 in schemas of operators."""
_HOLDS_ONE = frozenset(("optional", "MaybeOwned", "reference_wrapper", "ExclusivelyOwned"))
_HOLDS_MANY = frozenset(
    "vector ArrayRef SmallVector array List IListRef OptionalArrayRef initializer_list".split()
)
_POINTS = frozenset(("unique_ptr", "shared_ptr", "intrusive_ptr", "weak_ptr"))
LISTS = {"T": "L", "i": "I", "S": "A", "L": UNKNOWN}
"""The mark of a list of each mark."""
ELEMENT = "[]"
"""The suffix for an element of a function's result: ``.unbind[]``."""
ELEMENTS = {"L": "T", "I": "i", "A": "S", "T": "T", "s": "i"}
"""The mark of ``x[i]``; for a tensor it is a tensor."""

_ADORNED = regex(
    r"(?:(?:static|const|constexpr|volatile|mutable|typename|inline|thread_local|struct|class"
    r"|unsigned|signed|long)\b\s*)+"
)
_TYPE = regex(r"(?:::)?((?:\w+\s*::\s*)*)(\w+)\s*(?:<(.*)>)?(?:::type)?\s*([\s&*\[\]]|const\b)*$")
STANDARD = ""
"""The mark of standard library types, through which nothing of the tree is reached."""


@lru_cache(16384)
def type_mark(text: str) -> str:
    """The mark of a type as written: ``const at::Tensor&``, ``std::vector<int64_t>``."""
    text = text.strip()
    plain = _ADORNED.sub("", text).strip()
    found = _TYPE.match(plain)
    if text.count("<") > CXX_NESTING:
        return UNKNOWN
    if not found:
        return "i" if not plain and text else UNKNOWN  # ``unsigned``, ``const long``
    within, name, inner, _ = found.groups()
    if inner is not None:
        return _template_mark(within, name, inner)
    if name == "char" and "*" in plain:
        return "s"
    if name in _MARKS:
        return UNKNOWN if "*" in plain and _MARKS[name] not in "TGO" else _MARKS[name]
    if within.startswith("std"):
        return STANDARD
    return UNKNOWN if name in ("auto", "void") or len(name) == 1 else name


_QUALIFIERS = regex(r"\b(?:\w+\s*(?:<[^<>;()]*>)?\s*::\s*)*$")
_LONGEST = 4000
"""Longest type with its template, in characters."""
_TUPLE = regex(r"(?:(?:static|inline)\s+)*std::(?:tuple|pair)\s*<(.*)>$")
_NO_TYPE = regex(r"\b(?:virtual|explicit|friend|__\w+__|[A-Z][A-Z0-9_]{2,}(?:\([^()]*\))?)\s+")


def result_mark(before: str) -> str:
    """The mark of a function's result, from the text before its name; for a tuple the marks of its
    elements, separated by spaces."""
    is_type = len(before) < _LONGEST
    type_ = _NO_TYPE.sub("", _QUALIFIERS.sub("", before)).strip() if is_type else ""
    if listed := _TUPLE.match(type_):
        parts = split_outside(listed[1], angles=True)
        return " ".join(one_letter(type_mark(part)) or UNKNOWN for part in parts)
    return type_mark(type_)


def _template_mark(within: str, name: str, inner: str) -> str:
    if name in _HOLDS_ONE or name in _POINTS:
        return type_mark(inner.split(",", maxsplit=1)[0] if name in _POINTS else inner)
    if name in _HOLDS_MANY:
        first = inner.rpartition(",")[0] if inner.count("<") == 0 and "," in inner else inner
        return LISTS.get(type_mark(first), STANDARD)
    if within.startswith("std"):
        return STANDARD
    return UNKNOWN if name == "decltype" or len(name) == 1 else name


# --------------------------------------------------------------------------- parameters

_PARAMETER = regex(r"(.*[\w>&*\])])\s*(?<!\w)(\w+)\s*((?:\[[^\]]*\])*)$", ASCII)


@lru_cache(4096)
def parameter_marks(parameters: str) -> tuple[tuple[str, str], ...]:
    """The names of parameters with the marks of their types."""
    if not parameters:
        return ()
    named = []
    for one in split_outside(parameters, angles=True):
        if found := _PARAMETER.match(one.partition("=")[0].strip()):
            type_, name, many = found.groups()
            mark = type_mark(type_)
            named.append((name, LISTS.get(mark, UNKNOWN) if many else mark))
    return tuple(named)


# -------------------------------------------------------------------------- expressions

_METHODS = {
    "T": "expect_contiguous",
    "I": "sizes strides sym_sizes sym_strides vec",
    "i": "dim ndimension numel sym_numel size sym_size stride sym_stride storage_offset"
    " sym_storage_offset itemsize element_size nbytes guard_int toInt toLong ntensors ndim"
    " use_count device_index get_device _nnz dense_dim sparse_dim",
    "d": "toDouble toFloat",
    "b": "defined has_value toBool empty is_cuda is_cpu is_mps is_xpu is_sparse is_contiguous"
    " requires_grad has_names is_mkldnn is_nested is_quantized is_meta is_floating_point is_complex"
    " is_conj is_neg isIntegral isFloatingPoint isComplex isBoolean",
    "D": "scalar_type dtype common_dtype typeMeta toScalarType",
    "O": "options",
}
_RESULTS = {name: mark for mark, names in _METHODS.items() for name in names.split()}
"""Results of methods of TensorBase, TensorIterator and Scalar that are no operators."""
_SAME = frozenset("value value_or vec toTensor front back at operand".split())
"""Methods that return the value of an optional or an element of a list."""
_TENSORS_OF_ITERATOR = frozenset(("tensor", "output", "input", "maybe_get_output", "operand"))


def method_mark(name: str, receiver: str, template: str) -> str:
    """The mark of ``receiver.name<template>(...)``."""
    if name in _SAME:
        if receiver in ("L", "I"):
            return receiver if name[0] == "v" else ELEMENTS[receiver]
        if name.startswith("value"):
            return receiver
    if "Iterator" in receiver and name in _TENSORS_OF_ITERATOR:
        return "T"
    if template and name in ("to", "item"):
        return one_letter(type_mark(template))
    if receiver == STANDARD:
        return UNKNOWN
    if name in _RESULTS:
        return _RESULTS[name]
    if receiver[:1] == ".":
        return f"{receiver}.{name}"
    if len(receiver) > 1 and receiver.isidentifier():
        return f".{receiver}::{name}"
    return f".{name}" if receiver == "T" else UNKNOWN


def one_letter(mark: str) -> str:
    """A mark, or unknown for one that is the name of a type."""
    return mark if len(mark) == 1 or mark.startswith(".") else UNKNOWN


_VALUES = frozenset("idbIAsDLNOGS")
"""Marks of types whose methods lead nowhere."""
_ACCESSORS = frozenset(
    "sizes strides sym_sizes sym_strides dim ndimension scalar_type dtype options device layout"
    " defined data_ptr const_data_ptr mutable_data_ptr unsafeGetTensorImpl key_set has_value value"
    " value_or storage itemsize".split()
)
"""Methods of TensorBase and of containers of tensors that are no operators."""


def leads_nowhere(name: str, qualifier: str, kind: str, receiver: str) -> bool:
    """Whether a call is of the standard library or an accessor."""
    if kind != "member":
        return qualifier.startswith("std")
    if receiver == STANDARD or (receiver in _VALUES and name not in LOOPS):
        return True
    return name in _ACCESSORS and (receiver == "T" or receiver[0] in ".?")


_INTEGER = regex(r"-?(?:0[xX][0-9a-fA-F]+|\d[\d']*)[uUlL]*$", ASCII)
_FLOATING = regex(r"-?(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFlL]?$", ASCII)
_WORDS = {"true": "b", "false": "b", "nullopt": "N", "nullptr": UNKNOWN, "this": "this"}
_DTYPE = regex(
    r"(?:(?:at|c10|torch)::)?k(?:[QUB]?(?:Float|Int|Char|Byte)|Complex|Half|BFloat|Double|Long|Short"
    r"|Bool)\w*$"
)
"""``at::kFloat``, ``kComplexDouble``, ``kUInt16``, as in c10/core/ScalarType.h."""


@lru_cache(16384)
def word_mark(text: str) -> str:
    """The mark of a literal, or of a name that the body does not declare."""
    first = text[0]
    if first.isdecimal() or first in "-.":
        if _INTEGER.match(text):
            return "i"
        return "d" if _FLOATING.match(text) else UNKNOWN
    if first == '"':
        return "s"
    qualifier, _, name = text.rpartition("::")
    if name in _WORDS:
        return _WORDS[name]
    if qualifier.endswith("ScalarType") or _DTYPE.match(text):
        return "D"
    return UNKNOWN


_COMPARISON = frozenset(("==", "!=", "<=", ">=", "<", ">"))
_SIMPLE = frozenset("idbIs")


def prefixed(operator: str, mark: str) -> str:
    """The mark of ``-x``, ``*x``, ``!x`` or ``&x``."""
    if operator == "!":
        return "T" if mark == "T" else "b"
    if operator in ("-", "+", "*", "~"):
        return mark
    return mark if operator == "&" and mark not in _SIMPLE else UNKNOWN


def combined(left: str, operator: str, right: str) -> str:
    """The mark of a binary operator's result."""
    if operator in ("&&", "||"):
        return "b"
    if "T" in (left, right):
        return "T"
    if left.startswith(".") or right.startswith("."):
        return left if left.startswith(".") else right
    if operator in _COMPARISON:
        return "b" if {left, right} & _SIMPLE else UNKNOWN
    if left == right:
        return left
    return "d" if {left, right} == {"i", "d"} else UNKNOWN
