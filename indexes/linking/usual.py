"""Which conditions hold in the usual case: dense, real, floating, contiguous tensors, arguments
that are given, and a build with CUDA, cuDNN, MKL and oneDNN.

PyTorch's own words in a condition tell; what they do not tell is unknown.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from indexes.model.idioms import close
from indexes.model.regex import regex
from indexes.model.vocabulary import Choice

_NEVER = regex(
    r"[iI]s_?[cC]omplex|\bk?Complex(?:Half|Float|Double)\b|is_?sparse|Sparse|is_?quantized|qscheme|isQIntType"
    r"|is_?nested|\bis_mkldnn|is_?meta\b|is_(?:vulkan|metal|xpu|hpu|ipu|mtia|xla|lazy)\b"
    r"|numel\w*(?:\(\))?\s*[!=]=\s*0|is_empty|\bempty\(\)|_is_zerotensor|is_neg\b|is_conj\b"
    r"|requires_grad|_fw_grad|SubclassLike|has_names|[dD]eterministic|half_to_float"
    r"|is_symbolic|BFloat16|\bHalf\b|kHalf|[rR]educedFloat|Float8|bf16|bf32|fp16|kBool|::Bool\b"
    r"|isIntegralType|is_integral|kLong|kByte|\w*dim\w*(?:\(\))?\s*==\s*[01]\b|isBatched|is_batchedtensor|ChannelsLast"
    r"|\bbatchCount\([^()]*\)\s*>\s*1\b"
    r"|USE_ROCM|__HIP|[mM]iopen|MIOPEN|[xX]nnpack|XNNPACK|nnpack|NNPACK|[vV]ulkan|VULKAN"
    r"|POCKETFFT|C10_MOBILE|C10_IOS|__APPLE__|_MSC_VER|_WIN32|__aarch64__|__ARM|__ANDROID__"
    r"|(?:CUDART|CUDNN|CUDA)\w*_VERSION\)?\s*<|kMetal|kVulkan|kleidi|KLEIDI|AVX512|Backend::Magma"
)
_ALWAYS = regex(
    r"defined\(\)|\bnumel\(\)$|\w*(?:numel|seqlen\w*|size|dim|ndimension)(?:\(\))?\s*>\s*0\b|\w*dim\w*(?:\(\))?\s*==\s*2\b|\bsame(?:_|[A-Z])|::Contiguous\b|has_value\(\)|is_contiguous|all_(?:\w+_)?contiguous|isFloatingType"
    r"|is_floating_point|kFloat\b|ScalarType::Float\b|kStrided|_correct$|\bord\s*>\s*0\b"
    r"|\bbatchCount\([^()]*\)\s*[!=]=\s*1\b|is_non_overlapping|canUse32Bit|use_?32"
    r"|AT_(?:MKL|MKLDNN|CUDNN|MAGMA|FBGEMM)\w*ENABLED|USE_(?:CUDA|CUDNN|CUSOLVER|MKL|MKLDNN|FBGEMM|LINALG)"
    r"|AT_BUILD_WITH|(?:use|is)_blas|USE_(?:FLASH|MEM_EFF)|(?:CUDART|CUDNN|CUDA)_VERSION\)?\s*>|has_?magma|hasMAGMA"
    r"|\b(?:dim_|wrapped_dim)\s*==\s*[\w.]*(?:dim|ndimension)\(\)\s*-\s*1|hasMKL|AT_USE_JITERATOR|CPU_CAPABILITY_AVX2\b"
)
_OF_BOTH = regex(r"\b(dtype|scalar_type|layout|device)(?:\(\d*\))?\s*[!=]=\s*[\w.>()-]*\b\1\b")
"""Whether two tensors are of one kind: as a rule they are."""
_DEVICES = {
    "CUDA": regex(
        r"is_cuda|kCUDA|::CUDA\b|[cC]udnn\b|CUDNN|cudnn_is_acc|use_cudnn|cudnnv\d|::Cusolver\b"
    ),
    "CPU": regex(r"is_cpu|kCPU|::CPU\b|[mM]kldnn\b|^cpu$"),
    "MPS": regex(r"is_mps|kMPS|::MPS\b|[mM]ps\b|USE_MPS"),
}
_SPECIAL = regex(r"miopen|magma|xnnpack|nnpack|vulkan|rocm|hip\b|_acl\b|_v7\b", re.IGNORECASE)


@lru_cache(8192)
def is_special(symbol: str) -> bool:
    """Whether a function is for a vendor or a library that a usual build does without."""
    return bool(_SPECIAL.search(symbol))


_HEAD = regex(r"^(?:(?:if|switch)\s*(?:constexpr\s*)?|#if\s*)")


Defaults = tuple[tuple[str, str], ...]
"""What arguments are that are not given: ``label_smoothing``, ``0.0``; of some, whether they are:
``dim?``, ``False``."""


@lru_cache(8192)
def holds(condition: str, device: str, defaults: Defaults = ()) -> bool | None:
    """Whether a condition holds in the usual case; None where neither its words nor the defaults
    of an operator's arguments tell."""
    text = _TURNED.sub(r"\3 \2 \1", unwrapped(condition.strip()))
    if text in _LITERALS:
        return _LITERALS[text]
    for sign, dominant in (("||", True), ("&&", False)):
        if len(parts := _split(text, sign)) > 1:
            return _joined([holds(part, device, defaults) for part in parts], dominant)
    if text.startswith("!") and not text.startswith("!="):
        inner = holds(text[1:], device, defaults)
        return None if inner is None else not inner
    given = dict(defaults)
    if (asked := _ASKS_GIVEN.match(text)) and f"{asked[1]}?" in given:
        return given[f"{asked[1]}?"] == "True"
    usual = _atom(text, device)
    return _by_default(text, given) if usual is None and defaults else usual


