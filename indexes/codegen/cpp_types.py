"""C++ parameter types of kernels: as torchgen declares them and as source spells them.

torchgen maps schema types to C++ types (torchgen/api/{cpp,native,structured}.py). Source spells the
same types in many ways: ``c10::optional`` and ``std::optional``, ``IntArrayRef`` and
``ArrayRef<int64_t>``, ``SparseTensor`` for ``Tensor``. ``normalize`` maps both to one form without
qualifiers, ``const`` and references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import not_

from indexes.model.idioms import split_outside
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import NativeFunction

_NO_ALIASES: Mapping[str, str] = {}

# ------------------------------------------------------------------- what torchgen declares

_BASE = {"int": "int64_t", "float": "double", "str": "string_view"}


def native_parameters(function: NativeFunction, symint: bool) -> tuple[str, ...]:
    """Normalized parameter types of the ``at::native`` function of an entry.

    ``symint``: whether the kernel takes SymInt, which torchgen decides by ``_symint`` in its name.
    """
    lists = "ITensorListRef" if function.structured or function.structured_delegate else ""
    arguments = parse_schema(function.schema).arguments
    return tuple(_native(a.type, symint, lists or "ArrayRef<Tensor>") for a in arguments)


_OPTIONS = ("ScalarType", "Layout", "Device", "bool")


def with_options_as_one(types: tuple[str, ...]) -> tuple[str, ...]:
    """Parameter types before 1.8, with the four options of a factory in one."""
    given = tuple(one.removeprefix("optional<").rstrip(">") for one in types)
    for at in range(len(types) - len(_OPTIONS) + 1):
        if given[at : at + len(_OPTIONS)] == _OPTIONS:
            return (*types[:at], "TensorOptions", *types[at + len(_OPTIONS) :])
    return types


def with_out_first(types: tuple[str, ...], function: NativeFunction) -> tuple[str, ...]:
    """Parameter types before 1.8, with the out arguments in front of the others, and an undefined
    tensor for one that is not given."""
    outs = [one.is_out for one in parse_schema(function.schema).arguments]
    given = tuple("Tensor" if one == "optional<Tensor>" else one for one in types)
    return (*compress(given, outs), *compress(given, map(not_, outs)))


def structured_parameters(out: NativeFunction) -> tuple[str, ...]:
    """Normalized parameter types of the ``impl`` of a structured out overload
    (``TORCH_IMPL_FUNC``), where precomputed values replace the arguments they are made from."""
    replaced, added = _precomputed(out.precomputed)
    types: list[str] = []
    outs: list[str] = []
    for argument in parse_schema(out.schema).arguments:
        if argument.is_out:
            outs.append(_structured(argument.type))
        elif argument.name in replaced and not argument.kwarg_only:
            types += replaced[argument.name]
        else:
            types.append(_structured(argument.type))
    return (*types, *added, *outs)


def meta_parameters(out: NativeFunction) -> tuple[str, ...]:
    """Normalized parameter types of the ``meta`` of a structured group (``TORCH_META_FUNC``)."""
    arguments = parse_schema(out.schema).arguments
    return tuple(_structured(a.type) for a in arguments if not a.is_out)


def _native(type_: str, symint: bool, tensors: str) -> str:
    """As torchgen/api/native.py and cpp.py."""
    if type_.endswith("?"):
        return f"optional<{_native(type_[:-1], symint, tensors)}>"
    elem, size = _list(type_)
    if elem == "Tensor":
        return tensors
    if elem == "Tensor?":
        return "List<optional<Tensor>>"
    if elem is not None:
        return _list_of(elem, size, _native(elem, symint, tensors))
    if type_ == "SymInt":
        return "SymInt" if symint else "int64_t"
    return _BASE.get(type_, type_.rpartition(".")[2])


def _structured(type_: str) -> str:
    """As torchgen/api/structured.py: no SymInt, and lists of tensors by reference."""
    if type_.endswith("?"):
        return f"optional<{_structured(type_[:-1])}>"
    elem, size = _list(type_)
    if elem == "Tensor?":
        return "IOptTensorListRef"
    if elem is not None and elem != "Tensor":
        return _list_of(elem, size, _structured(elem))
    return _native(type_, False, "ITensorListRef")


def _list(type_: str) -> tuple[str | None, str]:
    """Element type and size of ``int[2]``; None for other types."""
    if not type_.endswith("]"):
        return None, ""
    elem, _, size = type_[:-1].rpartition("[")
    return elem, size


def _list_of(elem: str, size: str, cpp_elem: str) -> str:
    return f"array<bool,{size}>" if elem == "bool" and size else f"ArrayRef<{cpp_elem}>"


def _precomputed(lines: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Replacements by ``dim -> int dim, int valid``, and additions by a line without arrow."""
    replaced: dict[str, list[str]] = {}
    added: list[str] = []
    for line in lines:
        name, arrow, values = line.partition(" -> ")
        types = [_structured(v.split()[0]) for v in (values if arrow else line).split(",") if v]
        if arrow:
            replaced[name.strip()] = types
        else:
            added += types
    return replaced, added


# --------------------------------------------------------------------- what source spells

