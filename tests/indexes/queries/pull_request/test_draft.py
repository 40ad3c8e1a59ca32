"""The draft of a pull request, from edits of a copy of the small tree in a repository."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.model.errors import NotFound, SourceError
from indexes.queries.pull_request.draft import draft
from indexes.queries.pull_request.model import PullRequest
from tests.indexing import edit, opened, write
from tests.repositories import commit, git, repository

KERNEL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"
FILES = {
    ".github/PULL_REQUEST_TEMPLATE/preapproved.md": "Approved by:\n",
    ".github/PULL_REQUEST_TEMPLATE/fix_issue.md": "Fixes #ISSUE\n\n## Test plan\n",
    ".github/labeler.yml": '"module: cpu":\n- aten/src/ATen/native/cpu/**\n'
    '"ciflow/mps":\n- "**/mps/**"\n',
    ".github/label_to_label.yml": '- any:\n  - "module: cpu"\n  then:\n  - "oncall: cpu"\n'
    '- all:\n  - "oncall: cpu"\n  - "x"\n  then:\n  - "never"\n',
    ".github/scripts/label_utils.py": 'T = "This PR needs a `release notes:` label"\n'
    '# or `@pytorchbot label "topic: x"`\n',
    ".github/workflows/pull.yml": "name: pull\non:\n  pull_request:\n    branches-ignore:\n"
    "      - x\n\njobs:\n  a:\n    x: 1\n\n  b-c:\n    y: 2\n",
    ".github/workflows/docs.yml": "name: Docs\non:\n  pull_request:\n    paths:\n"
    "      - docs/**\njobs:\n  a:\n",
    ".github/workflows/mps.yml": "name: Mac\non:\n  push:\n    tags:\n      - ciflow/mps/*\n"
    "jobs:\n  a:\n",
    "scripts/release_notes/commitlist.py": "class CommitList:\n"
    "    def bracket_category_matcher(title):\n        pairs = [('[mps]', 'mps')]\n"
    "    def categorize(features):\n        for file in files_changed:\n"
    "            if CommitList.keywordInFile(file, ['ATen/native/cpu', 'x']):\n"
    "                category = 'nn_frontend'\n                break\n",
    "scripts/release_notes/common.py": "frontend_categories = ['nn']\n"
    "topics = ['bug fixes', 'docs', 'Untopiced', 'not user facing']\n",
    "CONTRIBUTING.md": "First fork the PyTorch project.\n\n```\n"
    "git clone git@github.com:<YOU>/p.git\n```\nComment `@pytorchmergebot merge`.\n",
}
Draft = Callable[..., PullRequest]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The small tree on a branch, with an upstream that is one commit behind it."""
    tree = write(repository(tmp_path / "pytorch"), FILES)
    edit(tree, KERNEL, "{", "{ // TODO(#4321)\n// see https://github.com/pytorch/pytorch/issues/77")
    commit(tree, "[CPU] One (#1)")
    for number in range(3):
        edit(tree, KERNEL, "{", "{ // more\n")
        commit(tree, f"[CPU] Change {number} (#{number})")
    git(tree, "update-ref", "refs/remotes/upstream/main", "HEAD")
    git(tree, "checkout", "-q", "-b", "mine")
    return tree


@pytest.fixture
def ask(root: Path, cache: Path) -> Draft:
    def answer(base: str | None = None) -> PullRequest:
        with opened(root, cache) as index:
            return draft(index, base)

    return answer


def test_nothing_changed_is_said(ask: Draft) -> None:
    with pytest.raises(NotFound, match="no changes against HEAD"):
        ask()
    with pytest.raises(NotFound, match="no commit 'nowhere'"):
        ask("nowhere")


def test_what_is_not_committed_has_no_title_of_its_own(root: Path, ask: Draft) -> None:
    edit(root, KERNEL, " // TODO(#4321)", "\nif (true) {}")
    found = ask()
    assert (found.title.prefix, found.title.text, found.commits) == ("[CPU]", "", ())
    assert found.title.why == (
        "no commit says it; 4 of the last 5 commits of these files have [CPU]"
    )
    assert [(one.path, one.what, one.added, one.removed) for one in found.files] == [
        (KERNEL, "changed", 2, 1)
    ]
    assert [(one.number, one.way) for one in found.issues] == [(4321, "no longer named")]
    assert (found.fixes, found.may_fix) == ((), (4321,))
    assert found.template is not None
    assert found.template.lines[0] == "Fixes #ISSUE"
    assert found.template.others == (".github/PULL_REQUEST_TEMPLATE/preapproved.md",)


