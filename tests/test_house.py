"""What a stranger finds: folders of a size that can be kept in mind."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_no_folder_holds_more_modules_than_a_reader_can_keep_in_mind() -> None:
    folders = [init.parent for top in ("indexes", "navigator") for init in _packages(top)]
    crowded = {str(f.relative_to(ROOT)): len(list(f.glob("*.py"))) for f in folders}
    assert {folder: count for folder, count in crowded.items() if count > 26} == {}


def _packages(top: str) -> list[Path]:
    return sorted((ROOT / top).rglob("__init__.py"))
