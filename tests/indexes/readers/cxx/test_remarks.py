from indexes.model.errors import CXX_BRACKETS
from indexes.readers.cxx.facts import read_cpp
from indexes.readers.cxx.remarks import read_remarks

FILE = """
// AT_ERROR is deprecated: use TORCH_CHECK(false, ...)
#define AT_ERROR(...) do { ::detail::deprecated_AT_ERROR(); } while (false)
/* throw std::runtime_error("in a comment"); */
void f(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2); // TODO: say
  // what is wrong
  TORCH_CHECK(self.defined(), "with words");
  TORCH_INTERNAL_ASSERT(self.size(0) > 1);
  throw std::runtime_error("throw runtime_error here");
}
static PyMethodDef methods[] = {{"_set_word", f}, {"torch._C.Size", f}};
"""
KERNELS, BINDINGS = "aten/src/ATen/native/F.cpp", "torch/csrc/F.cpp"


def test_remarks_stand_with_their_lines_and_not_in_comments_or_strings() -> None:
    found = {(one.kind, one.name, one.line) for one in read_remarks(FILE, KERNELS, ())}
    assert found == {
        ("macros", "AT_ERROR TORCH_CHECK TORCH_INTERNAL_ASSERT", 0),
        ("deprecated macro", "AT_ERROR", 3),
        ("bare check", "self.dim() == 2", 6),
        ("todo", "TODO: say what is wrong", 6),
        ("assert", "self.size(0) > 1", 9),
        ("throw", "std::runtime_error", 10),
    }


def test_what_a_program_wrote_is_none_of_the_authors() -> None:
    kinds = {one.kind for one in read_remarks(f"// @generated\n{FILE}", BINDINGS, ())}
    assert kinds == {"words"}


def test_the_words_of_bindings_are_the_last_of_their_literals() -> None:
    (words,) = [one.name for one in read_remarks(FILE, BINDINGS, ()) if one.kind == "words"]
    assert {"_set_word", "Size"} <= set(words.split())


def test_the_order_of_the_values_of_an_enumeration() -> None:
    text = "std::array<at::Try, n> tries = {\n  at::Try::last, // newest\n  at::Try::first};"
    (found,) = [one for one in read_remarks(text, "a.h", ()) if one.kind == "order"]
    assert (found.name, found.line, found.detail) == ("Try", 1, "last,first")


def test_long_bodies_are_the_same_but_for_comments() -> None:
    lines = "\n".join(f"  x += {number};" for number in range(12))
    text = f"void f() {{\n{lines}\n}}\nvoid g() {{ // now\n{lines}\n}}\nvoid h() {{\n}}\n"
    facts, _ = read_cpp(text.encode(), KERNELS)
    (one, line), (other, below) = [(r.name, r.line) for r in facts.remarks if r.kind == "body"]
    assert one == other
    assert (line, below) == (1, 15)


def test_a_check_in_more_brackets_than_compilers_take_is_left_out() -> None:
    def checks(deep: int) -> int:
        text = "void f() {\n" + "TORCH_CHECK(" * deep + "x" + ")" * deep + ";\n}\n"
        facts, _ = read_cpp(text.encode(), KERNELS)
        return sum(one.kind == "bare check" for one in facts.remarks)

    assert [checks(3), checks(CXX_BRACKETS), checks(1000)] == [3, CXX_BRACKETS, CXX_BRACKETS]
