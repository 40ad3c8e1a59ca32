"""The config file."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.tui.config import config_path, load_config
from navigator.tui.keys import keys_of
from navigator.tui.panes.chain_workspace import ChainWorkspace
from navigator.tui.screens.browser import BrowserScreen
from tests.navigator.tui.conftest import Sit


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_settings_and_keys(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, 'theme = "nord"\n[keys]\n"go.definition" = "f12"\n'))
    assert config.theme == "nord"
    assert config.keys == {"go.definition": "f12"}
    assert not config.problems


def test_no_file_is_no_setting(tmp_path: Path) -> None:
    config = load_config(tmp_path / "config.toml")
    assert not config.theme
    assert not config.problems


@pytest.mark.parametrize(
    "text", ["theme = ", "theme = 3", "keys = 3", "[keys]\nquit = 3", "unknown = 1", "\0", "é"]
)
def test_what_is_wrong_is_one_line_and_the_rest_counts(tmp_path: Path, text: str) -> None:
    config = load_config(write(tmp_path, text))
    assert len(config.problems) == 1
    assert "\n" not in config.problems[0]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert len(load_config(path).problems) == 1


def test_it_is_looked_for_where_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_path() == tmp_path / "torchnav" / "config.toml"


def test_every_key_has_an_id_of_its_own() -> None:
    keys = [*keys_of(BrowserScreen, {}), *keys_of(ChainWorkspace, {})]
    ids = [key.id for key in keys]
    assert len(ids) == len(set(ids)) > 30
    assert {"go.definition", "copy.copy_place", "back", "quit", "card.1"} <= set(ids)


async def test_a_changed_key_works_and_the_old_one_does_not(sit: Sit, tmp_path: Path) -> None:
    config = load_config(write(tmp_path, '[keys]\nquit = "f10"\n"go.kernel" = "K"\n'))
    async with sit(config=config) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("g")
        await person.sees("K kernel")
        await person.presses("K")
        await person.sees("TORCH_IMPL_FUNC(mul_out)")
        await person.presses("q")
        assert person.app._exit is False
        await person.presses("f10")
        assert person.app._exit is True


async def test_a_theme_that_is_none_is_said(sit: Sit, tmp_path: Path) -> None:
    async with sit(config=load_config(write(tmp_path, 'theme = "no-such"\n'))) as person:
        await person.sees("no-such")


async def test_an_unknown_key_id_is_said(sit: Sit, tmp_path: Path) -> None:
    async with sit(config=load_config(write(tmp_path, '[keys]\n"no.such" = "x"\n'))) as person:
        await person.sees("no.such")