def test_commits_say_title_and_issue(root: Path, ask: Draft) -> None:
    edit(root, KERNEL, "{", "{ if (true) {}\n")
    commit(root, "Fix a crash (#9)\n\nIt crashed.\n\nFixes #55.\nDifferential Revision: D1")
    (root / "new.txt").write_text("see issue #66\n")
    found = ask()
    assert (found.base, found.branch) == ("where it left upstream/main", "mine")
    assert (found.title.prefix, found.title.text) == ("[CPU]", "Fix a crash")
    assert [one.body for one in found.commits] == [("It crashed.", "", "Fixes #55.")]
    assert [(one.number, one.way) for one in found.issues] == [
        (55, "named in a commit"),
        (66, "named"),
    ]
    assert [(one.path, one.what) for one in found.files] == [
        (KERNEL, "changed"),
        ("new.txt", "added"),
    ]
    assert len(ask("HEAD^^").files) == 2
    assert found.affected.changes[0].location.path == KERNEL


def test_labels_by_the_rules_of_the_tree(root: Path, ask: Draft) -> None:
    edit(root, KERNEL, "{", "{ if (true) {}\n")
    commit(root, "Fix a crash")
    assert [(one.name, str(one.location), one.by_itself) for one in ask().labels] == [
        ("module: cpu", ".github/labeler.yml:2", True),
        ("oncall: cpu", ".github/label_to_label.yml:1", True),
        ("release notes: nn_frontend", "scripts/release_notes/commitlist.py:6", False),
        ("topic: bug fixes", "scripts/release_notes/common.py:2", False),
    ]
    assert ask().topics == ("topic: bug fixes", "topic: docs", "topic: not user facing")
    shutil.rmtree(root / ".github")
    assert "labels by path: this tree has no .github/labeler.yml" in ask().missing


def test_a_change_of_docstrings_alone_is_one_of_docs(root: Path, ask: Draft) -> None:
    path, text = "torch/documented.py", 'def f():\n    """{}."""\n    return {}\n'
    write(root, {path: text.format("Fix", 1)})
    commit(root, "Add it")
    before = git(root, "rev-parse", "HEAD").strip()
    for says, returned, topic in (("Fixes", 1, ["topic: docs"]), ("Fixes", 2, [])):
        write(root, {path: text.format(says, returned)})
        found = ask(before).labels
        assert [one.name for one in found if one.kind == "topic"] == topic


def test_what_ci_runs(root: Path, ask: Draft) -> None:
    def runs() -> list[tuple[str, int, str]]:
        return [(one.name, one.jobs, one.label) for one in ask().workflows]

    edit(root, KERNEL, "{", "{ if (true) {}\n")
    assert runs() == [("pull", 2, "")]
    (root / "docs/mps").mkdir(parents=True)
    (root / "docs/mps/new.md").write_text("new\n")
    assert runs() == [("Docs", 1, ""), ("pull", 2, ""), ("Mac", 1, "ciflow/mps")]


def test_steps_with_the_lines_of_the_tree(root: Path, ask: Draft) -> None:
    edit(root, KERNEL, "{", "{ if (true) {}\n")
    assert [(str(one.location), one.command) for one in ask().steps] == [
        ("CONTRIBUTING.md:1", ""),
        ("CONTRIBUTING.md:4", "git clone git@github.com:<YOU>/p.git"),
        ("None", "git commit -a"),
        ("None", "git push -u origin mine"),
        (".github/scripts/label_utils.py:2", '@pytorchbot label "release notes: nn_frontend"'),
        ("CONTRIBUTING.md:6", "@pytorchmergebot merge"),
    ]
    commit(root, "Fix it")
    assert "git commit -a" not in [one.command for one in ask().steps]
    git(root, "checkout", "-q", "--detach")
    assert "git checkout -b my-change" in [one.command for one in ask().steps]


def test_a_test_that_is_edited_is_run_first(root: Path, ask: Draft) -> None:
    (root / "test/test_new.py").write_text("def test_x():\n    pass\n")
    first = ask().tests[0]
    assert (first.path, len(ask().tests) <= 5) == ("test/test_new.py", True)


def test_a_history_that_is_cut_off_is_said(root: Path, ask: Draft) -> None:
    edit(root, KERNEL, "{", "{ if (true) {}\n")
    tip = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "--orphan", "other")
    commit(root, "Other")
    (root / ".git/shallow").write_text(f"{tip}\n")
    edit(root, KERNEL, "{", "{ if (false) {}\n")
    found = ask()
    assert found.base == "HEAD"
    assert "is unknown, since the history is cut off" in found.missing[0]


def test_without_git_there_is_no_draft(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index, pytest.raises(SourceError, match=r"no \.git"):
        draft(index)
