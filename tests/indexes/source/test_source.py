"""Finding a tree, saying what it is, and never reading outside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.model.vocabulary import SourceInfo
from indexes.source.clones import clones
from indexes.source.permalinks import permalink
from indexes.source.source import Source, cache_folder
from indexes.source.torch_install import TorchInstall, installed_torch
from tests.indexes.source.trees import YAML, make_repository, make_tree, write
from tests.repositories import git

pytestmark = pytest.mark.usefixtures("nowhere")
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


def make_clone(cache: Path, name: str, commit: str, finished: float) -> Path:
    root = make_tree(cache / "clones" / name)
    record = {"commit": commit, "ref": name, "finished": finished}
    write(root, ".git/torchnav-clone.json", json.dumps(record))
    return root


class TestFind:
    def test_given_tree_wins_over_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given, named = make_tree(tmp_path / "given"), make_tree(tmp_path / "named")
        monkeypatch.setenv("TORCHNAV_CHECKOUT", str(named))
        assert Source.find(str(given)).root == given
        assert Source.find().root == named

    def test_environment_wins_over_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(make_tree(tmp_path / "here") / "aten/src")
        assert Source.find().root == tmp_path / "here"
        monkeypatch.setenv("TORCHNAV_CHECKOUT", str(make_tree(tmp_path / "named")))
        assert Source.find().root == tmp_path / "named"

    def test_clone_of_the_installed_commit_wins_over_a_newer_one(self, tmp_path: Path) -> None:
        torch = installed_torch()
        assert torch
        assert torch.commit
        newer = make_clone(tmp_path / "cache", "newer", "0" * 40, finished=200)
        assert Source.find().root == newer
        matching = make_clone(tmp_path / "cache", "matching", torch.commit, finished=100)
        found = Source.find()
        assert (found.root, found.kind) == (matching, "clone")

    def test_newest_of_the_clones_that_do_not_match(self, tmp_path: Path) -> None:
        newest = make_clone(tmp_path / "cache", "a", "1" * 40, finished=300)
        make_clone(tmp_path / "cache", "b", "2" * 40, finished=200)
        assert Source.find().root == newest

    def test_half_made_clone_is_not_found(self, tmp_path: Path) -> None:
        make_tree(tmp_path / "cache/clones/half")
        write(tmp_path, "cache/clones/bad/.git/torchnav-clone.json", '{"commit": 1')
        assert clones(cache_folder()) == ()
        assert Source.find().kind == "wheel"

    def test_wheel_is_the_last_resort(self) -> None:
        found = Source.find()
        assert found.kind == "wheel"
        assert (found.root / "torch/version.py").is_file()

    def test_nothing_at_all_says_how_to_get_something(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("indexes.source.torch_install.installed_torch", lambda: None)
        with pytest.raises(SourceError, match=r"torchnav clone.*pip install torch") as error:
            Source.find()
        assert "\n" not in str(error.value)

    def test_tree_without_native_functions_is_refused_by_name(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match=r"native_functions\.yaml") as error:
            Source.find(str(tmp_path))
        assert str(tmp_path) in str(error.value)

    def test_tree_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="no such folder"):
            Source.find(str(tmp_path / "nothing"))

    def test_finding_the_wheel_does_not_import_torch(self) -> None:
        code = (
            "import sys; from indexes.source.source import Source; s = Source.find(); s.info; "
            "list(s.files()); sys.exit(any(m == 'torch' or m.startswith('torch.') "
            "for m in sys.modules))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestInfo:
    @needs_git
    def test_commit_and_edits(self, tmp_path: Path) -> None:
        commit = make_repository(tmp_path / "tree")
        info = Source.find(str(tmp_path / "tree")).info
        assert (info.version, info.commit, info.dirty) == ("2.7.0a0", commit, False)
        write(tmp_path / "tree", "aten/src/ATen/native/Activation.cpp", "// edited\n")
        assert Source.find(str(tmp_path / "tree")).info.dirty

    @needs_git
    def test_only_the_time_of_a_file_changed(self, tmp_path: Path) -> None:
        make_repository(tmp_path / "tree")
        os.utime(tmp_path / "tree" / YAML, (1, 1))
        index = (tmp_path / "tree/.git/index").read_bytes()
        assert not Source.find(str(tmp_path / "tree")).info.dirty
        assert (tmp_path / "tree/.git/index").read_bytes() == index

    @needs_git
    def test_what_changed_but_a_time_is_an_edit(self, tmp_path: Path) -> None:
        make_repository(tmp_path / "tree")
        (tmp_path / "tree" / YAML).chmod(0o755)
        assert Source.find(str(tmp_path / "tree")).info.dirty
        (tmp_path / "tree" / YAML).chmod(0o644)
        assert not Source.find(str(tmp_path / "tree")).info.dirty
        (tmp_path / "tree/aten/src/ATen/native/Activation.cpp").unlink()
        assert Source.find(str(tmp_path / "tree")).info.dirty

    @needs_git
    def test_line_endings_that_git_converts_are_no_edit(self, tmp_path: Path) -> None:
        path = "aten/src/ATen/native/Lines.cpp"
        write(tmp_path / "tree", ".gitattributes", "*.cpp text\n")
        (tmp_path / "tree" / path).parent.mkdir(parents=True)
        (tmp_path / "tree" / path).write_bytes(b"int x;\r\n")
        make_repository(tmp_path / "tree")
        os.utime(tmp_path / "tree" / path, (1, 1))
        assert not Source.find(str(tmp_path / "tree")).info.dirty

    @needs_git
    def test_edit_outside_the_indexed_folders_does_not_count(self, tmp_path: Path) -> None:
        write(tmp_path / "tree", "README.md", "before\n")
        make_repository(tmp_path / "tree")
        write(tmp_path / "tree", "README.md", "after\n")
        assert not Source.find(str(tmp_path / "tree")).info.dirty

    @needs_git
    def test_what_git_cannot_tell_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commit = make_repository(tmp_path / "tree")
        monkeypatch.setenv("PATH", str(tmp_path))
        info = Source.find(str(tmp_path / "tree")).info
        assert (info.commit, info.dirty) == (commit, False)
        assert any("edited" in lack for lack in info.missing)

    @needs_git
    def test_no_program_of_the_tree_s_choice_is_run(self, tmp_path: Path) -> None:
        make_repository(tmp_path / "tree")
        monitor = write(tmp_path, "monitor", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        monitor.chmod(0o755)
        git(tmp_path / "tree", "config", "core.fsmonitor", str(monitor))
        os.utime(tmp_path / "tree" / YAML, (1, 1))
        assert not Source.find(str(tmp_path / "tree")).info.dirty
        assert not (tmp_path / "ran").exists()

    @needs_git
    def test_packed_refs_and_linked_work_trees(self, tmp_path: Path) -> None:
        commit = make_repository(tmp_path / "tree")
        git(tmp_path / "tree", "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        git(tmp_path / "tree", "pack-refs", "--all")
        for root in ("tree", "linked"):
            assert Source.find(str(tmp_path / root)).info.commit == commit

    @needs_git
    def test_detached_head(self, tmp_path: Path) -> None:
        commit = make_repository(tmp_path / "tree")
        git(tmp_path / "tree", "checkout", "-q", "--detach")
        assert Source.find(str(tmp_path / "tree")).info.commit == commit

    @needs_git
    def test_a_tree_inside_another_repository_has_no_commit(self, tmp_path: Path) -> None:
        make_repository(tmp_path / "outer")
        make_tree(tmp_path / "outer/vendored")
        assert Source.find(str(tmp_path / "outer/vendored")).info.commit is None

    def test_missing_layers_name_the_command_that_adds_them(self, tmp_path: Path) -> None:
        wheel = Source.find().info
        assert wheel.commit == getattr(installed_torch(), "commit", None)
        assert any("kernels" in m and "torchnav clone" in m for m in wheel.missing)
        tree = make_tree(tmp_path / "tree")
        (tree / "tools/autograd/derivatives.yaml").unlink()
        assert any("derivative" in m for m in Source.find(str(tree)).info.missing)

    def test_built_torch_version_is_read_not_run(self, tmp_path: Path) -> None:
        write(tmp_path, "torchgen/packaged/ATen/native/native_functions.yaml")
        text = "raise SystemExit\n__version__ = '2.5.1+cu124'\ngit_version = '" + "a" * 40 + "'\n"
        write(tmp_path, "torch/version.py", text)
        info = Source.find(str(tmp_path / "torch")).info
        assert (info.version, info.commit, info.kind) == ("2.5.1+cu124", "a" * 40, "wheel")

    def test_tag_of_a_version(self) -> None:
        assert TorchInstall(Path(), "2.7.0+cu126", None).tag == "v2.7.0"
        assert TorchInstall(Path(), "2.9.0.dev20260101+cpu", None).tag is None


class TestRead:
    def test_bytes_of_a_file(self, tmp_path: Path) -> None:
        source = Source.find(str(make_tree(tmp_path / "tree")))
        assert source.read("version.txt") == b"2.7.0a0\n"

    @pytest.mark.parametrize(
        "path",
        [
            "../secret",
            "aten/../../secret",
            "/etc/passwd",
            "",
            "aten//x",
            "./version.txt",
            "a\0b",
            "..\\secret",
            "out/secret",
            "secret-link",
        ],
    )
    def test_never_outside_the_tree(self, tmp_path: Path, path: str) -> None:
        tree = make_tree(tmp_path / "tree")
        write(tmp_path, "secret", "secret")
        (tree / "out").symlink_to(tmp_path)
        (tree / "secret-link").symlink_to(tmp_path / "secret")
        with pytest.raises(SourceError):
            Source.find(str(tree)).read(path)

    def test_a_link_that_stays_inside_is_read(self, tmp_path: Path) -> None:
        tree = make_tree(tmp_path / "tree")
        (tree / "link").symlink_to("version.txt")
        assert Source.find(str(tree)).read("link") == b"2.7.0a0\n"

    def test_tree_behind_a_link(self, tmp_path: Path) -> None:
        make_tree(tmp_path / "tree")
        (tmp_path / "alias").symlink_to(tmp_path / "tree")
        assert Source.find(str(tmp_path / "alias")).read("version.txt") == b"2.7.0a0\n"

    def test_other_packages_beside_torch_are_not_the_tree(self) -> None:
        source = Source.find()
        assert source.read("torch/version.py")
        with pytest.raises(SourceError, match="not a part of the installed torch"):
            source.read("click/__init__.py")

    def test_what_is_in_a_folder(self, tmp_path: Path) -> None:
        tree = make_tree(tmp_path / "tree")
        (tree / "out").symlink_to(tmp_path)
        source = Source.find(str(tree))
        write(tree, "a/c.txt", "")
        write(tree, "a/b/d.txt", "")
        assert source.listed("a") == ["b", "c.txt"]
        assert {"a", "version.txt"} < set(source.listed(""))
        for nowhere in ("absent", "version.txt", "out", ".."):
            assert source.listed(nowhere) == []

    def test_beside_the_packages_of_torch_nothing_is_listed(self) -> None:
        source = Source.find()
        assert "version.py" in source.listed("torch")
        assert source.listed("") == ["torch", "torchgen", "functorch"]
        assert source.listed("click") == []

    def test_a_missing_file_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="cannot read gone: No such file"):
            Source.find(str(make_tree(tmp_path / "tree"))).read("gone")


class TestLocate:
    def test_same_names_lead_to_both_layouts(self, tmp_path: Path) -> None:
        wheel, tree = Source.find(), Source.find(str(make_tree(tmp_path / "tree")))
        assert tree.locate("native_functions.yaml") == YAML
        assert tree.locate("TensorImpl.h") is None
        assert wheel.locate("native_functions.yaml") == (
            "torchgen/packaged/ATen/native/native_functions.yaml"
        )
        assert wheel.locate("c10/core/TensorImpl.h") == "torch/include/c10/core/TensorImpl.h"
        assert wheel.locate("autograd/templates") == "torchgen/packaged/autograd/templates"
        assert wheel.locate("engine.cpp") is None


class TestPermalink:
    def test_paths_of_the_wheel_lead_to_those_of_the_repository(self) -> None:
        info = SourceInfo("wheel", "/nowhere", "2.7.0", "abc", False)
        base = "https://github.com/pytorch/pytorch/blob/abc"
        assert permalink(info, "torch/include/c10/core/TensorImpl.h", 5, 9) == (
            f"{base}/c10/core/TensorImpl.h#L5-L9"
        )
        assert permalink(info, "torchgen/packaged/autograd/derivatives.yaml", 7) == (
            f"{base}/tools/autograd/derivatives.yaml#L7"
        )
        assert permalink(info, "torch/functional.py") == f"{base}/torch/functional.py"

    def test_no_commit_no_link(self) -> None:
        assert permalink(SourceInfo("checkout", "/x", "2", None, False), "a", 1) is None

    @needs_git
    def test_a_fork_is_linked_to_itself(self, tmp_path: Path) -> None:
        commit = make_repository(tmp_path / "tree")
        git(tmp_path / "tree", "remote", "add", "origin", "git@github.com:someone/fork.git")
        info = Source.find(str(tmp_path / "tree")).info
        assert permalink(info, YAML) == f"https://github.com/someone/fork/blob/{commit}/{YAML}"


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHNAV_CACHE", "/x")
    assert cache_folder() == Path("/x")
    monkeypatch.delenv("TORCHNAV_CACHE")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", "/y")
        assert cache_folder() == Path("/y/torchnav")
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_folder() == Path.home() / ".cache/torchnav"
