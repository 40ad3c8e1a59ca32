"""Macro uses at namespace scope, expanded: what the preprocessor would make of them."""

from __future__ import annotations

from indexes.linking.macros import MacroTable, PlacedMacro, expand_file
from indexes.model.idioms import split_arguments
from indexes.readers.cxx.facts import CppFacts, read_cpp
from indexes.store.rows import cpp_rows

KERNELS = "aten/src/ATen/native/Kernels.cpp"
HEADER = "aten/src/ATen/native/Macros.h"


def read(text: str, path: str = KERNELS) -> CppFacts:
    return read_cpp(text.encode(), path)[0]


def expand(text: str, header: str = "") -> CppFacts:
    files = {KERNELS: read(text), HEADER: read(header, HEADER)}
    table: dict[str, list[PlacedMacro]] = {}
    for path, facts in files.items():
        for macro in facts.macros:
            table.setdefault(macro.name, []).append(PlacedMacro(path, macro))
    return expand_file(KERNELS, files[KERNELS], MacroTable(table))


def made(text: str, header: str = "") -> list[tuple[str, str, int]]:
    return [(d.scope, d.name, d.line) for d in expand(text, header).definitions]


def test_names_are_pasted_in_the_middle() -> None:
    text = """namespace at::native {
#define FOREACH(op) \\
  Tensor foreach_tensor_##op##_list_slow_(const Tensor& a) { return a; }
FOREACH(add)
FOREACH(mul);
}
"""
    assert made(text) == [
        ("at::native", "foreach_tensor_add_list_slow_", 4),
        ("at::native", "foreach_tensor_mul_list_slow_", 5),
    ]


def test_a_macro_calls_macros_and_keeps_the_line_of_the_outermost_use() -> None:
    header = """
#define ONE(op) Tensor op##_sparse(const Tensor& a) { return a; }
#define TWO(op) Tensor& op##_sparse_(Tensor& a) { return a; }
#define BOTH(op) ONE(op) TWO(op)
"""
    found = expand("namespace at::native {\n\nstatic BOTH(abs)\n}", header).definitions
    assert [(d.name, d.line) for d in found] == [("abs_sparse", 3), ("abs_sparse_", 3)]
    assert {(d.macro, d.macro_path, d.macro_line) for d in found} == {("BOTH", HEADER, 4)}


def test_a_list_macro_calls_back_the_macro_it_is_given() -> None:
    text = """#define DEFINE_OP(op) Tensor op##_q(const Tensor& a) { return a; }
#define FORALL(_) _(ne) _(eq)
FORALL(DEFINE_OP)
"""
    assert made(text) == [("", "ne_q", 3), ("", "eq_q", 3)]


def test_parameter_list_macros_are_expanded_in_the_signature() -> None:
    text = """#define PARAMS_true const Tensor& p, int64_t n
#define PARAMS_false const Tensor& p
#define INTERFACE(name, flag) Tensor name##_cuda(PARAMS_##flag) { return p; }
INTERFACE(a, true)
INTERFACE(b, false)
"""
    found = expand(text).definitions
    assert [d.parameters for d in found] == ["const Tensor& p, int64_t n", "const Tensor& p"]


def test_the_same_name_means_the_macro_of_the_same_file_that_is_alive() -> None:
    text = """#define OP(x) void x##_first() { }
OP(a)
#undef OP
#define OP(x) void x##_second() { }
OP(b)
"""
    assert made(text, "#define OP(x) void x##_header() { }\n") == [
        ("", "a_first", 2),
        ("", "b_second", 5),
    ]


def test_alternatives_under_conditions_are_all_made() -> None:
    text = """#if A
#define OP(x) void x##_a() { }
#else
#define OP(x) void x##_b() { }
#endif
OP(f)
"""
    assert {name for _, name, _ in made(text)} == {"f_a", "f_b"}


def test_structured_heads_and_registrations_come_out_of_macros() -> None:
    text = """#define CREATE(func, stub) \\
  TORCH_IMPL_FUNC(func)(const Tensor& a) { stub(device_type(), *this); }
CREATE(sin_out, sin_stub)
#define IMPLEMENT(op) \\
  void op##_kernel(TensorIteratorBase& iter) { } \\
  REGISTER_DISPATCH(op##_stub, &op##_kernel)
IMPLEMENT(acos)
"""
    found = expand(text)
    assert [(d.kind, d.name, d.line) for d in found.definitions] == [
        ("impl_func", "sin_out", 3),
        ("function", "acos_kernel", 7),
    ]
    assert [c.name for c in found.definitions[0].calls][:1] == ["sin_stub"]
    assert [(u.name, u.arguments, u.line) for u in found.uses] == [
        ("REGISTER_DISPATCH", "acos_stub, &acos_kernel", 7)
    ]


def test_a_macro_may_begin_a_definition_whose_body_is_written_out() -> None:
    text = """#define KERNEL(name) static void name##_impl
KERNEL(fill)(Tensor& self, int value) {
  self = value;
}
"""
    (found,) = expand(text).definitions
    assert (found.name, found.parameters, found.line) == ("fill_impl", "Tensor& self, int value", 2)
    assert found.end_line == 4


def test_macros_that_call_themselves_end() -> None:
    text = "#define A(x) B(x) { }\n#define B(x) A(x) void x() { }\nA(f)\n"
    assert all(name == "f" for _, name, _ in made(text))


def test_a_wrong_number_of_arguments_makes_nothing() -> None:
    assert made("#define OP(a, b) void a##b() { }\nOP(x)\n") == []


def test_arguments_split_at_top_level_only() -> None:
    assert split_arguments('f(a, b), "x,y", {1, 2}') == ["f(a, b)", '"x,y"', "{1, 2}"]
    assert split_arguments("  ") == []


def test_only_what_a_macro_of_the_file_makes_is_a_registration() -> None:
    text = """namespace at::native {
#define REGISTER_UNARY_TI_DISPATCH(NAME) \\
  static void NAME##_kernel_mps(TensorIteratorBase& iter) { run(iter, #NAME); } \\
  REGISTER_DISPATCH(NAME##_stub, NAME##_kernel_mps)
REGISTER_UNARY_TI_DISPATCH(exp);
}
"""
    written, expanded = read(text), expand(text)
    stubs = [(row[1], row[-2]) for f in (written, expanded) for row in cpp_rows(1, f)["uses"]]
    assert stubs == [("REGISTER_UNARY_TI_DISPATCH", None), ("REGISTER_DISPATCH", "exp_stub")]