_LITERALS = {"true": True, "false": False}
_TURNED = regex(r"^(\d+)\s*([!=]=)\s*([^&|]+)$")
"""A comparison with the number first: ``0 == iter.numel()``."""
_ASKS_GIVEN = regex(r"_?(?:has_)?(\w+?)(?:\.(?:defined|has_value)\(\))?$")
"""``dim.has_value()``, ``has_out``."""
_COMPARED = regex(
    r"(\w+)(?:\.to\w*(?:<\w+>)?\(\))?\s*([=!<>]=|[<>])\s*(?:(?:\w+::)*(-?[\w.]+)|\"(\w*)\")$"
)
"""``dim == -1``, ``alpha.toDouble() == 1.0`` of a ``Scalar``."""
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def _by_default(text: str, defaults: Mapping[str, str]) -> bool | None:
    """Whether ``name`` or ``name > 0.0`` holds for the default of an argument."""
    if text in defaults:
        return {"True": True, "False": False}.get(defaults[text])
    found = _COMPARED.match(text)
    if not found or found[1] not in defaults:
        return None
    default = defaults[found[1]].strip("'\"")
    sides = [_number(side) for side in (default, found[3] or found[4] or "")]
    if all(isinstance(side, float) for side in sides) or found[2] in ("==", "!="):
        return _COMPARISONS[found[2]](*sides)
    return None


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _joined(values: Sequence[bool | None], dominant: bool) -> bool | None:
    """``or`` where True decides, ``and`` where False does."""
    if dominant in values:
        return dominant
    return None if None in values else not dominant


def unwrapped(text: str) -> str:
    """A text without the brackets around all of it."""
    while text.startswith("(") and close(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _split(text: str, operator: str) -> list[str]:
    """The parts between an operator that stands in no brackets."""
    parts, depth, start = [], 0, 0
    for found in re.finditer(r"[()\[\]{}]|\|\||&&", text):
        if found[0] == operator and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
        depth += (found[0] in "([{") - (found[0] in ")]}")
    return [*parts, text[start:]]


_FLAG = regex(r"(!?)\s*(\w+)$")


@lru_cache(8192)
def flag_of(choice: Choice) -> tuple[str, bool] | None:
    """The one name that an arm depends on, in small letters without underscores, and whether it is
    taken where that is true; None for a condition of more."""
    found = _FLAG.match(_asked(choice))
    if not found or choice.arm == "case":
        return None
    name = found[2].replace("_", "").lower()
    return name, (choice.arm not in ("else", "otherwise")) is not bool(found[1])


_ASKED = regex(r"(?:\w+::)*(\w+)\s*\(")


@lru_cache(8192)
def asked_all(choice: Choice) -> tuple[str, ...]:
    """The functions of which each has to answer yes where the condition of an arm holds."""
    text = _asked(choice)
    parts = (unwrapped(part.strip()) for part in _split(text, "&&"))
    return tuple(found[1] for part in parts if (found := _ASKED.match(part)) and _is_one(part))


def _is_one(text: str) -> bool:
    """Whether a text is a call and nothing behind it."""
    return text.endswith(")") and close(text, text.index("(")) == len(text) - 1


_ONE_VALUE = regex(r"[\w.]+(?:\([^()]*\))?\s*==\s*(?:-?\d+|\"\w*\"|(?:\w+::)+\w+)$")
_FEW = regex(r"[\w.()\s*]+<=?\s*\d{2,}$")


def is_of_one_value(choice: Choice) -> bool:
    """Whether a condition asks for one value of many, as a case does: ``if (n == -1)``."""
    return choice.arm in ("then", "else") and bool(_ONE_VALUE.match(_asked(choice)))


def is_of_few(choice: Choice) -> bool:
    """Whether an arm is for few elements: ``if (rows * columns < 400)``."""
    return choice.arm == "then" and bool(_FEW.match(_asked(choice)))


def _asked(choice: Choice) -> str:
    """The condition of an ``if``."""
    return unwrapped(_HEAD.sub("", choice.text).strip())


_DIFFERS = regex(r"!=")


def _atom(text: str, device: str) -> bool | None:
    value: bool | None = None
    for one, words in _DEVICES.items():
        if words.search(text):
            value = one == device
    if _NEVER.search(text):
        value = False
    elif value is None and (_ALWAYS.search(text) or _OF_BOTH.search(text)):
        value = True
    return not value if value is not None and _DIFFERS.search(text) else value


@lru_cache(8192)
def taken(choice: Choice, device: str, defaults: Defaults = ()) -> bool | None:
    """Whether an arm is taken in the usual case; None where that is not known."""
    head, _, case = choice.text.partition(" case ") if choice.arm == "case" else ("", "", "")
    if choice.arm == "case":
        return _atom(case or head, device)
    held = holds(_HEAD.sub("", choice.text), device, defaults)
    if held is None or choice.arm not in ("else", "otherwise"):
        return held
    return not held
