"""Which conditions hold in the usual case: dense, real, floating, contiguous tensors, arguments
that are given, and a build with CUDA, cuDNN, MKL and oneDNN.

They are judged by PyTorch's own words in the condition; otherwise they are unknown.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from indexes.model.files import EMPTY_LIST, Branch
from indexes.model.idioms import close
from indexes.model.regex import regex
from indexes.model.vocabulary import Choice

_OTHER_TENSORS = r"is_?sparse|Sparse|is_?quantized|qscheme|isQIntType|is_?nested|\bis_mkldnn"
"""Asks whether a tensor is of another layout or quantized: of other dispatch keys."""
_NEVER = regex(
    rf"{_OTHER_TENSORS}|[iI]s_?[cC]omplex|\bsize(?:\d*|\([^()]+\))\s*[!=]=\s*1\b|\bk?Complex(?:Half|Float|Double)\b"
    r"|is_?meta\b|is_(?:metal|hpu|ipu|mtia|xla|lazy|maia|ort)\b"
    r"|\bcount(?:\(\))?\s*[!=]=\s*0|is_empty|\bempty\(\)|_is_zerotensor|is_neg\b|is_conj\b"
    r"|requires_(?:grad|conj|neg)|_fw_grad|SubclassLike|has_names|[dD]eterministic|\bbenchmark|half_to_float"
    r"|(?:is|has)_symbolic|[bB][fF]loat16|half_t\b|(?:\b|k)Half|[rR]educed_?[fF]loat|Float8|bf16|bf32|fp16|kBool|::Bool\b"
    r"|isIntegralType|is_integral|kLong|kInt\b|kByte|\b(?!\w*reduce|dim_?\s*=)\w*dim\w*\s*==\s*[01]\b|isBatched|ChannelsLast|channels_last"
    r"|\bis_same_v<\w+,\s*(?:double|bool|u?int(?:\d+_t)?)>"
    r"|\bbatchCount\([^()]*\)\s*>=?\s*(?:1\b|2\b|std::max\b)"
    r"|USE_ROCM|__HIP|[mM]iopen|MIOPEN|nnpack|NNPACK|[vV]ulkan|VULKAN"
    r"|\.stride\(1\)\s*==\s*\w+\.size\(0\)|\bsrc\s*[!=]=\s*dst\b|&\w+\s*[!=]=\s*&\w+|POCKETFFT|C10_MOBILE|C10_IOS|__APPLE__|_MSC_VER|_WIN32|__aarch64__|__ARM|__ANDROID__|FBCODE|AT_ROCM"
    r"|\s>=?\s.*numeric_limits|\bCU\w+_VERSION\)?\s*<|\bcc\s*(?:<=?\s*[5-7]\d|<\s*80)\b|kMetal|kleidi|KLEIDI|AVX512|Backend::Magma"
)
_ALWAYS = regex(
    r"defined\(\)|has_storage|\bnumel\(\)$|(?:\bsize\(\w+\)|sizes(?:\(\))?\)*\[\w+\])\s*>\s*1\b|\bp\s*(?:>\s*0|<\s*1)(?:\.0*)?$|\w*(?:\bcount|seqlen\w*|size)(?:\(\))?\s*>\s*0\b|\b(?!dim_?\s*=)\w*dim\w*(?:\(\))?\s*==\s*2\b|\bsame(?:_|[A-Z])|::Contiguous\b|has_value\(\)|is_contiguous|(?<!non)_contiguous(?:_or_\w+)?\b(?!(?:\(\))?\)*(?:\.|->))|isFloatingType"
    r"|is_floating_point|(?:k|ScalarType::)Float\b|kStrided|_correct$|\bord\s*>\s*0\b|\b(?:nnz|[MNn]|n_?values)\s*>\s*0\b|\bis_same_v<(?:\w+,\s*float|(?P<of>\w+),\s*(?:at::)?opmath_type<(?P=of)>)>"
    r"|\bbatchCount\([^()]*\)\s*[!=]=\s*1\b|is_non_overlapping|canUse32Bit|use_?32"
    r"|AT_(?:MKL|MKLDNN|CUDNN|MAGMA|FBGEMM)\w*ENABLED|USE_(?:CUDA|CUDNN|CUSOLVER|MKL|MKLDNN|FBGEMM|LINALG)"
    r"|AT_BUILD_WITH|(?:use|is)_blas|USE_(?:FLASH|MEM_EFF)|\bCU\w+_VERSION\)?\s*(?:>|$)|hasMAGMA"
    r"|\b(?:dim_|wrapped_dim)\s*==\s*[\w.]*(?:dim|ndimension)\(\)\s*-\s*1|hasMKL|CPU_CAPABILITY_AVX2\b|\bvec_size\s*>\s*1\b"
    r"|__linux__|__x86_64__|__GNUC__\b|_OPENMP|or_newer|\b\w+\s%\s\w+\s==\s0\b|\bcan_?vec|(?<![mM]is)[aA]ligned|\s<=?\s.*numeric_limits"
)
_OF_BOTH = regex(
    r"\b(dtype|scalar_type|layout|device|is_conj|is_neg)(?:\(\d*\))?\s*[!=]=\s*[\w.>()-]*\b\1\b"
)
"""Comparisons of two tensors' properties, which are usually equal."""
_DEVICES = {
    "CUDA": regex(
        r"is_cuda|kCUDA|__CUDACC__|::CUDA\b|[cC]udnn\b|CUDNN|cudnn_is_acc|use_cudnn|cudnnv\d|::Cusolver\b"
    ),
    "CPU": regex(r"is_cpu|kCPU|::CPU\b|[mM]kldnn\b|^cpu$"),
    "MPS": regex(r"is_mps|kMPS|::MPS\b|[mM]ps\b|USE_MPS"),
    "XPU": regex(r"is_xpu|kXPU|::XPU\b"),
    "PrivateUse1": regex(r"is_privateuseone|kPrivateUse1|::PrivateUse1\b"),
}
_SPECIAL = regex(
    r"miopen|magma|xnnpack|nnpack|vulkan|rocm|rocshmem|hip\b|acl\b|qnnp", re.IGNORECASE
)


