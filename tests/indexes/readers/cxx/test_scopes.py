"""The scope scanner on small texts: one test for each thing that fools a scanner of C++."""

from __future__ import annotations

import pytest

from indexes.model.errors import CXX_NESTING
from indexes.readers.cxx.facts import CppFacts, DefinitionFact, read_cpp
from indexes.readers.cxx.lexer import exclude_each_other

PATH = "aten/src/ATen/native/Sample.cpp"


def facts(text: str) -> CppFacts:
    read, problems = read_cpp(text.encode(), PATH)
    assert problems == ()
    return read


def definitions(text: str, kind: str = "function") -> dict[str, DefinitionFact]:
    return {d.name: d for d in facts(text).definitions if d.kind == kind}


def where(text: str, kind: str = "function") -> list[tuple[str, str, int]]:
    return [(d.scope, d.name, d.line) for d in facts(text).definitions if d.kind == kind]


def test_a_function_is_known_by_namespace_name_and_the_line_of_its_name() -> None:
    text = "namespace at::native {\nstatic Tensor&\nadd_out(const Tensor& a, Tensor& b) {\n}\n}\n"
    (found,) = facts(text).definitions
    assert (found.scope, found.name, found.line, found.end_line) == ("at::native", "add_out", 3, 4)
    assert found.parameters == "const Tensor& a, Tensor& b"


def test_a_declaration_is_no_definition() -> None:
    assert definitions("namespace a { void f(int x); extern int g(); }") == {}


@pytest.mark.parametrize(
    ("opening", "scope"),
    [
        ("namespace at { namespace native {", "at::native"),
        ("namespace at::native { namespace {", "at::native::(anonymous)"),
        ("inline namespace CPU_CAPABILITY { struct", "CPU_CAPABILITY"),
        ('extern "C" { namespace x {', "x"),
    ],
)
def test_scopes_nest(opening: str, scope: str) -> None:
    opening = opening.removesuffix(" struct")
    closing = "}" * opening.count("{")
    assert where(f"{opening}\nvoid f() {{ }}\n{closing}") == [(scope, "f", 2)]


def test_methods_belong_to_their_class_inside_and_outside() -> None:
    text = """
struct TORCH_API Functor final : public Base<int> {
  explicit Functor(int x) : x_(x), y_{x} { }
  T operator()(T a) const { return a; }
  bool operator<(const Functor& o) const { return true; }
  operator bool() const { return true; }
  T operator ()(T a, T b) const { return a; }
  T& operator += (const T& a) { return a; }
  int x_;
};
template <typename T>
void Outer<T>::method(int a) const { }
"""
    assert where(text) == [
        ("Functor", "Functor", 3),
        ("Functor", "operator()", 4),
        ("Functor", "operator<", 5),
        ("Functor", "operator bool", 6),
        ("Functor", "operator()", 7),
        ("Functor", "operator+=", 8),
        ("Outer", "method", 12),
    ]
    assert where(text, "class") == [("", "Functor", 2)]


def test_attribute_macros_are_not_the_function() -> None:
    text = """
template <int N>
C10_LAUNCH_BOUNDS_1(512)
__global__ void kernel_a(int* x) { }
__global__ void __launch_bounds__(256) kernel_b(int* x) { }
static C10_DIAGNOSTIC_POP() Tensor& f(Tensor& x) { }
C10_HOST_DEVICE T g(T a) __ubsan_ignore_undefined__ { }
std::enable_if_t<(N > 0), decltype(auto)> h(const std::function<void(int)>& fn) { }
"""
    found = definitions(text)
    assert set(found) == {"kernel_a", "kernel_b", "f", "g", "h"}
    assert [n for n, d in found.items() if d.is_global] == ["kernel_a", "kernel_b"]
    assert found["h"].parameters == "const std::function<void(int)>& fn"


