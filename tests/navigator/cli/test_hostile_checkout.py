"""A checkout whose configuration names a program for everything that git can run: no command of
torchnav runs one of them. Plain git does, which shows that the traps work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.source.git import Repository
from indexes.source.git_history import History
from indexes.source.source import Source
from navigator.cli.main import main
from tests.repositories import begin, commit, git, repository

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")

YAML = "aten/src/ATen/native/native_functions.yaml"
CPP = "aten/src/ATen/native/BinaryOps.cpp"
KEYS = (
    "filter.plain.clean",
    "filter.plain.smudge",
    "filter.long.process",
    "filter.required.clean",
    "diff.words.textconv",
    "diff.words.command",
    "diff.external",
    "merge.words.driver",
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "core.alternateRefsCommand",
    "sequence.editor",
    "credential.helper",
    "interactive.diffFilter",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "trailer.sign.command",
    "web.browser",
    "imap.tunnel",
    "instaweb.httpd",
    "sendemail.smtpServer",
    "submodule.words.update",
    *(f"pager.{one}" for one in ("blame", "diff", "log", "ls-files", "config", "cat-file")),
    *(f"alias.{one}" for one in ("blame", "diff-index", "log", "ls-files", "rev-parse", "fetch")),
)
RUNS = re.compile(
    r"""(\.(\w*cmd|\w*command|program|\w*editor|pager|\w*helper|browser|textconv|driver|clean|smudge
    |process|askpass|\w*proxy|fsmonitor|external|uploadpack|receivepack|packobjectshook|diffFilter))$
    |^(alias|pager)\.|\.path$""",
    re.IGNORECASE | re.VERBOSE,
)
BOOLEAN = ("advice.", "color.", "column.", "includeif.", "include.", "notes.", "gitcvs.", "http.")
"""Keys that look alike and name no program: files, words, or addresses."""


def listed() -> tuple[str, ...]:
    """Every key of this git that holds a command or the path of a program."""
    found = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=False)
    names = [re.sub(r"<\w+>|\*", "words", line.strip()) for line in found.stdout.splitlines()]
    known = {key.lower() for key in KEYS}
    return tuple(
        name
        for name in names
        if RUNS.search(name) and name.lower() not in known and not name.lower().startswith(BOOLEAN)
    )


VARIABLES = ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_SSH_COMMAND")
HOOKS = ("fsmonitor-watchman", "post-checkout", "post-index-change", "reference-transaction")
ATTRIBUTES = """\
*.cpp filter=plain diff=words merge=words
*.h filter=required diff=words
*.yaml filter=long diff=words
*.py filter=included diff=words
"""


class Trap:
    """A repository, and the marks that its programs leave."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "pytorch"
        self.marks = folder / "marks"
        self.marks.mkdir()
        repository(self.root)
        _sign(self.root)
        (self.root / ".gitattributes").write_text(ATTRIBUTES)
        for key in (*KEYS, *listed()):
            alias = "!" if key.startswith(("alias.", "submodule.")) else ""
            git(self.root, "config", key, alias + str(self.program(folder / key, key)))
        git(self.root, "config", "filter.required.required", "true")
        git(self.root, "config", "filter.required.smudge", "cat")
        git(self.root, "config", "log.showSignature", "true")
        git(self.root, "config", "core.hooksPath", str(folder / "hooks"))
        for hook in HOOKS:
            self.program(folder / "hooks" / hook, f"hook {hook}")
        included = folder / "included"
        program = self.program(folder / "included-program", "include.path")
        included.write_text(f'[filter "included"]\n\tclean = {program}\n')
        git(self.root, "config", "include.path", str(included))
        git(
            self.root,
            "config",
            "remote.origin.url",
            f"ext::{self.program(folder / 'ext', 'ext', 'exit 1')}",
        )
        git(self.root, "config", "protocol.ext.allow", "always")
        git(self.root, "config", "remote.origin.promisor", "true")
        git(self.root, "config", "remote.origin.partialclonefilter", "blob:none")
        self.variables = {
            name: str(self.program(folder / name, name)) for name in (*VARIABLES, "PAGER")
        }
        self.arm()

    def program(self, place: Path, mark: str, then: str = "cat") -> Path:
        """A program that leaves its mark, and gives back what it is given."""
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\ntouch '{self.marks}/{mark}'\n{then}\n")
        place.chmod(0o755)
        return place

    def arm(self) -> None:
        """Every file looks as if it had changed; one did."""
        for mark in self.marks.iterdir():
            mark.unlink()
        for folder, _, names in os.walk(self.root):
            if "/.git" not in folder:
                for name in names:
                    os.utime(f"{folder}/{name}")
        with (self.root / CPP).open("a") as file:
            file.write("// one more line\n")

    @property
    def sprung(self) -> set[str]:
        """What has left its mark."""
        return {mark.name for mark in self.marks.iterdir()}


