"""Descriptions of folders: the list in CONTRIBUTING.md, the first sentences of READMEs and
packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from indexes.model.code_map import Words
from indexes.model.regex import IGNORECASE, regex
from indexes.model.vocabulary import Location
from indexes.readers.python.blocks import parse

_HEADING = regex(r"^#+\s*codebase structure\s*$", IGNORECASE)
_ITEM = regex(r"^\s*[*-] ((?:\[|\.\.\.).*)$")
_LINK = regex(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_README = regex(r"\s*\[README\]\([^)]*\)\s*$")
_DASH = regex(r"\s-\s")
_SENTENCE = regex(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s")
_MARKUP = ("#", "<", "!", "[!", "```", "---", "===", "|")


def read_structure(data: bytes, path: str) -> dict[str, Words]:
    """The folders and files described in the section "Codebase structure", by path."""
    found: dict[str, Words] = {}
    for line, item in _items(data.decode("utf-8", "replace").split("\n")):
        head, dash, text = _split(item)
        for link in _LINK.finditer(head):
            words = _plain(_README.sub("", text))
            if dash and words:
                found.setdefault(link[2].strip("/"), Words(words, Location(path, line)))
    return found


def _split(item: str) -> tuple[str, str, str]:
    dash = _DASH.search(item)
    return (item[: dash.start()], "-", item[dash.end() :]) if dash else (item, "", "")


def _items(lines: list[str]) -> Iterator[tuple[int, str]]:
    item, start, inside = "", 0, False
    for number, line in enumerate(lines, 1):
        if _HEADING.match(line):
            inside = True
        elif inside and line.startswith("#"):
            break
        elif inside and (begun := _ITEM.match(line)):
            if item:
                yield start, item
            item, start = begun[1], number
        elif item:
            item += f" {line.strip()}"
    if item:
        yield start, item


def first_sentence(data: bytes, path: str) -> Words | None:
    """The first sentence of a README, without headings, badges and markup."""
    lines = data.decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines, 1):
        text = line.strip()
        rule = number < len(lines) and lines[number].startswith(("---", "==="))
        if not text or text.startswith(_MARKUP) or rule:
            continue
        paragraph = [text]
        for following in lines[number:]:
            if not following.strip():
                break
            paragraph.append(following.strip())
        return _first(" ".join(paragraph), Location(path, number))
    return None


def package_sentence(data: bytes, path: str) -> Words | None:
    """The first sentence of a Python module's docstring."""
    try:
        tree = parse(data)
    except SyntaxError:
        return None
    text = ast.get_docstring(tree)
    line = tree.body[0].lineno if text else 0
    return _first(" ".join(text.split()), Location(path, line)) if text else None


def _first(text: str, where: Location) -> Words | None:
    words = _plain(_SENTENCE.split(text, maxsplit=1)[0])
    return Words(words, where) if words else None


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("`", "").replace("**", "").split())
