"""A guide in Markdown: its commands and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.regex import regex


class GuideCommand(NamedTuple):
    """A shell command in a guide."""

    text: str
    line: int
    section: str
    """The heading above it."""
    folder: str = ""
    """From the ``cd`` before it in the same block."""


class Paragraph(NamedTuple):
    """A paragraph joined to one line."""

    text: str
    line: int
    section: str


_LINK = regex(r"[-*] \[.*\]\(#.*\)$")
_FENCE = regex(r"^\s*(?:```|~~~)[^`~]*$")
_CD = regex(r"^\s*(?:\$ )?cd ([\w/]+)\s*$")
_HEADING = regex(r"^(#{1,6})\s+(.*\S)\s*$")
_WORD = r"(?:python3?|pip3?|pytest|make|ninja|lintrunner|spin|git|ln)\b"
_SHELL = regex(rf"^\s*(?:\$ )?((?:[A-Z_]+=\S+ )*(?:\./[\w/.]+|{_WORD}).*?)\s*$")
_INLINE = regex(rf"`(\(?(?:cd \w+ && )?(?:[A-Z_]+=\S+ )*(?:\./[\w/.]+|{_WORD})[^`]*)`")


def read_commands(text: str) -> tuple[GuideCommand, ...]:
    """The commands of code blocks and of inline code, in order."""
    return tuple(_commands(text))


def _commands(text: str) -> Iterator[GuideCommand]:
    section, fenced, folder = "", False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced, folder = not fenced, ""
            continue
        if fenced and (entered := _CD.match(line)):
            folder = entered[1]
        heading = None if fenced else _HEADING.match(line)
        section = heading[2] if heading else section
        found = [_SHELL.match(line)] if fenced else list(_INLINE.finditer(line))
        for one in found:
            if one:
                command = re.sub(r"\s+#\s.*$", "", one[1])
                yield GuideCommand(command.strip(), number, section, folder)


def read_comments(text: str) -> tuple[Paragraph, ...]:
    """The paragraphs of the comment lines of a YAML or Python file."""
    lines = text.splitlines()
    return read_paragraphs(
        "\n".join(one.strip()[1:].strip() if one.lstrip().startswith("#") else "" for one in lines)
    )


def read_paragraphs(text: str) -> tuple[Paragraph, ...]:
    """The paragraphs of a guide, without lists of links such as tables of contents."""
    found: list[tuple[list[str], int, str]] = []
    section, open_, code = "", False, False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.lstrip().startswith("```")  # there "# ..." is a comment
        if not code and (heading := _HEADING.match(line)):
            section, open_ = heading[2], False
            continue
        words = line.strip()
        if not words or _LINK.match(words):
            open_ = False
        elif open_:
            found[-1][0].append(words)
        else:
            found.append(([words], number, section))
            open_ = True
    return tuple(Paragraph(" ".join(words), line, of) for words, line, of in found)
