"""What the source itself says that arguments and a body's own names are."""

from __future__ import annotations

import pytest

from indexes.readers.cxx.facts import DefinitionFact, read_cpp


def read(body: str) -> DefinitionFact:
    text = f"void run(const Tensor& t, bool flag, int64_t dim) {{\n{body}\n}}"
    facts, _ = read_cpp(text.encode(), "aten/src/ATen/native/a.cpp")
    (found,) = facts.definitions
    return found


def given(body: str) -> str:
    (call,) = [one for one in read(body).calls if one.name == "a"]
    return call.given


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("t, /*upper=*/false", "t,false"),
        ("t, dim, -1, 2.5", "t,dim,-1,2.5"),
        ("t, std::nullopt, {}, Tensor()", "t,nullopt,nullopt,nullopt"),
        ("t, IntArrayRef{}, c10::IntArrayRef{dim}", "t,{}"),
        ('t, "reduced"', 't,"reduced"'),
        ("t, at::Reduction::Mean, at::kLong", "t,Mean,kLong"),
        ("f(t), !flag, t.size(0)", ",!flag"),
        ("t.sum(), dim + 1", ""),
        ("std::move(t), *dim, dim.value_or(0)", "t,*dim,dim.value_or(0)"),
    ],
)
def test_literals_and_names_that_a_call_is_given(arguments: str, values: str) -> None:
    assert given(f"a({arguments});") == values


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("constexpr bool upper = true;", "true"),
        ("auto upper = flag.value_or(false);", "flag.value_or(false)"),
        ("bool upper = flag;\n  upper = !upper;", ""),  # set again
        ("int64_t upper = 0;\n  upper++;", ""),
        ("int upper = 0;\n  count(t, &upper);", ""),  # set by what it is given to
        ("Tensor lower, upper;", "nullopt"),
        ("Tensor upper;\n  fill(upper);", "upper"),  # set by what it was given to before
        (
            "bool one = t.one();\n  bool upper = dim.has_value() ? *dim : !one;",
            "dim.has_value() ? *dim : !(t.one())",
        ),
        ("int upper = 0;\n  const auto &lower = t && upper;", "0"),
        ("bool upper = t.dim() == 2;", "t.dim() == 2"),
        ("bool upper = flag, lower = false;", ""),
        ("upper = true;", ""),  # no declaration: of somewhere else
    ],
)
def test_a_name_that_the_body_sets_once_is_what_it_is_set_to(before: str, value: str) -> None:
    assert given(f"{before} a(upper);") == value


def test_a_parameter_that_the_body_changes_is_not_known() -> None:
    assert given("dim = wrapped(dim, t);\n  a(t, dim, flag);") == "t,,flag"


CUT = "(dim && " + "wide(t) && " * 44 + "...)"
"""What is known of a long conjunction."""


@pytest.mark.parametrize(
    ("before", "condition", "means"),
    [
        ('auto way = name.value_or("qr");', 'way == "qr"', 'name.value_or("qr") == "qr"'),
        ("bool fast = t.is_cuda() && flag;", "!fast", "!(t.is_cuda() && flag)"),
        ("bool fast = flag;\n  bool best = fast && wide(t);", "best", "(flag && wide(t))"),
        ("bool fast = flag;\n  fast = fast && wide(t);", "fast", "((flag) && (wide(t)))"),
        ("bool fast = flag;\n  fast |= wide(t);", "fast", "((flag) || (wide(t)))"),
        ("bool fast = flag;\n  if (dim) fast |= wide(t);", "fast", "((flag) || ...)"),
        ("bool fast = flag;\n  if (dim) {\n fast |= wide(t); }", "fast", "((flag) || ...)"),
        ("bool fast = flag;\n  fast = fast && a(t) || flag;", "fast", "((flag) && ...)"),
        (
            "bool fast = flag;\n#ifdef A\n  fast = fast || wide(t);\n#endif\n  fast |= far(t);",
            "!fast",
            "!((flag) || (defined(A) && (wide(t))) || (far(t)))",
        ),
        ("bool f = flag;\n  bool best = f;\n  f |= wide(t);", "best", "((flag) || ...)"),
        ("bool fast = flag;\n  fast |= wide(t);\n  fast &= x;", "fast", ""),
        ("bool fast = flag;\n" + "  fast &= a(t);\n" * 30, "fast", "((flag) && (a(t)) && ...)"),
        ("bool fast = flag;\n" + "  fast &= a(t);\n" * 30 + "  fast |= b(t);", "fast", ""),
        ("bool fast = flag;\n  fast = wide(t) && fast;", "fast", ""),
        ("bool fast = false;\n  if (flag) fast = wide(t);", "fast", "((flag) && (wide(t)))"),
        (
            "bool f = false;\n#ifdef A\n  if (!flag) { f = true; }\n#endif\n",
            "f",
            "((defined(A)) && (!flag) && (true))",
        ),
        ("bool f = false;\n  if (flag) {} else { f = a(t); }", "f", "((!(flag)) && (a(t)))"),
        ("bool f = false;\n  f = t.sizes()[0] == dim;", "f", "((t.sizes()[0] == dim))"),
        ("bool f = false;\n  if (flag) f = a(t);\n  f = b(t);", "f", ""),  # set again
        (
            "bool f = false;\nif (flag) { f = a(t); } else {\n#ifdef A\nf = b(t);\n#endif\n}",
            "f",
            "(((flag) && (a(t))) || ((!(flag)) && (defined(A)) && (b(t))))",
        ),
        ("bool f = false;\n  if (flag) f = a(t);\n  if (dim) f = b(t);", "f", ""),
        ("bool f = false;\n  switch (dim) { case 1: f = a(t); }", "f", ""),
        ("bool f = true;\n  if (flag) f = a(t);", "f", ""),
        ("bool f = dim && " + "wide(t) && " * 60 + "flag;", "f", CUT),
        ("bool f = dim && " + "wide(t) && " * 60 + "flag || dim;", "f", ""),
        ("auto run = [&] { return 1; };", "run", ""),
        ("auto n = t.numel();", "x.n > 2", ""),  # a member of that name
        (
            '#ifdef USE_ROCM\n  auto way = f("a");\n#else\n  auto way = g("b");\n#endif\n',
            "way == other",
            '(!defined(USE_ROCM) ? g("b") : f("a")) == other',
        ),
    ],
)
def test_a_condition_says_what_the_names_in_it_stand_for(
    before: str, condition: str, means: str
) -> None:
    function = read(f"{before}\n  if ({condition}) a(t);")
    branch = function.branches[-1]
    assert branch.text == f"if ({condition})"
    assert branch.means == (f"if ({means})" if means else "")


def test_a_flag_is_not_known_before_the_assignment_that_sets_it() -> None:
    branches = read("bool f = false;\n  if (f) a(t);\n  f = wide(t);\n  if (f) b(t);").branches
    assert [one.means for one in branches] == ["", "if (((wide(t))))"]


def test_what_is_joined_with_a_name_after_a_condition_is_not_known_there() -> None:
    branches = read("bool f = flag;\n  if (f) a(t);\n  f |= wide(t);\n  if (f) b(t);").branches
    assert [one.means for one in branches] == ["if (((flag) || ...))", "if (((flag) || (wide(t))))"]