@lru_cache(8192)
def is_special(symbol: str) -> bool:
    """Whether a function is for a vendor or library that usual builds lack."""
    return bool(_SPECIAL.search(symbol))


_HEAD = regex(r"^(?:(?:if|switch)\s*(?:constexpr\s*)?|#if\s*)")


Defaults = tuple[tuple[str, str], ...]
"""Values of arguments that are not given: ``label_smoothing``: ``0.0``; or whether one is given:
``dim?``: ``False``."""


@lru_cache(8192)
def holds(condition: str, device: str, defaults: Defaults = (), given: bool = True) -> bool | None:
    """Whether a condition holds in the usual case; None if unknown. ``given``: optional arguments
    are given."""
    text = _TURNED.sub(r"\3 \2 \1", unwrapped(condition.strip()))
    if text in _LITERALS:
        return _LITERALS[text]
    if ways := _ternary(text):
        test = holds(ways[0], device, defaults)
        return None if test is None else holds(ways[1 if test else 2], device, defaults, given)
    for sign, dominant in (("||", True), ("&&", False)):
        if len(parts := split_at(text, sign)) > 1:
            return _joined([holds(part, device, defaults, given) for part in parts], dominant)
    if (tested := _IS_TRUE.match(text)) and close(text, 0) == tested.end(1) - 1:
        return holds(tested[1], device, defaults, given)
    if text.startswith("!") and not text.startswith("!="):
        inner = holds(text[1:], device, defaults, given)
        return None if inner is None else not inner
    known = _by_value(text, device, defaults) if defaults else None
    known = _by_size(text) if known is None else known
    if known is None and (given or "has_value" not in text):
        return _atom(text, device)
    return known


def is_of_other_builds(guard: str, path: str, device: str) -> bool:
    """Whether the guard or the file's name of a function keeps it from usual builds:
    ``ROCmLoops.cuh``."""
    is_guarded = bool(guard) and holds(guard, device) is False
    return is_guarded or is_special(path.rpartition("/")[2])


