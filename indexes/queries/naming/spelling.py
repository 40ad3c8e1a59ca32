"""Names as people paste them: from a profiler, a traceback, a debugger, a browser, the source.

``parse_name`` knows spellings, not operators: it says what a text can mean, best
first, and whoever holds the index tries that in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from indexes.model.regex import regex
from indexes.readers.cxx.idioms import STRUCTURED, idiom_of, names_of

NameKind = Literal[
    "bare", "operator", "library", "python", "grad_fn", "stub", "symbol", "place", "text"
]
"""What a spelling says: a name without any qualifier, an operator of aten, one of another
namespace (or a C++ name with a single scope), a dotted Python path, a Node class, a stub, a C++
symbol, a line of a file, or words, as of an error message."""


@dataclass(frozen=True, slots=True)
class NameQuery:
    """What a pasted name can mean."""

    raw: str
    """As it was pasted."""
    kind: NameKind
    """What its spelling says it is; the other fields hold what else it can be."""
    base: str
    """The operator's name without overload, the Node class, or the last part of a symbol."""
    overload: str | None = None
    """``Tensor``; ``""`` when the default overload is asked for; None when not said."""
    namespace: str = ""
    """``aten``, ``prims``: as written, or empty. ``operators`` is empty for one but aten."""
    variant: str = ""
    """``function`` of ``at::add``, ``method`` of ``at::Tensor::add``: what the operator must be."""
    operators: tuple[str, ...] = ()
    """Operators of aten to try, best first: ``add.Tensor`` for an overload, ``add`` for all of
    them. Several where torchgen made the name of an operator's, and it can be taken apart again
    in several ways."""
    paths: tuple[str, ...] = ()
    """Python paths to try, best first: ``torch.nn.functional.relu`` for ``F.relu``."""
    called_on: str = ""
    """``x`` of ``x.add_(y)``, which may be a tensor."""
    grad_fns: tuple[str, ...] = ()
    """Node classes to try, best first: ``AddmmBackward0``."""
    symbols: tuple[str, ...] = ()
    """C++ names to try, best first, as qualified as they were written."""
    line: int = 0
    """Of a place, whose path is ``base``."""


def parse_name(text: str) -> NameQuery:
    """What ``text`` can mean. Never fails: what has no known spelling is a symbol to try."""
    name = _unwrap(text)
    for recognise in _RECOGNISERS:
        if query := recognise(text, name):
            return query
    kind: NameKind = "text" if _has_words(name) else "symbol"
    return NameQuery(text, kind, name, symbols=() if kind == "text" else _some(name))


_ERROR_LINE = regex(r"(?:^|\n)\s*(?:\[?\w+\]?:?\s+)?(?:\w+\.)*\w+(?:Error|Exception|Warning): ?\S")
_TRACEBACK_HEAD = "Traceback (most recent call last)"
_ENCLOSED = regex(r"\([^()]*\)|\[[^\[\]]*\]|'[^']*'|\"[^\"]*\"|<[^<>]*>")
_PLAIN_WORD = regex(r"[A-Za-z][a-z']*[,.!;]?\Z")
_PROSE = 4
"""Plain words, outside of brackets and quotes, that no spelling of a name has."""


def _error(raw: str, name: str) -> NameQuery | None:
    """A traceback, or a line that begins with the class of an exception."""
    is_error = _TRACEBACK_HEAD in raw or _ERROR_LINE.match(raw)
    return NameQuery(raw, "text", name) if is_error else None


def _message(raw: str, name: str) -> NameQuery | None:
    """A message, though it may begin with a name."""
    return NameQuery(raw, "text", name) if _is_said(raw) else None


def _is_said(text: str) -> bool:
    if text.count(" ") < _PROSE:
        return False
    outside, removed = text, 1
    while removed:
        outside, removed = _ENCLOSED.subn(" ", outside)
    return sum(1 for word in outside.split() if _PLAIN_WORD.match(word)) >= _PROSE


def _has_words(name: str) -> bool:
    return any(map(str.isspace, name))


# ------------------------------------------------------------------ what stands around it

