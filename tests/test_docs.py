"""The README and the guide: every command line is understood, and every example runs.

An example begins with ``$ torchnav``. It runs on the small tree here, and with a checkout on that,
where it must print the lines that are shown.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from indexes.model.errors import UsageError
from navigator.cli.main import torchnav
from navigator.cli.session import Settings
from navigator.sources import SETTINGS
from navigator.tui.config import parse_config
from tests.tree_marks import TREE

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/guide.md")
_COMMAND = re.compile(r"^    (?P<prompt>\$ )?(?P<line>torchnav .*)$")
_COMMENT = re.compile(r"\s{2,}[#;] .*$")
TRAIN = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
x = torch.randn(5, 3)
for _ in range(2):
    loss = model(x).square().mean()
    loss.backward()
"""
FAILS = """
import torch
x = torch.ones(4, requires_grad=True)
w = torch.ones(4, requires_grad=True)
y = x * 2
z = y * w
y[0] = 5
z.sum().backward()
"""
LARGE = ("lab", "--tree", "pr", "diff", "contribute", "gaps", "generated", "affected")
"""Commands that need the history, the generators or the operators of a full tree, or minutes."""
FULL_TREE = ("table", "explain", "key")
"""Commands that answer from files that the small tree lacks."""
OF_A_TREE = ("op", "find", "at", "map", "gaps", "contribute", "callers", *FULL_TREE)
"""Commands that answer from a tree alone."""


class Example(NamedTuple):
    """A command line of a page, and the lines that are shown below it."""

    page: str
    line: str
    runs: bool
    shown: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)[1:]


def _examples() -> Iterator[Example]:
    for page in PAGES:
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if found := _COMMAND.match(line):
                command = _COMMENT.sub("", found["line"])
                yield Example(page, command, bool(found["prompt"]), (*_shown(lines[number + 1 :]),))


