"""The arguments of an operator from the profiler's fields."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from navigator.trace.model import Input

_DTYPES = {
    "float": "float32",
    "double": "float64",
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "short": "int16",
    "short int": "int16",
    "int": "int32",
    "long": "int64",
    "long int": "int64",
    "unsigned char": "uint8",
    "unsigned short": "uint16",
    "unsigned int": "uint32",
    "unsigned long": "uint64",
    "c10::Half": "float16",
    "c10::complex<c10::Half>": "complex32",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
}
"""C++ type names from kineto and torch's names for them. Other spellings are converted:
``c10::Float8_e4m3fn`` loses its namespace and its capital."""

_BITS = re.compile(r"[a-z]+(\d+)")
"""``float8_e4m3fn``, ``bfloat16``, ``qint8``: the bits of an element."""

_SCALARS = frozenset("Scalar Int SymInt Double SymFloat Bool SymBool ComplexDouble Enum".split())
_SCALAR_LISTS = frozenset("ScalarList IntList SymIntList DoubleList BoolList".split())
_TENSOR_LIST = "TensorList"
_ANY_LIST = "GenericList"
"""A list of any kind, in profiles of 2021: of tensors if it has shapes."""
_OTHERS = frozenset(
    (
        "None GenericDict Tuple Object PyObject Generator Stream Quantizer Storage Future Capsule "
        "String Device"
    ).split()
)
"""Tags of ``c10::IValue`` that profiles print for values other than tensors."""


def dtype_name(cpp: str) -> str:
    bare = cpp.removeprefix("c10::")
    return _DTYPES.get(cpp) or (bare if bare == cpp else bare.lower())


def item_size(dtype: str) -> int | None:
    """Bytes per element of a dtype by torch's name; None if the name does not say."""
    bits = _BITS.match(dtype)
    return 1 if dtype == "bool" else int(bits[1]) // 8 if bits else None


def parse_inputs(types: bytes, dims: bytes, strides: bytes, values: bytes) -> tuple[Input, ...]:
    """From the JSON texts of ``Input type``, ``Input Dims``, ``Input Strides`` and ``Concrete
    Inputs``, any of which may be empty. Skips what can't be parsed."""
    columns = [_array(text) for text in (types, dims, strides, values)]
    return tuple(_input(*row) for row in zip_longest(*columns))


def output_text(types: bytes, dims: bytes) -> str:
    """``float32[2, 8], int64[3]`` for the tensors that an operator returned."""
    pairs = zip(_array(types), _array(dims), strict=False)
    return ", ".join(f"{dtype_name(str(kind))}{list(_ints(shape))}" for kind, shape in pairs)


def _array(text: bytes) -> list[Any]:
    if not text:
        return []
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def _input(kind: Any, dims: Any, strides: Any, value: Any) -> Input:
    if kind is None and not dims and value is None:  # as in profiles of early 2021
        return Input("any")
    name = kind if isinstance(kind, str) else ""
    text = value if isinstance(value, str) else ""
    if name in _SCALAR_LISTS:
        return Input("scalars", value=text)
    if name == _TENSOR_LIST or _is_nested(dims):
        return Input("tensors", elements=tuple(_ints(d) for d in _list(dims)))
    if name == _ANY_LIST:
        return Input("list", value=text)
    if name in _SCALARS:
        return Input("scalar", value=text)
    if (name or dims) and name not in _OTHERS:
        return Input("tensor", dtype_name(name), _ints(dims), _strides(strides))
    return Input("other", value=text)


def _strides(value: Any) -> tuple[int, ...] | None:
    return _ints(value) if isinstance(value, list) else None


def _is_nested(dims: Any) -> bool:
    return isinstance(dims, list) and any(isinstance(d, list) for d in dims)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _ints(value: Any) -> tuple[int, ...]:
    return tuple(v for v in _list(value) if isinstance(v, int))
