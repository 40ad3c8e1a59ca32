"""What a Python file or page says about names: arguments in docstrings, links to names and files,
comments that exempt the file from a check."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import msgspec

from indexes.model.files import MARK, ArgumentDocs, RemarkFact
from indexes.model.lines import LineCount
from indexes.model.regex import MULTILINE, regex
from indexes.readers.messages import read_words
from indexes.readers.python.blocks import Spans, parse

_PARAMETERS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_DOCSTRING = r"[^\S\n]*[rRuU]{0,2}(\"\"\"|''')"
_HEAD = regex(
    rf"^([^\S\n]*)(?:(?:async[ \t]+)?(def)|(class))[ \t]+([A-Za-z]\w*)[ \t]*({_PARAMETERS})?"
    rf"[^:\n]*:[^\S\n]*(?:\#[^\n]*)?\n{_DOCSTRING}",
    MULTILINE,
)
_SAID = regex(r"Arg|Parameters:")
_INIT = regex(rf"^[^\S\n]+def[ \t]+__init__[ \t]*({_PARAMETERS})", MULTILINE)
_SECTION = regex(r"^([^\S\n]*)(?:Args|Arguments|Parameters|Keyword [Aa]rgs|Keyword [Aa]rguments):")
_ENTRY = regex(r"([^\S\n]*)((?:\\?\*){0,2}\w+(?:\s*,\s*(?:\\?\*){0,2}\w+)*)\s*(?:\(([^\n]*))?:?")
_DEFAULT = regex(
    r"[Dd]efaults?(?: is| to|:|=|: is| value is)?:?[ \t]*(``?[^`\n]+``?|[-+\w.]+)", re.ASCII
)
_CLASS = regex(r"\nclass[ \t]+(\w+)")
_PRIVATE = regex(r"/_(?!_init__)|/testing/")
_DECORATOR = regex(r"@(?!staticmethod|classmethod)[\w.]*(?:overload|property|setter)")


@dataclass(frozen=True, slots=True)
class Said:
    """The argument sections of a docstring."""

    names: tuple[str, ...]
    defaults: dict[str, str] = field(default_factory=dict)
    """The documented default of each parameter, if a literal."""
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each parameter, from 0."""


def said(docstring: str) -> Said:
    """The parameters documented in Google style; empty if an entry has another form."""
    names: list[str] = []
    defaults: dict[str, str] = {}
    lines: dict[str, int] = {}
    indent, entry_indent, current = -1, -1, ""
    for number, line in enumerate(docstring.splitlines()):
        depth = len(line) - len(line.lstrip())
        if section := _SECTION.match(line):
            indent, entry_indent = len(section[1]), -1
        elif not line.strip() or indent < 0:
            continue
        elif depth <= indent:
            indent = -1
        else:
            entry_indent = depth if entry_indent < 0 else entry_indent
            entry = _ENTRY.match(line) if depth == entry_indent else None
            if depth < entry_indent or (depth == entry_indent and not _is_entry(line, entry)):
                return Said(())
            if entry:
                found = re.findall(r"\w+", entry[2])
                names += found
                lines |= dict.fromkeys(found, number)
                current = found[0] if len(found) == 1 else ""
            if current and (default := _DEFAULT.search(line)):
                defaults.setdefault(current, default[1].strip("`"))
    return Said(tuple(dict.fromkeys(names)), defaults, lines)


def _is_entry(line: str, entry: re.Match[str] | None) -> bool:
    return entry is not None and ":" in line


@dataclass(frozen=True, slots=True)
class Documented:
    """A function or class whose docstring has a section of arguments."""

    name: str
    """With its class, for a method."""
    line: int
    parameters: ast.arguments
    said: Said
    docstring: int
    """The first line of its docstring."""


def documented(text: str) -> Iterator[Documented]:
    """The public functions and classes of a file that document arguments."""
    line_of = LineCount(text)
    for found in _heads(text):
        end = text.find(found[6], found.end())
        docstring = text[found.end() : end]
        written = found[5] if found[2] else _written_init(text, end, len(found[1]))
        parameters = _arguments(written) if written else None
        known = said(docstring)
        if parameters and known.names and not _is_special(text, found.start()):
            owner = _owner(text, found.start()) if found[1] else ""
            if owner[:1] != "_":
                line, begun = line_of(found.start(4)), line_of(found.end())
                yield Documented(f"{owner}{found[4]}", line, parameters, known, begun)