def _shown(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("    ") or line.startswith("    $ "):
            return
        yield line[4:]


EXAMPLES = tuple(_examples())
RUN = tuple(one for one in EXAMPLES if one.runs)


def _named(one: Example) -> str:
    return one.line


def test_there_are_examples() -> None:
    assert len(RUN) > 25
    assert len(EXAMPLES) > len(RUN)


@pytest.mark.parametrize("example", EXAMPLES, ids=_named)
def test_a_command_line_is_understood(example: Example) -> None:
    group: click.Group = torchnav
    words = example.words
    while True:
        context = click.Context(group, obj=Settings())
        _, words, _ = group.make_parser(context).parse_args(words)
        command = group.get_command(context, words[0]) if words else None
        assert command is not None, example.line
        name, *words = words
        if not isinstance(command, click.Group):
            break
        group = command
    try:
        command.make_context(name, words, obj=Settings())
    except (click.ClickException, UsageError) as error:
        pytest.fail(f"{example.page}: {example.line}: {error}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, native: Path) -> Path:
    """A folder with the programs and traces that the examples name."""
    place = tmp_path_factory.mktemp("examples")
    (place / "cache").mkdir()
    (place / "cache/native").symlink_to(native)
    (place / "train.py").write_text(TRAIN)
    (place / "fails.py").write_text(FAILS)
    return place


def _run(words: list[str], folder: Path, tree: Path) -> subprocess.CompletedProcess[str]:
    own = {"TORCHNAV_CHECKOUT": str(tree), "XDG_CONFIG_HOME": str(folder / "config")}
    own |= {} if "TORCHNAV_CACHE" in os.environ else {"TORCHNAV_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "navigator", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **own},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "example", [one for one in RUN if one.words[0] not in LARGE + FULL_TREE], ids=_named
)
def test_an_example_runs(example: Example, folder: Path) -> None:
    done = _run(_here(example.words, folder), folder, TREE)
    assert done.returncode == 0, done.stderr
    assert done.stdout or "-o" in example.words


def _here(words: list[str], folder: Path) -> list[str]:
    """The words of an example with the files that this folder has; what it opens is recorded."""
    words = ["fails.py" if words[0] == "why" and one == "train.py" else one for one in words]
    for one in words:
        if one.endswith(".json") and "-o" not in words and not (folder / one).exists():
            done = _run(["trace", "--memory", "-o", one, "train.py"], folder, TREE)
            assert done.returncode == 0, done.stderr
    return words


@pytest.mark.checkout
@pytest.mark.parametrize("example", [one for one in RUN if one.words[0] in OF_A_TREE], ids=_named)
def test_an_example_prints_what_is_shown(example: Example, folder: Path) -> None:
    tree = Path(os.environ["TORCHNAV_CHECKOUT"])
    done = _run(example.words, folder, tree)
    assert done.returncode == 0, done.stderr
    if not (tree / "version.txt").read_text().startswith("2.7."):
        pytest.skip("the pages show PyTorch 2.7")
    printed = iter(line.strip() for line in done.stdout.splitlines())
    missing = [one for one in example.shown if one.strip() != "..." and one.strip() not in printed]
    assert missing == []


# ------------------------------------------------------------------------------ the rest


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "AGENTS.md", "docs/guide.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        where = (ROOT / page).parent / path if path else ROOT / page
        assert target.startswith("https:") or where.exists(), f"{page}: {target}"
        if anchor and where.suffix == ".md":
            heads = re.findall(r"(?m)^#+ (.*)$", where.read_text(encoding="utf-8"))
            names = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]
            assert anchor in names, f"{page}: {target}"


def test_the_reference_and_the_man_page_are_up_to_date() -> None:
    script = [sys.executable, str(ROOT / "docs" / "make_reference.py"), "--check"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_settings_of_the_reference_are_those_that_are_read() -> None:
    known = {"[keys]": '[keys]\nback = "x"', "[[sources]]": '[[sources]]\npath = "x"'}
    for name in SETTINGS:
        assert parse_config(known.get(name, f'{name} = "x"')).problems == ()
    assert parse_config('themes = "x"').problems


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_one() -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", str(ROOT / "docs" / "torchnav.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--vimgrep" in re.sub(r".\x08", "", done.stdout)  # bold is a letter printed twice


# --------------------------------------------------------------------------- in editors


def _recipe(language: str) -> str:
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    found = re.search(rf"```{language}\n(.*?)```", text, re.S)
    assert found
    return found[1]


@pytest.fixture(scope="module")
def on_path(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which ``torchnav`` is this one, on the small tree."""
    place = tmp_path_factory.mktemp("bin")
    program = place / "torchnav"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m navigator "$@"\n')
    program.chmod(0o755)
    own = {"PATH": f"{place}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    cache = os.environ.get("TORCHNAV_CACHE", str(place / "cache"))
    return {**os.environ, **own, "TORCHNAV_CHECKOUT": str(TREE), "TORCHNAV_CACHE": cache}


def _edit(command: list[str], environment: dict[str, str], folder: Path) -> None:
    subprocess.run(
        command,
        env={**environment, "HOME": str(folder)},
        cwd=TREE,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
def test_the_recipe_for_vim(on_path: dict[str, str], tmp_path: Path) -> None:
    script, places = tmp_path / "recipe.vim", tmp_path / "places"
    script.write_text(
        f"{_recipe('vim')}\nTorchnav at mul_kernel_cuda\ncc 1\n"
        "let found = [expand('%') . ':' . line('.')]\n"
        f"call writefile(found, '{places}')\nqall!\n"
    )
    _edit(["vim", "-Nes", "-u", "NONE", "-S", str(script)], on_path, tmp_path)
    assert places.read_text().startswith("aten/src/ATen/native/cuda/BinaryMulKernel.cu:12\n")


@pytest.mark.skipif(shutil.which("emacs") is None, reason="emacs is not installed")
def test_the_recipe_for_emacs(on_path: dict[str, str], tmp_path: Path) -> None:
    script, places = tmp_path / "recipe.el", tmp_path / "places"
    script.write_text(
        f"""{_recipe("elisp")}
(torchnav "at mul_kernel_cuda")
(while (get-buffer-process "*grep*") (accept-process-output nil 0.1))
(next-error 1 t)
(with-current-buffer (window-buffer)
  (append-to-file (format "%s:%d" (buffer-name) (line-number-at-pos)) nil "{places}"))
"""
    )
    _edit(["emacs", "--batch", "-Q", "-l", str(script)], on_path, tmp_path)
    assert places.read_text() == "BinaryMulKernel.cu:12"


def test_the_recipe_for_vs_code(on_path: dict[str, str]) -> None:
    (task,) = json.loads(_recipe("json"))["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    words = [one.replace("${selectedText}", "mul_stub") for one in task["args"]]
    done = subprocess.run(
        [task["command"], *words], env=on_path, cwd=TREE, capture_output=True, text=True, check=True
    )
    places = [re.match(pattern["regexp"], line) for line in done.stdout.splitlines()]
    assert places
    for found in places:
        assert found
        assert (TREE / found[pattern["file"]]).exists()
        assert int(found[pattern["line"]]) > 0


def test_the_recipe_for_helix(on_path: dict[str, str]) -> None:
    """Without Helix: the command of its recipe, with what Helix puts in."""
    (command,) = re.findall(r'"(:sh .*)"', _recipe("toml"))
    line = command.removeprefix(":sh ").replace("%{buffer_name}", "aten/src/ATen/native/Add.cpp")
    line = line.replace("%{cursor_line}", "1")
    words = shlex.split(line)
    assert words == ["torchnav", "at", "aten/src/ATen/native/Add.cpp:1"]
    place = "aten/src/ATen/native/cuda/BinaryMulKernel.cu:12"
    command_line = [*words[:2], place]
    done = subprocess.run(command_line, env=on_path, cwd=TREE, capture_output=True, check=False)
    assert done.returncode == 0