def test_macro_uses_need_no_semicolon() -> None:
    text = """
namespace at::native {
REGISTER_DISPATCH(add_stub, &add_kernel)
REGISTER_DISPATCH(
    mul_stub,
    &mul_kernel);
AT_FORALL(DEFINE_OP)

const Tensor& f(const Tensor& x) { return x; }
}
"""
    read = facts(text)
    uses = [(u.name, u.arguments, u.line) for u in read.uses]
    assert uses == [
        ("REGISTER_DISPATCH", "add_stub, &add_kernel", 3),
        ("REGISTER_DISPATCH", "mul_stub, &mul_kernel", 4),
        ("AT_FORALL", "DEFINE_OP", 7),
    ]
    assert [d.name for d in read.definitions] == ["f"]


def test_structured_kernels_are_named_by_their_argument() -> None:
    text = """
TORCH_META_FUNC2(add, Tensor)(const Tensor& a) { }
TORCH_PRECOMPUTE_META_FUNC(cat)(const ITensorListRef& t) { }
TORCH_IMPL_FUNC(add_out)
(const Tensor& a, const Tensor& out) { add_stub(device_type(), *this); }
"""
    found = [(d.kind, d.name, d.line) for d in facts(text).definitions]
    assert found == [
        ("meta_func", "add_Tensor", 2),
        ("meta_func", "cat", 3),
        ("impl_func", "add_out", 4),
    ]


def test_comments_strings_and_raw_strings_hold_no_code() -> None:
    text = r"""
// void a() {
/* void b() { */
const char* s = "void c() {"; char q = '"'; int big = 1'000'000;
const char* r = R"code(
void d() {
)code";
void e() { char x = '{'; const char* t = "}"; }
void f() { }
"""
    assert set(definitions(text)) == {"e", "f"}


def test_branches_of_a_condition_each_start_from_the_same_scope() -> None:
    text = """
#if defined(A)
namespace at::native {
#endif
#if A_ENABLED()
void f(int x) {
  if (x) {
#else
void f(int x) {
  if (!x) {
#endif
  }
}
#ifndef B
void g() { }
#elif C
void g() { }
#else
static_assert(0)
void g() { }
#endif
"""
    found = [(d.name, d.line, d.guard) for d in facts(text).definitions]
    assert found[:2] == [("f", 6, "A_ENABLED()"), ("f", 9, "!A_ENABLED()")]
    assert found[2:] == [
        ("g", 15, "!defined(B)"),
        ("g", 17, "defined(B) && C"),
        ("g", 20, "defined(B) && !C"),
    ]


def test_a_body_with_a_head_for_each_build_is_that_of_both_functions() -> None:
    text = """
namespace at {
#if !NEW()
void run(
#else
template <typename T>
void run_old(
#endif
    const Tensor& x) {
  work(x);
}
void last() { }
}
"""
    found = facts(text).definitions
    assert [(d.name, d.line, d.end_line, d.guard) for d in found] == [
        ("run", 4, 11, "!NEW()"),
        ("run_old", 7, 11, "NEW()"),
        ("last", 12, 12, ""),
    ]
    assert [[call.name for call in d.calls] for d in found[:2]] == [["work"], ["work"]]
    assert {" ".join(d.parameters.split()) for d in found[:2]} == {"const Tensor& x"}


def test_objective_c_before_the_namespace_does_not_swallow_it() -> None:
    text = """
#if X
@implementation FakeGraph
- (id)convolve:(int)a { return [self convolve:a]; }
@end
#endif
namespace at::native {
Tensor f() { return x; }
}
"""
    assert ("at::native", "f", 8) in where(text)


def test_what_a_backslash_joins_to_the_line_before_is_no_directive() -> None:
    text = """
namespace at {
  static_assert(is_plain(type), \\
    #type " must be plain)")
void f(int n) { }
}
"""
    assert where(text) == [("at", "f", 5)]


def test_initialisers_and_lambdas_at_namespace_scope_are_no_functions() -> None:
    text = """
static const int table[] = { 1, 2 };
static auto registry = make("x", [](int a) { return a; });
const std::map<int, int> m = {{1, 2}};
void f() { }
"""
    assert where(text) == [("", "f", 5)]


