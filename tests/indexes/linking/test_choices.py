"""Conditions around calls, read from the text of a function."""

from __future__ import annotations

import pytest

from indexes.linking.choices import Choices
from indexes.linking.facts import Call, Known
from indexes.model.vocabulary import Definition, Location
from indexes.queries.index import Index


def around(body: str, name: str, line: int = 0, qualifier: str = "") -> list[tuple[str, str, int]]:
    """(arm, condition, line) of each condition around the calls of ``name`` in a body."""
    text = f"void run(T t) {{\n{body}\n}}"
    where = Location("a.cpp", 1, text.count("\n") + 1)
    caller = Known(1, Definition("run", "", "function", where))
    found = Choices(lambda _: text.split("\n")).of(Call(name, qualifier, line, "call", ""), caller)
    return [(one.arm, one.text, one.location.line) for one in found]


def test_both_branches_of_an_if_say_which_they_are() -> None:
    body = "  if (fast(t)) {\n    a(t);\n  } else\n    b(t);\n  c(t);"
    assert around(body, "a") == [("then", "if (fast(t))", 2)]
    assert around(body, "b") == [("else", "if (fast(t))", 2)]
    assert around(body, "c") == around(body, "fast") == []


def test_conditions_are_given_outermost_first() -> None:
    body = "if (x) { for (auto i : t) if (y) { a(i); } }"
    assert [text for _, text, _ in around(body, "a")] == ["if (x)", "if (y)"]


def test_a_chain_of_else_if_excludes_the_earlier_ones() -> None:
    body = "if (x) a(); else if (y) b(); else c();"
    assert [arm for arm, _, _ in around(body, "c")] == ["else", "else"]
    assert [arm for arm, _, _ in around(body, "b")] == ["else", "then"]


def test_what_follows_a_branch_that_returns_is_its_other_branch() -> None:
    body = "if (x) { return a(); }\nif (y) { log(); }\nreturn b();"
    assert around(body, "b") == [("otherwise", "if (x)", 2)]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a", "switch (kind) case K::one, K::two"), ("b", "switch (kind) case default")],
)
def test_the_case_of_a_switch_with_labels_that_share_a_body(name: str, text: str) -> None:
    body = "switch (kind) {\n case K::one:\n case K::two: { a(); break; }\n default: b();\n}"
    assert around(body, name) == [("case", text, 2)]


def test_a_call_made_in_both_branches_has_no_condition() -> None:
    assert around("if (x) { a(1); } else { a(2); }", "a") == []


def test_calls_of_an_operator_are_told_apart_by_their_lines() -> None:
    body = "if (x) {\n at::add(t);\n}\nat::add(u);"
    assert around(body, "add", 3, "at") == [("then", "if (x)", 2)]
    assert around(body, "add", 5, "at") == []


def test_braces_that_branches_of_an_if_directive_share_are_not_counted_twice() -> None:
    body = "#ifdef A\nif (x) {\n#else\nif (y) {\n#endif\n a();\n}\nb();"
    assert around(body, "b") == []


def test_comments_strings_and_bodies_of_lambdas_do_not_confuse() -> None:
    body = '// if (z) {\nlog("if (q) {");\nif (x) { each([&](int i) { a(i); }); }'
    assert [text for _, text, _ in around(body, "a")] == ["if (x)"]


def test_a_chain_shows_the_choice_between_backends(tree_index: Index) -> None:
    texts = {
        hop.symbol: [one.text for one in hop.choices]
        for hop in tree_index.chain("scaled_dot_product_attention").hops
        if hop.role == "call" and hop.choices
    }
    switch = "switch (static_cast<sdp::SDPBackend>(choice_int)) case sdp::SDPBackend::"
    assert texts["at::_scaled_dot_product_flash_attention"] == [f"{switch}flash_attention"]
    assert texts["at::_scaled_dot_product_attention_math"] == [f"{switch}math"]
    supported = "if (_fused_sdp_choice_stub.is_device_supported(query_.device().type()))"
    assert texts["_fused_sdp_choice_stub"] == [supported]


@pytest.mark.parametrize(
    ("statement", "declares"),
    [
        ("Queue made(device);", True),
        ("std::vector<MKL_LONG> made(1, x);", True),
        ("return made(x);", False),
        ("auto y = made(x);", False),
        ("check(made(x));", False),
        ("if (x) made(x);", False),
        ("else made(x);", False),
    ],
)
def test_a_variable_that_is_made_looks_like_a_call(statement: str, declares: bool) -> None:
    text = f"void run(T x) {{\n{statement}\n}}"
    where = Location("a.cpp", 1, text.count("\n") + 1)
    caller = Known(1, Definition("run", "", "function", where))
    choices = Choices(lambda _: text.split("\n"))
    assert choices.declares(Call("made", "", 2, "call", ""), caller) is declares
