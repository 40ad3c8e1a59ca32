"""Names as C++ spells them: Node classes, macro uses, stubs, symbols, and names that torchgen
derives from operators."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.idioms import STRUCTURED, idiom_of, names_of
from indexes.model.regex import regex
from indexes.queries.naming.query import (
    SENTENCE,
    NameQuery,
    from_full_name,
    last_part,
    unique,
    without_call,
)

# ------------------------------------------------------------------------ node classes

_NODE = regex(r"(?:torch::autograd::(?:generated::)?|(?:\w+\.)+)?([A-Za-z]\w*Backward\w*\d*)\Z")
_GENERATED_NODE = regex(r"(?:torch::autograd::)?generated::([A-Z]\w*)(?:::\w+)?\Z")


def grad_fn(raw: str, name: str) -> NameQuery | None:
    callee = without_call(name)
    if not (found := _GENERATED_NODE.match(callee)):
        found = _NODE.match(callee)
        if not found or "_backward" in found[1].lower():  # an operator or a function
            return None
    node = found[1]
    # Classes are numbered, but older releases and people leave the 0 out.
    guesses = (node,) if node[-1].isdecimal() else (node, f"{node}0")
    return NameQuery(raw, "grad_fn", node, grad_fns=guesses, symbols=(callee,))


# -------------------------------------------------------------------------- C++ macros

_MACRO_USE = regex(r"([A-Z][A-Z0-9_]+)\s*\(\s*([^()]*)")
_LIBRARY_CALL = regex(rf"(?:m\.(?:impl|def)|{names_of('operator')})\s*\(")
_STRUCTURED_MACRO = regex(rf"\w*{names_of(*STRUCTURED)}")
"""Macros such as ``CREATE_UNARY_TORCH_IMPL_FUNC``."""
_QUOTED = regex(r"\"((?:\w+::)?\w+(?:\.\w+)?)[\"(]")
_STUB = regex(r"&?((?:\w+::)*\w+_stub)\Z")


def macro_use(raw: str, name: str) -> NameQuery | None:
    if "(" not in name:
        return None
    if _LIBRARY_CALL.search(name) and (quoted := _QUOTED.search(name)):
        return from_full_name(raw, quoted[1])
    if not (found := _MACRO_USE.match(name)):
        return None
    macro = found[1]
    arguments = [a.strip().lstrip("&") for a in found[2].split(",") if a.strip()]
    row = idiom_of(macro)
    if not arguments or (row and row.means == "library"):
        return NameQuery(raw, "symbol", macro, symbols=(macro,))
    if row and (stub := row.argument("stub", arguments)):
        return NameQuery(raw, "stub", last_part(stub), symbols=(stub,))
    name = arguments[0]
    symbols: tuple[str, ...] = (name, macro)
    operators = tuple(_splits(name)) if _STRUCTURED_MACRO.fullmatch(macro) else ()
    if row and (overload := row.argument("overload", arguments)):
        operators, symbols = (f"{name}.{overload}", name), (f"{name}_{overload}",)
    return NameQuery(raw, "symbol", name, operators=operators, symbols=symbols)


def stub_name(raw: str, name: str) -> NameQuery | None:
    found = _STUB.match(name)
    return NameQuery(raw, "stub", last_part(found[1]), symbols=(found[1],)) if found else None


# ------------------------------------------------------------------------- C++ symbols

_PART = r"(?:operator[^\w\s]+|[\w~]+|\(anonymous namespace\)|\{anonymous\})"
_CPP = regex(rf"{_PART}(?:::{_PART})*\Z")
_CALLED = regex(r"(?<![\w:])((?:\w+::)+\w+)(?=[(<{])")
"""The call in a line of code: ``v.push_back(torch::ones({1}));``."""
_STRUCTURED = regex(r"(?:.*::)?structured_(\w+)(?:::\w+)?\Z")
_SUBCLASS = regex(r"_(?:functional|inplace|out)\Z")
_WRAPPER = regex(r"(?:.*::)?wrapper_(\w+)\Z")
_BINDING = regex(r"(?:.*::)?THPVariable_(\w+)\Z")
_GENERATED_SCOPE = regex(
    r"at::_ops::(\w+)(?:::\w+)?\Z"
    r"|(?:.*::)?(?:VariableType|ADInplaceOrView|TraceType|functionalization)::(?:.*::)?(\w+)\Z"
)
_API = regex(
    r"(?:at|torch)::(?:redispatch::|cpu::|cuda::|meta::|composite\w+::|symint::|_symint::)?(\w+)\Z"
)
_METHOD = regex(r"(?:at::)?Tensor(?:Base)?::(\w+)\Z")


def symbol_name(raw: str, name: str) -> NameQuery | None:
    if SENTENCE.search(name):
        return None
    symbol = _bare_symbol(name)
    if not _CPP.match(symbol):
        called = _CALLED.search(name) if raw.rstrip().endswith(";") else None
        return symbol_name(called[1], called[1]) if called else None
    if query := _cpp_api(raw, symbol):
        return query
    return (
        NameQuery(raw, "symbol", last_part(symbol), symbols=(symbol,)) if "::" in symbol else None
    )


def _bare_symbol(name: str) -> str:
    """``at::native::f`` for ``void at::native::f<4, X<int>>(Tensor&) const``."""
    sign = found[0] if (found := _OPERATOR.search(name)) else ""
    name = _OPERATOR.sub("{sign}", name.replace("(anonymous namespace)", "{anonymous}"))
    name = _without_template_arguments(name).partition("(")[0].strip().lstrip("&*")
    name = name.rpartition(" ")[2].replace("{anonymous}", "(anonymous namespace)")
    return name.replace("{sign}", sign)


_OPERATOR = regex(r"\boperator(?:\(\)|\[\]|[-+*/%^&|~!=<>]+)(?=[<(]|\Z)")


_ARGUMENTS = regex(r"<[^<>]*>")


def _without_template_arguments(name: str) -> str:
    removed = 1
    while removed:
        name, removed = _ARGUMENTS.subn("", name)
    return name.partition("<")[0].replace(">", "")


_SHIM = "aoti_torch_"
"""Prefixes of operators' C shims (gen_aoti_c_shim.py)."""


