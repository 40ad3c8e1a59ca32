"""Messages of C++ files: which literals make one, and who says it."""

from __future__ import annotations

import pytest

from indexes.readers.cxx.facts import read_cpp
from indexes.readers.messages import DISPATCH, ENVIRONMENT, HOLE, MAYBE


def told(text: str, path: str = "aten/src/ATen/x.cpp") -> list[tuple[int, int, str, str]]:
    facts, _ = read_cpp(text.encode(), path)
    shown = str.maketrans({HOLE: "|", MAYBE: "?"})
    return [(one.line, one.end_line, one.kind, one.text.translate(shown)) for one in facts.messages]


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ('TORCH_CHECK(a, "one ", x, " and two of ", y);', "TORCH_CHECK", "one | and two of"),
        ('TORCH_CHECK(a, "one and " "two of it");', "TORCH_CHECK", "one and two of it"),
        ('TORCH_CHECK(k == "x y z", "only this one");', "TORCH_CHECK", "?x y z|only this one"),
        (
            'AT_ERROR("no such ", c ? "thing" : "place here");',
            "AT_ERROR",
            "no such |?thing|?place here",
        ),
        ('throw std::runtime_error("it went wrong");', "throw std::runtime_error", "it went wrong"),
        ('oss << "it is " << x << " of them";', "", "it is | of them"),
        (
            r'throw TypeError("%s() got \"%d\" of them", f, n);',
            "throw TypeError",
            '() got "|" of them',
        ),
        ('throw E(fmt::format("{} is not {:x} here", a, b));', "throw E", "? is not |? here"),
        ('std::string err = "it is " + x + " of us";', "", "it is | of us"),
        ('if (x) TORCH_WARN("this is late");', "TORCH_WARN", "this is late"),
        ('g(\n "one of \\\n two");', "g", "one of two"),
        ('f(R"(raw texts count too)");', "f", "raw texts count too"),
    ],
)
def test_the_literals_of_a_statement_are_one_message(code: str, kind: str, text: str) -> None:
    assert told(f"void f() {{\n  {code}\n}}\n") == [(2, 2 + code.count("\n"), kind, text)]


def test_a_message_is_at_its_macro_and_ends_with_its_last_literal() -> None:
    code = (
        'void f() {\n  g();\n  TORCH_CHECK(\n    a,\n    "one of ",\n    x,\n    " two of");\n}\n'
    )
    assert told(code) == [(3, 7, "TORCH_CHECK", "one of | two of")]


def test_a_macro_without_semicolon_ends_where_the_next_begins() -> None:
    code = 'void f() {\n  TORCH_CHECK(a,\n    "one of it")\n  TORCH_CHECK(b, "two of it");\n}\n'
    assert told(code) == [(2, 3, "TORCH_CHECK", "one of it"), (4, 4, "TORCH_CHECK", "two of it")]


def test_a_macro_without_semicolon_ends_before_a_statement() -> None:
    code = 'int f() {\n  TORCH_CHECK(a, "one of it")\n  return g(a, "normal");\n}\n'
    assert told(code) == [(2, 2, "TORCH_CHECK", "one of it")]


def test_bodies_of_macros_tell_too() -> None:
    code = '#define IT(x) \\\n  do { \\\n    TORCH_CHECK(x, #x, " is not so"); \\\n  } while (0)\n'
    assert told(code) == [(3, 3, "TORCH_CHECK", "is not so")]


def test_names_that_dtypes_are_dispatched_under() -> None:
    code = 'void f() {\n  AT_DISPATCH_ALL_TYPES(\n    t, "add_cpu", [&]{ g("of no kind"); });\n}\n'
    assert (2, 3, DISPATCH, "add_cpu") in told(code)


def test_environment_variables() -> None:
    code = 'auto a = std::getenv("TORCH_A_B");\nauto b = c10::utils::get_env("RANK");\n'
    assert [(one[0], *one[2:]) for one in told(code)] == [
        (1, ENVIRONMENT, "TORCH_A_B"),
        (2, ENVIRONMENT, "RANK"),
    ]


def test_what_no_user_is_told() -> None:
    code = 'static_assert(x, "never at run time");\nvoid f() { m.def("f(Tensor x) -> Tensor"); }\n'
    assert told(f'{code}// TORCH_CHECK(a, "one of two");\n') == []
    assert told('void f() { TORCH_CHECK(a, "one of two"); }', "c10/test/x.cpp") == []
