"""Who reviews a path, by each list, with the line of the rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.contribution.reviewers import Reviewers, module_covers
from indexes.readers.project.codeowners_file import read_label_lines
from indexes.readers.project.review import merge_match, read_labeler, read_merge_rules, read_persons
from indexes.source.source import Source

MERGE_RULES = b"""\
- name: Linear Algebra
  patterns:
  - aten/src/ATen/native/**LinearAlgebra*
  - test/test_linalg.py
  - third_party/onnx
  approved_by:
  - lezcano
  mandatory_checks_name:
  - Lint
- name: Core Maintainers
  patterns:
  - '*'
  approved_by:
  - albanD
"""
LABELER = b"""\
"module: cpu":
- aten/src/ATen/native/cpu/**

"module: mkldnn":
- torch/csrc/*.cpp
"""
PERSONS = b"""\
Maintainers
===========

Linear Algebra (torch.linalg)
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

-  Mario (`lezcano <https://github.com/lezcano>`__)
-  (emeritus) Old (`old <https://github.com/old>`__)

Apple M1/MPS/Metal
~~~~~~~~~~~~~~~~~~
- K (`kulinseth <https://github.com/kulinseth>`__)
"""
LABELLED = b"""\
# [linalg]
# label: module: linear algebra, module: x
/aten/**/*LinearAlgebra* @lezcano
# /aten/src/ATen/native/Blas.cpp
# label: module: fft
# /aten/src/ATen/native/SpectralOps.cpp
# [sparse]
/torch/sparse/ @pearu
"""


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("aten/src/ATen/native/cuda/LinearAlgebra.cu", [3, 12]),
        ("test/test_linalg.py", [4, 12]),
        ("test/test_linalg.pyi", [4, 12]),  # the merge script asks for the beginning only
        ("third_party/onnx/x.cpp", [5, 12]),
        ("test/test_linalgxpy", [12]),
    ],
)
def test_merge_rules_match_as_the_merge_script_does(path: str, names: list[int]) -> None:
    rules, problems = read_merge_rules(MERGE_RULES, "merge_rules.yaml")
    assert problems == ()
    assert [found.line for rule in rules if (found := merge_match(rule, path))] == names


def test_labels_above_rules_hold_to_the_end_of_their_group() -> None:
    rules = read_label_lines(LABELLED)
    labels = {
        path: found.labels if (found := rules.deciding(path)) else None
        for path in (
            "aten/a/LinearAlgebra.cpp",
            "aten/src/ATen/native/Blas.cpp",
            "aten/src/ATen/native/SpectralOps.cpp",
            "torch/sparse/x.py",
            "setup.py",
        )
    }
    assert list(labels.values()) == [
        ("module: linear algebra", "module: x"),
        ("module: linear algebra", "module: x"),
        ("module: fft",),
        (),
        None,
    ]
    assert read_label_lines(b"# a comment\n/x @y\n").rules == ()


def test_maintainers_without_those_who_left() -> None:
    modules = read_persons(PERSONS)
    assert [(one.people, one.line) for one in modules] == [(("lezcano",), 4), (("kulinseth",), 10)]


@pytest.mark.parametrize(
    ("module", "path", "covers"),
    [
        ("Linear Algebra (torch.linalg)", "torch/linalg/__init__.py", True),
        ("Linear Algebra (torch.linalg)", "torch/linalgebra.py", False),
        ("Apple M1/MPS/Metal", "aten/src/ATen/native/mps/operations/UnaryOps.mm", True),
        ("Performance Tools", "tools/x.py", False),
        ("C10 utils and operator dispatch", "torch/utils/x.py", False),
        ("CUDA", "aten/src/ATen/native/cuda/X.cu", True),
        ("CUDA", "aten/src/ATen/native/X.cpp", False),
    ],
)
def test_a_module_covers_what_its_heading_names(module: str, path: str, covers: bool) -> None:
    assert bool(module_covers(module, path)) == covers


def test_every_list_with_its_line(tree_copy: Path) -> None:
    (tree_copy / ".github").mkdir(exist_ok=True)
    (tree_copy / ".github/merge_rules.yaml").write_bytes(MERGE_RULES)
    (tree_copy / ".github/labeler.yml").write_bytes(LABELER)
    (tree_copy / "CODEOWNERS").write_text("/aten/src/ATen/native/cpu/ @me # why\n")
    path = "aten/src/ATen/native/cpu/LinearAlgebraKernel.cpp"
    found = Reviewers(Source.find(str(tree_copy))).of(path)
    assert [(one.kind, one.who, str(one.location)) for one in found] == [
        ("codeowners", ("@me",), "CODEOWNERS:1"),
        ("label", ("module: cpu",), ".github/labeler.yml:2"),
        ("merge rule", ("lezcano",), ".github/merge_rules.yaml:3"),
        ("merge rule", ("albanD",), ".github/merge_rules.yaml:12"),
    ]
    assert all(one.meaning for one in found)


def test_one_approval_must_cover_every_file(tree_copy: Path) -> None:
    (tree_copy / ".github").mkdir(exist_ok=True)
    (tree_copy / ".github/merge_rules.yaml").write_bytes(MERGE_RULES)
    reviewers = Reviewers(Source.find(str(tree_copy)))
    both = ["test/test_linalg.py", "setup.py"]
    assert [one.who for one in reviewers.covering(both)] == [("albanD",)]
    assert [one.who for one in reviewers.covering(both[:1])] == [("lezcano",), ("albanD",)]
    assert reviewers.covering([]) == ()


def test_the_few_of_a_change_with_how_much_they_cover(tree_copy: Path) -> None:
    (tree_copy / ".github").mkdir(exist_ok=True)
    (tree_copy / ".github/merge_rules.yaml").write_bytes(MERGE_RULES)
    (tree_copy / "CODEOWNERS").write_text("* @all\n/test/ @tests\n/a/ @a\n/b/ @b\n/c/ @c\n")
    reviewers = Reviewers(Source.find(str(tree_copy)))
    paths = ["a/x.py", "b/x.py", "c/x.py", "test/x.py", "test/test_linalg.py"]
    assert [(one.kind, one.who, one.note) for one in reviewers.for_change(paths)] == [
        ("codeowners", ("@tests",), "2 of the 5 files"),
        ("codeowners", ("@a",), "1 of the 5 files"),
        ("codeowners", ("@b",), "1 of the 5 files"),
        ("merge rule", ("lezcano",), "1 of the 5 files; checks: Lint"),
    ]  # not those of every file
    assert [one.who for one in reviewers.for_change(["x.py"])] == [("@all",), ("albanD",)]
    assert reviewers.for_change([]) == ()


def test_broken_lists_are_passed_over(tree_copy: Path) -> None:
    (tree_copy / ".github").mkdir(exist_ok=True)
    (tree_copy / ".github/merge_rules.yaml").write_text("- name: [\n")
    (tree_copy / ".github/labeler.yml").write_text("- a\n- b\n")
    (tree_copy / "CODEOWNERS").write_bytes(b"\xff\xfe[x] !y\n")
    reviewers = Reviewers(Source.find(str(tree_copy)))
    assert reviewers.of("a/b.cpp") == ()
    assert read_labeler(b"- a\n", "labeler.yml")[1] != ()
