"""Versions by name: a commit is indexed like the folder it would be, and touches nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from indexes.build.builder import index_path
from indexes.model.errors import Report, SourceError
from indexes.queries.index import Index
from indexes.queries.pull_request.branch import Branch
from indexes.source import git as git_door
from indexes.source.git_diff import changes
from indexes.source.source import Source
from indexes.source.versions import CommitSource, open_version
from tests.indexing import contents
from tests.repositories import commit, git, repository
from tests.tree_marks import NATIVE, TREE

BINARY_OPS = NATIVE + "BinaryOps.cpp"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of the small tree, ``v1`` and ``main``; do not edit."""
    root = repository(tmp_path_factory.mktemp("versions") / "pytorch")
    file = root / BINARY_OPS
    file.write_bytes(b"// a new first line\n" + file.read_bytes())
    (root / NATIVE / "More.cpp").write_text("namespace at::native {\nint more() { return 1; }\n}\n")
    commit(root, "A line and a file more")
    return root


def build(source: Source, cache: Path) -> tuple[Report, Path]:
    index = Index.open(source, cache)
    index.close()
    return index.report, index_path(source, cache)


def same(one: Path, other: Path) -> bool:
    """All rows alike, except for those of linked work."""
    return contents(one) == contents(other)


def test_a_commit_is_indexed_as_the_folder_it_would_be(repo: Path, tmp_path: Path) -> None:
    tree = Source.find(str(repo))
    before = git(repo, "status", "--porcelain"), (repo / ".git/index").read_bytes()
    _, folder = build(tree, tmp_path / "folder")
    report, of_commit = build(open_version("main", tree), tmp_path / "commit")
    assert report.cold
    assert same(folder, of_commit)
    commit = open_version("main", tree)
    assert commit.listed("docs/source") == tree.listed("docs/source") != []
    assert before == (git(repo, "status", "--porcelain"), (repo / ".git/index").read_bytes())


def test_the_next_version_costs_what_differs(repo: Path, tmp_path: Path) -> None:
    tree = Source.find(str(repo))
    build(tree, tmp_path / "cache")
    report, path = build(open_version("v1", tree), tmp_path / "cache")
    assert (report.cold, report.read, report.removed) == (False, 1, 1)
    _, alone = build(open_version("v1", tree), tmp_path / "alone")
    assert same(path, alone)
    assert build(open_version("v1", tree), tmp_path / "cache")[0].read == 0


def test_another_folder_costs_what_differs(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "other"), "v1")
    build(Source.find(str(repo)), tmp_path / "cache")
    other = Source.find(str(tmp_path / "other"))
    report, path = build(other, tmp_path / "cache")
    assert (report.cold, report.read, report.removed) == (False, 1, 1)
    assert same(path, build(other, tmp_path / "alone")[1])
    git(repo, "worktree", "remove", "--force", str(tmp_path / "other"))


def test_a_damaged_index_beside_it_costs_nothing_but_time(repo: Path, tmp_path: Path) -> None:
    tree = Source.find(str(repo))
    _, first = build(tree, tmp_path)
    data = bytearray(first.read_bytes())
    data[4096 * 20 : 4096 * 40] = bytes(4096 * 20)
    first.write_bytes(data)
    report, _ = build(open_version("v1", tree), tmp_path)
    assert report.read >= 1
    assert open_version("v1", tree).info.version == tree.info.version


def test_what_a_name_means(repo: Path, tmp_path: Path) -> None:
    tree = Source.find(str(repo))
    first = git(repo, "rev-parse", "v1")
    for name in ("v1", first, first[:10], "main~1"):
        found = open_version(name, tree)
        assert isinstance(found, CommitSource)
        assert (found.commit, found.info.commit) == (first, first)
    assert open_version(str(repo), None).root == repo
    assert open_version("wheel", None).kind == "wheel"


@pytest.mark.parametrize("name", ["v9", "--upload-pack=x", "", "HEAD:version.txt", "a b", "v1\n"])
def test_an_unknown_name_says_what_to_do(repo: Path, name: str) -> None:
    with pytest.raises(SourceError, match="fetch --tags"):
        open_version(name, Source.find(str(repo)))


def test_a_shallow_clone_names_the_command(repo: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", repo.as_uri(), str(shallow))
    with pytest.raises(SourceError, match=r"fetch --depth 1 origin tag v1") as raised:
        open_version("v1", Source.find(str(shallow)))
    command = str(raised.value).partition("to get it: ")[2].partition(",")[0]
    subprocess.run(command.split(), check=True, capture_output=True)
    assert isinstance(open_version("v1", Source.find(str(shallow))), CommitSource)


def test_a_clone_without_blobs_names_the_command(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    lazy = tmp_path / "lazy"
    git(tmp_path, "clone", "-q", "--filter=blob:none", repo.as_uri(), str(lazy))
    v1 = open_version("v1", Source.find(str(lazy)))
    with pytest.raises(SourceError, match="to fetch it") as raised:
        v1.read(BINARY_OPS)
    command = str(raised.value).partition("to fetch it: ")[2]
    subprocess.run(command.split(), check=True, capture_output=True)
    fetched = open_version("v1", Source.find(str(lazy)))
    assert b"a new first line" not in fetched.read(BINARY_OPS)


def test_a_commit_without_pytorch_is_no_version(tmp_path: Path) -> None:
    root = repository(tmp_path / "pytorch")
    git(root, "rm", "-q", "-r", "aten")
    commit(root, "Nothing left")
    git(root, "checkout", "-q", "v1")
    with pytest.raises(SourceError, match="no PyTorch source"):
        open_version("main", Source.find(str(root)))


def test_a_repository_around_the_tree_is_not_its_own(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    inner = tmp_path / "outer/inner"
    shutil.copytree(TREE, inner)
    with pytest.raises(SourceError, match="no repository to look for"):
        open_version("v1", Source.find(str(inner)))
    assert isinstance(open_version("v1", Source.find(str(outer))), CommitSource)


def test_what_git_refuses_to_read_is_not_called_missing(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_door, "_KEPT", {*git_door._KEPT, "GIT_TEST_ASSUME_DIFFERENT_OWNER"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    tree = Source.find(str(repo))
    for ask in (
        lambda: open_version("v1", tree),
        lambda: changes(repo, "v1"),
        lambda: Branch(repo).base(),
    ):
        with pytest.raises(SourceError, match=r"ownership.*safe\.directory") as found:
            ask()
        assert "no commit" not in str(found.value)