_LITERALS = {"true": True, "false": False}
_IS_TRUE = regex(r"(\(.+)\)\s*==\s*(?:true|1)$")
_TURNED = regex(r"^(\d+)\s*([!=]=)\s*([^&|]+)$")
"""A comparison with the number first: ``0 == iter.numel()``."""
_ASKS_GIVEN = regex(r"_?(?:has_)?(\w+?)(?:\.(?:defined|has_value)\(\))?$")
"""``dim.has_value()``, ``has_out``."""
_ASKS_EMPTY = regex(r"(\w+)\.empty\(\)$")
_COMPARED = regex(r"(.+?)\s*([=!<>]=|(?<=\s)[<>](?=\s))\s*(.+)$")
_LITERAL = regex(r"(?:(?:std::)?string_view\()?\"([^\"]*)\"\)?$|(-?\.?\d[\d.eE-]*)[fFlLuU]*$")
_NAMED = regex(r"\*?((?:\w+::)*)(?:[A-Za-z_]\w*(?:\.|->))?(\w+)$")
"""A name, or a member that keeps an argument of its name: ``params.transposed``."""
_CONVERTED = regex(r"\.(?:value|to\w*(?:<\w+>)?)\(\)$")
"""``alpha.toDouble()`` of a ``Scalar``, ``dim.value()`` of an optional."""
_ABSOLUTE = regex(r"(?:std::)?abs\((.*)\)$")
_FALLBACK = regex(r"(\w+)\.value_or\((.*)\)$")
_CONSTANT = regex(r"[A-Z]+(?:[a-z]|[A-Z0-9]_?[A-Z0-9])|k[A-Z]\w")
_ONE_SIZE = regex(r"(\w+)\.size(?:s\(\)(?:\[0\]|\.back\(\))|\(0\))\s*([!=]=)(?!\s*\d)")
"""Compares the size of a tensor of one dimension, a bias, with another, usually of the outputs."""
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_OF_SIZE = regex(r"[\w:.>()-]*(?:numel|elements)\w*(?:\(\))?$")
_SIZES = (1_000, 1_000_000_000)
_OF_RANK = regex(r"[\w:.>()-]*(?:\.|->)(?:dim|ndimension)\(\)$")
"""Of a tensor: ``ndim()`` is a TensorIterator's, which joins dimensions. Another number than one is
what checks refuse, mostly."""
_RANKS = (2, 3, 4, 5)
NONE = "None"
"""The value of an argument that is not given."""


OR = " or "
"""Between the values that a function may return."""
CASTS = "casts"
"""The name under which is kept that an operator gives another dtype to what it copies."""
_SAME_TYPE = regex(
    r"\b(?:dtype|scalar_type)(?:\(\d*\))?\s*([!=]=)\s*[\w.>()-]*\b(?:dtype|scalar_type)\b"
    r"|\bsame_?(?:data_?)?d?type",
    re.IGNORECASE,
)
"""Asks whether two tensors have one dtype."""
_CASTS_EACH = "dynamic_casting"
"""Asks whether elements are converted as a kernel loads and stores them."""


def _by_value(text: str, device: str, defaults: Defaults) -> bool | None:
    """Whether ``name`` or ``name > 0.0`` holds for the values of arguments."""
    given, value = dict(defaults), value_of(text, device, defaults)
    if CASTS in given and (asked := _SAME_TYPE.search(text)):
        return asked[1] == "!="
    if CASTS in given and _CASTS_EACH in text:
        return True
    if (value or "").lower() in _LITERALS:
        return value == "True"
    if (tested := _ASKS_GIVEN.match(text)) and f"{tested[1]}?" in given:
        return given[f"{tested[1]}?"] == "True"
    if (listed := _ASKS_EMPTY.match(text)) and given.get(listed[1]) == EMPTY_LIST:
        return True
    if (sized := _ONE_SIZE.match(text)) and given.get(f"{sized[1]}.dim()") == "1":
        return sized[2] == "=="
    found = _COMPARED.match(text)
    if not found or found[1].count("(") != found[1].count(")"):
        return None
    values = [_single(value_of(found[side], device, defaults)) for side in (1, 3)]
    sides = [_number(one or "") for one in values]
    numbers = [isinstance(one, float) for one in sides]
    if None in values or (any(numbers) and any(_is_constant(found[n], given) for n in (1, 3))):
        return None
    if all(numbers) or found[2] in ("==", "!="):
        return _COMPARISONS[found[2]](*sides)
    return None