def _sign(root: Path) -> None:
    """The commit with a signature, which a program would have to check."""
    head = git(root, "cat-file", "commit", "HEAD")
    facts, _, message = head.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = subprocess.run(
        ["git", "-C", str(root), "hash-object", "-w", "-t", "commit", "--stdin"],
        input=f"{facts}\n{signature}\n\n{message}\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    git(root, "update-ref", "HEAD", signed)
    git(root, "tag", "-f", "v1", signed)
    (root / CPP).write_text((root / CPP).read_text() + "// a second line\n")
    commit(root, "Second (#12)")


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def armed(trap: Trap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Trap:
    """Programs in the environment as well, and an object folder and a repository elsewhere."""
    trap.arm()
    for name, value in trap.variables.items():
        monkeypatch.setenv(name, value)
    return trap


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (("status",), {"filter.plain.clean", "filter.required.clean", "filter.long.process"}),
        (("status",), {"core.fsmonitor", "include.path"}),
        (("diff-index", "-p", "--no-ext-diff", "--textconv", "v1"), {"diff.words.textconv"}),
        (("diff-index", "-p", "--ext-diff", "v1"), {"diff.words.command"}),
        (("blame", "-s", "--", CPP), {"diff.words.textconv", "filter.plain.clean"}),
        (("log", "-1", "--skip=1"), {"gpg.openpgp.program"}),
        (("cat-file", "-p", "1" * 40), {"ext"}),
    ],
)
def test_plain_git_falls_into_the_traps(
    trap: Trap, command: tuple[str, ...], keys: set[str]
) -> None:
    trap.arm()
    subprocess.run(
        ["git", "-C", str(trap.root), *command], capture_output=True, check=False, timeout=60
    )
    assert keys <= trap.sprung


@pytest.mark.parametrize(
    "command",
    [
        "index",
        "index --force",
        "index --verify",
        "op add.Tensor",
        "find add",
        "doctor",
        "affected",
        "affected --staged",
        "affected --since v1",
        "affected v1..HEAD",
        "diff v1",
        "diff v1 HEAD",
        f"impact {CPP}:43",
        f"contribute {CPP}:1 --history 9",
        "gaps --age",
        "clone main --history --url URL",
        "clone v1 --url URL",
    ],
)
@pytest.mark.usefixtures("capfd")
def test_no_command_runs_a_program_that_the_checkout_names(
    armed: Trap, cache: Path, command: str
) -> None:
    words = command.replace("URL", f"file://{armed.root}").split()
    status = main([words[0], "--tree", str(armed.root), "--cache", str(cache), *words[1:]])
    assert status == 0
    assert armed.sprung == set()


def test_every_key_that_git_lists_is_planted(armed: Trap) -> None:
    planted = git(armed.root, "config", "--local", "--name-only", "--list").splitlines()
    assert {"difftool.words.cmd", "remote.words.proxy", "core.askpass"} <= set(planted)
    assert len(planted) > 50