def test_macros_keep_parameters_body_and_the_line_of_every_call() -> None:
    text = """
#define LAUNCH(N, ...) \\
  if (N) { \\
    kernel<N><<<grid, block>>>(__VA_ARGS__); \\
  }
#undef LAUNCH
#define SIZE 4
"""
    read = facts(text)
    assert [(m.name, m.parameters) for m in read.macros] == [
        ("LAUNCH", ["N", "..."]),
        ("SIZE", None),
    ]
    assert read.macros[0].undefined_at > read.macros[0].offset
    (macro,) = [d for d in read.definitions if d.kind == "macro"]
    assert [(c.name, c.kind, c.line) for c in macro.calls] == [("kernel", "launch", 4)]


def test_calls_launches_members_and_passed_stubs() -> None:
    text = """
DEFINE_DISPATCH(sum_stub);
void f(const Tensor& self) {
  at::native::helper<float>(self, sum_stub);
  auto x = self.index_select(0, i);
  iter.for_each(loop);
  kernel<scalar_t, int>
      <<<GET_BLOCKS(n), 1>>>(x);
  Vec<scalar_t>::apply(x);
  if (a < size(b) && c > (d)) { return std::move(x); }
}
"""
    calls = definitions(text)["f"].calls
    found = {(c.qualifier, c.name, c.kind, c.line) for c in calls}
    assert {
        ("at::native", "helper", "call", 4),
        ("", "for_each", "member", 6),
        ("", "kernel", "launch", 7),
        ("", "GET_BLOCKS", "call", 8),
        ("Vec", "apply", "call", 9),
        ("", "size", "call", 10),
        ("", "sum_stub", "name", 4),
    } <= found
    assert ("", "index_select", "member", 5) in found
    assert not any(c.name in ("if", "return", "move") for c in calls)


def test_a_launch_needs_no_template_arguments() -> None:
    text = "void f() { k<<<M, 128, 0, stream>>>(N, x); g<A<B<int>>>(y); }"
    found = {(c.name, c.kind, c.template) for c in definitions(text)["f"].calls}
    assert found == {("k", "launch", ""), ("g", "call", "A<B<int>>")}


def test_a_namespace_that_only_some_builds_open_is_seen_through() -> None:
    text = """
namespace at::native {
#if defined(LAZY)
namespace lazy {
#endif
Tensor f(const Tensor& x) { return x; }
#if defined(LAZY)
}
#endif
Tensor g(const Tensor& x) { return x; }
}
"""
    assert where(text) == [("at::native", "f", 6), ("at::native", "g", 10)]


def test_function_templates_are_told_from_functions() -> None:
    text = """
template <typename T> static void f(T x) { }
template <> void g<int>(int x) { }
void h() { }
"""
    assert {n: d.base for n, d in definitions(text).items()} == {"f": "template", "g": "", "h": ""}


def test_the_values_that_templates_take_are_known_by_name() -> None:
    text = """
template <typename T, bool fast = false, Mode mode> void f(T x) { }
template <int N, class F>
struct A { void g() { } template <bool fast> void h() { } };
void k() { }
"""
    found = {n: d.bound for n, d in definitions(text).items()}
    assert found == {"f": ",fast,mode", "g": ";N", "h": "fast;N", "k": ""}


def test_what_a_template_requires_of_its_types_is_known() -> None:
    text = """
template <typename T, int N>
typename std::enable_if_t<std::is_same_v<T, A<T, int>> || !b<T>, void>
f(T x) { }
template <typename T, std::enable_if_t<is_c<T>, bool> = true> void g(T x) { }
template <int N> struct A { template <typename T> enable_if<d<T>>::type h() { } };
template <typename T> void k(T x) { enable_if<int>(x); }
"""
    found = {n: d.bound.split(";", 2)[2:] for n, d in definitions(text).items()}
    required = {"f": ["std::is_same_v<T, A<T, int>> || !b<T>"], "g": ["is_c<T>"], "h": ["d<T>"]}
    assert found == {**required, "k": []}


