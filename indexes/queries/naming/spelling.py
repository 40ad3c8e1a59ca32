"""Names as users paste them: from a profiler, a traceback, a debugger, a browser, the source.

``parse_name`` knows spellings, not operators: it lists possible meanings, best first, for a lookup
in the index.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from indexes.linking.device_names.demangle import readable, without_figures
from indexes.model.lines import LINE
from indexes.model.regex import regex
from indexes.queries.naming.query import (
    QUOTES,
    SENTENCE,
    NameKind,
    NameQuery,
    from_parts,
    has_words,
    without_call,
)
from indexes.queries.naming.spelled_cxx import (
    grad_fn,
    macro_use,
    made_by_torchgen,
    stub_name,
    symbol_name,
)
from indexes.queries.naming.spelled_python import expression, python_name, statement, subscript
from indexes.queries.pasted import PLACE, pasted, without_margin


def parse_name(text: str) -> NameQuery:
    """The possible meanings of ``text``. Never fails: an unknown spelling is a symbol."""
    text = without_figures(_MARKED.sub("", text))
    name = _unwrap(text)
    with contextlib.suppress(RecursionError):  # an expression nested too deep to be a name
        for recognise in _RECOGNISERS:
            if query := recognise(text, name):
                return query
    kind: NameKind = "text" if has_words(name) else "symbol"
    return NameQuery(text, kind, name, symbols=(name,) if name and kind == "symbol" else ())


_MARKED = regex(r"\A\s*(?:-+> *\d+|>(?= {3})|❱ *\d+[ │]*|>>>|In \[\d+\]:)\s+")
"""What IPython, pytest and rich print before a line of code that failed; prompts."""
_ERROR_LINE = regex(
    r"^[ \t]*(?:\[?\w+\]?:?[ \t]+)?(?:\w+\.)*\w+(?:Error|Exception|Warning): ?\S", re.MULTILINE
)
_TRACEBACK_HEAD = "Traceback (most recent call last)"
_ENCLOSED = regex(r"\([^()]*\)|\[[^\[\]]*\]|'[^']*'|\"[^\"]*\"|<[^<>]*>")
_PLAIN_WORD = regex(r"[A-Za-z][a-z']*[,.!;]?\Z")
_PROSE = 4
"""Words outside brackets and quotes, which no name has."""


def _error(raw: str, name: str) -> NameQuery | None:
    """A traceback, or a line beginning with an exception class."""
    is_error = _TRACEBACK_HEAD in raw or _ERROR_LINE.search(raw) is not None
    is_error = is_error or ("\n" in raw and pasted(raw).raised != "")  # a class of any name
    return NameQuery(raw, "text", name) if is_error else None


def _message(raw: str, name: str) -> NameQuery | None:
    """A message, even if it begins with a name."""
    return NameQuery(raw, "text", name) if _is_said(raw) else None


def _is_said(text: str) -> bool:
    if text.count(" ") < _PROSE:
        return False
    outside, removed = text, 1
    while removed:
        outside, removed = _ENCLOSED.subn(" ", outside)
    return sum(1 for word in outside.split() if _PLAIN_WORD.match(word)) >= _PROSE


_INSIDE = (
    regex(  # linkers and loaders, of a symbol that no library has; clang of an unknown name
        r"(?:undefined symbol:|undefined reference to|[Ss]ymbol not found(?::| in flat namespace)"
        r"|unresolved external symbol|use of undeclared identifier|no member named)"
        r"\s+[`'\"(‘]?_?(_Z\w+|[^\s`'\",‘’]+(?:\([^`'\"]*\))?)(?:' in (?:\w+ )?'(?P<owner>[\w:]+))?"
    ),
    regex(  # compilers, of an unknown name, or of a header that they do not find
        r"[‘'`\"]([\w:~]+)[’'`\"](?: was not declared in this scope|: (?:undeclared identifier"
        r"|identifier not found)|:? is not a member of [‘'`\"](?P<owner>[\w:]+))"
        r"|(?:fatal error: |include file: ')([\w./+-]+\.(?:h|hpp|cuh|inc))(?:'|: No such file)"
    ),
    regex(r"\Aterminate called after throwing an instance of '([\w:]+)'\Z"),
    regex(  # a variable of the environment, as a program asks for it
        r"\A(?:\w+ = )?(?:os\.|std::)?(?:environ(?:\.\w+)?|(?:get|put|set)env)\s*[\[(]\s*"
        r"[\"']([A-Z_][A-Z0-9_]*)[\"']"
    ),
    regex(  # a variable with its value, as a shell or CMake are given it
        r"\A(?:(?:(?:export|set|env)\s+|-[De]\s*)*([A-Z][A-Z0-9]*_[A-Z0-9_]+)"
        r"(?::[A-Z]+)?=(?!=)(?:\"[^\"]*\"|'[^']*'|\S*)(?:\s.*)?|-D\s*([A-Z][A-Z0-9]*_[A-Z0-9_]+))\Z"
    ),
    regex(r"\A[| ]*\+- (\w+):"),  # a line of the tree of guards that Dynamo logs
    regex(r"\A\w+=([\"'])([\w.-]+)\1\Z"),  # a literal with the name of its parameter
    regex(  # what a program sets to a plain value
        r"\A(?!self\.)([A-Za-z_]\w*(?:\.\w+)+)\s*=\s*"
        r"(?:True|False|None|-?\d[\w.]*|[\"'][^\"']*[\"']|\[[^=]*\])\Z"
    ),
    # a traceback's last line without a message; an option of a command with its value
    regex(r"\A((?:\w+\.)+[A-Z]\w*):\Z|\A(--\w[\w-]*)[= ]\S+\Z"),
)


def _inside(raw: str, name: str) -> NameQuery | None:
    """The missing symbol in an error, or the variable in an assignment."""
    text = raw.strip()
    found = next(filter(None, (form.search(text) for form in _INSIDE)), None)
    if found is None:
        return None
    owner = found.groupdict().get("owner")
    return parse_name(f"{owner}::{found[1]}" if owner else found[found.lastindex or 0])


# ------------------------------------------------------------------ what stands around it

_FORMS = (
    regex(r"\A\w+(?:: \"[^\"\n]*\")? = (torch\.ops\.\w+\.\w+\.\w+)\("),  # a node of FX, in a log
    regex(r"\A\{?\s*[\"']([\w.]+)[\"']\s*:\s*[^,:]*\}?\Z"),  # an entry of a dictionary
    regex(r"grad_fn=<\s*([A-Za-z_][\w:]*)"),
    regex(r"\A<OpOverload(?:Packet)?\(op='([\w.:]+)'(?:,\s*overload='(\w+)')?"),
    regex(
        r"\A<(?:built-in (?:method|function)|function|method|bound method|slot wrapper"
        r"|method-wrapper)\s+'?([\w.]+)'?"
    ),
    regex(
        r"\A<\s*(?:class\s+')?([A-Za-z_][\w.:]*)'?(?:\s+(?:object\s+)?at\s+0x[0-9a-fA-F]+)?\s*>?\Z"
    ),
    regex(r"\Ann\.Module: (\w+)_\d+\Z"),  # a call of a module, in a profile
    regex(r"\ACMake (?:Error|Warning)[^\n]* at (\S+:\d+)"),
    regex(r"\A([\w./-]*(?:CMakeLists\.txt|\.cmake):\d+) \(\w+\):?\Z"),
)
"""Notations around a name: printed objects and lines of code."""
_ENGINE = regex(r"autograd::engine::evaluate_function:\s*")
_FRAME = regex(
    r"(?:(?:frame )?#\d+:?|=+\s+Host Frame:)\s*(?:0x[0-9a-f]+ in )?(?P<name>\S.*?)"
    r"(?:(?<=\))(?: const)? ?\(.*\))?(?:\s\+\s0x[0-9a-f]+.*|\s\[0x[0-9a-f]+\].*)?"
    r"(?:\s(?:at|from)\s(?P<place>\S+))?\Z"
)
"""A line of a C++ stack by c10, gdb or compute-sanitizer; gdb adds arguments behind parameters."""
_NAMELESS = regex(r"(?:[\w:]*::)?(?:operator\(\)|<.*>|_FUN)(?:\(.*)?\Z")
"""A frame's function with only a place."""
_ASSIGNED = regex(r"(?:%?[\w.]+(?:\s*:\s*[\w\[\], ()*.]+?)?\s*=\s*)(?=[A-Za-z_%])")
_LIST_ITEM = regex(r"-\s*func:\s*")


