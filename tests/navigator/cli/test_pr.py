"""``torchnav pr``: Markdown on stdout, JSON, and what it says when there is nothing to say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.source.source import Source
from navigator.cli.main import main
from navigator.progress import Progress
from tests.repositories import commit, git, repository

MODULE = "torch/functional.py"
KERNEL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree = repository(tmp_path / "edited")
    (tree / ".github").mkdir()
    template = tree / ".github/pull_request_template.md"
    template.write_text("Fixes #N\n\n<!-- read this -->\n\n## Summary\n\n**Test plan**:\n")
    commit(tree, "A template")
    git(tree, "checkout", "-q", "-b", "mine")
    text = (tree / KERNEL).read_text()
    (tree / KERNEL).write_text(text.replace("{", "{ if (true) {}\n", 1))
    return tree


def _run(root: Path, cache: Path, *arguments: str) -> int:
    return main(["--tree", str(root), "--cache", str(cache), "pr", *arguments])


def test_markdown_with_blanks_that_are_marked(
    root: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(root, cache, "--ran", "pytest test/test_x.py: 2 passed") == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "# <what this change does>"
    form = [line for line in lines if line in ("Fixes #N", "<!-- read this -->", "## Summary")]
    assert form == ["Fixes #N", "<!-- read this -->", "## Summary"]
    assert lines.index("**Test plan**:") < lines.index("- `pytest test/test_x.py`: 2 passed")
    assert "### Test plan" not in lines  # the form has its place
    assert lines.index("### Why") < lines.index("---")
    assert any(line.startswith("<!-- to be filled in: why") for line in lines)
    assert "git push -u origin mine" in out


def test_files_and_code_without_a_name_are_said_once(
    root: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, text in (("docs/source/torch.rst", "More words.\n"), (MODULE, "print(1)\n")):
        (root / path).write_text((root / path).read_text() + text)
    assert _run(root, cache, "--body") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "- changed `docs/source/torch.rst`" in lines
    assert f"- added code outside of functions in `{MODULE}`" in lines
    assert not any("<statement>" in line or "and 0 that call" in line for line in lines)


def test_a_command_that_was_run_from_a_plan_has_its_result(
    root: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = root / "test/test_ops.py"
    edited.write_text(f"{edited.read_text()}# edited\n")
    assert _run(root, cache, "--json") == 0
    command = json.loads(capsys.readouterr().out)["tests"][0]["command"]
    kept = Progress.load(cache, Source.find(str(root)).key, "kernel/CPU/add")
    kept.end(command, 1)
    kept.end("rm -rf build", 0)

    assert _run(root, cache, "--body") == 0
    lines = capsys.readouterr().out.splitlines()
    (said,) = (line for line in lines if line.startswith(f"- `{command}`: "))
    assert "ended with status 1 (20" in said
    assert not any("rm -rf" in line for line in lines)

    assert _run(root, cache, "--body", "--ran", f"{command}: 3 passed") == 0
    assert f"- `{command}`: 3 passed" in capsys.readouterr().out.splitlines()


def test_the_text_alone_is_that_of_the_json(
    root: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(root, "Do it\n\nSince it was not done.\n\nFixes #12")
    assert _run(root, cache, "--body") == 0
    body = capsys.readouterr().out
    assert body.startswith("Fixes #12\n")
    assert "Since it was not done." in body
    assert "## Steps" not in body
    assert _run(root, cache, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["body"].rstrip("\n") == body.rstrip("\n")
    assert answer["title"]["text"] == "Do it"
    assert answer["fixes"] == [12]
    assert answer["files"] == [{"path": KERNEL, "what": "changed", "added": 2, "removed": 1}]


def test_what_stops_it_is_one_line(
    root: Path, tree_copy: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(root, cache, "--ran", "nothing") == 2
    git(root, "checkout", "-q", KERNEL)
    capsys.readouterr()
    assert _run(root, cache) == 1
    assert capsys.readouterr().err.startswith("torchnav: no changes against HEAD")
    assert _run(tree_copy, cache) == 3
    assert "no .git" in capsys.readouterr().err
