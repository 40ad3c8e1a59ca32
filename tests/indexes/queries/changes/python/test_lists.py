"""What of a file is read to find the lists that name an operator."""

from __future__ import annotations

import pytest

from indexes.queries.changes.python import lists
from indexes.queries.changes.python.lists import Lists
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from indexes.readers.python.operator_lists import OperatorList, read_operator_lists


def test_bodies_that_name_nothing_are_not_parsed(
    tree_index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: dict[str, int] = {}
    kept: dict[str, int] = {}

    def counted(text: str, path: str, lines: list[int]) -> list[OperatorList]:
        tree = Tree(tree_index)
        whole[path], kept[path] = len(tree.text(path)), len(text)
        found = read_operator_lists(text, path, lines)
        assert found == read_operator_lists(tree.text(path), path, lines)
        return found

    monkeypatch.setattr(lists, "read_operator_lists", counted)
    names = {native.name for native in tree_index.all_natives()}
    assert list(Lists(Tree(tree_index)).naming(names, ""))
    assert sum(kept.values()) < sum(whole.values())
