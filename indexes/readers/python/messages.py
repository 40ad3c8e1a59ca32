"""Messages in Python, and the variables that users set.

Messages are the literals of ``raise X(f"...")``, ``warnings.warn("...")``, ``torch._check(ok,
lambda: f"...")`` and of texts assembled before; variables are entries of configuration modules and
flags of backends. Files are not parsed for messages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from re import Match

from indexes.model.files import module_name
from indexes.model.lines import LineCount
from indexes.model.regex import VERBOSE, regex
from indexes.readers.messages import (
    CONFIG,
    ENVIRONMENT,
    FLAG,
    HOLE,
    MAYBE,
    SHORTEST,
    MessageFact,
    joined,
)
from indexes.readers.python.blocks import parsed
from indexes.readers.python.scope import assigned_names, called_name

_TOKEN = regex(
    r"""["'#](?:
      (?<=\#)[^\n]*
    | (?<=")(?:""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*\"""|[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*")
    | (?<=')(?:''[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'''|[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*')
    )""",
    VERBOSE,
)
"""A comment or a literal. Of unterminated triple quotes the first two are an empty literal."""
_COMMENT = regex(r"#[^\n]*")
_BRACKETED = regex(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_NEXT = regex(r"[,;:]|(?<![=!<>])=(?!=)|[^\s+%(\\][ \t]*\n\s*(?!if\b|else\b)[^\s+%)\].]")
"""The end of an expression: a comma, an assignment, a new line without operator."""
_MARKS = regex(r"[()\[\]{}]|\n[ \t]*(?=[\w@])")
_CALLED = regex(r"(\braise\s+)?([\w.]+)\s*\Z")
_BEGINS = regex(
    r"\n[ \t]*(?:(raise|assert|return|yield|if|elif|else|for|while|with|try|except|def|class"
    r"|import|from)\b|([\w.]+)\s*(?::[^=\n]*)?\+?=(?!=)(?![^\n]*,[ \t]*\n))"
)
_AROUND = frozenset(("format", "join", "str", "dedent", "lambda", "repr"))
_NO_MESSAGES = regex(
    r"[\w.]*(?:docstr\w*|_doc(?:__)?)(?: =)?|parser\.add_argument|def|class|if|elif|while"
)
"""Functions whose texts are no errors: documentation and comparisons."""
_TESTED = regex(r"\s+(?:not\s+)?in\b|\s*[=!]=")
"""Text behind a literal that is compared or searched for."""
_VARIABLE = regex(r"[A-Z][A-Z0-9_]{2,}")
_CONTINUED = tuple("([,=+%")
"""Text before a literal inside an expression."""
_FIELD = regex(r"\{\{|\}\}|\{(?:[^{}]|\{[^{}]*\})+\}")
"""A replacement field of an f-string, whose format may have fields itself."""
_ARM = regex(r"(?:^\{\s*|\belse\s+)\(?(?:'([^'{}]+)'|\"([^\"{}]+)\")")
_PREFIX = regex(r"(?<!\w)[bBfFrRuU]{0,2}\Z")
_FURTHEST, _NEAR = 600, 150
_MARGIN, _LINE = 120, 80
_LONGEST = 1500
"""Characters of a message in triple quotes; a longer one is a page."""

Span = tuple[int, int]


def read_messages(data: bytes) -> list[MessageFact]:
    """The messages of a file, and the environment variables that it names."""
    text = data.decode("latin-1")  # offsets agree with the file
    line = LineCount(text)
    spans = [one.span() for one in _TOKEN.finditer(text) if one[0][0] != "#"]
    found: list[MessageFact] = []
    at = 0
    while at < len(spans):
        start, end = spans[at]
        at += 1
        if text.find(" ", start, end) >= 0 and not _is_page(text, start, end):
            first, at = _group(text, spans, at - 1)
            if fact := _message(text, spans[first:at], line):
                found.append(fact)
        elif text[start + 1].isupper() and (fact := _variable(text, start, end, line)):
            found.append(fact)
    return found


def _is_page(text: str, start: int, end: int) -> bool:
    """Whether a literal in triple quotes is a docstring or template, not a message."""
    if not text.startswith(('"""', "'''"), start) or end - start < 6:
        return False
    before = text[max(0, start - _MARGIN) : start].rstrip("bBfFrRuU").rstrip()
    return end - start > _LONGEST or before[-1:] not in _CONTINUED


def _variable(text: str, start: int, end: int, line: LineCount) -> MessageFact | None:
    """``os.environ["NAME"]``, ``env_name_force="NAME"``, ``LOGS_ENV_VAR = "NAME"``."""
    name = text[start + 1 : end - 1]
    before = text[max(0, start - _MARGIN) : start].rstrip()  # it may stand on a line of its own
    if "env" in before.lower().rpartition("\n")[2] and _VARIABLE.fullmatch(name):
        at = line(start)
        return MessageFact(at, at, ENVIRONMENT, name)
    return None


def _group(text: str, spans: list[Span], at: int) -> tuple[int, int]:
    """The index of the first literal in the expression around one, and the index behind its
    last."""
    first, last = at, at + 1
    while first and _joins(text, spans[first - 1][1], spans[first][0]):
        first -= 1
    while last < len(spans) and _joins(text, spans[last - 1][1], spans[last][0]):
        last += 1
    return first, last


def _joins(text: str, end: int, start: int) -> bool:
    between = _between(text, end, start)
    if not between.strip():
        return True
    if len(between) > _FURTHEST or between.lstrip()[0] in ",;:=":
        return False
    if "(" in between or "[" in between or "{" in between:
        between = _BRACKETED.sub("", _BRACKETED.sub("", between))
    return _NEXT.search(f'"{between}x') is None


def _between(text: str, end: int, start: int) -> str:
    between = text[end:start]
    if "#" in between:
        between = _COMMENT.sub("", between)
    rest = between.rstrip("bBfFrRuU")
    return between if rest[-1:].isalnum() or len(between) > len(rest) + 2 else rest


def _message(text: str, group: list[Span], line: LineCount) -> MessageFact | None:
    start, end = group[0][0], group[-1][1]
    place, name = _raising_call(text, start)
    words = joined(_parts(text, group)).encode("latin-1").decode("utf-8", "replace")
    if len(words) < SHORTEST or _NO_MESSAGES.fullmatch(name) or _TESTED.match(text, end):
        return None
    return MessageFact(line(place), line(end - 1), name, words)


def _raising_call(text: str, start: int) -> tuple[int, str]:
    """The call or statement that a text is passed to."""
    before = text[max(0, start - _NEAR) : start].rstrip("bBfFrRuU").rstrip()
    if before.endswith("("):  # most are all that a call is given
        opened = text.rfind("(", 0, start)
        if found := _called(text, opened):
            return found
    found = _raising_call_within(text, start, _NEAR) or _raising_call_within(text, start, _FURTHEST)
    return found or (start, "")


def _called(text: str, opened: int) -> tuple[int, str] | None:
    """The callee of a parenthesis; None for other parentheses and functions that only format."""
    begin = max(text.rfind("\n", 0, opened) + 1, opened - _LINE)
    called = _CALLED.search(text, begin, opened)
    if not called or called[2].rpartition(".")[2] in _AROUND:
        return None
    return called.start(), f"{'raise ' * bool(called[1])}{called[2]}"


def _raising_call_within(text: str, start: int, most: int) -> tuple[int, str] | None:
    closed = 0
    for mark in reversed(list(_MARKS.finditer(text, max(0, start - most), start))):
        sign = mark[0]
        if sign in ")]}":
            closed += 1
        elif sign in "([{":
            closed -= 1
            if closed < 0:
                closed = 0
                if sign == "(" and (found := _called(text, mark.start())):
                    return found
        elif not closed and (begun := _BEGINS.match(text, mark.start())):
            return mark.end(), begun[1] or f"{begun[2]} ="
    return None


def _parts(text: str, group: list[Span]) -> Iterator[tuple[str, bool]]:
    """Runs of adjacent literals, and whether each may be absent, as in a conditional."""
    written, may_miss, ended, depth = "", False, 0, 0
    for start, end in group:
        between = _between(text, ended, start) if ended else ""
        stripped = between.strip()
        if ended and stripped:
            yield written, may_miss
            written = ""
            depth += between.count("(") - between.count(")")
            may_miss = depth > 0 or stripped.endswith("else") or stripped[-2:] in ("==", "!=")
        quotes = 3 if end - start >= 6 and text[start : start + 3] in ('"""', "'''") else 1
        literal = text[start + quotes : end - quotes]
        written += _FIELD.sub(_value, literal) if _is_formatted(text, start) else literal
        may_miss = may_miss or text.startswith((" if ", ".join"), end)
        ended = end
    yield written, may_miss


def _is_formatted(text: str, start: int) -> bool:
    prefix = _PREFIX.search(text[max(0, start - 3) : start])
    return prefix is not None and "f" in prefix[0].lower()


def _value(field: Match[str]) -> str:
    """``HOLE`` for a field, with the texts that a conditional in it chooses from."""
    if field[0] in ("{{", "}}"):
        return field[0]
    arms = _ARM.findall(field[0]) if " else " in field[0] else ()
    return HOLE.join(["", *(MAYBE + (single or double) for single, double in arms), ""])


_INSTALLED = b"install_config_module("
_DEFINED = b"def install_config_module("
_PROPERTY = b"ContextProp("
_BY_NAME = (b"def __setattr__(", b'name == "')
_GETTERS = ("__getattr__", "__setattr__", "__getattribute__")


def read_variables(data: bytes, path: str) -> list[MessageFact]:
    """Where the variables of a file are defined, by dotted name."""
    is_config = _INSTALLED in data and _DEFINED not in data
    has_flags = _PROPERTY in data or all(mark in data for mark in _BY_NAME)
    if not (is_config or has_flags):
        return []
    tree = parsed(data, path)
    if not isinstance(tree, ast.Module):
        return []
    prefix = f"{module_name(path)}."
    found = _entries(tree, prefix) if is_config else _flags(tree, prefix)
    return list({fact.text: fact for fact in reversed(list(found))}.values())[::-1]


def _entries(block: ast.Module | ast.ClassDef, prefix: str) -> Iterator[MessageFact]:
    for statement in block.body:
        if isinstance(statement, ast.ClassDef):
            yield from _entries(statement, f"{prefix}{statement.name}.")
        for name in assigned_names(statement):
            if not name.startswith("_"):
                yield _fact(CONFIG, f"{prefix}{name}", statement)


def _flags(tree: ast.Module, prefix: str) -> Iterator[MessageFact]:
    """Attributes that classes in place of modules read and set in C++."""
    instances = dict(_instances(tree))
    for one in tree.body:
        if isinstance(one, ast.ClassDef):
            name = instances.get(one.name, "")
            yield from _of_class(one, f"{prefix}{name}.".replace("..", "."))


def _instances(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """``matmul = cuBLASModule()``: the class, and the name by which users know it."""
    for one in tree.body:
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            called = one.value.func
            for name in assigned_names(one):
                if isinstance(called, ast.Name):
                    yield called.id, name


def _of_class(block: ast.ClassDef, prefix: str) -> Iterator[MessageFact]:
    for node in ast.walk(block):
        if isinstance(node, ast.Assign) and called_name(node.value) == "ContextProp":
            for name in assigned_names(node):
                yield _fact(FLAG, f"{prefix}{name}", node)
        elif isinstance(node, ast.FunctionDef) and node.name in _GETTERS:
            for name, where in _compared(node):
                yield _fact(FLAG, f"{prefix}{name}", where)


def _compared(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """``if name == "allow_tf32"``."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            other = node.comparators[0]
            if isinstance(other, ast.Constant) and isinstance(other.value, str):
                yield other.value, node


def _fact(kind: str, name: str, node: ast.stmt | ast.expr) -> MessageFact:
    return MessageFact(node.lineno, node.end_lineno or node.lineno, kind, name)