_QUOTES = "\"'`“”‘’ \t\r\n,;"
_GRAD_FN = regex(r"grad_fn=<\s*([A-Za-z_][\w:]*)")
_OBJECT = regex(
    r"<\s*(?:class\s+')?([A-Za-z_][\w.:]*)'?(?:\s+(?:object\s+)?at\s+0x[0-9a-fA-F]+)?\s*>?\Z"
)
_BUILTIN = regex(
    r"<(?:built-in (?:method|function)|function|method|bound method|slot wrapper|method-wrapper)"
    r"\s+'?([\w.]+)'?"
)
_OVERLOAD_OBJECT = regex(r"<OpOverload(?:Packet)?\(op='([\w.:]+)'(?:,\s*overload='(\w+)')?")
_ENGINE = regex(r"autograd::engine::evaluate_function:\s*")
_ASSIGNED = regex(r"(?:%?[\w.]+(?:\s*:\s*[\w\[\], ()*.]+?)?\s*=\s*)(?=[A-Za-z_%])")
_LIST_ITEM = regex(r"-\s*func:\s*")


def _unwrap(text: str) -> str:
    """The name itself: without quotes, object notation, assignment and list markers."""
    name = text.strip(_QUOTES)
    for pattern in (_ENGINE, _LIST_ITEM):
        if found := pattern.match(name):
            name = name[found.end() :]
    if found := _GRAD_FN.search(name):
        return found[1]
    if found := _OVERLOAD_OBJECT.match(name):
        return ".".join(part for part in (found[1], found[2]) if part)
    if found := _BUILTIN.match(name) or _OBJECT.match(name):
        return found[1]
    if found := _ASSIGNED.match(name):
        name = name[found.end() :]
    return name.strip(_QUOTES)


def _without_call(name: str) -> str:
    """The callee of ``f(...)``; unlike ``(anonymous namespace)``, its ``(`` follows a name."""
    found = re.search(r"(?<=[\w>])\s*\(", name) if "(" in name else None
    return name[: found.start()] if found else name


# ------------------------------------------------------------------------ node classes

_NODE = regex(r"(?:torch::autograd::(?:generated::)?|(?:\w+\.)+)?([A-Za-z]\w*Backward\w*\d*)\Z")
_GENERATED_NODE = regex(r"(?:torch::autograd::)?generated::([A-Z]\w*)(?:::\w+)?\Z")
_OTHER_NODE = regex(
    r"(?:torch::autograd::)?(AccumulateGrad|GraphRoot|CopySlices|Error)(?:::\w+)?\Z"
)


def _grad_fn(raw: str, name: str) -> NameQuery | None:
    callee = _without_call(name)
    other = _OTHER_NODE.match(callee)
    if not (found := other or _GENERATED_NODE.match(callee)):
        found = _NODE.match(callee)
        if not found or "_backward" in found[1].lower():  # an operator or a function
            return None
    node = found[1]
    # Classes are numbered, but older releases and people leave the 0 out.
    guesses = (node,) if node[-1].isdigit() or other else (node, f"{node}0")
    return NameQuery(raw, "grad_fn", node, grad_fns=guesses, symbols=(callee,))


# -------------------------------------------------------------------------- C++ macros

_MACRO_USE = regex(r"([A-Z][A-Z0-9_]+)\s*\(\s*([^()]*)")
_LIBRARY_CALL = regex(rf"(?:m\.(?:impl|def)|{names_of('operator')})\s*\(")
_STRUCTURED_MACRO = regex(rf"\w*{names_of(*STRUCTURED)}")
"""``CREATE_UNARY_TORCH_IMPL_FUNC`` is made of one."""
_QUOTED = regex(r"\"((?:\w+::)?\w+(?:\.\w+)?)[\"(]")
_STUB = regex(r"&?((?:\w+::)*\w+_stub)\Z")


def _macro(raw: str, name: str) -> NameQuery | None:
    if "(" not in name:
        return None
    if _LIBRARY_CALL.search(name) and (quoted := _QUOTED.search(name)):
        return _dotted(raw, quoted[1])
    if not (found := _MACRO_USE.match(name)):
        return None
    macro = found[1]
    arguments = [a.strip().lstrip("&") for a in found[2].split(",") if a.strip()]
    row = idiom_of(macro)
    if not arguments or (row and row.means == "library"):
        return NameQuery(raw, "symbol", macro, symbols=(macro,))
    if row and (stub := row.argument("stub", arguments)):
        return NameQuery(raw, "stub", _last(stub), symbols=(stub,))
    name = arguments[0]
    symbols: tuple[str, ...] = (name, macro)
    operators = tuple(_splits(name)) if _STRUCTURED_MACRO.fullmatch(macro) else ()
    if row and (overload := row.argument("overload", arguments)):
        operators, symbols = (f"{name}.{overload}", name), (f"{name}_{overload}",)
    return NameQuery(raw, "symbol", name, operators=operators, symbols=symbols)


