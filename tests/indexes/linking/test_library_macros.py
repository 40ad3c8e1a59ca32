"""Macros inside TORCH_LIBRARY blocks, from the bytes of files to the registrations they make."""

from __future__ import annotations

from indexes.codegen.registration import registered_operator
from indexes.linking.library_macros import LibraryMacros
from indexes.linking.macros import MacroTable, PlacedMacro, expand_file
from indexes.model.errors import CXX_EXPANSIONS
from indexes.readers.cxx.facts import CppFacts, LibraryFact, read_cpp

HEADER = b"""
#define VMAP_SUPPORT2(op, overload, batch_rule) \\
  m.impl(#op "." #overload, op ## _ ## overload ## _plumbing<decltype(&batch_rule), &batch_rule>);
#define KERNEL1(KEY, OP, POLICY) m.impl("aten::" #OP, &Wrap<KEY, Policy::POLICY, at::OP>::call);
#define KERNEL2(KEY, OP, OVERLOAD, POLICY) m.impl("aten::" #OP "." #OVERLOAD, &Wrap<KEY, POLICY>);
#define _NARG_IMPL(_0, _1, _2, N, ...) N
#define _NARG(...) C10_EXPAND(_NARG_IMPL(__VA_ARGS__, 2, 1))
#define C10_EXPAND(x) x
#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define _DISPATCH(KEY, NARG, ...) C10_CONCATENATE(KERNEL, NARG)(KEY, __VA_ARGS__)
#define KERNEL(KEY, ...) _DISPATCH(KEY, _NARG(__VA_ARGS__), __VA_ARGS__)
#define KERNEL_CPU(...) KERNEL(c10::DeviceType::CPU, __VA_ARGS__)
#define ADD_NS(RAW_OP) at::RAW_OP
#define KERNEL_SIGNATURE(FUNC, NAME, SIGNATURE, POLICY) \\
  m.impl(TORCH_SELECTIVE_NAME("aten::" NAME), &Wrap<Policy::POLICY, SIGNATURE, &FUNC>::call);
#define AT_FORALL_FP32(_) \\
  _(exp)                  \\
  _(pow, Scalar)
"""
SOURCE = b"""
namespace at {
#define OP(name) m.impl(#name, first::name);
TORCH_LIBRARY_IMPL(aten, AutocastCPU, m) {
  KERNEL_CPU(conv1d, lower_precision_fp)
  KERNEL_CPU(conv1d, padding, lower_precision_fp)  // KERNEL_CPU(commented, fp32)
#define _KERNEL_FP32(...) KERNEL_CPU(__VA_ARGS__, fp32)
  AT_FORALL_FP32(_KERNEL_FP32)
  OP(early);
  KERNEL_SIGNATURE(ADD_NS(norm), "norm.Scalar", Tensor (const Tensor &, const Scalar&), fp32)
  m.impl("written", [](const Tensor& x) { OP(inside); return x; });
  for (auto name : names) {
    OP(looped);
  }
  helper();
}
#undef OP
#define OP(name) m.impl(#name, second::name);
TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  VMAP_SUPPORT2(add, Tensor, SINGLE_ARG(rule<A, B>));
  OP(late);
}
}
"""


def expanded() -> list[LibraryFact]:
    macros: dict[str, list[PlacedMacro]] = {}
    for path, data in (("ATen/helper.h", HEADER), ("ATen/x.cpp", SOURCE)):
        facts, problems = read_cpp(data, path)
        assert not problems
        for macro in facts.macros:
            macros.setdefault(macro.name, []).append(PlacedMacro(path, macro))
    return LibraryMacros(MacroTable(macros)).expand("ATen/x.cpp", facts.libraries)


def test_each_use_becomes_what_it_registers() -> None:
    made = {registered_operator(f.block, f.method, f.arguments): f for f in expanded()}
    assert list(made) == [
        "conv1d",
        "conv1d.padding",
        "exp",
        "pow.Scalar",
        "early",
        "norm.Scalar",
        "looped",
        "add.Tensor",
        "late",
    ]
    assert "Policy::lower_precision_fp" in made["conv1d"].arguments
    assert "&ADD_NS(norm)>" in made["norm.Scalar"].arguments
    assert "first::early" in made["early"].arguments
    assert "second::late" in made["late"].arguments, "the macro in force where it is used"
    assert "add_Tensor_plumbing<" in made["add.Tensor"].arguments
    assert "SINGLE_ARG(rule<A, B>)" in made["add.Tensor"].arguments


def test_it_stands_where_the_outermost_macro_is_used() -> None:
    lines = SOURCE.decode().split("\n")
    for fact in expanded():
        assert fact.arguments
        used = lines[fact.line - 1].split("(")[0].split("{")[-1].strip()
        assert used in {"KERNEL_CPU", "AT_FORALL_FP32", "OP", "VMAP_SUPPORT2", "KERNEL_SIGNATURE"}
        assert fact.macro_path == ("ATen/x.cpp" if used == "OP" else "ATen/helper.h")
        assert fact.block_line in (4, 19)


