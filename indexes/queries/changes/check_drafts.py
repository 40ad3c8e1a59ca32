"""Drafts of corrected checks: the right macro, and a message that says what is wrong."""

from __future__ import annotations

from collections import Counter

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import Edit, margin
from indexes.queries.changes.model import Change
from indexes.queries.gaps.tree import Tree
from indexes.readers.cxx.remarks import argument_ends

_CALL = regex(
    r"(?P<throw>throw\s+(?:std\s*::\s*)?\w*_?\w+)\s*\(|\b(?P<macro>(?:TORCH|AT)_[A-Z_]+)\s*\("
)
_COMPARED = regex(r"([^=<>!&|?]+?)\s*(==|!=|<=|>=|<|>)\s*([^=<>!&|?]+)")
_GIVEN = regex(r"-?[\d.]\w*|true|false|nullptr|NULL|\"[^\"]*\"|'.'|(?:\w+::)*(?:k?[A-Z]\w*)")
"""A value as written: a number, a text, a constant."""
_COMMENT = regex(r"/\*.*?\*/|//[^\n]*")
_QUALIFIED = regex(r"\b(?:[a-z]\w*::)+(?=\w+\()")
"""Namespaces of a function."""
_IS = regex(r"(?P<no>!?)(?P<of>[\w.]+)(?:\.|->)is_?(?P<kind>[A-Za-z]\w*)\((?P<given>[^()]*)\)")
_SET = regex(r"(.+?) != (?:nullptr|NULL)")
_WORDS = regex(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_PREFIX = regex(r"TORCH_CHECK\w*\([^\";]*\"(\w+)(\(\))?: ")
_INSTEAD = regex(r"use (\w+)\((false, )?")
_WIDTH, _INDENT = 80, 4
"""Of a line of C++, by the tree's clang-format."""


def corrected(tree: Tree, change: Change, place: Location) -> Edit | None:
    """The corrected call at a line; None if there is none."""
    text = tree.text(place.path)
    above = tree.lines(place.path)[: place.line - 1]
    start = sum(len(line) + 1 for line in above)
    found = _CALL.search(text, start)
    is_here = found is not None and found.start() < text.find("\n", start)
    ends = argument_ends(text, found.end()) if found and is_here else []
    if found is None or not ends:
        return None
    called, inside = found["macro"] or found["throw"], text[found.end() : ends[-1]]
    new = _rewritten(tree, change, place, called, inside, has_message=len(ends) > 1)
    whole = text[start : text.find("\n", ends[-1])]
    made = whole.replace(text[found.start() : ends[-1] + 1], new, 1)
    return Edit(place.line, text.count("\n", 0, ends[-1]) + 1, tuple(made.split("\n")))


def _rewritten(
    tree: Tree, change: Change, place: Location, called: str, inside: str, *, has_message: bool
) -> str:
    instead = _INSTEAD.search(change.why)
    indent = margin(tree.line(place)) + "    "
    if called.startswith("throw"):
        is_long = inside.startswith("\n")
        return (
            f"TORCH_CHECK(\n{indent}false,{inside})" if is_long else f"TORCH_CHECK(false, {inside})"
        )
    if instead and called != instead[1]:
        return f"{instead[1]}({instead[2] or ''}{inside})"
    if has_message:
        return f"{called}({inside})"
    message = _message(_prefix(tree, change, place), inside)
    line = f"{called}({', '.join([inside.rstrip(), *message])})"
    if len(line) + _INDENT <= _WIDTH:
        return line
    return f"{called}(\n{indent}" + f",\n{indent}".join([inside.strip(), *message]) + ")"


def _message(prefix: str, condition: str) -> list[str]:
    """The arguments of TORCH_CHECK for the expected and actual values, in words where the condition
    is a plain question."""
    text = _QUALIFIED.sub("", " ".join(_COMMENT.sub("", condition).split())).replace("( ", "(")
    if text in ("false", "0"):
        return [f'"{prefix}say what is wrong"']
    if asked := _IS.fullmatch(text):
        kind = " ".join(word.lower() for word in _WORDS.findall(asked["kind"]))
        given = f" ({asked['given']})" if asked["given"] else ""
        return [f'"{prefix}expected {asked["of"]} {asked["no"] and "not "}to be {kind}{given}"']
    if set_ := _SET.fullmatch(text):
        return [f'"{prefix}expected {_escaped(set_[1])} not to be null"']
    words = f"{prefix}expected {_escaped(text)}"
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        return [f'"{words}"']
    values = [
        one for one in (compared[1].strip(), compared[3].strip()) if not _GIVEN.fullmatch(one)
    ]
    made = [f'"{words}, but got {_escaped(values[0])} = "', values[0]] if values else [f'"{words}"']
    for one in values[1:]:
        made += [f'" and {_escaped(one)} = "', one]
    return made


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _prefix(tree: Tree, change: Change, place: Location) -> str:
    """The usual start of the file's messages: ``gcd(): `` or ``gcd: ``."""
    name = change.op.partition(".")[0] if change.op else change.name
    styles = Counter(m[2] or "" for m in _PREFIX.finditer(tree.text(place.path)))
    ends = styles.most_common(1)[0][0] if styles else "()"
    return f"{name.rpartition('::')[2]}{ends}: "
