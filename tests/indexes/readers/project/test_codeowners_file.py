"""CODEOWNERS by the rules that GitHub documents: the last matching pattern decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from codeowners import CodeOwners

from indexes.readers.project.codeowners_file import owner_rule, read_codeowners
from indexes.source.walk import walk

FILE = b"""\
# This file is only used to subscribe.
# It is not a list of maintainers.

* @global-owner

# Autograd
/torch/csrc/autograd/ @alban @soulitzer  # trailing words
/torch/utils/cpp_extension.py @fmassa
nn/qat/ @jerry
docs/* docs@example.com
/aten/src/ATen/native/**/*LinearAlgebra* @lezcano
/aten/src/ATen/native/quantized @quant
*.md @writers
/torch/nn/utils/parametriz*.py @lezcano
apps/ @octocat
/apps/github
/test/a\\ b.py @space
"""


def _owner(path: str) -> tuple[int, tuple[str, ...]]:
    rules, problems = read_codeowners(FILE, "CODEOWNERS")
    assert problems == ()
    rule = owner_rule(rules, path)
    assert rule is not None
    return rule.line, rule.owners


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("setup.py", 4),
        ("torch/csrc/autograd/engine.cpp", 7),
        ("torch/csrc/autograd/functions/init.cpp", 7),
        ("other/torch/csrc/autograd/engine.cpp", 4),
        ("torch/csrc/autograd.py", 4),
        ("torch/utils/cpp_extension.py", 8),
        ("torch/ao/nn/qat/x.py", 4),  # a slash inside anchors the pattern to the root
        ("nn/qat/x.py", 9),
        ("docs/x.rst", 10),
        ("docs/source/x.rst", 4),
        ("aten/src/ATen/native/LinearAlgebra.cpp", 11),
        ("aten/src/ATen/native/cuda/linalg/BatchLinearAlgebraLib.cpp", 11),
        ("aten/src/ATen/native/quantized/cpu/qadd.cpp", 12),
        ("aten/src/ATen/native/quantized_more/x.cpp", 4),
        ("a/b/README.md", 13),
        ("torch/nn/utils/parametrizations.py", 14),
        ("torch/nn/utils/sub/parametrize.py", 4),
        ("x/apps/y/z.c", 15),
        ("test/a b.py", 17),
    ],
)
def test_the_rule_that_decides(path: str, line: int) -> None:
    assert _owner(path)[0] == line


PATTERNS = (
    "*",
    "*.py",
    "/test/",
    "test/",
    "nn/qat/",
    "/aten/**/*Linear*",
    "**/cuda/",
    "docs/*",
    "/torch/csrc/shim*",
    "a?.py",
    "/torch/nn",
    "torch/**",
    "/**/x.py",
    "/.ci",
)
FOLDERS = (
    "",
    "test/",
    "a/test/",
    "nn/qat/",
    "torch/nn/qat/",
    "aten/src/",
    "x/cuda/",
    "docs/",
    "docs/source/",
    "torch/csrc/",
    "torch/nn/",
    ".ci/docker/",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_as_another_reader_reads_it(pattern: str) -> None:
    data = f"{pattern} @someone\n"
    rules, _ = read_codeowners(data.encode(), "CODEOWNERS")
    other = CodeOwners(data)
    for folder in FOLDERS:
        for name in ("x.py", "ab.py", "LinearAlgebra.cpp", "shim.h", "test", "torch"):
            path = f"{folder}{name}"
            assert (owner_rule(rules, path) is not None) == bool(other.of(path)), path


@pytest.mark.checkout
def test_every_file_of_a_full_tree_as_another_reader_reads_it(checkout: Path) -> None:
    data = (checkout / "CODEOWNERS").read_bytes()
    rules, _ = read_codeowners(data, "CODEOWNERS")
    other = CodeOwners(data.decode())
    compared = 0
    for file in walk(str(checkout), "checkout"):
        ours = owner_rule(rules, file.path)
        assert (ours.line if ours else None) == other.matching_line(file.path)[1], file.path
        compared += 1
    assert compared > 1000


def test_a_later_rule_without_owners_unsets_them() -> None:
    assert _owner("apps/github/x.c") == (16, ())


def test_owners_and_the_comment_above() -> None:
    rules, _ = read_codeowners(FILE, "CODEOWNERS")
    autograd = owner_rule(rules, "torch/csrc/autograd/engine.h")
    assert autograd is not None
    assert (autograd.owners, autograd.section) == (("@alban", "@soulitzer"), "Autograd")
    first = owner_rule(rules, "setup.py")
    assert first is not None
    assert first.section == "This file is only used to subscribe. It is not a list of maintainers."


def test_no_rule_and_bad_patterns() -> None:
    assert owner_rule((), "x.py") is None
    rules, problems = read_codeowners(b"[ab].py @x\n!y.py @x\n\xff\n(.py @y\n", "CODEOWNERS")
    assert [problem.line for problem in problems] == [1, 2]
    assert owner_rule(rules, "(.py") is not None