def _unwrap(text: str) -> str:
    """The name itself: without quotes, object notation, assignment and list markers; demangled."""
    name = without_margin(text).strip(QUOTES).replace(".<locals>", "")
    for pattern in (_ENGINE, _LIST_ITEM):
        if found := pattern.match(name):
            name = name[found.end() :]
    if found := _FRAME.match(name):
        name = found["place" if found["place"] and _NAMELESS.match(found["name"]) else "name"]
    for form in _FORMS:
        if found := form.search(name):
            return ".".join(filter(None, found.groups()))
    if found := _ASSIGNED.match(name):
        name = name[found.end() :]
    return _NAMELESS_TYPE.sub(r"\1", readable(name.strip(QUOTES)).text)


_NAMELESS_TYPE = regex(r"'((?:lambda|unnamed)\d*)'")  # as LLVM spells lambdas

# --------------------------------------------------------------------------- operators

_QUALIFIED = regex(r"(\w+)::(\w+)(?:\.(\w+))?\Z")
_SCHEMA = regex(r"(?:(\w+)::)?(\w+)(?:\.(\w+))?\s*\(.*\)\s*->", re.DOTALL)
_IN_GRAPH = regex(r"\b((?:aten|prims|prim|quantized)::\w+(?:\.\w+)?)")


