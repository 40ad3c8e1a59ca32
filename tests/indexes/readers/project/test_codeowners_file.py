"""CODEOWNERS by the rules that GitHub documents: the last matching pattern decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.readers.project.codeowners_file import OwnerRules, read_codeowners

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
    rule = rules.deciding(path)
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


@pytest.mark.checkout
def test_every_rule_of_a_full_tree_has_its_line(checkout: Path) -> None:
    data = (checkout / "CODEOWNERS").read_bytes()
    rules, problems = read_codeowners(data, "CODEOWNERS")
    lines = data.decode().splitlines()
    assert not problems
    assert len(rules.rules) > 50
    for rule in rules.rules:
        assert lines[rule.line - 1].split()[: 1 + len(rule.owners)] == [rule.pattern, *rule.owners]
        folder = rule.pattern.strip("/")
        assert "*" in folder or rules.deciding(f"{folder}/x" if rule.pattern[-1] == "/" else folder)


def test_a_later_rule_without_owners_unsets_them() -> None:
    assert _owner("apps/github/x.c") == (16, ())


def test_owners_and_the_comment_above() -> None:
    rules, _ = read_codeowners(FILE, "CODEOWNERS")
    autograd = rules.deciding("torch/csrc/autograd/engine.h")
    assert autograd is not None
    assert (autograd.owners, autograd.section) == (("@alban", "@soulitzer"), "Autograd")
    first = rules.deciding("setup.py")
    assert first is not None
    assert first.section == "This file is only used to subscribe. It is not a list of maintainers."


def test_no_rule_and_bad_patterns() -> None:
    assert OwnerRules().deciding("x.py") is None
    rules, problems = read_codeowners(b"[ab].py @x\n!y.py @x\n\xff\n(.py @y\n", "CODEOWNERS")
    assert [problem.line for problem in problems] == [1, 2]
    assert rules.deciding("(.py") is not None
    assert rules.deciding("a.py") is None


def test_a_pattern_with_a_hash_and_a_comment_behind() -> None:
    rules, _ = read_codeowners(b"/a\\#b @x # @y\n/x/\\#c\\ d @z\n", "CODEOWNERS")
    assert [(rule.pattern, rule.owners) for rule in rules.rules] == [
        ("/a#b", ("@x",)),
        ("/x/#c d", ("@z",)),
    ]
    found = [rules.deciding(path) for path in ("a#b", "x/#c d/e", "c")]
    assert [rule.line if rule else None for rule in found] == [1, 2, None]


def test_a_file_that_github_does_not_load_decides_nothing() -> None:
    data = b"/torch/a_rather_long_name.py @user\n" * 100_000
    rules, problems = read_codeowners(data, "CODEOWNERS")
    assert rules.deciding("torch/a_rather_long_name.py") is None
    assert [one.message for one in problems] == ["larger than 3 MB, the most that GitHub loads"]
    assert read_codeowners(data[:3400], "CODEOWNERS")[0].deciding("torch/a_rather_long_name.py")