def _heads(text: str) -> Iterator[re.Match[str]]:
    """The heads before docstrings with arguments. Ten times faster than looking at every head."""
    begun = -1
    for said in _SAID.finditer(text):
        start = max(text.rfind(quotes, 0, said.start()) for quotes in ('"""', "'''"))
        if start != begun:
            begun = start
            head = max(text.rfind("def ", 0, start), text.rfind("class ", 0, start))
            found = _HEAD.match(text, text.rfind("\n", 0, head) + 1, start + 3)
            if found and found.end() == start + 3:
                yield found


def _owner(text: str, at: int) -> str:
    found = _CLASS.match(text, text.rfind("\nclass ", 0, at))
    return f"{found[1]}." if found else ""


def _is_special(text: str, start: int) -> bool:
    before = text[max(0, start - 200) : start].rstrip("\n").rpartition("\n")[2]
    return bool(_DECORATOR.search(before))


def _written_init(text: str, start: int, indent: int) -> str:
    found = _INIT.search(text, start)
    if found is None:
        return ""
    left = re.compile(rf"^[^\S\n]{{0,{indent}}}[^\s#)\]]", re.MULTILINE)
    after = left.search(text, start + 3, found.start())
    return "" if after else found[1]


def _arguments(written: str) -> ast.arguments | None:
    try:
        function = parse(f"def f{written}: pass").body[0]
    except SyntaxError:
        return None
    return function.args if isinstance(function, ast.FunctionDef) else None


def read_arguments(text: str, path: str) -> Iterator[RemarkFact]:
    """What docstrings of public functions and classes say about arguments."""
    if path.startswith("torch/") and "Arg" in text and not _PRIVATE.search(path):
        for one in documented(text):
            lines = {name: one.docstring + line for name, line in one.said.lines.items()}
            docs = ArgumentDocs(tuple(_names(one)), one.said.names, lines, disagreement(one))
            yield RemarkFact("arguments", one.name, one.line, msgspec.json.encode(docs).decode())


def _names(one: Documented) -> list[str]:
    given = one.parameters
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return [a.arg for a in every if a.arg not in ("self", "cls") and a.arg[0] != "_"]


def disagreement(one: Documented) -> tuple[str, str] | None:
    """A wrong statement of a docstring, and why it is wrong; None if there is none."""
    given = one.parameters
    stars = [star.arg for star in (given.vararg, given.kwarg) if star]
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    unknown = [name for name in one.said.names if name not in (*(a.arg for a in every), *stars)]
    if unknown and not stars:
        has = ", ".join(_names(one)) or "none"
        return f"documents {', '.join(unknown)}", f"it has no parameter of that name: it has {has}"
    return _wrong_default(given, one.said.defaults)


