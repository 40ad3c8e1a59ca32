"""CODEOWNERS: who is notified of a change to a path, and by which rule.

The ``codeowners`` library decides which rule applies; comment and labels are read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from codeowners import CodeOwners

from indexes.model.regex import regex
from indexes.model.vocabulary import Problem


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """A line of CODEOWNERS."""

    pattern: str
    owners: tuple[str, ...]
    """``@user``, ``@org/team`` or an address; empty for a rule that removes owners."""
    line: int
    section: str = ""
    """The comment above the group of rules."""
    labels: tuple[str, ...] = ()
    """From the ``# label:`` line above it, in versions that have those."""


class OwnerRules:
    """The rules of a file in order."""

    def __init__(self, rules: Sequence[OwnerRule] = ()) -> None:
        self.rules = tuple(rules)

    def deciding(self, path: str) -> OwnerRule | None:
        """The last rule that matches a path."""
        _, number, _, _ = self._library.matching_line(path)
        return self.rules[number - 1] if number else None

    @cached_property
    def _library(self) -> CodeOwners:
        return CodeOwners("\n".join(map(_escaped, self.rules)))


def _escaped(rule: OwnerRule) -> str:
    """The rule's pattern as in the file; empty if GitHub does not accept it."""
    return "" if _is_refused(rule) else re.sub(r"([ #])", r"\\\1", rule.pattern)


def _is_refused(rule: OwnerRule) -> bool:
    return "!" in rule.pattern or "[" in rule.pattern


_MOST_BYTES = 3_000_000
"""GitHub ignores a larger CODEOWNERS file."""
_LABEL = regex(r"#\s*label:\s*(.+)")
_GROUP = regex(r"#\s*\[\w+\]\s*$")
_UNOWNED = regex(r"#\s*(/[\w./*?-]+)\s*$")
_COMMENT = regex(r"(?<!\\)\s#.*$")


def read_codeowners(data: bytes, path: str) -> tuple[OwnerRules, tuple[Problem, ...]]:
    """The rules of a CODEOWNERS file. Those that GitHub does not accept match nothing."""
    if len(data) > _MOST_BYTES:
        return OwnerRules(), (Problem(path, 0, "larger than 3 MB, the most that GitHub loads"),)
    rules: list[OwnerRule] = []
    problems: list[Problem] = []
    section, open_comment = "", False
    for number, text in _lines(data):
        if text.startswith("#"):
            section = f"{section if open_comment else ''} {text.lstrip('# ').strip()}".strip()
        elif text:
            rules.append(_rule(text, number, section))
            if _is_refused(rules[-1]):
                problems.append(Problem(path, number, "GitHub does not accept this pattern"))
        open_comment = text.startswith("#")
    return OwnerRules(rules), tuple(problems)


def read_label_lines(data: bytes) -> OwnerRules:
    """The rules with a ``# label:`` line above them, in order, including those commented out
    because nobody owns their paths."""
    rules: list[OwnerRule] = []
    labels: tuple[str, ...] = ()
    for number, text in _lines(data) if len(data) <= _MOST_BYTES else ():
        if found := _LABEL.match(text):  # holds to the next one, or to the next group
            labels = tuple(re.split(r"\s*,\s*", found[1].strip()))
        elif _GROUP.match(text):
            labels = ()
        unowned = _UNOWNED.match(text)
        if unowned or (text and not text.startswith("#")):
            rules.append(_rule(unowned[1] if unowned else text, number, labels=labels))
    return OwnerRules(rules if any(rule.labels for rule in rules) else ())


def _lines(data: bytes) -> list[tuple[int, str]]:
    lines = data.decode("utf-8", "replace").splitlines()
    return [(number, line.strip()) for number, line in enumerate(lines, 1)]


def _rule(text: str, number: int, section: str = "", labels: tuple[str, ...] = ()) -> OwnerRule:
    pattern, *owners = re.split(r"(?<!\\)\s+", _COMMENT.sub("", text))
    plain = pattern.replace("\\ ", " ").replace("\\#", "#")
    return OwnerRule(plain, tuple(filter(None, owners)), number, section, labels)
