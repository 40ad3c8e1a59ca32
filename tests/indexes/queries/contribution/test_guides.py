"""Commands and conventions: only those that stand in the tree, with their lines."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from indexes.queries.contribution.guides import Guides
from indexes.readers.project.guide import read_commands, read_comments, read_paragraphs
from indexes.source.source import Source
from tests.indexing import write

CONTRIBUTING = """\
# Contributing

- [Build](#build)

## Build

Run `python setup.py develop`, then wait. See also `git log`.
To rebuild a library run `(cd build && ninja torch_cpu)`.

```bash
pip install -r requirements.txt  # first
DEBUG=1 USE_CUDA=0 USE_DISTRIBUTED=0 BUILD_TEST=0 python setup.py develop
```

## Python

```bash
./tools/nightly.py checkout -b my-nightly-branch
```

## Test

```npm on one line```

```
python test/test_jit.py
```

All PyTorch test suites are located
in the `test` folder.

## Docs

```bash
cd docs
pip install -r requirements.txt
```

```bash
make html
```

## Lint

```bash
make setup-lint
make lint
make mypy
```
"""
LINTRUNNER = """\
[[linter]]
code = 'FLAKE8'
include_patterns = ['**/*.py']
exclude_patterns = ['test/*.py']

[[linter]]
code = 'NEWLINE'
include_patterns = ['**']

[[linter]]
code = "YAML"
include_patterns = ['aten/**/native_functions.yaml']
"""
KERNEL = "aten/src/ATen/native/Activation.cpp"


@pytest.fixture
def guided(tree_copy: Path) -> Path:
    files = {
        "CONTRIBUTING.md": CONTRIBUTING,
        "Makefile": "lint:\n\tlintrunner\nmypy:\n",
        ".lintrunner.toml": LINTRUNNER,
        "setup.py": "",
        "tools/nightly.py": "",
        "docs/Makefile": "%: Makefile\n",
        "docs/requirements.txt": "",
        "caffe2/CMakeLists.txt": "add_library(caffe2_protos x)\nadd_library(torch_cpu ${A})\n"
        "  cuda_add_library(torch_cuda ${B})\n",
        "torch/CMakeLists.txt": "\nadd_library(torch_python SHARED ${C})\n",
        "c10/CMakeLists.txt": "add_library(c10 ${D})\n",
        "test/cpp/api/CMakeLists.txt": "add_executable(test_api ${E})\nadd_executable(other x)\n",
        "build_variables.bzl": 'core_sources = [\n    "torch/csrc/autograd/engine.cpp",\n]\n'
        'libtorch_python_core_sources = [\n    "torch/csrc/Module.cpp",\n]\n',
    }
    return write(tree_copy, files)


def _guides(root: Path) -> Guides:
    return Guides(Source.find(str(root)))


def _texts(root: Path, *paths: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in _guides(root).commands_for(paths):
        found.setdefault(one.purpose, []).append(one.text)
    return found


def test_cpp_is_built_without_what_it_does_not_need(guided: Path) -> None:
    found = _guides(guided).commands_for([KERNEL])
    assert [(one.purpose, one.text, str(one.location)) for one in found] == [
        (
            "build",
            "DEBUG=1 USE_CUDA=0 USE_DISTRIBUTED=0 BUILD_TEST=0 python setup.py develop",
            "CONTRIBUTING.md:12",
        ),
        ("build", "(cd build && ninja torch_cpu)", "caffe2/CMakeLists.txt:2"),
        ("lint", "lintrunner -a", "Makefile:2"),
    ]  # no requirements.txt, no .gitmodules, no target setup-lint; mypy is for Python
    assert "make lint" not in [one.text for one in found]  # it runs lintrunner
    assert found[1].note.endswith("as CONTRIBUTING.md:8 does it")
    assert found[-1].note == "corrects too; .lintrunner.toml: 1 that look at every file"


@pytest.mark.parametrize(
    ("path", "left_out", "target"),
    [
        ("aten/src/ATen/native/cuda/A.cu", "USE_CUDA=0", "torch_cuda"),
        ("aten/src/ATen/native/cudnn/A.cpp", "USE_CUDA=0", "torch_cuda"),
        ("aten/src/ATen/native/mps/operations/A.mm", "", "torch_cpu"),
        ("torch/csrc/distributed/c10d/A.cpp", "USE_DISTRIBUTED=0", ""),
        ("torch/csrc/autograd/engine.cpp", "", "torch_cpu"),
        ("torch/csrc/Module.cpp", "", "torch_python"),
        ("c10/core/A.cpp", "", "c10"),
        ("c10/core/A.h", "", ""),  # others include it
        ("aten/src/ATen/native/native_functions.yaml", "", ""),
        ("tools/autograd/gen_autograd.py", "", ""),
        ("test/cpp/api/autograd.cpp", "BUILD_TEST=0", "bin/test_api"),
    ],
)
def test_the_smallest_build_of_each_file(
    guided: Path, path: str, left_out: str, target: str
) -> None:
    first, *others = _texts(guided, path)["build"]
    whole = ["USE_CUDA=0", "USE_DISTRIBUTED=0", "BUILD_TEST=0"]
    assert [one for one in whole if one not in first] == ([left_out] if left_out else [])
    assert others == ([f"(cd build && ninja {target})"] if target else [])


def test_python_and_docs_are_not_built(guided: Path) -> None:
    nightly = ["./tools/nightly.py checkout -b my-nightly-branch"]
    docs = ["(cd docs && pip install -r requirements.txt)", "(cd docs && make html)"]
    lint = ["make mypy", "lintrunner -a"]
    assert _texts(guided, "docs/source/nn.rst") == {
        "set up": nightly,
        "docs": docs,
        "lint": ["lintrunner -a"],
    }
    assert _texts(guided, "torch/nn/functional.py") == {
        "set up": nightly,
        "lint": ["make mypy", "lintrunner -a"],
    }
    assert _texts(guided, "torch/_torch_docs.py")["docs"] == docs
    docstrings = _guides(guided).commands_for(["torch/nn/functional.py"], docs=True)
    assert [one.text for one in docstrings if one.purpose == "docs"] == docs
    assert set(lint) == set(_texts(guided, "torch/_torch_docs.py")["lint"])
    (guided / "tools/nightly.py").unlink()
    assert _texts(guided, "torch/a.py")["build"] == ["python setup.py develop"]
    assert _texts(guided, ".github/labeler.yml").keys() == {"lint"}
    assert _texts(guided) == {}


def test_the_linters_that_look_at_a_file(guided: Path) -> None:
    def linters(path: str) -> str:
        return next(
            one.note for one in _guides(guided).commands_for([path]) if one.note[:4] == "corr"
        )

    every = "1 that look at every file"
    assert linters("torch/a.py").endswith(f": FLAKE8 (:2), {every}")
    assert linters("test/a.py").endswith(f".toml: {every}")
    assert linters("test/a/b.py").endswith(f": FLAKE8 (:2), {every}")  # * stays in a folder
    assert linters("aten/src/ATen/native/native_functions.yaml").endswith(
        f".toml: YAML (:11), {every}"
    )
    (guided / ".lintrunner.toml").write_text("[[linter\n")
    assert _guides(guided).linters == ()


def test_more_commands_when_their_files_are_there(guided: Path) -> None:
    (guided / "requirements.txt").write_text("")
    assert _texts(guided, KERNEL)["set up"] == ["pip install -r requirements.txt"]


def test_conventions_are_quoted_for_their_kind_of_file(guided: Path) -> None:
    guides = _guides(guided)
    (found,) = guides.conventions(["test/test_nn.py", "test/test_ops.py"])
    assert (found.text, str(found.location), found.about) == (
        "All PyTorch test suites are located in the `test` folder.",
        "CONTRIBUTING.md:29",
        "Test",
    )
    assert guides.conventions(["README.md"]) == ()


def test_a_tree_without_guides_gives_none(tree_copy: Path) -> None:
    guides = _guides(tree_copy)
    assert (guides.commands_for([KERNEL]), guides.conventions(["test/test_nn.py"])) == ((), ())


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
    fenced = read_paragraphs("# H\n```\n# comment\n```\nx\n")
    assert {one.section for one in fenced} == {"H"}
    assert [one.text for one in read_comments("# a\n# b\nx = 1\n  # c\n")] == ["a b", "c"]


@pytest.mark.checkout
def test_every_command_of_a_full_tree_exists(checkout: Path) -> None:
    paths = [KERNEL, "torch/nn/functional.py", "docs/source/nn.rst"]
    commands = _guides(checkout).commands_for(paths)
    assert {one.purpose for one in commands} >= {"build", "docs"}
    for one in commands:
        text = (checkout / one.location.path).read_text().splitlines()[one.location.line - 1]
        words = shlex.split(one.text.strip("()").rpartition("&& ")[2])
        assert any(word in text for word in words if not re.match(r"[A-Z_]+=", word))
