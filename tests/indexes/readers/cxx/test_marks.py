"""The marks of types: of arguments, results, locals, and what members are called on."""

from __future__ import annotations

import pytest

from indexes.readers.cxx.marks import result_mark
from tests.indexes.readers.cxx.bodies import called


@pytest.mark.parametrize(
    ("expression", "mark"),
    [
        ("self", "T"),
        ("xs", "L"),
        ("xs[0]", "T"),
        ("alpha", "S"),
        ("Scalar(1)", "S"),
        ("at::Scalar(p)", "S"),
        ("dim", "i"),
        ("3", "i"),
        ("-1", "i"),
        ("self.size(0)", "i"),
        ("self.size(0) * 2", "i"),
        ("size[1]", "i"),
        ("p", "d"),
        ("1e-5", "d"),
        ("flag", "b"),
        ("!flag", "b"),
        ("dim == 2 && flag", "b"),
        ("true", "b"),
        ("size", "I"),
        ("self.sizes()", "I"),
        ("{1, dim}", "I"),
        ("{dim}", "I"),
        ("{}", "N"),
        ("std::nullopt", "N"),
        ("c10::nullopt", "N"),
        ("{dim, f(dim)}", "I"),
        ("{self, self}", "L"),
        ("{self, dim}", "?"),
        ("std::vector<Int>{0, 1}", "I"),
        ("std::array<Tensor, 2>{self, self}", "L"),
        ("flag ? xs : std::vector<Int>{0, 1}", "L"),
        ("dim > {0}", "b"),
        ("weight", "T"),
        ("*weight", "T"),
        ("weight.value()", "T"),
        ("gen", "G"),
        ("mode", "s"),
        ('"mean"', "s"),
        ("options", "O"),
        ("self.options()", "O"),
        ("self.options().dtype(at::kFloat)", "O"),
        ("at::kLong", "D"),
        ("kBFloat16", "D"),
        ("ScalarType::Half", "D"),
        ("self.scalar_type()", "D"),
        ("self.clone()", ".clone"),
        ("at::empty_like(self)", ".empty_like"),
        ("self + 1", "T"),
        ("-self", "T"),
        ("(self * 2).sum(dim)", ".sum"),
        ("std::move(self)", "T"),
        ("static_cast<int64_t>(p)", "i"),
        ("flag ? self : Tensor()", "T"),
        ("self.item<double>()", "d"),
        ("helper<int, 2>(self)", ".helper"),
        ("iter", "?"),
        ("[&](int64_t i) { return i; }", "?"),
        ("unknown", "?"),
        ("kCUDA", "?"),
    ],
)
def test_the_marks_of_arguments(expression: str, mark: str) -> None:
    found = called(f"return at::target({expression}, 1);", "target")
    assert found.arguments == f"{mark} i"


@pytest.mark.parametrize(
    ("before", "mark"),
    [
        ("c10::intrusive_ptr<Backend> ProcessGroup::", "Backend"),
        ("virtual const at::CUDAHooksInterface& ", "CUDAHooksInterface"),
        ("TORCH_API Tensor ", "T"),
        ("static inline std::tuple<Tensor, std::vector<int64_t>, X> ", "T I ?"),
        ("std::map<int, Tensor> ", ""),
        ("C10_EXPORT const std::shared_ptr<Node>& Holder<T>::", "Node"),
        ("T* ", "?"),
        ("", "?"),
        ("a" * 3000 + "*::", "?"),
        ("template <class T> " * 50_000 + "Tensor ", "?"),
    ],
)
def test_the_mark_of_what_a_function_returns(before: str, mark: str) -> None:
    assert result_mark(before) == mark


@pytest.mark.parametrize(
    ("declared", "mark"),
    [
        ("const Tensor& x = self;", "T"),
        ("Tensor x;", "T"),
        ("Tensor y, x;", "T"),
        ("int64_t y = f(1, 2), z(3), x = 2, u;", "i"),
        ("auto y = f(self, x);", "?"),
        ("Tensor x(self);", "T"),
        ("auto x = self;", "T"),
        ("auto x = at::sum(self);", ".sum"),
        ("const auto& x = self.t();", ".t"),
        ("auto [y, x] = at::max(self, dim);", ".max#1"),
        ("int64_t x = 1;", "i"),
        ("const auto x = self.dim() - 1;", "i"),
        ("std::vector<Tensor> x;", "L"),
        ("std::vector<int64_t> x(3);", "I"),
        ("c10::MaybeOwned<Tensor> x = borrow(self);", "T"),
        ("std::optional<Tensor> x;", "T"),
        ("std::optional<int64_t> x;", "i"),
        ("double x{0};", "d"),
        (
            "auto x = flag ? MaybeOwned<Tensor>::owned(f(self)) : MaybeOwned<Tensor>::borrowed(y);",
            "T",
        ),
        ("auto x = flag ? self.mm(self) : self.bmm(self);", ".mm"),
        ("auto x = self.expect_contiguous();", "T"),
        ("auto x = unknown;", "?"),
        ("std::string x;", "s"),
        ("for (const auto& x : xs) {", "T"),
        ("for (int64_t x = 0; x < 3; x++) {", "i"),
        ("if (auto x = at::sum(self); flag) {", ".sum"),
        ("run_all([&](const Tensor& x, int64_t y) {", "T"),
        ("Tensor x; { int64_t x = 1; use(x); }", "T"),
        ("TensorIterator x;", "?"),
        ("scalar_t x;", "?"),
        ("return x;", "?"),
        ("other * x;", "?"),
    ],
)
def test_what_locals_are(declared: str, mark: str) -> None:
    assert called(f"{declared} at::target(x); }}}});", "target").arguments == mark


def test_the_name_that_a_comment_gives_an_argument() -> None:
    found = called(
        "at::std(self, /*dim=*/dim, /*correction=*/Scalar(1), /* keepdim= */flag);", "std"
    )
    assert found.arguments == "T dim=i correction=S keepdim=b"
    assert called("f(self /* not a name */, dim);", "f").arguments == "T i"


@pytest.mark.parametrize(
    ("expression", "receiver"),
    [
        ("self", "T"),
        ("(self)", "T"),
        ("(*weight)", "T"),
        ("(self + alpha)", "T"),
        ("return (self + alpha)", "T"),
        ("xs[0]", "T"),
        ("self.clone()", ".clone"),
        ("at::isnan(self)", ".isnan"),
        ("self.isnan().any()", ".isnan.any"),
        ("iter", "TensorIterator"),
        ("TensorIteratorConfig()", ".TensorIteratorConfig"),
        ("this", "this"),
        ("state.tensor", "?"),
        ("unknown", "?"),
    ],
)
@pytest.mark.parametrize("arrow", [".", "->", "\n    ."])
def test_what_members_are_called_on(expression: str, receiver: str, arrow: str) -> None:
    found = called(f"{expression}{arrow}index_put_(self);", "index_put_")
    assert (found.kind, found.receiver, found.arguments) == ("member", receiver, "T")


def test_a_member_of_a_template_is_a_member() -> None:
    assert called("iter.template apply<scalar_t>(dim);", "apply").receiver == "TensorIterator"
