"""Under which conditions the calls of a body run."""

from __future__ import annotations

import pytest

from indexes.readers.cxx.facts import DefinitionFact, read_cpp


def read(body: str) -> DefinitionFact:
    text = f"void run(T t) {{\n{body}\n}}"
    facts, _ = read_cpp(text.encode(), "aten/src/ATen/native/a.cpp")
    (found,) = facts.definitions
    return found


def around(body: str, name: str) -> list[tuple[str, str, int]]:
    """(arm, condition, line) of each branch around the one call of ``name``, outermost first."""
    function = read(body)
    (call,) = [one for one in function.calls if one.name == name]
    found = []
    number = call.branch
    while number:
        branch = function.branches[number - 1]
        assert branch.number == number
        found.append((branch.arm, branch.text, branch.line))
        number = branch.parent
    return found[::-1]


def test_both_branches_of_an_if_say_which_they_are() -> None:
    body = "  if (fast(t)) {\n    a(t);\n  } else\n    b(t);\n  c(t);"
    assert around(body, "a") == [("then", "if (fast(t))", 2)]
    assert around(body, "b") == [("else", "if (fast(t))", 2)]
    assert around(body, "c") == around(body, "fast") == []


def test_conditions_are_given_outermost_first() -> None:
    body = "if (x) { for (auto i : t) if constexpr (y) { a(i); } }"
    assert [text for _, text, _ in around(body, "a")] == ["if (x)", "if constexpr (y)"]


def test_a_chain_of_else_if_excludes_the_earlier_ones() -> None:
    body = "if (x) a(); else if (y) b(); else c();"
    assert [arm for arm, _, _ in around(body, "c")] == ["else", "else"]
    assert [arm for arm, _, _ in around(body, "b")] == ["else", "then"]


@pytest.mark.parametrize(
    "leaves",
    [
        "return a();",
        "throw Error(a());",
        "TORCH_CHECK(false, a());",
        "if (y) { b(); } return {x, y};",
        "for (auto i : t) { b(); }\n return;",
    ],
)
def test_what_follows_a_branch_that_leaves_is_its_other_branch(leaves: str) -> None:
    assert around(f"if (x) {{ {leaves} }}\nif (z) {{ log(); }}\nreturn c();", "c") == [
        ("otherwise", "if (x)", 2)
    ]


@pytest.mark.parametrize(
    ("body", "reached"),
    [
        ("if (x) { return; } else { return; } c();", False),
        ("if (x) return; else if (y) return; else throw Error(); c();", False),
        ("if (x) { return; } else if (y) { return; } c();", True),
        ("if (x) { return; } else { a(); } c();", True),
        ("each([] { if (x) { return; } else { return; } }); c();", True),
    ],
)
def test_nothing_reaches_what_follows_arms_that_all_leave(body: str, reached: bool) -> None:
    assert (("otherwise", "true", 2) not in around(body, "c")) is reached


@pytest.mark.parametrize(
    ("leaves", "text"),
    [
        ("if (x) { if (y) { return; } a(); }", "if (x) && (y)"),
        ("if (x) { if (y) { if (z) return; } } else { a(); }", "if (x) && (y) && (z)"),
    ],
)
def test_a_branch_that_leaves_within_another_is_told_behind_both(leaves: str, text: str) -> None:
    assert around(f"{leaves}\nc();", "c") == [("otherwise", text, 2)]


@pytest.mark.parametrize(
    "stays", ["a();", "x = {1, 2};", "for (;;) { if (y) return; }", "f([] { return 1; });"]
)
def test_what_follows_a_branch_that_goes_on_has_no_condition(stays: str) -> None:
    assert around(f"if (x) {{ {stays} }}\nc();", "c") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [("a", "switch (kind) case K::one, K::two"), ("b", "switch (kind) case default")],
)
def test_the_case_of_a_switch_with_labels_that_share_a_body(name: str, text: str) -> None:
    body = "switch (kind) {\n case K::one:\n case K::two: { a(); break; }\n default: b();\n}"
    assert around(body, name) == [("case", text, 2)]


def test_the_arms_of_a_conditional_expression() -> None:
    body = "auto y = t.is_cuda() ? a(t) : small(t) ? b(t) : ns::c(t);\nd(t);"
    assert around(body, "a") == [("then", "t.is_cuda()", 2)]
    assert around(body, "b") == [("else", "t.is_cuda()", 2), ("then", "small(t)", 2)]
    assert around(body, "c") == [("else", "t.is_cuda()", 2), ("else", "small(t)", 2)]
    assert around(body, "d") == []


def test_the_condition_of_an_expression_that_is_an_argument_or_returned() -> None:
    assert around("f(x, n == 1 && (m) ? a() : 0);", "a") == [("then", "n == 1 && (m)", 2)]
    assert around("return big ? a() : b();", "b") == [("else", "big", 2)]


