"""Which command opens an editor at a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.tui.editor import NoEditor, editor_command

FILE = Path("/src/pytorch/BinaryOps.cpp")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it but what a test puts there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def install(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("editor", "arguments", "window"),
    [
        ("vim", ["+447", str(FILE)], False),
        ("nvim", ["+447", str(FILE)], False),
        ("nano", ["+447", str(FILE)], False),
        ("emacs", ["+447", str(FILE)], False),
        ("hx", [f"{FILE}:447"], False),
        ("code", ["--goto", f"{FILE}:447"], True),
        ("zed", [f"{FILE}:447"], True),
        ("subl", [f"{FILE}:447"], True),
        ("clion", ["--line", "447", str(FILE)], True),
        ("an-editor-of-my-own", ["+447", str(FILE)], False),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(
    programs: Path, editor: str, arguments: list[str], window: bool
) -> None:
    install(programs, editor)
    command = editor_command(FILE, 447, environ={"EDITOR": editor})
    assert list(command.argv) == [editor, *arguments]
    assert command.window is window


def test_visual_comes_before_editor_and_may_have_options(programs: Path) -> None:
    install(programs, "code", "vi")
    command = editor_command(FILE, 3, environ={"VISUAL": "code --wait", "EDITOR": "vi"})
    assert command.argv == ("code", "--wait", "--goto", f"{FILE}:3")


def test_the_config_file_comes_before_both(programs: Path) -> None:
    install(programs, "ed", "vi")
    command = editor_command(FILE, 3, "ed -p '{path}' --at={line}", {"VISUAL": "vi"})
    assert command.argv == ("ed", "-p", str(FILE), "--at=3")


def test_a_path_with_blanks_and_braces_is_one_word(programs: Path) -> None:
    install(programs, "ed")
    odd = Path("/my trees/{line}; rm -rf x.cpp")
    assert editor_command(odd, 3, "ed {path}:{line}", {}).argv == ("ed", f"{odd}:3")


def test_without_a_choice_an_installed_one_is_taken(programs: Path) -> None:
    install(programs, "nano", "vi")
    assert editor_command(FILE, 1, environ={}).argv[0] == "nano"


@pytest.mark.parametrize("environ", [{}, {"VISUAL": "not-installed"}, {"EDITOR": "vim 'open"}])
def test_no_editor_is_said_in_one_line(programs: Path, environ: dict[str, str]) -> None:
    with pytest.raises(NoEditor) as caught:
        editor_command(FILE, 1, environ=environ)
    assert "\n" not in str(caught.value)
    assert "editor" in str(caught.value)