def _stub(raw: str, name: str) -> NameQuery | None:
    found = _STUB.match(name)
    return NameQuery(raw, "stub", _last(found[1]), symbols=(found[1],)) if found else None


# ------------------------------------------------------------------------- C++ symbols

_PART = r"(?:[\w~]+|\(anonymous namespace\)|\{anonymous\})"
_CPP = regex(rf"{_PART}(?:::{_PART})*\Z")
_TORCHGEN_OPERATOR = regex(r"at::_ops::(\w+)(?:::(?:call|redispatch|schema_str|\w+))?\Z")
_STRUCTURED = regex(r"(?:.*::)?structured_(\w+)(?:::\w+)?\Z")
_SUBCLASS = regex(r"_(?:functional|inplace|out)\Z")
_WRAPPER = regex(r"(?:.*::)?wrapper_([A-Za-z0-9]+)_(\w+)\Z")
_BINDING = regex(r"(?:.*::)?THPVariable_(\w+)\Z")
_GENERATED_SCOPE = regex(
    r"(?:.*::)?(?:VariableType|ADInplaceOrView|TraceType|functionalization)::(?:.*::)?(\w+)\Z"
)
_API = regex(
    r"(?:at|torch)::(?:redispatch::|cpu::|cuda::|meta::|composite\w+::|symint::|_symint::)?(\w+)\Z"
)
_METHOD = regex(r"(?:at::)?Tensor(?:Base)?::(\w+)\Z")


def _cpp(raw: str, name: str) -> NameQuery | None:
    if _SENTENCE.search(name):
        return None
    symbol = _bare_symbol(name)
    if not _CPP.match(symbol):
        return None
    if query := _cpp_api(raw, symbol):
        return query
    return NameQuery(raw, "symbol", _last(symbol), symbols=(symbol,)) if "::" in symbol else None


_SENTENCE = regex(r"(?:\b[A-Za-z]+ ){4}|[\w)]: |[\"'?!]")
"""No signature has it: words in a row, or what stands between and around words."""


def _bare_symbol(name: str) -> str:
    """``at::native::f`` of ``void at::native::f<4, X<int>>(Tensor&) const``."""
    name = name.replace("(anonymous namespace)", "{anonymous}")
    name = _without_template_arguments(name).partition("(")[0].strip().lstrip("&*")
    return name.rpartition(" ")[2].replace("{anonymous}", "(anonymous namespace)")


def _without_template_arguments(name: str) -> str:
    kept, depth = [], 0
    for character in name:
        if character == "<":
            depth += 1
        elif character == ">":
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(character)
    return "".join(kept)


def _made_by_torchgen(raw: str, name: str) -> NameQuery | None:
    """Names that torchgen builds from an operator's, taken apart again."""
    if _SENTENCE.search(name):
        return None
    symbol = _bare_symbol(name)
    if found := _TORCHGEN_OPERATOR.match(symbol):
        return _from_unambiguous(raw, symbol, found[1])
    if found := _STRUCTURED.match(symbol):
        names = _unique((found[1], _SUBCLASS.sub("", found[1])))
        operators = _unique(split for name in names for split in _splits(name))
        return NameQuery(raw, "symbol", found[1], operators=operators, symbols=(*names, symbol))
    if found := _WRAPPER.match(symbol):
        return _from_wrapper(raw, symbol, found[2])
    if found := _BINDING.match(symbol):
        return NameQuery(raw, "operator", found[1], operators=(found[1],), symbols=(symbol,))
    if found := _GENERATED_SCOPE.match(symbol):
        return _from_unambiguous(raw, symbol, found[1])
    return None


