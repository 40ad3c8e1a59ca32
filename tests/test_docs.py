"""The documentation against the code that it describes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_map_of_the_modules_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs/make_map.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_folder_holds_more_modules_than_a_reader_can_keep_in_mind() -> None:
    folders = [init.parent for top in ("indexes", "navigator") for init in _packages(top)]
    crowded = {str(f.relative_to(ROOT)): len(list(f.glob("*.py"))) for f in folders}
    assert {folder: count for folder, count in crowded.items() if count > 26} == {}


def _packages(top: str) -> list[Path]:
    return sorted((ROOT / top).rglob("__init__.py"))