def test_a_name_may_be_on_the_line_below_its_class() -> None:
    text = """
template <int N>
Pointer<Params<N>> Weight<
    N>::
    pack(int n) { }
void Plain::
    pack_all(int n) { }
"""
    assert where(text) == [("Weight", "pack", 5), ("Plain", "pack_all", 7)]


def test_aliases_are_read() -> None:
    text = "namespace at {\nusing A = c10::ArrayRef<int>;\ntypedef Tensor SparseTensor;\n}"
    assert [(a.name, a.target, a.scope, a.line) for a in facts(text).aliases] == [
        ("A", "c10::ArrayRef<int>", "at", 2),
        ("SparseTensor", "Tensor", "at", 3),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{" * 5000,
        "}" * 5000,
        "(" * 5000,
        "#if\n" * 3000,
        "#else\n#endif\n" * 50,
        'R"x(',
        "/*",
        "<" * 4000 + "(",
    ],
)
def test_no_text_makes_it_fail(text: str) -> None:
    read_cpp(f"{text}\nvoid f() {{ }}".encode(), PATH)


@pytest.mark.parametrize("opens", ["#if X\n", "namespace a {\n", "class A {\n"])
def test_what_is_nested_too_deep_is_told_and_not_read(opens: str) -> None:
    _, none = read_cpp((opens * CXX_NESTING).encode(), PATH)
    read, (problem,) = read_cpp(f"{opens * (CXX_NESTING + 9)}void f() {{ }}\n".encode(), PATH)
    assert none == ()
    assert (problem.line, "nested more than 64 deep" in problem.message) == (CXX_NESTING + 1, True)
    assert all(len(d.guard.split(" && ")) <= CXX_NESTING for d in read.definitions)
    assert all(len(d.scope.split("::")) <= CXX_NESTING for d in read.definitions)


def test_a_second_else_is_never_in_force() -> None:
    found = definitions("#if A\n#elif B\n#else\nvoid f() { }\n#else\nvoid g() { }\n#endif\n")
    assert [(one.name, one.guard) for one in found.values()] == [("f", "!A && !B")]


def test_binary_content_is_a_problem_and_not_an_error() -> None:
    read, (problem,) = read_cpp(b"void f() {}\x00\xff", PATH)
    assert read.definitions == []
    assert "binary" in problem.message


def test_windows_line_ends_and_latin_1_keep_the_lines() -> None:
    read, _ = read_cpp("// \xe9t\xe9\r\nvoid f() {\r\n}\r\n".encode("latin-1"), PATH)
    assert [(d.name, d.line, d.end_line) for d in read.definitions] == [("f", 2, 3)]


def test_members_that_a_constructor_initialises_in_braces_are_no_functions() -> None:
    text = (
        "namespace at {\nstruct V {\n  V(int x) : low_{splat(x)}, high_{splat(x)} {}\n};\n"
        "V::V(Device d) noexcept\n    : instance_{},\n      device_(d),\n      pool_{0} {\n"
        "  open();\n}\nint after() { return 2; }\n}\n"
    )
    assert where(text) == [("at::V", "V", 3), ("at::V", "V", 5), ("at", "after", 11)]
    opening = facts(text).definitions[-2]
    assert [call.name for call in opening.calls] == ["open"]


@pytest.mark.parametrize(
    ("guard", "other", "excluded"),
    [
        ("A && B", "!(A && B)", True),
        ("A && C", "!A", True),
        ("A", "!(A && B)", False),
        ("A", "B", False),
        ("!", "A", False),
        ("!", "!", False),
    ],
)
def test_guards_exclude_each_other(guard: str, other: str, excluded: bool) -> None:
    """``#if !`` is no condition, and tells nothing."""
    assert exclude_each_other(guard, other) is excluded