def _from_unambiguous(raw: str, symbol: str, name: str) -> NameQuery:
    return NameQuery(raw, "operator", name, operators=tuple(_splits(name)), symbols=(symbol,))


def _from_wrapper(raw: str, symbol: str, name: str) -> NameQuery:
    """Structured kernels: ``wrapper_KEY_name_overload``; others: ``wrapper_KEY_overload_name``."""
    overload, _, base = name.partition("_")
    turned: list[str] = []
    if base:
        cut = re.sub(r"(_out|_outf|_symint)+\Z", "", base)
        turned = [f"{b}.{overload}" if overload else b for b in (base, cut)]
    operators = (*turned, *_splits(name)) if not overload else (*_splits(name), *turned)
    return NameQuery(raw, "operator", base or name, operators=_unique(operators), symbols=(symbol,))


def _cpp_api(raw: str, symbol: str) -> NameQuery | None:
    """``at::add``, ``at::Tensor::add_``: an operator, or a function of that name."""
    if found := _METHOD.match(symbol):
        return NameQuery(
            raw, "operator", found[1], variant="method", operators=(found[1],), symbols=(symbol,)
        )
    if found := _API.match(symbol):
        name = found[1]
        cut = re.sub(r"(_symint)?(_outf?)?(_symint)?\Z", "", name)
        operators = _unique((name, f"{cut}.out") if "_out" in name[len(cut) :] else (name, cut))
        return NameQuery(
            raw, "operator", name, variant="function", operators=operators, symbols=(symbol,)
        )
    return None


def _splits(name: str) -> Iterator[str]:
    """``add.Tensor`` and ``add_Tensor`` from ``add_Tensor``: where its overload may begin."""
    yield name
    for found in reversed(list(re.finditer("_", name))):
        base, overload = name[: found.start()], name[found.end() :]
        if base.strip("_") and overload and not overload[0].isdigit():
            yield f"{base}.{overload}"


# --------------------------------------------------------------------------- operators

_QUALIFIED = regex(r"(\w+)::(\w+)(?:\.(\w+))?\Z")
_SCHEMA = regex(r"(?:(\w+)::)?(\w+)(?:\.(\w+))?\s*\(.*\)\s*->", re.DOTALL)
_IN_GRAPH = regex(r"\b((?:aten|prims|prim|quantized)::\w+(?:\.\w+)?)")


def _schema(raw: str, name: str) -> NameQuery | None:
    if not (found := _SCHEMA.match(name)):
        return None
    return _overload(raw, found[1] or "", found[2], found[3] or "")


def _operator(raw: str, name: str) -> NameQuery | None:
    """``aten::add.Tensor``, and ``prims::add``, but not ``at::add``, which is C++."""
    found = _QUALIFIED.match(_without_call(name))
    if not found or found[1] in ("at", "torch", "c10", "std"):
        return None
    return _overload(raw, found[1], found[2], found[3])


def _dotted(raw: str, name: str) -> NameQuery:
    namespace, _, rest = name.rpartition("::")
    base, _, overload = rest.partition(".")
    return _overload(raw, namespace, base, overload or None)


def _overload(raw: str, namespace: str, base: str, overload: str | None) -> NameQuery:
    if overload == "default":
        overload = ""
    full = f"{base}.{overload}" if overload else base
    if namespace in ("", "aten"):
        return NameQuery(raw, "operator", base, overload, namespace, operators=(full,))
    symbols = (f"{namespace}::{full}",)
    return NameQuery(raw, "library", base, overload, namespace, symbols=symbols)


def _in_graph(raw: str, name: str) -> NameQuery | None:
    """An operator somewhere in a line, as TorchScript prints a graph."""
    found = _IN_GRAPH.search(name) if _has_words(name) and not _SENTENCE.search(name) else None
    return _operator(raw, found[1]) if found else None


# ------------------------------------------------------------------------------- places

_PLACE = regex(r"(?P<path>@?[\w./+\\-]*\w\.[A-Za-z]\w*):(?P<line>\d+)(?::\d+)?:?\Z")
_PATH = regex(r"@?[\w./+\\-]*/[\w.+-]+\.[A-Za-z]\w*\Z")
_TRACEBACK = regex(r"File \"(?P<path>[^\"]+)\", line (?P<line>\d+)")


