"""What a Python name is, in a few lines, on the small tree."""

from __future__ import annotations

from indexes.queries.index import Index


def test_a_function_has_its_signature_docstring_and_calls(tree_index: Index) -> None:
    card = tree_index.python("torch.optim.zero_grad")
    assert card
    assert card.signature == "zero_grad(parameters)"
    assert card.doc == "Set the gradients to zero."
    (call,) = card.calls
    assert call.name == "torch.mul"
    assert call.operators[0] == "mul.Tensor"
    assert call.line > card.answer.places[0].location.line


def test_what_a_class_calls_is_what_it_runs(tree_index: Index) -> None:
    card = tree_index.python("torch.optim.AdamW")
    assert card
    assert card.signature == "AdamW(Adam)"
    assert [call.name for call in card.calls] == ["torch.optim._adam.Adam.__init__"]


def test_a_class_lists_its_own_methods(tree_index: Index) -> None:
    card = tree_index.python("optim.Adam")
    assert card
    assert card.doc == "Adam's algorithm."
    assert [member.name for member in card.members] == ["state", "load"]


def test_a_method_of_a_value_that_is_not_known_is_counted(tree_index: Index) -> None:
    card = tree_index.python("torch.optim._adam.train")
    assert card
    assert [call.name for call in card.calls] == [
        "torch.optim._adam.Adam",
        "torch.optim._adam.adam",
    ]
    assert card.untold == 2


def test_a_name_that_python_does_not_have_has_no_card(tree_index: Index) -> None:
    assert tree_index.python("torch.optim.nothing") is None
