"""Dtypes of dispatch macros: what the preprocessor makes of them, and nothing by their names."""

from __future__ import annotations

from indexes.linking.dtypes import Dtypes
from indexes.model.files import MacroFact
from indexes.model.vocabulary import DtypeDispatch
from indexes.queries.index import Index
from indexes.readers.cxx.facts import read_cpp
from indexes.readers.cxx.preprocess import Preprocessor

HEADER = """
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(_) \\
  _(float, Float) _(double, Double) _(at::Half, Half) _(int64_t, Long) _(int, Int)
#define ONE(type, ...) case type: { using scalar_t = CppType<type>; return __VA_ARGS__(); }
#define INDEX(type, ...) case type: { using index_t = CppType<type>; return __VA_ARGS__(); }
#define OVER(TYPE, NAME, ...) [&] { switch (TYPE) { __VA_ARGS__ default: fail(NAME); } }()
#define FLOATS(TYPE, NAME, ...) \\
  OVER(TYPE, NAME, ONE(at::ScalarType::Double, __VA_ARGS__) ONE(c10::kFloat, __VA_ARGS__))
#define FLOATS_AND(MORE, TYPE, NAME, ...) \\
  OVER(TYPE, NAME, ONE(kFloat, __VA_ARGS__) ONE(MORE, __VA_ARGS__))
#define INDICES(TYPE, NAME, ...) \\
  OVER(TYPE, NAME, INDEX(kInt, __VA_ARGS__) INDEX(kLong, __VA_ARGS__))
#define BY(SWITCH, CASE, TYPE, NAME, ...) SWITCH(TYPE, NAME, CASE(kLong, __VA_ARGS__))
#define LONGS(TYPE, NAME, ...) BY(OVER, ONE, TYPE, NAME, __VA_ARGS__)
#define LAYOUTS(TYPE, NAME, ...) OVER(TYPE, NAME, ONE(kStrided, __VA_ARGS__))
#define MAKES_KERNEL(op) void op##_kernel(Iter& it) { FLOATS(it.dtype(), #op "_cpu", [&] {}); }
"""


def dispatches(text: str, name: str = "run") -> list[DtypeDispatch]:
    files = {"Types.h": HEADER, "Kernel.cpp": text}
    facts = {path: read_cpp(source.encode(), f"aten/{path}")[0] for path, source in files.items()}

    def macros(wanted: str) -> list[tuple[str, MacroFact]]:
        return [(p, m) for p, f in facts.items() for m in f.macros if m.name == wanted]

    reader = Dtypes(macros, lambda path: files[path].split("\n"))
    from indexes.linking.macros import MacroTable, PlacedMacro, expand_file
    from indexes.model.vocabulary import Definition, Location

    table: dict[str, list[PlacedMacro]] = {}
    for path, one in facts.items():
        for macro in one.macros:
            table.setdefault(macro.name, []).append(PlacedMacro(path, macro))
    made = expand_file("Kernel.cpp", facts["Kernel.cpp"], MacroTable(table)).definitions
    fact = next(d for d in [*facts["Kernel.cpp"].definitions, *made] if d.name == name)
    by = Location(fact.macro_path, fact.macro_line) if fact.macro_path else None
    place = Location("Kernel.cpp", fact.line, fact.end_line)
    return list(reader.of(Definition(name, "", "function", place, macro_location=by)))


def test_a_macro_is_expanded_to_its_cases_with_its_tag_and_line() -> None:
    (one,) = dispatches('void run(T t) {\n  FLOATS(t.dtype(), "run_cpu", [&] { go(); });\n}')
    assert (one.dtypes, one.type_name, one.tag, one.location.line) == (
        ("Double", "Float"),
        "scalar_t",
        "run_cpu",
        2,
    )


def test_a_macro_may_be_given_the_switch_and_the_case_that_it_uses() -> None:
    (one,) = dispatches('void run(T t) { LONGS(t.dtype(), "x", [&] {}); }')
    assert (one.macro, one.dtypes, one.tag) == ("LONGS", ("Long",), "x")


def test_what_is_switched_on_may_be_any_expression() -> None:
    (one,) = dispatches('void run(T t) { FLOATS_AND(kHalf, f(t->dtype()), "x", [&] {}); }')
    assert one.dtypes == ("Float", "Half")


def test_dispatches_inside_a_body_count_for_themselves() -> None:
    found = dispatches(
        'void run(T t) { FLOATS_AND(kHalf, t.dtype(), "a", [&] { INDICES(t.i(), "b", [&] {}); }); }'
    )
    assert [(one.dtypes, one.type_name) for one in found] == [
        (("Float", "Half"), "scalar_t"),
        (("Int", "Long"), "index_t"),
    ]


def test_a_switch_over_layouts_has_no_dtypes_and_a_parameter_is_not_guessed() -> None:
    assert dispatches('void run(T t) { LAYOUTS(t.layout(), "x", [&] {}); }') == []
    (one,) = dispatches('void run(T t) { FLOATS_AND(extra, t.dtype(), "x", [&] {}); }')
    assert (one.dtypes, one.unread) == (("Float",), ("extra",))


def test_each_definition_of_a_local_wrapper_is_shown_with_its_condition() -> None:
    found = dispatches(
        "#ifdef SMALL\n#define LOCAL(TYPE, NAME, ...) FLOATS(TYPE, NAME, __VA_ARGS__)\n#else\n"
        "#define LOCAL(TYPE, NAME, ...) FLOATS_AND(kHalf, TYPE, NAME, __VA_ARGS__)\n#endif\n"
        'void run(T t) { LOCAL(t.dtype(), "x", [&] {}); }'
    )
    assert [(one.dtypes, one.guard) for one in found] == [
        (("Double", "Float"), "defined(SMALL)"),
        (("Float", "Half"), "!defined(SMALL)"),
    ]


def test_comments_and_other_macros_do_not_dispatch() -> None:
    assert dispatches('void run(T t) { // FLOATS(t.dtype(), "x", [&] {});\n ONE(kInt, f); }') == []


def test_a_kernel_that_a_macro_makes_has_the_dtypes_of_the_macro_body() -> None:
    (one,) = dispatches("MAKES_KERNEL(acos)", "acos_kernel")
    assert (one.dtypes, one.tag) == (("Double", "Float"), "acos_cpu")


def test_the_preprocessor_expands_no_macro_within_itself() -> None:
    macros = {
        "f": MacroFact("f", ["x"], "f(x) + g", 1, 0, 0),
        "g": MacroFact("g", None, "f(1)", 1, 0, 0),
    }
    assert Preprocessor(macros.get).expand("f(2)") == "f(2) + f(1)"


def test_hops_of_the_tree_name_the_dtypes(tree_index: Index) -> None:
    found = {
        (hop.symbol.rpartition("::")[2], one.macro): one.dtypes
        for op in ("index.Tensor", "max_pool2d_with_indices")
        for hop in tree_index.chain(op).hops
        for one in hop.dtypes
    }
    assert found["max_pool2d_with_indices_out_cuda", "AT_DISPATCH_FLOATING_TYPES_AND2"] == (
        "Double",
        "Float",
        "Half",
        "BFloat16",
    )
    assert any(macro == "AT_DISPATCH_V2" for _, macro in found)
