"""Half and broken trees give what they can, and never more than one line of complaint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from indexes.model.errors import UsageError
from indexes.queries.gaps.find import find_gaps, parse_filter
from indexes.queries.gaps.kinds import ALL
from indexes.queries.gaps.model import GapFilter, GapList
from tests.indexing import opened


def gaps_of(root: Path, cache: Path) -> GapList:
    with opened(root, cache) as index:
        return find_gaps(index, GapFilter(ALL))


@pytest.mark.parametrize("gone", ["c10", "torch", "test", "tools", "aten/src/ATen/functorch"])
def test_without_a_folder_the_rest_is_told(tree_copy: Path, cache: Path, gone: str) -> None:
    shutil.rmtree(tree_copy / gone)
    found = gaps_of(tree_copy, cache)
    assert [gap for gap in found.gaps if gap.kind == "todo"]
    assert any(one.lacks for one in found.counts)


def test_broken_files_hide_no_others(tree_copy: Path, cache: Path) -> None:
    yaml = tree_copy / "aten/src/ATen/native/native_functions.yaml"
    yaml.write_text(yaml.read_text() + "\n- func: broken(Tensor self -> Tensor\n")
    (tree_copy / "torch/overrides.py").write_text("\ndef get_ignored_functions(:\n@\n")
    (tree_copy / "torch/_torch_docs.py").write_bytes(b'add_docstr(torch.abs, r"""abs(\xff(((')
    (tree_copy / "aten/src/ATen/native/Bad.cpp").write_text(
        'TORCH_CHECK(\n// TODO\x1b[31m red\nTORCH_CHECK("never closed'
    )
    found = gaps_of(tree_copy, cache)
    assert any(gap.location.path.endswith("Bad.cpp") for gap in found.gaps)


def test_a_filter_line_is_read_by_its_fields() -> None:
    wanted = parse_filter("easy kind:tod key:MPS module:linalg owner:@me two words")
    assert wanted == GapFilter(("todo",), "easy", "MPS", "linalg", "@me", text="two words")
    with pytest.raises(UsageError, match="batch-rule"):
        parse_filter("kind:nothing")