def _wrong_default(arguments: ast.arguments, documented: dict[str, str]) -> tuple[str, str] | None:
    positional = [*arguments.posonlyargs, *arguments.args]
    given = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    pairs = [*given.items(), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    for parameter, default in pairs:
        words = documented.get(parameter.arg, "")
        if default is not None and words and _differs(words, default):
            real = ast.unparse(default)
            what = f"documents {parameter.arg}={words}"
            return what, f"its signature has {parameter.arg}={real}"
    return None


def _differs(words: str, default: ast.expr) -> bool:
    """Whether two literals differ; None never does, since it may stand for any value."""
    try:
        one, other = ast.literal_eval(words.rstrip(".,;)")), ast.literal_eval(default)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    if isinstance(one, str) and isinstance(other, str):
        return one != other
    same_kind = isinstance(one, bool) == isinstance(other, bool)
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    return same_kind and numbers and one != other


_ROLE = regex(
    r"[:{](?:py:)?(func|class|meth|mod|exc|data|attr)[:}]`(?:[^`<]*<)?[~!.]*(torch\.[\w.]+?)"
    r"(?:\(\))?>?`"
)
"""``:func:`torch.add``` in reStructuredText, ``{func}`torch.add``` in MyST."""
_FILE = regex(r"github\.com/pytorch/pytorch/(?:blob|tree)/(?:main|master)/([\w./+-]*\w)")
_RELATIVE = regex(r"\[[^\]\n]*\]\((?![a-z]+:|[/#<{$])([^()\s#]+\.\w+)(?:#[^()\s]*)?\)")
_CODE = regex(r"```[\s\S]*?```|`[^`\n]*`")
_TESTING = "torch/testing/_internal/"
_COMMENT = regex(
    r"^([ \t]*)\.\.(?:[ \t]+(?![_\[|]|[\w.:+-]+ ?::)\S|\n\1[ \t]+\S)[^\n]*"
    r"(?:\n\1[ \t]+[^\n]*|\n[ \t]*(?=\n|\Z))*",
    MULTILINE,
)
"""A comment of reStructuredText: what is marked by ``..`` and is no directive, target, footnote or
substitution, with the deeper lines below."""


def _rendered(text: str, path: str) -> str:
    """A text without the comments of a page, whose lines are left empty."""
    if not path.endswith(".rst"):
        return text
    return _COMMENT.sub(lambda one: "\n" * one[0].count("\n"), text)


def read_roles(text: str, path: str) -> Iterator[RemarkFact]:
    """The full names of torch in roles: ``:class:`~torch.nn.Linear```."""
    line_of = LineCount(text)
    for found in _ROLE.finditer(text) if _TESTING not in path else ():
        yield RemarkFact("role", found[2], line_of(found.start()), found[1])


def read_file_links(text: str, path: str) -> Iterator[RemarkFact]:
    """The links to files and folders of PyTorch, by path in the tree."""
    line_of = LineCount(text)
    for target, at in _file_links(text, path):
        yield RemarkFact("file link", target, line_of(at))


def _file_links(text: str, path: str) -> Iterator[tuple[str, int]]:
    """(path in the tree, offset) of links to GitHub's main branch, or relative to a Markdown
    page."""
    if "pytorch/pytorch/" in text:
        for found in _FILE.finditer(text):
            if not text.startswith(("{", "<", "*"), found.end()):
                yield found[1], found.start()
    if path.endswith(".md"):
        code = Spans([one.span() for one in _CODE.finditer(text)])
        for found in _RELATIVE.finditer(text):
            if not code.end_at(found.start()):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1]))
                if not target.startswith(".."):
                    yield target, found.start()


_MARK = regex(r"^#\s*(?:mypy|pyrefly|pyre):\s*(allow-untyped-defs|ignore-errors)\b", MULTILINE)
_CALLS = (regex(r"torch\.(?<!\wtorch\.)(_[a-z]\w*)\("), regex(r"_VF\.(?<!\w_VF\.)(\w+)\("))
"""Literals come first, since the regex engine can search for them."""
_INTERNAL = regex(r"/_|^torch/testing/")


def read_mark(text: str) -> Iterator[RemarkFact]:
    """The comment that exempts a file from a type checker, with the file's size."""
    found = _MARK.search(text) if "# mypy:" in text or "# py" in text else None
    if found:
        lines, functions = size_of(text)
        place = text.count("\n", 0, found.start()) + 1
        yield RemarkFact("untyped", found[1], place, f"{lines} {functions}")


def size_of(text: str) -> tuple[int, int]:
    """The numbers of lines and functions of a file."""
    return text.count("\n"), text.count(" def ") + text.count("\ndef ")


def read_internal_calls(text: str, path: str) -> Iterator[RemarkFact]:
    """Calls of ``torch._name(...)`` and ``_VF.name(...)`` in functions that are not internal."""
    if path.startswith("torch/") and not _INTERNAL.search(path):
        for name in dict.fromkeys(name for call in _CALLS for name in call.findall(text)):
            yield RemarkFact("internal call", name, 0)


_FUNCTION = regex(r"def[ \t]+(\w+)[ \t]*(\((?:[^()]|\([^()]*\))*\))?")
_CLASS_HEAD = regex(r"class[ \t]+(\w+)(?:\(([^)]*)\))?")
_CLASS_BODY = regex(r"(?m)^class .*(?:\n(?:[ \t].*)?)*")
_ATTRIBUTE = regex(r"\n(?: {4}|\t)(\w+)[ \t]*[:=](?!=)")
"""An attribute of a top-level class; deeper lines are mostly in functions."""
_VARIABLE = regex(r"(?m)^(\w+)[ \t]*[:=](?!=)")
_PARAMETER = regex(r"[(,*\n]\s*([A-Za-z_]\w*)\s*(?=[:=,)])")
_BASE = regex(r"(\w+)(?:\[[^\]]*\])?[ \t]*(?:,|\Z)")


