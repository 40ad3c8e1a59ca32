"""TensorImpl.h and engine.cpp of the small tree against their marks."""

from __future__ import annotations

from indexes.queries.index import Index
from tests.tree_marks import marks


def test_the_members_of_tensorimpl_are_those_marked(tree_index: Index) -> None:
    expected = {(m.words[0], m.line) for m in marks("member")}
    found = {(m.name, m.location.line) for m in tree_index.tensorimpl()}
    assert found == expected


def test_members_have_their_type_comment_bits_and_accessors(tree_index: Index) -> None:
    members = {m.name: m for m in tree_index.tensorimpl()}
    assert "AutogradMeta struct" in members["autograd_meta_"].comment
    assert "no autograd metadata has been needed" in members["autograd_meta_"].comment
    assert members["storage_offset_"].type == "int64_t"
    assert (members["sizes_strides_policy_"].bits, members["numel_"].bits) == (2, None)
    assert "numel" in members["numel_"].accessor_names
    assert {"is_wrapped_number", "set_wrapped_number"} <= set(
        members["is_wrapped_number_"].accessor_names
    )


def test_the_functions_of_the_engine_are_those_marked(tree_index: Index) -> None:
    expected = {(m.words[0], m.line) for m in marks("engine")}
    found = {(f.name, f.location.line) for f in tree_index.engine()}
    missing = expected - found
    assert missing == set()


def test_the_calls_of_a_backward_pass_are_followed(tree_index: Index) -> None:
    functions = {f.name: f for f in tree_index.engine()}
    calls = {name for name, _ in functions["Engine::execute"].calls}
    assert {"Engine::compute_dependencies", "Engine::execute_with_graph_task"} <= calls
    calls = {name for name, _ in functions["Engine::evaluate_function"].calls}
    assert "call_function" in calls
    assert functions["Engine::evaluate_function"].phases == ("evaluate",)
