"""Parsing names of device kernels, in every tool's spelling."""

from __future__ import annotations

import pytest

from indexes.linking.device_names.parser import (
    ANONYMOUS,
    LAMBDA,
    Part,
    Type,
    nested,
    parse,
    parse_type,
)


def path(parts: tuple[Part, ...]) -> str:
    return "::".join(f"{p.name}#{p.ordinal}" if p.ordinal else p.name for p in parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void at::native::f<float>(float*)", "at::native::f"),
        ("at::native::(anonymous namespace)::f(long const*)", f"at::native::{ANONYMOUS}::f"),
        ("void at::native::<unnamed>::f<(int)4>(T1 *)", f"at::native::{ANONYMOUS}::f"),
        ("void at::native::{anonymous}::f<4>()", f"at::native::{ANONYMOUS}::f"),
        ("void a::_GLOBAL__N__52_tmpxft_0_0_11_Shape_cpp1_ii_c::f<int=4>()", f"a::{ANONYMOUS}::f"),
        ("std::enable_if<true, int>::type a::f<int>(int)", "a::f"),
        ("unsigned long long f(int)", "f"),
        ("decltype(a + b) ns::f<int>(int)", "ns::f"),
        ("f", "f"),
        (
            "void _INTERNAL_5cd812b1_7_Loss_cu_5b0651e1::(anonymous namespace)::f()",
            f"{ANONYMOUS}::f",
        ),
    ],
)
def test_qualified_names(text: str, expected: str) -> None:
    assert path(parse(text).parts) == expected


@pytest.mark.parametrize(
    "text",
    [
        "k<f(int)::{lambda(float, float)#3}>",
        "k<f(int)::[lambda(float, float) (instance 3)]>",
        "k<f(int)::'lambda1'(float, float)>",
        "k<void f(int)::'lambda1'(float, float) const>",
    ],
)
def test_lambdas_of_every_demangler(text: str) -> None:
    (owner,) = parse(text).function.arguments
    assert path(owner.parts) == f"f::{LAMBDA}#3"
    assert owner.parts[0].parameters == (Type((Part("int"),)),)


def test_the_first_lambda_of_llvm_has_no_number() -> None:
    (owner,) = parse("k<f()::'lambda'(int)>").function.arguments
    assert owner.parts[-1].ordinal == 1


def test_lambdas_inside_lambdas() -> None:
    calls = "{lambda()#2}::operator()() const::{lambda()#4}::operator()() const"
    text = f"k<4, a::f(T&)::{calls}::{{lambda(X)#1}}>"
    owner = parse(text).function.arguments[1]
    assert path(owner.parts) == (
        f"a::f::{LAMBDA}#2::operator()::{LAMBDA}#4::operator()::{LAMBDA}#1"
    )


def test_nvidia_s_space_before_the_call_operator() -> None:
    (owner,) = parse(
        "k<a::f::operator ()<a::G>(T &)::[lambda(int) (instance 1)]>"
    ).function.arguments
    assert path(owner.parts) == f"a::f::operator()::{LAMBDA}#1"
    assert path(owner.parts[2].arguments[0].parts) == "a::G"


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("k<4, -2, 3ul, true>", ["4", "-2", "3ul", ""]),
        ("k<(int)4, (bool)1, (a::E)2>", ["4", "1", "2"]),
    ],
)
def test_literals_are_no_types(text: str, literals: list[str]) -> None:
    found = parse(text).function.arguments
    assert [a.literal for a in found] == literals
    assert not any(a.parts and a.literal for a in found)


def test_pointers_references_and_addresses() -> None:
    kinds = parse(
        "k<float const*, a::T const&, &a::f, &(a::g(int)), unsigned int>"
    ).function.arguments
    assert [t.pointer for t in kinds] == [True, False, False, False, False]
    assert [t.address for t in kinds] == [False, False, True, True, False]
    assert [t.name for t in kinds] == ["float", "T", "f", "g", "unsigned int"]


def test_closing_angles_without_a_space() -> None:
    (outer,) = parse("k<a::B<c::D<int>>>(int)").function.arguments
    assert path(outer.parts[-1].arguments[0].parts) == "c::D"


def test_shift_operators_in_names_do_not_close_brackets() -> None:
    first, second = parse("k<a::operator<<(int)::{lambda()#1}, float>").function.arguments
    assert path(first.parts)[:3] == "a::"
    assert second.name == "float"


def test_parameters_are_read_on_demand() -> None:
    name = parse("void k<float>(int, float*, a::B<int> const&, T3)")
    given = name.parameters()
    assert given is not None
    assert given.whole
    assert [t.name for t in given.types] == ["int", "float", "B", "T3"]
    assert parse("void k<float>").parameters() is None


def test_parameters_that_are_cut_off() -> None:
    given = parse("void k<float>(int, float*, a::B<in").parameters()
    assert given is not None
    assert not given.whole
    assert [t.name for t in given.types] == ["int", "float"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("void a::k<4, b::Fun", True),
        ("void a::k<4, b::Fun...", True),
        ("void a::k<4, b::f(int)::{lambda(fl…", True),
        ("void a::k<4>(int, fl", False),
        ("void a::k<4>", False),
    ],
)
def test_cut_template_arguments(text: str, cut: bool) -> None:
    assert parse(text).cut is cut


def test_the_last_identifier_of_a_cut_name_is_marked() -> None:
    owner = parse("void a::k<4, b::Fun").function.arguments[1]
    assert owner.parts[-1].cut
    assert not owner.parts[0].cut
    whole = parse("void a::k<4, b::Fun<int>, c::").function.arguments[1]
    assert not whole.parts[-1].cut


def test_what_is_open_when_the_text_ends() -> None:
    owner = parse("void a::k<4, b::f(at::Tens").function.arguments[1]
    assert owner.parts[-1].open
    assert not parse("void a::k<4, b::f(int)::{lambda()#1}>").function.arguments[1].parts[1].open


def test_bare_identifiers() -> None:
    assert parse("reduce_kernel").bare
    assert not parse("reduce_kernel<4>").bare
    assert not parse("a::reduce_kernel").bare


def test_brackets_without_end_are_not_followed_for_ever() -> None:
    for opener in "<([{":
        parse(f"k{opener}" * 5000).parameters()
    assert parse("k<" * 5000).cut


def test_numbers_of_lambdas_that_are_none() -> None:
    for number in ("9" * 5000, "²", "x", ""):
        (owner,) = parse(f"k<f()::{{lambda()#{number}}}>").function.arguments
        assert owner.parts[-1].name == LAMBDA
    assert parse("k<f()::$_abc>").function.arguments[0].parts[-1].name == LAMBDA


def test_nested_types() -> None:
    found = nested((parse_type("a::B<c::D<int>, float*>"),))
    assert [t.name for t in found] == ["B", "D", "int", "float"]


@pytest.mark.parametrize(
    "text",
    ["", ")", ">", "<", "((((", "a<b(c[d{e", "'", '"', "::::", "{lambda", "a<,,,>", "\x1b[31m"],
)
def test_nonsense_is_read_as_far_as_it_goes(text: str) -> None:
    parse(text).parameters()
