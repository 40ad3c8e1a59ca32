"""Pages that speak of something without listing it."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.contribution.by_name import pages_naming
from indexes.source.source import Source


def test_pages_that_mark_a_name_as_code(tmp_path: Path) -> None:
    (tmp_path / "aten/src/ATen/native").mkdir(parents=True)
    (tmp_path / "aten/src/ATen/native/native_functions.yaml").write_text("")
    pages = tmp_path / "docs/source"
    (pages / "notes").mkdir(parents=True)
    (pages / "jit.rst").write_text("Not there:\n\n  * :func:`torch.norm`\n")
    (pages / "notes/numbers.rst").write_text("Say `~torch.norm()` and ``torch.norms``.\n")
    (pages / "other.rst").write_text(":func:`torch.normal`, torch.norm\n")
    found = list(pages_naming(Source.find(str(tmp_path)), ["torch.norm"]))
    assert [(str(where), name) for where, name in found] == [
        ("docs/source/jit.rst:3", "torch.norm"),
        ("docs/source/notes/numbers.rst:1", "torch.norm"),
    ]