def _by_size(text: str) -> bool | None:
    """Whether a comparison of a number of elements or dimensions holds for all usual ones."""
    found = _COMPARED.match(text)
    sides = [unwrapped(found[side].strip()) for side in (1, 3)] if found else ("", "")
    limit = int(sides[1]) if sides[1].isdecimal() else _SIZES[1]
    is_rank = limit <= _RANKS[0] and _OF_RANK.match(sides[0]) and _DIFFERS.search(text) is None
    usual = _RANKS if is_rank else _SIZES if _OF_SIZE.match(sides[0]) else ()
    held = {_COMPARISONS[found[2]](one, limit) for one in usual if found}
    return held.pop() if len(held) == 1 else None


def _single(value: str | None) -> str | None:
    return None if value is None or OR in value else value


@lru_cache(8192)
def value_of(text: str, device: str, defaults: Defaults) -> str | None:
    """The value of an expression for values of arguments; None if unknown."""
    if answered := text if text == EMPTY_LIST else _answered(text, defaults):
        return answered
    text = unwrapped(_CONVERTED.sub("", text.strip()))
    if found := _ABSOLUTE.match(text):
        return (value_of(found[1], device, defaults) or "").lstrip("-") or None
    if ways := _ternary(text):
        test = holds(ways[0], device, defaults)
        return None if test is None else value_of(ways[1 if test else 2], device, defaults)
    if literal := _LITERAL.match(text):
        return literal[1] if literal[2] is None else literal[2]
    given = dict(defaults)
    if text[:1] == "!" or any(len(split_at(text, sign)) > 1 for sign in ("&&", "||")):
        held = holds(text, device, defaults, given=False)
        return None if held is None else str(held)
    if (found := _ASKS_GIVEN.match(text)) and "(" in text:
        return given.get(f"{found[1]}?")
    if found := _FALLBACK.match(text):
        is_left_out = given.get(f"{found[1]}?", str(given.get(found[1]) != NONE)) == "False"
        return value_of(found[2], device, defaults) if is_left_out else _given(found[1], given)
    if not (found := _NAMED.match(text)):
        return None
    scope, name = found.groups()
    if scope or (name not in given and f"{name}?" not in given):
        return _PLAIN.get(name, name if scope or _CONSTANT.match(name) else None)
    return _given(name, given)


_CALL = regex(r"(?:[\w.]|::|->|\(\)(?=\.|->))*?(\w+)\(")


def answer_of(name: str) -> str:
    """The name under which a function's result is kept among the values of arguments."""
    return f"{name}()"


def _answered(text: str, defaults: Defaults) -> str | None:
    text, given = unwrapped(text.strip()), dict(defaults)
    found = _CALL.match(text) if text[-1:] == ")" else None
    if found is None or close(text, found.end() - 1) != len(text) - 1:
        return None
    keys = (f"{found[0]})", text[found.start(1) :], answer_of(found[1]))
    return next((given[key] for key in keys if key in given), None)


_PLAIN = {"true": "True", "false": "False", "nullopt": NONE}


def _is_constant(text: str, given: Mapping[str, str]) -> bool:
    """Whether a text is a name of unknown value that is no argument's."""
    found = _NAMED.match(unwrapped(text.strip()))
    return found is not None and not text.strip().isdecimal() and found[2] not in given


def _given(name: str, given: Mapping[str, str]) -> str | None:
    """The value of an argument; None if it may be given, whatever its default."""
    if given.get(f"{name}?") == "False":
        return NONE
    value = given.get(name, NONE).strip("'\"")
    return None if value == NONE else value


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _ternary(text: str) -> tuple[str, str, str] | None:
    if "?" not in text:
        return None
    condition, *ways = split_at(text, "?")
    first, *others = split_at("?".join(ways), ":") if ways else ("",)
    return (condition, first, ":".join(others)) if others else None


