"""Test functions of ``test/``: name, class and line, without reading their bodies."""

from __future__ import annotations

import re

from indexes.model.regex import regex
from indexes.readers.python.blocks import Text, heads, occurrences
from indexes.readers.python.facts import PythonFact

_TEST_FILE = regex(r"(?:^|/)test/(?:.*/)?[^/]*\.py$")
_OWNERS = regex(rb"#[ \t]*Owner\(s\):[ \t]*(\[[^\]\n]*\])")
_HEADER = 4096
"""The ``# Owner(s):`` line stands among the first lines of a file."""


def is_test_file(path: str) -> bool:
    """Whether a file belongs to PyTorch's own test suite."""
    return "test/" in path and _TEST_FILE.search(path) is not None


def read_tests(text: Text) -> list[PythonFact]:
    """Test functions (``TestTorch.test_add``), classes, and the file's owners."""
    found = heads(text.data, text.strings, (b"def test", b"class "))
    facts = [
        PythonFact("class" if one.is_class else "test", "", one.qualified, one.line, 0)
        for one in found
    ]
    return [*read_owners(text.data), *facts]


def read_owners(data: bytes) -> list[PythonFact]:
    """``# Owner(s): ["module: nn"]``: the label that triage uses for the tests of a file."""
    for at in occurrences(data, b"Owner(s):", 0, _HEADER):
        start = data.rfind(b"\n", 0, at) + 1
        if match := _OWNERS.match(data, start, _HEADER):
            line = data.count(b"\n", 0, start) + 1
            labels = re.findall(r"[\"']([^\"']+)[\"']", match[1].decode("utf-8", "replace"))
            return [PythonFact("owner", "", label, line, line) for label in labels]
    return []
