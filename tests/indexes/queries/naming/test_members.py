"""Data members of TensorImpl are names too."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index


@pytest.mark.parametrize("owner", ["", "TensorImpl::", "c10::TensorImpl::"])
def test_a_data_member_leads_to_its_line_and_to_what_reads_it(
    owner: str, tree_index: Index
) -> None:
    member = next(one for one in tree_index.tensorimpl() if one.accessors)
    match = tree_index.resolve(f"{owner}{member.name}")
    assert (match.kind, match.text) == ("symbol", f"c10::TensorImpl::{member.name}")
    first, *others = match.hits
    assert (first.kind, first.location, first.detail) == ("member", member.location, member.type)
    assert [hit.location for hit in others] == [*member.accessors]


def test_a_member_of_another_class_is_none_of_it(tree_index: Index) -> None:
    member = tree_index.tensorimpl()[0]
    assert tree_index.resolve(f"StorageImpl::{member.name}").kind == "none"