_ALIASES = {
    "SparseTensor": "Tensor",
    "SparseCsrTensor": "Tensor",
    "TensorList": "ArrayRef<Tensor>",
    "IntArrayRef": "ArrayRef<int64_t>",
    "IntList": "ArrayRef<int64_t>",
    "SymIntArrayRef": "ArrayRef<SymInt>",
    "DimnameList": "ArrayRef<Dimname>",
    "OptionalTensorRef": "optional<Tensor>",
    "OptionalScalarRef": "optional<Scalar>",
    "OptionalIntArrayRef": "optional<ArrayRef<int64_t>>",
    "OptionalSymIntArrayRef": "optional<ArrayRef<SymInt>>",
}
"""Type aliases in public headers of ATen and c10."""
_TOKEN = regex(r'[A-Za-z_]\w*|::|\.\.\.|"(?:\\.|[^"\\])*"|[^\s\w]|\d\w*')
_COMMENT = regex(r"/\*.*?\*/|//[^\n]*|\[\[[^\]]*\]\]", re.S)
_DROPPED = frozenset(("const", "volatile", "struct", "class", "enum", "typename", "&", "register"))
_FUNDAMENTAL = frozenset(
    ("unsigned", "signed", "long", "short", "int", "char", "bool", "float", "double", "void")
)
_OPENING = frozenset("(<[{")
_CLOSING = frozenset(")>]}")


@lru_cache(maxsize=65536)
def split_parameters(text: str) -> tuple[str, ...]:
    """The parameter types as spelled, without names, default values and comments."""
    parameters = tuple(map(_parameter, written_parameters(text)))
    return () if parameters in (("",), ("void",)) else parameters


def written_parameters(text: str) -> list[str]:
    """The text of each parameter with name and default value; one empty text for none."""
    if "/" in text or "[[" in text:
        text = _COMMENT.sub(" ", text)
    return split_outside(text, angles=True)


def _parameter(text: str) -> str:
    return _spelled(_TOKEN.findall(text))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_COMMENT.sub(" ", text) if "/" in text or "[[" in text else text)


@lru_cache(maxsize=65536)
def _plain(text: str) -> str:
    return _canonical(text, _NO_ALIASES)


def normalize(type_text: str, aliases: Mapping[str, str] = _NO_ALIASES) -> str:
    """One spelling for each type: ``const c10::optional<at::IntArrayRef> & x = {}`` and
    ``OptionalIntArrayRef`` both give ``optional<ArrayRef<int64_t>>``."""
    if not aliases or aliases.keys().isdisjoint(_TOKEN.findall(type_text)):
        return _plain(type_text)
    return _canonical(type_text, aliases)


def _spelled(tokens: list[str]) -> str:
    depth = 0
    end = len(tokens)
    for i, token in enumerate(tokens):
        depth += (token in _OPENING) - (token in _CLOSING)
        if token == "=" and depth == 0:
            end = i
            break
    return _joined(_without_name(tokens[:end]))


def _without_name(tokens: list[str]) -> list[str]:
    """Drops the identifier after a complete type: ``Tensor & self`` -> ``Tensor &``."""
    tokens = _without_leading_macro(tokens)
    depth = 0
    complete = False
    for i, token in enumerate(tokens):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth or token in _DROPPED or token in ("*", "::", "...") or token in _OPENING:
            complete = complete and token != "::"
        elif token in _CLOSING or token in _FUNDAMENTAL:
            complete = True
        elif complete:
            return tokens[:i]
        else:
            complete = i + 1 == len(tokens) or tokens[i + 1] not in ("::", "<")
    return tokens


def _without_leading_macro(tokens: list[str]) -> list[str]:
    """Drops an attribute macro such as C10_UNUSED."""
    names = [t for t in tokens if t.isidentifier() and t not in _DROPPED]
    if len(names) > 1 and tokens[0] == names[0] and tokens[0].isupper() and "_" in tokens[0]:
        return tokens[1:]
    return tokens


def _joined(tokens: Sequence[str]) -> str:
    """Tokens as text, with spaces only between words."""
    text = ""
    for token in tokens:
        words = token[0].isalnum() or token[0] == "_"
        space = words and text and (text[-1].isalnum() or text[-1] in "_>&*")
        text += f" {token}" if space else token
    return text


def _canonical(text: str, aliases: Mapping[str, str], depth: int = 0) -> str:
    tokens = [t for t in _tokens(_spelled(_tokens(text))) if t not in _DROPPED]
    result: list[str] = []
    for i, token in enumerate(tokens):
        if token == "::":
            continue
        if token.isidentifier() and tokens[i + 1 : i + 2] == ["::"]:
            result += (token, "::") if token[0].isupper() else ()
        else:
            result.append(token)
    return _joined(_unaliased(result, aliases, depth)).replace(", ", ",")


def _unaliased(tokens: list[str], aliases: Mapping[str, str], depth: int) -> list[str]:
    result: list[str] = []
    for i, token in enumerate(tokens):
        meaning = aliases.get(token) or _ALIASES.get(token)
        if meaning is not None and meaning != token and depth < 8:
            result.append(_canonical(meaning, aliases, depth + 1))
        elif token == "OptionalArrayRef" and tokens[i + 1 : i + 2] == ["<"]:
            return [*result, *_optional_array(tokens[i + 1 :], aliases, depth)]
        else:
            result.append(token)
    return result


def _optional_array(tokens: list[str], aliases: Mapping[str, str], depth: int) -> list[str]:
    """Replaces ``OptionalArrayRef<X>`` by ``optional<ArrayRef<X>>``."""
    level = 0
    for i, token in enumerate(tokens):
        level += (token == "<") - (token == ">")
        if level == 0:
            inner = _unaliased(tokens[: i + 1], aliases, depth)
            rest = _unaliased(tokens[i + 1 :], aliases, depth)
            return ["optional", "<", "ArrayRef", *inner, ">", *rest]
    return tokens