def _place(raw: str, name: str) -> NameQuery | None:
    """``SoftMax.cpp:303``, a path, and a line of a traceback."""
    if found := _PLACE.match(name) or _TRACEBACK.match(name):
        return NameQuery(raw, "place", found["path"], line=int(found["line"]))
    return NameQuery(raw, "place", name) if _PATH.match(name) else None


# ------------------------------------------------------------------------------ Python

_PYTHON = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_OPS = regex(
    r"(?:torch\.)?(?:_?ops\.)?(aten|prims)\.(\w+)(?:\.(\w+))?\Z|(?:torch\.)?ops\.(\w+)\.(\w+)(?:\.(\w+))?\Z"
)
_ALIASES = {"F": "nn.functional", "dist": "distributed"}
"""Names that people import parts of torch by, besides their own."""
_DUNDER = regex(r"__(\w+?)__\Z")
_SUBSCRIPT = regex(r"([A-Za-z_]\w*)\[.*\]\s*(=[^=].*)?\Z")
# Python's operators whose functions in PyTorch have another name than the method.
_DATA_MODEL = {
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "invert": "bitwise_not",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "pos": "positive",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "getitem": "index",
    "setitem": "index_put_",
    "bool": "is_nonzero",
    "int": "item",
    "float": "item",
}


def _python(raw: str, name: str) -> NameQuery | None:
    path = _without_call(name).strip(_QUOTES)
    if not _PYTHON.match(path) or path.startswith("_Z"):  # a mangled name
        return None
    if found := _OPS.match(path):
        namespace, base, overload = found.group(1, 2, 3) if found[1] else found.group(4, 5, 6)
        return _overload(raw, namespace, base, overload)
    return _dotted_path(raw, path, "(" in name) if "." in path else _bare(raw, path)


_PACKAGES = ("torch", "functorch", "torchgen")


def _dotted_path(raw: str, path: str, is_called: bool) -> NameQuery:
    """``torch.nn.functional.relu``, ``F.relu``, ``mode.values`` or ``x.add_(y)``."""
    head, _, rest = path.partition(".")
    owner, _, base = path.rpartition(".")
    is_whole = head in _PACKAGES
    paths = (path,) if is_whole else (f"torch.{_ALIASES.get(head, head)}.{rest}", path)
    # ``mode.values`` is an overload; ``linalg.norm`` looks just like it.
    operators: tuple[str, ...] = () if is_whole or "." in owner else (path,)
    called_on = owner if is_called and operators and owner != "Tensor" else ""
    dunder = _DUNDER.match(base)
    if dunder and (called_on or owner in ("Tensor", "torch.Tensor")):
        operators = _unique(_dunder_operators(dunder[1]))
    return NameQuery(raw, "python", base, operators=operators, paths=paths, called_on=called_on)


def _bare(raw: str, name: str) -> NameQuery:
    dunder = _DUNDER.match(name)
    operators = (name, *_dunder_operators(dunder[1])) if dunder else (name,)
    return NameQuery(raw, "bare", name, operators=_unique(operators), symbols=(name,))


def _subscript(raw: str, name: str) -> NameQuery | None:
    """``a[0] = 1`` and ``a[0]``: methods of the tensor, if ``a`` is one."""
    found = _SUBSCRIPT.match(name) if "[" in name else None
    if found is None:
        return None
    method = "__setitem__" if found[2] else "__getitem__"
    return _dotted_path(raw, f"{found[1]}.{method}", True)


def _dunder_operators(name: str) -> Iterator[str]:
    """``add`` for ``__add__`` and ``__radd__``, ``add_`` for ``__iadd__``."""
    yield _DATA_MODEL.get(name, name)
    if name[:1] in ("i", "r") and len(name) > 2:
        plain = _DATA_MODEL.get(name[1:], name[1:])
        yield f"{plain}_" if name[0] == "i" else plain


_RECOGNISERS: tuple[Callable[[str, str], NameQuery | None], ...] = (
    _error,
    _place,
    _message,
    _macro,
    _stub,
    _grad_fn,
    _schema,
    _made_by_torchgen,
    _operator,
    _in_graph,
    _python,
    _subscript,
    _cpp,
)


def _last(symbol: str) -> str:
    return symbol.rpartition("::")[2]


def _some(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
