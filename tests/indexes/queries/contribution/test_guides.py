"""Commands and conventions: only those that stand in the tree, with their lines."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from indexes.queries.contribution.guides import Guides
from indexes.readers.project.guide import read_commands, read_comments, read_paragraphs
from indexes.source.source import Source

CONTRIBUTING = """\
# Contributing

- [Build](#build)

## Build

Run `python setup.py develop`, then wait. See also `git log`.

```bash
pip install -r requirements.txt  # first
DEBUG=1 USE_CUDA=0 python setup.py develop
```

## Test

```npm on one line```

```
python test/test_jit.py
pytest test/test_nn.py -k Loss -v
```

All PyTorch test suites are located
in the `test` folder.

## Lint

```bash
make setup-lint
make lint
lintrunner
```
"""


@pytest.fixture
def guided(tree_copy: Path) -> Path:
    (tree_copy / "CONTRIBUTING.md").write_text(CONTRIBUTING)
    (tree_copy / "Makefile").write_text("lint:\n\tlintrunner\n")
    (tree_copy / "setup.py").write_text("")
    return tree_copy


def _guides(root: Path) -> Guides:
    return Guides(Source.find(str(root)))


def test_commands_that_the_tree_can_run(guided: Path) -> None:
    found = _guides(guided).commands
    assert [(one.purpose, one.text, one.location.line) for one in found] == [
        ("build", "python setup.py develop", 7),
        ("build", "DEBUG=1 USE_CUDA=0 python setup.py develop", 11),
        ("test", "pytest test/test_nn.py -k Loss -v", 20),
        ("lint", "make lint", 30),
    ]  # no requirements.txt, no target setup-lint, no .lintrunner.toml


def test_more_commands_when_their_files_are_there(guided: Path) -> None:
    (guided / "requirements.txt").write_text("")
    (guided / ".lintrunner.toml").write_text("")
    texts = [one.text for one in _guides(guided).commands]
    assert {"pip install -r requirements.txt", "lintrunner", "lintrunner -a"} <= set(texts)


def test_conventions_are_quoted_for_their_kind_of_file(guided: Path) -> None:
    guides = _guides(guided)
    (found,) = guides.conventions(["test/test_nn.py", "test/test_ops.py"])
    assert (found.text, str(found.location), found.about) == (
        "All PyTorch test suites are located in the `test` folder.",
        "CONTRIBUTING.md:23",
        "Test",
    )
    assert guides.conventions(["README.md"]) == ()


def test_a_tree_without_guides_gives_none(tree_copy: Path) -> None:
    guides = _guides(tree_copy)
    assert (guides.commands, guides.conventions(["test/test_nn.py"])) == ((), ())


def test_reading_a_guide() -> None:
    assert [one.text for one in read_commands("use `pip install x` or `$HOME`\n")] == [
        "pip install x"
    ]
    assert read_commands("```\npython a.py\n")[0].line == 2
    text = "a\nb\n\n- [x](#y)\nc\n## H\nd\n"
    assert [(one.text, one.line, one.section) for one in read_paragraphs(text)] == [
        ("a b", 1, ""),
        ("c", 5, ""),
        ("d", 7, "H"),
    ]
    assert [one.text for one in read_comments("# a\n# b\nx = 1\n  # c\n")] == ["a b", "c"]


@pytest.mark.checkout
def test_every_command_of_a_full_tree_exists(checkout: Path) -> None:
    commands = _guides(checkout).commands
    assert {one.purpose for one in commands} >= {"build", "test"}
    for one in commands:
        text = (checkout / one.location.path).read_text().splitlines()[one.location.line - 1]
        words = [word for word in shlex.split(one.text) if not re.match(r"[A-Z_]+=", word)]
        assert words[0] in text
        for word in words[1:]:
            if word.endswith((".py", ".txt")):
                assert (checkout / word).is_file()