def test_what_is_written_out_is_kept_as_it_is() -> None:
    facts, _ = read_cpp(SOURCE, "ATen/x.cpp")
    written = [f for f in facts.libraries if f.method == "impl"]
    assert [f.line for f in written] == [11]
    assert "commented" not in str(facts.libraries)


BLOCKS = b"""
#define NAME_OF(fn, text) static const char fn##_name[] = #text;
#define SUPPORT(op, rule) m.impl(#op, rule);
#define CHECKED(fn, text) \\
  NAME_OF(fn, text) \\
  TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) { \\
    SUPPORT(fn, rule<fn##_name>); \\
    m.impl(#fn ".out", out_rule); \\
  }
#define BOTH(fn) CHECKED(fn, fn)
#define PLAIN(fn) void fn##_plain() {}
CHECKED(eig, linalg.eig)
CHECKED(qr, linalg.qr)
#ifdef MORE
BOTH(svd)
#endif
PLAIN(det)
"""


def test_a_macro_that_holds_a_whole_block_registers_where_it_is_used() -> None:
    facts, problems = read_cpp(BLOCKS, "ATen/x.cpp")
    assert not problems
    macros = {m.name: [PlacedMacro("ATen/x.cpp", m)] for m in facts.macros}
    made = LibraryMacros(MacroTable(macros)).expand("ATen/x.cpp", facts.libraries, facts.uses)
    found = {
        registered_operator(f.block, f.method, f.arguments): (f.line, f.macro_line) for f in made
    }
    assert found == {
        "eig": (12, 4),
        "eig.out": (12, 4),
        "qr": (13, 4),
        "qr.out": (13, 4),
        "svd": (15, 10),
        "svd.out": (15, 10),
    }
    assert {f.block for f in made} == {"aten, FuncTorchBatched, m"}
    assert {f.guard for f in made if f.line == 15} == {"defined(MORE)"}
    assert "rule<eig_name>" in made[0].arguments


def test_macros_that_double_each_other_end() -> None:
    """As statements of a block, with arguments and without, and with blocks of their own."""
    double = "".join(
        f"#define A{n}(x) A{n + 1}(x) A{n + 1}(x)\n#define B{n} B{n + 1} B{n + 1}\n"
        f"#define C{n}(x) C{n + 1}(x) C{n + 1}(x)\n"
        for n in range(60)
    )
    text = (
        f'{double}#define A60(x) m.impl("abs", x);\n#define B60 A60(abs)\n'
        '#define C60(x) TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("abs", x); }\n'
        "TORCH_LIBRARY_IMPL(aten, CPU, m) {\n  A0(abs);\n  B0;\n}\nC0(abs)\n"
    )
    assert len(made_of(text)) <= 2 * CXX_EXPANSIONS
    libraries, facts = macros_of(text)
    libraries.expand("a.cpp", facts.libraries, facts.uses)
    last = text.count("\n")
    assert {one.line for one in libraries.problems} == {last, last - 3}
    assert all("of the macros that it makes are left out" in p.message for p in libraries.problems)


def test_a_long_row_of_macros_ends() -> None:
    row = "".join(f"#define A{n}(x) A{n + 1}(x)\n" for n in range(3000))
    block = "TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl(#x, x); }"
    assert made_of(f"{row}#define A3000(x) {block}\nA0(abs)\n") == []
    libraries, facts = macros_of(f"{row}#define A3000(x) {block}\nA0(abs)\n")
    libraries.expand("a.cpp", facts.libraries, facts.uses)
    assert [one.line for one in libraries.problems] == [3002]
    (problem,) = expand_file("a.cpp", facts, libraries.table).problems
    assert problem.line == 3002
    (made,) = made_of(f"{row}#define A3000(x) {block}\nA2990(abs)\n")
    assert made.arguments == '"abs", abs'


def test_what_other_uses_left_out_is_made_where_there_is_room() -> None:
    """The first use stands so deep that a part of it is refused; the second is another's."""
    row = "".join(f"#define A{n}(x) A{n + 1}(x)\n" for n in range(80))
    block = "TORCH_LIBRARY_IMPL(aten, CPU, m) {\n  A0(abs);\n  A40(exp);\n}\n"
    (made,) = made_of(f"{row}#define A80(x) m.impl(#x, x);\n{block}")
    assert made.arguments == '"exp", exp'


def test_definitions_that_macros_multiply_end() -> None:
    names = [" ".join(f"D{n + 1}(x##{i})" for i in range(6)) for n in range(7)]
    rows = "".join(f"#define D{n}(x) {one}\n" for n, one in enumerate(names))
    libraries, facts = macros_of(f"{rows}#define D7(x) void x() {{}}\nD0(abs)\n")
    made = expand_file("a.cpp", facts, libraries.table)
    assert 0 < len(made.definitions) < CXX_EXPANSIONS
    assert [one.line for one in made.problems] == [9]


def made_of(text: str) -> list[LibraryFact]:
    libraries, facts = macros_of(text)
    return libraries.expand("a.cpp", facts.libraries, facts.uses)


def macros_of(text: str) -> tuple[LibraryMacros, CppFacts]:
    facts, _ = read_cpp(text.encode(), "a.cpp")
    table = MacroTable({one.name: [PlacedMacro("a.cpp", one)] for one in facts.macros})
    return LibraryMacros(table), facts
