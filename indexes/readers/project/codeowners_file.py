"""CODEOWNERS: who is notified of a change to a path, and by which rule."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Problem


class OwnerRule(NamedTuple):
    """A line of CODEOWNERS."""

    pattern: str
    owners: tuple[str, ...]
    """As written: ``@user``, ``@org/team`` or an address; empty for a rule that unsets them."""
    line: int
    section: str = ""
    """The comment above the group of rules, which says what they are for."""
    labels: tuple[str, ...] = ()
    """Of the ``# label:`` line above it, in versions that have those."""


def read_codeowners(data: bytes, path: str) -> tuple[tuple[OwnerRule, ...], tuple[Problem, ...]]:
    """The rules of a CODEOWNERS file in order."""
    rules: list[OwnerRule] = []
    problems: list[Problem] = []
    section, open_comment = "", False
    labels: tuple[str, ...] = ()
    for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        text = text.strip()
        if text.startswith("#"):
            section = _section(section if open_comment else "", text)
            labels = _labels(text, labels)
            open_comment = True
            continue
        open_comment = False
        if text:
            rules.append(_rule(text, number, section, labels))
            if any(mark in rules[-1].pattern for mark in ("!", "[")):
                problems.append(Problem(path, number, "GitHub does not accept this pattern"))
    return tuple(rules), tuple(problems)


_LABEL = regex(r"#\s*label:\s*(.+)")
_GROUP = regex(r"#\s*\[\w+\]\s*$")
_UNOWNED = regex(r"#\s*(/[\w./*?-]+)\s*$")


def _labels(comment: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """The labels below a comment: a ``# label:`` line holds to the next, or to the next group."""
    if found := _LABEL.match(comment):
        return tuple(re.split(r"\s*,\s*", found[1].strip()))
    return () if _GROUP.match(comment) else before


def read_label_lines(data: bytes) -> tuple[OwnerRule, ...]:
    """The rules with a ``# label:`` line above them, in order, those that are commented out
    because nobody owns their paths too. Empty in versions without such lines."""
    rules: list[OwnerRule] = []
    labels: tuple[str, ...] = ()
    for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        text = text.strip()
        labels = _labels(text, labels) if text.startswith("#") else labels
        unowned = _UNOWNED.match(text)
        if unowned or (text and not text.startswith("#")):
            rules.append(_rule(unowned[1] if unowned else text, number, "", labels))
    return tuple(rules) if any(rule.labels for rule in rules) else ()


def _section(before: str, text: str) -> str:
    return f"{before} {text.lstrip('# ').strip()}".strip()


def _rule(text: str, number: int, section: str, labels: tuple[str, ...]) -> OwnerRule:
    if "#" in text or "\\" in text:
        parts = re.split(r"(?<!\\)\s+", re.sub(r"(?<!\\)\s#.*$", "", text))
    else:
        parts = text.split()
    pattern, *owners = parts
    plain = pattern.replace("\\ ", " ")
    return OwnerRule(plain, tuple(filter(None, owners)), number, section, labels)


def owner_rule(rules: Iterable[OwnerRule], path: str) -> OwnerRule | None:
    """The rule that decides about a path: the last that matches."""
    found = None
    for rule in rules:
        if _holds_literals(path, rule.pattern) and _matcher(rule.pattern).match(path):
            found = rule
    return found


def _holds_literals(path: str, pattern: str) -> bool:
    """Whether all that a pattern writes out is in a path; without that it cannot match."""
    return all(literal in path for literal in _literals(pattern))


@cache
def _literals(pattern: str) -> tuple[str, ...]:
    pieces = re.split(r"[*?]+", pattern.replace("\\#", "#").strip("/"))
    return tuple(piece.strip("/") for piece in pieces)


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    """A pattern as a regex over paths of files, by the rules that GitHub states."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    regex = _glob(body)
    if pattern.endswith("/"):
        tail = "/.+"
    elif body == "*" or body.endswith("/*"):
        tail = "" if anchored else "(?:/.*)?"
    else:
        tail = "(?:/.*)?"
    return re.compile(f"{'' if anchored else '(?:.*/)?'}{regex}{tail}$")


_GLOB = regex(r"\*\*/|/\*\*$|\*\*|\*|\?|[^*?]")
_GLOB_REGEX = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _glob(pattern: str) -> str:
    parts = _GLOB.findall(pattern.replace("\\#", "#"))
    return "".join(_GLOB_REGEX.get(part, re.escape(part)) for part in parts)
