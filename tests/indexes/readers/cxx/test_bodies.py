"""What a body calls, launches and passes on by name, and at which place."""

from __future__ import annotations

import pytest

from indexes.readers.cxx.facts import read_cpp
from tests.indexes.readers.cxx.bodies import called, calls


def test_what_leads_nowhere_is_left_out() -> None:
    body = """
  std::vector<int64_t> sizes; sizes.push_back(dim); std::max(dim, dim);
  std::lock_guard<std::mutex> guard(mutex); auto n = self.sizes().size() + self.dim();
  xs.size(); mode.empty(); std::string name(mode);
"""
    assert calls(body) == []


def test_each_place_has_a_row_in_order() -> None:
    body = "f(self);\ng();\nf(dim);\nat::add(self,\n  self);"
    assert [(c.name, c.line, c.arguments) for c in calls(body)] == [
        ("f", 3, "T"),
        ("g", 4, ""),
        ("f", 5, "i"),
        ("add", 6, "T T"),
    ]


def test_a_variable_that_is_made_is_a_call_of_its_class() -> None:
    found = calls("MAGMAQueue queue(dim);\nideep::tensor<int> x(self);\nreturn make(self);")
    assert [(c.qualifier, c.name, c.template) for c in found] == [
        ("", "MAGMAQueue", ""),
        ("ideep", "tensor", "int"),
        ("", "make", ""),
    ]


def test_objects_of_templates_are_made_without_parentheses_too() -> None:
    body = "Sum<T> f;\nPlain g;\nstd::vector<T> h;\ncub::Max<T> i;\nauto j = f;\nuse(f);"
    assert [(c.name, c.template) for c in calls(body)] == [("Sum", "T"), ("use", "")]


def test_signs_before_tensors_are_calls() -> None:
    body = """
  Tensor mask = self; auto x = -self; auto y = (~mask) & (self > 0); --dim;
  return f(-dim) ? -self.sum(dim) : -(self * 2);
  x->y; dim - -dim;
"""
    found = [f"{c.kind} {c.name}" for c in calls(body) if c.name != "f"]
    assert found == [
        "member operator-",
        "member operator~",
        "call operator&",
        "call operator>",
        "member operator-",
        "member sum",
        "member operator-",
        "call operator*",
    ]


FUNCTIONS = "static void fill(int x) { }\nDEFINE_DISPATCH(sum_stub);\nDEFINE_DISPATCH(GeluKernel);"


@pytest.mark.parametrize(
    ("body", "passed"),
    [
        ("apply(self, fill);", ["fill"]),
        ("apply(self, &fill);", ["fill"]),
        ("apply(self, sum_stub, other_stub);", ["sum_stub", "other_stub"]),
        ("apply(self, GeluKernel);", ["GeluKernel"]),
        ("apply(self, at::abs_out);", ["at::abs_out"]),
        ("apply(self, at::native::helper<int>);", ["at::native::helper<int>"]),
        ("apply(self, static_cast<OutFunc>(at::logical_and_out));", ["at::logical_and_out"]),
        ("apply(self, static_cast<void (*)(int)>(&fill));", ["fill"]),
        ("apply(&other);", ["other"]),
        ("auto f = &other<int, 2>;", ["other<int, 2>"]),
        ("f = fill;", ["fill"]),
        ("auto f = []() { return fill<int>; }();", ["fill<int>"]),
        ("return fill;", []),
        ("return flag > dim;", []),
        ("auto f = flag ? fill : &other<int>;", ["fill", "other<int>"]),
        ("auto f = flag ? wide<int> : narrow<int>;", ["wide<int>", "narrow<int>"]),
        ("std::thread t(&at::native::worker, this);", ["at::native::worker"]),
        ("std::bind(fill, dim);", ["fill"]),
        ("CHECK_ALL(fill, x);", ["fill"]),
        ("apply(self, dim, unknown, at::kCPU, Layout::Strided, std::less<int>());", []),
        ("int fill = 1; apply(fill);", []),
        ("apply(&self);", []),
        (
            "auto run = [&](auto x) { }; run(of_another_file, 1, kSize, SIZE, size_);",
            ["of_another_file"],
        ),
        ("auto x = self;", []),
        ("using opmath_t = at::opmath_type<scalar_t>;", []),
    ],
)
def test_functions_that_are_passed_on_by_name(body: str, passed: list[str]) -> None:
    found = [c for c in calls(f"{body} call();", FUNCTIONS) if c.kind == "name"]
    spelled = ("::".join(filter(None, (c.qualifier, c.name))) for c in found)
    ends = (f"<{c.template}>" if c.template else "" for c in found)
    assert [name + end for name, end in zip(spelled, ends, strict=True)] == passed