def _schema(raw: str, name: str) -> NameQuery | None:
    if not (found := _SCHEMA.match(name)):
        return None
    return from_parts(raw, found[1] or "", found[2], found[3] or "")


def _operator(raw: str, name: str) -> NameQuery | None:
    """``aten::add.Tensor``, and ``prims::add``, but not ``at::add``, which is C++."""
    found = _QUALIFIED.match(without_call(name))
    if not found or found[1] in ("at", "torch", "c10", "std"):
        return None
    return from_parts(raw, found[1], found[2], found[3])


def _in_graph(raw: str, name: str) -> NameQuery | None:
    """An operator within a line of a printed TorchScript graph."""
    found = _IN_GRAPH.search(name) if has_words(name) and not SENTENCE.search(name) else None
    return _operator(raw, found[1]) if found else None


# ------------------------------------------------------------------------------- places

_PLACE = regex(r"(?P<path>@?[\w./+\\-]*\w\.[A-Za-z]\w*):(?P<line>\d{1,4000})(?::\d+)?:?\Z")
_PATH = regex(r"@?[\w./+\\-]*/[\w.+-]+\.[A-Za-z]\w*\Z")
_LINK = regex(
    rf"(?:https?://\S+?/blob/[^/\s]+/)?(?P<path>[\w./+-]*\w\.[A-Za-z]\w*)#L(?P<line>{LINE})(?:-L\d+)?\Z"
)
"""A line on GitHub."""


def _place(raw: str, name: str) -> NameQuery | None:
    """``SoftMax.cpp:303``, a path, and a line of a traceback."""
    if found := _PLACE.match(name) or _LINK.match(name):
        return NameQuery(raw, "place", found["path"], line=int(found["line"]))
    frame = PLACE.match(name)
    if frame and (any(frame.groups()[2:]) or name.startswith("File ")):
        return NameQuery(raw, "place", frame[1], line=int(frame[2] or frame[4] or 0))
    return NameQuery(raw, "place", name) if _PATH.match(name) else None


_RECOGNISERS: tuple[Callable[[str, str], NameQuery | None], ...] = (
    _inside,
    statement,
    _error,
    _place,
    _message,
    macro_use,
    stub_name,
    grad_fn,
    _schema,
    made_by_torchgen,
    _operator,
    _in_graph,
    expression,
    python_name,
    subscript,
    symbol_name,
)