@pytest.mark.parametrize(
    "command",
    [
        "pr",
        "contribute add.Tensor",
        "audit --json",
        "gaps",
        f"at {CPP}:43",
        "callers add_stub",
        "uses add_stub",
        "table add.Tensor",
        "key CPU",
        "map aten",
        "explain structured",
        "tensorimpl",
        "engine",
        "export kernels",
        "op add.Tensor --link",
        "index --export FOLDER/shared.index",
        "export site FOLDER/site",
        "kernel add_kernel",
        "index --list",
        "index --prune",
        "table add.Tensor --link",
        f"impact {CPP}",
        "lab",
    ],
)
@pytest.mark.usefixtures("capfd")
def test_nor_do_the_others(armed: Trap, cache: Path, tmp_path: Path, command: str) -> None:
    """Whatever they answer of a tree with a broken repository."""
    words = command.replace("FOLDER", str(tmp_path)).split()
    given = ["--tree", str(armed.root), "--cache", str(cache)]
    at = 2 if words[0] == "export" else 1
    assert main([*words[:at], *given, *words[at:]]) in (0, 1)
    assert armed.sprung == set()


def test_neither_does_history(armed: Trap) -> None:
    history = History(Source.find(str(armed.root)))
    assert len(history.blame(CPP).lines) > 2
    assert len(history.changes(CPP, 1, 10_000).changes) == 2
    assert len(history.changes(CPP).changes) == 2
    assert armed.sprung == set()


def test_nothing_is_fetched_that_is_missing(armed: Trap, cache: Path) -> None:
    blob = git(armed.root, "rev-parse", f"v1:{CPP}")
    kept = armed.root / ".git/objects" / blob[:2] / blob[2:]
    kept.rename(armed.marks.parent / "blob")
    try:
        for words in (["diff", "v1"], ["affected", "--since", "v1"]):
            main([words[0], "--tree", str(armed.root), "--cache", str(cache), *words[1:]])
    finally:
        (armed.marks.parent / "blob").rename(kept)
    assert armed.sprung == set()


def test_the_environment_leads_to_no_other_repository(
    armed: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "other")
    head = git(armed.root, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere/index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare'='true'")
    source = Source.find(str(armed.root))
    assert (source.info.commit, source.info.dirty) == (head, True)
    assert len(History(source).changes(CPP).changes) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs")
@pytest.mark.parametrize("name", ["HEAD", "index", "config"])
def test_a_git_folder_that_would_never_end_is_none(tree_copy: Path, name: str) -> None:
    begin(tree_copy)
    (tree_copy / ".git" / name).unlink()
    os.mkfifo(tree_copy / ".git" / name)
    assert Source.find(str(tree_copy)).info.commit is None
    (tree_copy / ".git" / name).unlink()
    (tree_copy / ".git" / name).symlink_to("/dev/zero")
    assert Source.find(str(tree_copy)).info.commit is None


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A file that nobody writes to: who opens it waits."""
    if sys.platform == "win32":
        pytest.skip("needs FIFOs")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("core.excludesFile", ("ls-files", "--others", "--exclude-standard")),
        ("mailmap.file", ("log", "--format=%aN")),
        ("diff.orderFile", ("log", "--patch")),
    ],
)
def test_git_waits_for_no_file_that_the_configuration_names(
    trap: Trap, pipe: Path, key: str, command: tuple[str, ...]
) -> None:
    git(trap.root, "config", key, str(pipe))
    try:
        repository = Repository.at(trap.root)
        assert repository
        assert repository.run(*command, timeout=20).status == 0
    finally:
        git(trap.root, "config", "--unset", key)


def test_a_configuration_that_is_never_read_to_its_end_costs_the_history_alone(
    tree_copy: Path, cache: Path, pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.source.git._CONFIG_TIMEOUT", 0.5)
    begin(tree_copy)
    git(tree_copy, "config", "include.path", str(pipe))
    repository = Repository.at(tree_copy)
    assert repository
    assert "longer than 0.5 s" in repository.run("rev-parse", "HEAD").reason
    assert main(["op", "add.Tensor", "--tree", str(tree_copy), "--cache", str(cache)]) == 0


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", ".mailmap"])
def test_no_file_of_the_tree_is_waited_for(tree_copy: Path, name: str) -> None:
    begin(tree_copy)
    (tree_copy / name).unlink(missing_ok=True)
    os.mkfifo(tree_copy / name)
    assert Source.find(str(tree_copy)).info.commit is None