def read_names(text: str) -> Iterator[RemarkFact]:
    """The names of functions, parameters, classes and attributes of a file, and of base classes.
    Some are wrong, since every file is searched by text: who looks for a name reads the file."""
    functions, classes = _FUNCTION.findall(text), _CLASS_HEAD.findall(text)
    names = {name for name, _ in (*functions, *classes)}
    names.update(*(_PARAMETER.findall(parameters) for _, parameters in functions if parameters))
    names.update(*(_ATTRIBUTE.findall(body[0]) for body in _CLASS_BODY.finditer(text)))
    names.update(_VARIABLE.findall(text))
    if names:
        yield RemarkFact("names", " ".join(sorted(names)), 0)
    if bases := [base for _, listed in classes for base in _BASE.findall(listed)]:
        yield RemarkFact("bases", " ".join(bases), 0)


_ALL = regex(r"^__all__\s*(?::[^=\n]+)?\+?=\s*[\[(]([^\])]*)[\])]", MULTILINE)
_LISTED = regex(r"[\"'](\w+)[\"']")
_DEFINED = regex(r"^(?:async def|def|class)[ \t]+([A-Za-z]\w*)", MULTILINE)
_IMPORTED = regex(r"^ {0,4}from[ \t]+\.?[\w.]*[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)", MULTILINE)
_NAMED = regex(r"(?:\w+[ \t]+as[ \t]+)?([A-Za-z]\w*)[ \t]*(?:#[^\n]*)?(?:[,)\n]|$)")
_ROOTS = ("torch/", "functorch/", MARK)


def _public(text: str, path: str) -> Iterator[RemarkFact]:
    """The names in ``__all__``; without it, what a module defines or a package imports.

    By text, since every file is read; false names are found out when they are followed.
    """
    if not path.startswith(_ROOTS) or "/testing/" in path:
        return
    listed = [one for found in _ALL.findall(text) for one in _LISTED.findall(found)]
    names = listed if "__all__" in text else _DEFINED.findall(text)
    if path.endswith("/__init__.py") and "__all__" not in text:
        names += [one for found in _IMPORTED.findall(text) for one in _NAMED.findall(found)]
    if names:
        yield RemarkFact("public", " ".join(dict.fromkeys(names)), 0)


def read_word_lists(data: bytes, path: str, remarks: Iterable[RemarkFact]) -> list[RemarkFact]:
    """The exports and imports of a module, and the words that are searched for in it."""
    text = data.decode("utf-8", "replace") if path.endswith(".py") else ""
    listed = (one.name.split() for one in remarks if one.kind == "names")
    named = frozenset(chain.from_iterable(listed))
    return [*read_words(text, named), *_public(text, path), *_imports(text)]


def read_test_imports(data: bytes) -> list[RemarkFact]:
    """The packages that a test imports under their own names."""
    found = {one for one, name in _IMPORT.findall(data.decode("utf-8", "replace")) if not name}
    listed = sorted(f"{one}={one}" for one in found if "." not in one)
    return [RemarkFact("imports", " ".join(listed), 0)] if listed else []


_IMPORT = regex(r"^[ \t]*import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?:#.*)?$", MULTILINE)


def _imports(text: str) -> Iterator[RemarkFact]:
    """The modules imported whole, each behind its name here."""
    named = _IMPORT.findall(text)
    tops = ((module if name else module.partition(".")[0], name) for module, name in named)
    if found := {f"{name or module}={module}" for module, name in tops}:
        yield RemarkFact("imports", " ".join(sorted(found)), 0)


def read_remarks(data: bytes, path: str) -> list[RemarkFact]:
    """The remarks of a file by kind, sorted by line."""
    text = data.decode("utf-8", "replace")
    page = _rendered(text, path)
    links = [*read_roles(page, path), *read_file_links(page, path)]
    if not path.endswith(".py"):
        return links
    marks = (*read_mark(text), *read_internal_calls(text, path), *read_names(text))
    return [*read_arguments(text, path), *links, *marks]