def test_a_choice_among_template_arguments_is_no_call() -> None:
    (launch,) = calls("fill<scalar_t, 1, (IS_MAJOR) ? 4 : 1>\n  <<<grid, block>>>(self);")
    assert (launch.kind, launch.name, launch.arguments) == ("launch", "fill", "T")


def test_launches_through_names_of_any_kind() -> None:
    body = """
  kernel<scalar_t, 4><<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(self, dim);
  impl_fptr<<<1, 2>>>(dim);
  ns::plain <<< GET(n), 1 >>> (p);
"""
    launches = [c for c in calls(body) if c.kind == "launch"]
    assert [(c.qualifier, c.name, c.template, c.arguments) for c in launches] == [
        ("", "kernel", "scalar_t, 4", "T i"),
        ("", "impl_fptr", "", "i"),
        ("ns", "plain", "", "d"),
    ]


LAUNCHES = """
#define LAUNCH(N, ...) \\
  if (N) { \\
    kernel_##N<N><<<grid, block>>>(__VA_ARGS__); \\
  }
#define BOTH(fn, x) fn(x); LAUNCH(2, x)
"""


def test_macros_of_the_file_are_expanded_at_their_uses() -> None:
    found = calls("BOTH(at::sum, self);\nLAUNCH(8, self.clone(), dim)", LAUNCHES)
    assert [(c.line, c.kind, c.qualifier, c.name, c.template, c.arguments) for c in found] == [
        (9, "call", "at", "sum", "", "T"),
        (9, "launch", "", "kernel_2", "2", "T"),
        (9, "call", "", "LAUNCH", "", ""),
        (9, "call", "", "BOTH", "", ""),
        (10, "launch", "", "kernel_8", "8", "? i"),
        (10, "call", "", "LAUNCH", "", ""),
        (10, "member", "", "clone", "", ""),
    ]


def test_what_a_macro_pastes_is_no_name_in_it() -> None:
    facts, _ = read_cpp(LAUNCHES.encode(), "aten/src/ATen/native/a.cpp")
    assert {one.name: [c.name for c in one.calls] for one in facts.definitions} == {
        "LAUNCH": [],
        "BOTH": ["fn", "LAUNCH"],
    }


def test_a_macro_that_is_undefined_or_defined_later_is_not_expanded() -> None:
    around = "#define RUN(x) first(x)\n#undef RUN\n#define RUN(x) second(x)"
    names = [c.name for c in calls("RUN(self);", around)]
    assert names == ["second", "RUN"]


def test_a_macro_in_itself_is_expanded_once() -> None:
    assert [c.name for c in calls("f(dim);", "#define f(x) f(x + 1)")] == ["f", "f"]


def test_strings_hold_no_calls() -> None:
    text = '#define REPR(SS) SS << "stft(" << f(SS) << ") )"\nvoid g() { REPR("h(1)"); }'
    facts, _ = read_cpp(text.encode(), "aten/src/ATen/native/a.cpp")
    assert {c.name for one in facts.definitions for c in one.calls} == {"f", "REPR"}


def test_what_stands_under_if_zero_is_not_called() -> None:
    assert [c.name for c in calls("#if 0\nf();\n#else\ng();\n#endif")] == ["g"]


def test_a_body_calls_classes_by_names_of_its_own() -> None:
    body = (
        "run<Kernel>(x); using opmath_t = acc<float>; using Kernel = lib::Select<MulOp>;"
        " using Outer = Wrap<Kernel, 2>; run<Kernel, opmath_t>(x); run<Outer, lib::Kernel>(x);"
        " Outer(x);"
    )
    assert [(one.name, one.qualifier, one.template) for one in calls(body)] == [
        ("run", "", "Kernel"),
        ("run", "", "lib::Select<MulOp>, opmath_t"),
        ("run", "", "Wrap<lib::Select<MulOp>, 2>, lib::Kernel"),
        ("Wrap", "", "lib::Select<MulOp>, 2"),
    ]


def test_a_using_declaration_gives_calls_their_scope() -> None:
    body = "using lib::v2::run; using lib::Kind; run(x); other(x); x.run(); at::run(x);"
    scopes = [(c.qualifier, c.name, c.kind) for c in calls(body) if c.name in ("run", "other")]
    assert ("lib::v2", "run", "call") in scopes
    assert ("", "other", "call") in scopes
    assert ("at", "run", "call") in scopes


def test_messages_of_objective_c() -> None:
    body = """
  MPSGraphTensor* t = [mpsGraph additionWithPrimaryTensor:a secondaryTensor:b name:nil];
  [encoder setComputePipelineState:state];
  id x = [[MPSGraphTensorData alloc] initWithBuffer:b];
  auto y = [=](int i) { return a[i]; };
"""
    found = calls(body, path="aten/src/ATen/native/mps/operations/a.mm")
    assert [(c.kind, c.receiver, c.name) for c in found] == [
        ("member", "mpsGraph", "additionWithPrimaryTensor"),
        ("member", "encoder", "setComputePipelineState"),
        ("member", "MPSGraphTensorData", "alloc"),
        ("member", "?", "initWithBuffer"),
    ]
    assert calls(body) == []


