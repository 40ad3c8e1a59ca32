"""Names that are one thing in several places."""

from __future__ import annotations

from indexes.queries.index import Index
from indexes.queries.python_names.public import definitions, public_names
from indexes.store.registrations import StoredPython


def test_a_name_in_any_spelling_is_the_one_of_the_page(tree_index: Index) -> None:
    stored = StoredPython(tree_index.facts.store)
    assert public_names(stored, "ADD_MM") == ["torch.addmm"]
    assert public_names(stored, "ADD_MM", exact=True) == []


def test_only_what_python_defines_has_a_place(tree_index: Index) -> None:
    softmax, missing = "torch.nn.functional.softmax", "torch.no_such_name"
    found = definitions((softmax, missing, "no name"), tree_index)
    where = found[softmax]
    assert where is not None
    assert where.path == "torch/nn/functional.py"
    assert found[missing] is found["no name"] is None