def test_branches_of_the_preprocessor() -> None:
    body = "#if AT_USE_JITERATOR()\n  if (x) { a(); }\n#else\n  b();\n#endif\n  c();"
    assert around(body, "a") == [("#if", "AT_USE_JITERATOR()", 2), ("then", "if (x)", 3)]
    assert around(body, "b") == [("#if", "!AT_USE_JITERATOR()", 4)]
    assert around(body, "c") == []


def test_nested_branches_of_the_preprocessor_end_where_they_end() -> None:
    body = "#ifdef A\n#ifndef B\na();\n#endif\nb();\n#endif"
    assert around(body, "a") == [("#if", "defined(A)", 2), ("#if", "!defined(B)", 3)]
    assert around(body, "b") == [("#if", "defined(A)", 2)]


def test_braces_that_branches_of_an_if_directive_share_are_not_counted_twice() -> None:
    body = "#ifdef A\nif (x) {\n#else\nif (y) {\n#endif\n a();\n}\nb();"
    assert around(body, "a") == around(body, "b") == []


def test_a_condition_that_some_builds_have_is_told() -> None:
    body = "#ifdef A\nif (x) {\n  return a();\n}\n#endif\nb();"
    assert around(body, "b") == [("otherwise", "if (defined(A) && (x))", 3)]
    body = "#if A || B\nif (x) return; else return a();\n#endif\nb();"
    assert around(body, "b") == [("otherwise", "(A || B)", 3)]


def test_an_else_behind_a_build_s_own_condition_is_that_of_the_one_before_too() -> None:
    body = "if (x) { a(); }\n#ifdef A\nelse if (y) { b(); }\n#endif\nelse { c(); }"
    assert around(body, "c") == [("else", "if (x)", 2), ("else", "if (defined(A) && (y))", 4)]


def test_comments_strings_and_bodies_of_lambdas_do_not_confuse() -> None:
    body = '// if (z) {\nlog("if (q) {");\nif (x) { each([&](int i) { a(i); }); }'
    assert [text for _, text, _ in around(body, "a")] == ["if (x)"]


def test_conditions_keep_their_strings_and_lose_their_comments() -> None:
    body = 'if (mode == "same" /* or not */) { a(); }'
    assert around(body, "a") == [("then", 'if (mode == "same" )', 2)]


def test_only_branches_with_calls_are_kept() -> None:
    assert read("if (x) { y = 1; } else { a(); }").branches[0].arm == "else"
    assert len(read("if (x) { y = 1; } else { a(); }").branches) == 1


def test_a_long_chain_of_branches_is_read() -> None:
    body = "if (x0) a0();\n" + "".join(f"else if (x{n}) a{n}x();\n" for n in range(1, 700))
    assert len(around(body, "a699x")) == 700


def answers(head: str, body: str) -> list[tuple[str, str, str]]:
    """What a function returns, what that means, and the conditions under which it does."""
    facts, _ = read_cpp(f"{head} {{\n{body}\n}}".encode(), "aten/src/ATen/native/a.cpp")
    (found,) = facts.definitions
    said = []
    for one in found.branches:
        if one.arm == "returns":
            around, number = [], one.parent
            while number:
                around.append(f"{found.branches[number - 1].arm} {found.branches[number - 1].text}")
                number = found.branches[number - 1].parent
            said.append((one.text, one.means, "; ".join(reversed(around))))
    return said


def test_what_a_function_answers_is_kept_with_its_conditions() -> None:
    body = "if (!t.is_cuda()) return false;\nconst bool wide = t.dim() > 2;\nreturn wide && a(t);"
    assert answers("static bool can_run(const Tensor& t)", body) == [
        ("false", "", "then if (!t.is_cuda())"),
        ("wide && a(t)", "(t.dim() > 2) && a(t)", "otherwise if (!t.is_cuda())"),
    ]
    body = "#ifdef A\nreturn false;\n#endif\nreturn t.is({n, 2}) && (\n#ifndef A\na(t)\n#endif\n);"
    assert answers("bool can_run(const Tensor& t, int n)", body) == [
        ("false", "", "#if defined(A)"),
        ("t.is({n, 2}) && ( #ifndef A a(t) #endif )", "", ""),
    ]
    assert answers("auto can_run(const Tensor& t) const -> bool", "return a(t);") == [
        ("a(t)", "", "")
    ]
    body = 'if (s == "plain") { return Way::Plain; }\nreturn at::Way::Wide;'
    assert answers("Way way_of(std::string_view s)", body) == [
        ("Way::Plain", "", 'then if (s == "plain")'),
        ("at::Way::Wide", "", 'otherwise if (s == "plain")'),
    ]


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("Tensor run(const Tensor& t)", "return t.is_cuda();"),
        ("bool run(const Tensor& t)", "auto f = [&](int i) { return i > 0; };\nreturn f(1);"),
        ("bool run(const Tensor& t)", "#if 0\nreturn a(t);\n#endif"),
        ("Context run(const Tensor& t)", "return t.context();"),
    ],
)
def test_what_is_no_answer_is_not_kept(head: str, body: str) -> None:
    assert answers(head, body) == []