def test_lambdas_of_dispatch_macros_are_read() -> None:
    body = """
  AT_DISPATCH_SWITCH(type, "f", AT_DISPATCH_CASE_ALL_TYPES([&] {
    gpu_kernel(iter, AbsFunctor<scalar_t>());
  }));
  auto graph = LookUpOrCreateCachedGraph<Graph>(key, [&](auto graph, auto cached) {
    jitted_gpu_kernel</*name=*/name, scalar_t>(iter, digamma_string);
  });
"""
    found = {c.name: c.template for c in calls(body)}
    assert found["AbsFunctor"] == "scalar_t"
    assert found["LookUpOrCreateCachedGraph"] == "Graph"
    assert found["jitted_gpu_kernel"] == "name, scalar_t"


def test_parameters_of_structured_kernels_are_known() -> None:
    text = "TORCH_IMPL_FUNC(add_out)(const Tensor& self, int64_t n) { at::f(self, n); }"
    facts, _ = read_cpp(text.encode(), "aten/src/ATen/native/a.cpp")
    assert [c.arguments for one in facts.definitions for c in one.calls] == ["T i"]


@pytest.mark.parametrize(
    "body",
    [
        "x = " * 500 + "y;",
        "a" + ".f()" * 900 + ";",
        "a ? b : " * 300 + "c;",
        "f(" * 900,
        "{([)}]" * 99,
    ],
)
def test_no_body_makes_it_fail(body: str) -> None:
    calls(body + " g(x + y);")


def test_functions_of_classes_that_macros_are_given() -> None:
    body = "WRAP(NO_ROCM(detail)::cub::DeviceSelect::Flagged, x); CHECK(Layout::Strided);"
    macro = "#define WRAP(f, ...) f(__VA_ARGS__)\n"
    for around in ("", macro):
        found = called(body, "Flagged", around)
        assert (found.kind, found.qualifier) == ("name", "::cub::DeviceSelect")


def test_the_template_of_a_class_may_hold_calls_and_end_a_line() -> None:
    found = called("detail::unroll<launcher, size()>::\n  with_args(self);", "with_args")
    assert (found.qualifier, found.template) == ("detail::unroll", "launcher, size()")


def loops(body: str, parameters: str, path: str) -> list[str]:
    facts, _ = read_cpp(f"void run({parameters}) {{ {body} }}".encode(), path)
    return [one.name for one in facts.definitions[0].calls if one.kind == "loop"]


@pytest.mark.parametrize(
    ("body", "parameters", "names"),
    [
        ("for (int i = 0; i < n; i++) to[i] = 0;", "float* to, int n", ["for"]),
        ("while (n--) *to++ = 0;", "scalar_t* to, int n", ["while"]),
        ("for (int i : n) to[i] = 0;", "TensorAccessor<float, 1> to, int n", ["for"]),
        ("auto p = x.data_ptr<float>(); std::sort(p, p + 8);", "Tensor x", ["std::sort"]),
        ("memcpy(x.data_ptr(), from, 8);", "Tensor x, void* from", ["memcpy"]),
        ("for (int i = 0; i < x.dim(); i++) check(x, i);", "Tensor x", []),
        ("for (auto i : c10::irange(n)) sizes.push_back(from[i]);", "const int64_t* from", []),
        ("for (auto p = from; p != end; p++) { all.push_back(*p); }", "const int64_t* from", []),
        ("for (int i = 0; i < n; i++) { TORCH_CHECK(to[i] > 0, i); }", "int* to", []),
        ("for (const auto& [x, y] : lists) { run(x); }", "scalar_t* to", []),
        ("for (auto& x : all) {\n for (int i = 0; i < 8; i++) to[i] = x; }", "int* to", ["for"]),
        ("for (const std::string& x : all) run(x); memcpy(to, from, 8);", "int* to", ["memcpy"]),
        ("std::sort(sizes.begin(), sizes.end());", "std::vector<int> sizes", []),
    ],
)
def test_loops_over_elements(body: str, parameters: str, names: list[str]) -> None:
    assert loops(body, parameters, "aten/src/ATen/native/a.cpp") == names
    assert loops(body, parameters, "aten/src/ATen/native/cuda/a.cu") == []


def test_a_lambda_hides_functions_of_its_name() -> None:
    body = "const auto slice =\n  [](int v) -> int { return 1; };\nslice(2); slice(); at::slice(x);"
    assert [one.qualifier for one in calls(body) if one.name == "slice"] == ["at"]
