"""Cloning from a repository on this machine: shallow, sparse, resumable, one line on failure."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from indexes.model.errors import NotFound, SourceError, UsageError
from indexes.source.clones import clones
from indexes.source.source import Source
from indexes.source.torch_install import installed_torch
from navigator.cli import clone_source as cloning
from navigator.cli.clone_source import clone, plan
from tests.indexing import write
from tests.repositories import commit, git

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")

YAML = "aten/src/ATen/native/native_functions.yaml"


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    root = tmp_path / "upstream"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "uploadpack.allowFilter", "true")
    git(root, "config", "uploadpack.allowAnySHA1InWant", "true")
    files = {
        YAML: "- func: relu(Tensor self) -> Tensor\n",
        "version.txt": "2.7.0\n",
        "tools/autograd/derivatives.yaml": "- name: relu(Tensor self) -> Tensor\n",
        "torch/functional.py": "",
        "docs/big.md": "not needed",
    }
    commit(write(root, files), "first")
    git(root, "tag", "v2.7.0")
    commit(write(root, {"version.txt": "2.8.0a0\n"}), "second")
    return root


def url(root: Path) -> str:
    return f"file://{root}"


def test_only_what_is_read_at_one_commit(upstream: Path, tmp_path: Path) -> None:
    record = clone(plan("v2.7.0", url(upstream)), tmp_path / "cache")
    assert record.commit == git(upstream, "rev-parse", "v2.7.0")
    assert (record.root / "version.txt").read_text() == "2.7.0\n"
    assert (record.root / "tools/autograd/derivatives.yaml").exists()
    assert not (record.root / "docs").exists()
    assert git(record.root, "rev-list", "--count", "HEAD") == "1"
    missing = git(record.root, "rev-list", "--objects", "--missing=print", "HEAD")
    assert any(line.startswith("?") for line in missing.splitlines())  # docs/big.md


def test_found_by_the_other_commands(
    upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TORCHNAV_CHECKOUT", raising=False)
    monkeypatch.chdir(tmp_path)
    record = clone(plan("main", url(upstream)), tmp_path / "cache")
    info = Source.find(cache=tmp_path / "cache").info
    assert (info.kind, info.commit, info.dirty) == ("clone", record.commit, False)
    assert any("torchnav clone main --history" in one for one in info.missing)


def test_goes_on_after_an_interruption(
    upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(stage: str, done: int, total: int) -> None:
        if stage == "torch":
            raise KeyboardInterrupt

    request = plan("main", url(upstream))
    with pytest.raises(KeyboardInterrupt):
        clone(request, tmp_path / "cache", interrupt)
    folder = request.folder(tmp_path / "cache")
    assert (folder / YAML).exists()
    assert clones(tmp_path / "cache") == ()
    (folder / ".git/index.lock").touch()  # what a killed git leaves
    (folder / YAML).write_text("half a file")
    record = clone(request, tmp_path / "cache")
    assert record.root == folder
    assert (folder / "torch/functional.py").exists()
    assert (folder / YAML).read_text().startswith("- func")


def test_a_branch_that_moved(upstream: Path, tmp_path: Path) -> None:
    first = clone(plan("main", url(upstream)), tmp_path / "cache")
    newest = commit(write(upstream, {"version.txt": "2.9.0a0\n"}), "third")
    second = clone(plan("main", url(upstream)), tmp_path / "cache")
    assert (second.root, second.commit) == (first.root, newest)
    assert (second.root / "version.txt").read_text() == "2.9.0a0\n"


def test_edits_in_a_clone_are_not_overwritten(upstream: Path, tmp_path: Path) -> None:
    record = clone(plan("main", url(upstream)), tmp_path / "cache")
    (record.root / "version.txt").write_text("mine\n")
    commit(write(upstream, {"version.txt": "2.9.0a0\n"}), "third")
    with pytest.raises(SourceError, match="local changes"):
        clone(plan("main", url(upstream)), tmp_path / "cache")
    assert (record.root / "version.txt").read_text() == "mine\n"
    assert clones(tmp_path / "cache") == (record,)


def test_commit_that_is_there_needs_no_network(upstream: Path, tmp_path: Path) -> None:
    wanted = git(upstream, "rev-parse", "v2.7.0")
    first = clone(plan(wanted, url(upstream)), tmp_path / "cache")
    shutil.rmtree(upstream)
    assert clone(plan(wanted, url(upstream)), tmp_path / "cache") == first


def test_history_can_be_added(upstream: Path, tmp_path: Path) -> None:
    clone(plan("main", url(upstream)), tmp_path / "cache")
    record = clone(plan("main", url(upstream), history=True), tmp_path / "cache")
    assert git(record.root, "rev-list", "--count", "HEAD") == "2"
    assert not any("authors" in one for one in Source.find(str(record.root)).info.missing)


def test_release_without_its_v(upstream: Path, tmp_path: Path) -> None:
    assert plan("2.7").refs == ("v2.7.0", "2.7")
    record = clone(plan("2.7.0", url(upstream)), tmp_path / "cache")
    assert record.ref == "v2.7.0"


def test_default_is_the_installed_torch() -> None:
    torch = installed_torch()
    assert torch
    assert plan().refs == tuple(ref for ref in (torch.commit, torch.tag) if ref)


def test_tag_where_the_repository_lacks_the_commit(
    upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloning, "_installed_refs", lambda: ("0" * 40, "v2.7.0"))
    assert clone(plan(url=url(upstream)), tmp_path / "cache").ref == "v2.7.0"


@pytest.mark.parametrize("ref", ["--upload-pack=touch x", "-q", "a b", "a..b", "", "x.lock", "a:b"])
def test_what_is_not_a_ref(ref: str) -> None:
    with pytest.raises(UsageError):
        plan(ref)


def test_part_of_a_hash_is_refused_with_advice() -> None:
    with pytest.raises(UsageError, match="all 40 characters"):
        plan("8cd54cb")


def test_no_such_ref(upstream: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no tag, branch or commit nosuch"):
        clone(plan("nosuch", url(upstream)), tmp_path / "cache")


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/pytorch", "file:///nowhere/at/all", "ext::sh -c date"]
)
def test_no_repository_there_is_one_line(address: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="rerun to resume") as error:
        clone(plan("main", address), tmp_path / "cache")
    assert "\n" not in str(error.value)
    assert clones(tmp_path / "cache") == ()


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SourceError, match="needs git, which is not installed"):
        clone(plan("main"), tmp_path / "cache")


def test_not_pytorch(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    commit(write(other, {"aten/README": "x"}), "first")
    with pytest.raises(SourceError, match="not PyTorch's source"):
        clone(plan("main", url(other)), tmp_path / "cache")


def test_cache_that_cannot_be_written(tmp_path: Path, upstream: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(SourceError, match="cannot write the clone"):
        clone(plan("main", url(upstream)), tmp_path / "cache")


def test_a_filter_of_the_users_own_configuration_does_not_run(
    upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attributes that name it are those of the repository that is cloned."""
    marker = tmp_path / "ran"
    own = tmp_path / "gitconfig"
    own.write_text(f'[filter "x"]\n\tsmudge = touch {marker} && cat\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    commit(write(upstream, {".gitattributes": "*.yaml filter=x\n"}), "attributes")
    subprocess.run(["git", "clone", "-q", str(upstream), str(tmp_path / "by git")], check=True)
    assert marker.exists()  # git alone runs it
    marker.unlink()
    clone(plan("main", url(upstream)), tmp_path / "cache")
    assert not marker.exists()