def _joined(values: Sequence[bool | None], dominant: bool) -> bool | None:
    """``or`` if True is dominant, ``and`` if False is."""
    if dominant in values:
        return dominant
    return None if None in values else not dominant


def unwrapped(text: str) -> str:
    """A text without the brackets around all of it."""
    while text.startswith("(") and close(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    return text


_SIGNS = regex(r"[()\[\]{}]|\|\||&&|::|[?:]")


def split_at(text: str, operator: str) -> list[str]:
    """The parts of a condition around an operator that is in no brackets."""
    parts, depth, start = [], 0, 0
    for found in _SIGNS.finditer(text):
        if found[0] == operator and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
        depth += (found[0] in "([{") - (found[0] in ")]}")
    return [*parts, text[start:]]


_FLAG = regex(r"(!?)\s*(\w+)$")


def flag_of(choice: Choice) -> tuple[str, bool] | None:
    """The one flag that decides a branch, in lower case without underscores, and its value
    there."""
    found = _FLAG.match(condition_of(choice))
    if not found or choice.arm == "case":
        return None
    name = found[2].replace("_", "").lower()
    return name, (choice.arm not in ("else", "otherwise")) is not bool(found[1])


_ONE_VALUE = regex(r"[\w.]+(?:\([^()]*\))?\s*==\s*(?:-?\d+|\"\w*\"|(?:\w+::)+\w+)$")
_FEW = regex(r"([\w.()\s*]+?)\s*<=?\s*\d{2,}$")
_FROM = regex(r"\d+\s*<=?\s*([\w.()\s*]+)$")
_LIMIT = regex(r"(?!\w*version)[\w.()\s*-]+?\s*<=?\s*\d{4,}(?:\s*\*\s*\w+)?$", re.IGNORECASE)


def is_of_one_value(choice: Choice) -> bool:
    """Whether a condition asks for one value of many, as a case does: ``if (n == -1)``."""
    return choice.arm in ("then", "else") and bool(_ONE_VALUE.match(condition_of(choice)))


def is_of_few(choice: Choice) -> bool:
    """Whether a branch is for few elements, and perhaps more: ``if (rows * columns < 400)``; not
    for a range, as ``80 <= cc && cc < 100``."""
    parts = _joint_parts(condition_of(choice))
    below, above = ({f[1] for one in parts if (f := form.match(one))} for form in (_FEW, _FROM))
    return choice.arm == "then" and bool(below - above)


_ASKS_KIND = regex(_OTHER_TENSORS)


def is_for_other_tensors(choice: Choice) -> bool:
    """Whether a branch is taken on no device for tensors that are neither quantized nor of a layout
    of their own."""
    asks = _ASKS_KIND.search(f"{choice.text} {choice.means}")
    return asks is not None and not any(taken(choice, one) is not False for one in _DEVICES)


def is_within_limit(choice: Choice) -> bool:
    """Whether a condition asks for less than thousands, as most sizes are:
    ``if (dim_size <= 2048)``."""
    return choice.arm in ("then", "else", "otherwise") and is_limit(condition_of(choice))


def is_limit(condition: str) -> bool:
    """Whether a condition asks only for less than thousands: ``self.size(dim) <= 4096``."""
    return all(map(_LIMIT.match, _joint_parts(condition)))


def is_nested(choice: Choice) -> bool:
    """Whether a branch is that behind one within another, which leaves: ``if (x) && (y)``."""
    opened = choice.text.find("(")
    is_past = choice.arm == "otherwise" and opened >= 0
    return is_past and close(choice.text, opened) != len(choice.text) - 1


def condition_of(choice: Choice | Branch) -> str:
    return unwrapped(_HEAD.sub("", choice.text).strip())


_GIVEN_TEXT = regex(r'\(\s*"[^"]*"')
"""An argument that is a string, as the name of an environment variable."""
_DIFFERS = regex(r"!=")
_ENVIRONMENT = regex(r"\b(?:get|has|check)_?env\(")
"""Reads an environment variable: ``get_env(name).has_value()`` is not usual."""
_IS_SET_TO = regex(r"env\([^()]*\)\)*\s*[!=]=\s*(?:\"|true\b|(nullptr|NULL)\b)")
"""``get_env(name) == "1"``, ``check_env(name) == true``: usually it has no value."""


def is_unusual(name: str) -> bool:
    """Whether a function by its name asks for something unusual: ``isTensorSubclassLike``."""
    return bool(_NEVER.search(name))


def _atom(text: str, device: str) -> bool | None:
    value, text = None, _GIVEN_TEXT.sub("(", text.removeprefix("#endif "))
    if _ENVIRONMENT.search(text) or "#" in text:
        # What stands between ``#if`` and ``#endif`` belongs to some builds.
        is_set_to = _IS_SET_TO.search(text)
        return (_DIFFERS.search(text) is None) is bool(is_set_to[1]) if is_set_to else None
    for one, named in _DEVICES.items():
        if named.search(text):
            value = one == device
    if _OF_BOTH.search(text):
        value = True if value is None else value
    elif _NEVER.search(text):
        value = False
    elif value is None and _ALWAYS.search(text):
        value = True
    return not value if value is not None and _DIFFERS.search(text) else value


_BOUNDED = regex(r"<=?\s*(?:\d{2,}|(?:\w+::)*[A-Z][A-Z\d_]+)\s*(?:$|\)|\|\|)")
"""Compares with a number or a constant; a product, ``65535 * 32``, is a limit of hardware."""


def leans_to(condition: str, device: str, defaults: Defaults) -> bool:
    """Whether most parts of a conjunction usually hold, and none asks for few elements, as for a
    fast path with many conditions."""
    ways = split_at(unwrapped(_HEAD.sub("", condition).strip()), "||")
    if len(ways) > 1:
        ways = [one for one in ways if holds(one, device, defaults) is not False] or ways
    parts = _joint_parts("||".join(ways))
    held = [holds(one, device, defaults) for one in parts]
    is_for_few = any(_BOUNDED.search(p) for p, h in zip(parts, held, strict=True) if not h)
    return len(held) > 2 and 2 * held.count(True) > len(held) and not is_for_few


def _joint_parts(text: str) -> list[str]:
    text = unwrapped(text.strip())
    parts = split_at(text, "&&") if len(split_at(text, "||")) == 1 else [text]
    return [text] if len(parts) == 1 else [one for part in parts for one in _joint_parts(part)]


def possible_values(choice: Choice, device: str, defaults: Defaults) -> frozenset[str]:
    """The values that a switch may have, as far as those of arguments tell; empty if unknown."""
    head = choice.text.partition(" case ")[0] if choice.arm == "case" else ""
    heads = (_HEAD.sub("", one) for one in (head, choice.means) if head and one and defaults)
    switched = next(filter(None, (value_of(one, device, defaults) for one in heads)), "")
    return frozenset(one.rpartition("::")[2] for one in switched.split(OR) if one)


@lru_cache(8192)
def taken(choice: Choice, device: str, defaults: Defaults = ()) -> bool | None:
    """Whether a branch is taken in the usual case; None if unknown."""
    if choice.arm == "case":
        head, _, case = choice.text.partition(" case ")
        labels = [one.rpartition("::")[2] for one in case.split(", ")]
        possible = possible_values(choice, device, defaults)
        is_told = len(possible) == 1 or (possible and possible.isdisjoint(labels))
        if is_told and "default" not in labels:
            return not possible.isdisjoint(labels)
        return _atom(case or head, device)
    texts = [(_HEAD.sub("", choice.text), True), (_HEAD.sub("", choice.means), False)]
    if any(name.endswith("()") and name[:-1] in choice.means for name, _ in defaults):
        texts.reverse()  # what a function answers tells more than the name that keeps it
    held = holds(texts[0][0], device, defaults, texts[0][1]) if texts[0][0] else None
    if held is None and texts[1][0]:
        held = holds(texts[1][0], device, defaults, texts[1][1])
    if held is None or choice.arm not in ("else", "otherwise"):
        return held
    return not held