def made_by_torchgen(raw: str, name: str) -> NameQuery | None:
    """Splits names that torchgen derives from an operator's."""
    if SENTENCE.search(name):
        return None
    symbol = _bare_symbol(name)
    if found := _STRUCTURED.match(symbol):
        names = unique((found[1], _SUBCLASS.sub("", found[1])))
        operators = unique(split for name in names for split in _splits(name))
        return NameQuery(raw, "symbol", found[1], operators=operators, symbols=(*names, symbol))
    if found := _WRAPPER.match(symbol):
        return _from_wrapper(raw, symbol, found[1])
    if symbol.startswith(_SHIM):
        return _from_shim(raw, symbol)
    if found := _BINDING.match(symbol):
        return NameQuery(raw, "operator", found[1], operators=(found[1],), symbols=(symbol,))
    if found := _GENERATED_SCOPE.match(symbol):
        name = found[1] or found[2]
        return NameQuery(raw, "operator", name, operators=tuple(_splits(name)), symbols=(symbol,))
    return None


def _from_shim(raw: str, symbol: str) -> NameQuery:
    """Readings with and without a device before the name, which may have several words."""
    name = symbol.removeprefix(_SHIM)
    names = (*_splits(name.partition("_")[2]), *_splits(name))
    operators = tuple(one for one in names if one.strip("._"))
    note = "torchgen makes the C shim of this operator"
    return NameQuery(raw, "symbol", symbol, operators=operators, symbols=(symbol,), note=note)


def _from_wrapper(raw: str, symbol: str, whole: str) -> NameQuery:
    """Structured kernels: ``wrapper_KEY_name_overload``; others: ``wrapper_KEY_overload_name``, and
    before PyTorch 2.0 ``wrapper_overload_name``."""
    first, _, rest = whole.partition("_")
    old = (f"{rest}.{first}" if first else rest,) if rest else ()
    name = rest if first and rest else whole
    overload, _, base = name.partition("_")
    turned: list[str] = []
    if base:
        cut = re.sub(r"(_out|_outf|_symint)+\Z", "", base)
        turned = [f"{b}.{overload}" if overload else b for b in (base, cut)]
    operators = (*turned, *_splits(name)) if not overload else (*_splits(name), *turned)
    operators = unique((*old, *operators))
    return NameQuery(raw, "operator", base or name, operators=operators, symbols=(symbol,))


def _cpp_api(raw: str, symbol: str) -> NameQuery | None:
    """``at::add``, ``at::Tensor::add_``: an operator, or a function of that name."""
    if found := _METHOD.match(symbol):
        return NameQuery(
            raw, "operator", found[1], variant="method", operators=(found[1],), symbols=(symbol,)
        )
    if found := _API.match(symbol):
        name = found[1]
        cut = re.sub(r"(_symint)?(_outf?)?(_symint)?\Z", "", name)
        operators = unique((name, f"{cut}.out") if "_out" in name[len(cut) :] else (name, cut))
        return NameQuery(
            raw, "operator", name, variant="function", operators=operators, symbols=(symbol,)
        )
    return None


_LONGEST = 250
"""Longest name of an operator, in letters."""


def _splits(name: str) -> Iterator[str]:
    """``add.Tensor`` and ``add_Tensor`` for ``add_Tensor``: where an overload may begin."""
    yield name
    if len(name) > _LONGEST:
        return
    for found in reversed(list(re.finditer("_", name))):
        base, overload = name[: found.start()], name[found.end() :]
        if base.strip("_") and overload and not overload[0].isdecimal():
            yield f"{base}.{overload}"
