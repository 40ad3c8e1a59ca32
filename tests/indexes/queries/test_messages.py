"""From the text of an error to the line that says it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from indexes.queries.message_match import Match
from indexes.queries.messages import _VALUES, Message, Messages
from indexes.queries.pasted import operators_on_stack, pasted
from indexes.readers.messages import HOLE, literal
from tests.growth import least_seconds, takes_less
from tests.indexing import opened
from tests.tree_marks import Mark, marks

SAID = marks("says")
NO_PARAMETERS = "this optimizer got no parameters"


@pytest.mark.parametrize("mark", SAID, ids=lambda mark: " ".join(mark.words)[:40])
def test_a_text_with_its_values_leads_to_its_line(tree_index: Index, mark: Mark) -> None:
    found = Messages(tree_index.facts.store).said(" ".join(mark.words))
    assert found, mark
    where = found[0].location
    assert (where.path, where.line <= mark.line <= where.end_line) == (mark.path, True)


def test_a_text_is_found_in_a_traceback_and_as_a_part(tree_index: Index) -> None:
    said = Messages(tree_index.facts.store).said
    line = 'File "/usr/lib/torch/x.py", line 3, in f\n    raise ValueError("no")\n'
    for text in (
        f"Traceback (most recent call last):\n  {line}RuntimeError: self must be a matrix\n",
        "[rank0]: RuntimeError: self must be a matrix",
        "terminate called after\n  what():  self must be a matrix\nException raised from f at x",
        "self must be a",
    ):
        (found,) = said(text)
        assert found.location.path == "aten/src/ATen/native/LinearAlgebra.cpp", text
        assert found.does == "error"


def test_values_are_told(tree_index: Index) -> None:
    text = "dropout probability has to be between 0 and 1, but got 3.5"
    (found,) = Messages(tree_index.facts.store).said(text)
    assert found.values == ("3.5",)
    assert found.is_whole


def test_a_name_of_a_dispatch_leads_to_its_macro(tree_index: Index) -> None:
    text = "\"addmm_impl_cpu_\" not implemented for 'Half'"
    found = Messages(tree_index.facts.store).said(text)
    assert [one.location.path for one in found] == ["aten/src/ATen/native/LinearAlgebra.cpp"]


def test_the_cxx_stack_tells_the_file_and_the_line(tree_index: Index) -> None:
    text = "Boolean inputs not supported for relu"
    said = Messages(tree_index.facts.store).said
    lines = {one.location.line for one in said(text)}
    assert len(lines) == 2
    file = "/build/aten/src/ATen/native/Activation.cpp"
    for line in lines:
        stack = f"{text}\nException raised from relu at {file}:{line} (most recent call first):\n"
        assert [one.location.line for one in said(stack)] == [line]
    other = f"{text}\nException raised from relu at {file}:9000 (most recent call first):\n"
    assert {one.location.line for one in said(other)} == lines


def test_python_that_says_the_same_did_not_raise_what_cxx_did(tree_index: Index) -> None:
    said = Messages(tree_index.facts.store).said
    text = "cuDNN version 5 is older than 'v8' allows"
    assert [one.location.path for one in said(text)] == ["torch/backends/cudnn/__init__.py"]
    stack = f"{text}\nException raised from f at /build/c10/Gone.cpp:3 (most recent call first):\n"
    assert said(stack) == ()


def test_what_nobody_says(tree_index: Index) -> None:
    said = Messages(tree_index.facts.store).said
    assert said("the moon is made of green cheese") == ()
    assert said("") == ()
    assert said("has to be")[0].covered == len("hastobe")


def test_operators_on_a_stack() -> None:
    stack = (
        "no\n#9 at::_ops::addmm::redispatch(c10::DispatchKeySet) from lib\n"
        "#11 at::_ops::addmm::call(at::Tensor const&) from lib\n"
        "#14 at::_ops::add__Tensor::call(at::Tensor&) from lib\n"
    )
    assert operators_on_stack(stack) == ["add__Tensor", "addmm"]


def test_what_is_pasted() -> None:
    text = "E   ValueError: one of\nE   two\n\ntorch/nn/functional.py:29: ValueError"
    assert pasted(text).raised == "ValueError"
    assert pasted(text).places == (("torch/nn/functional.py", 29, ""),)
    assert pasted("one is {x}").text == "one is {x}"


@pytest.mark.parametrize(
    "head",
    [
        "[rank0]:[W501 21:01:27.110829382 reducer.cpp:12] ",
        "[W reducer.cpp:12] Warning: ",
        "E0501 21:01:27.110000 140 reducer.cpp:12] [0/8_1] [__recompiles] ",
    ],
)
def test_what_loggers_write_before_a_message_tells_its_file(head: str) -> None:
    text = f"{head}self must be a matrix"
    assert pasted(text).text == "self must be a matrix"
    assert pasted(text).places == (("reducer.cpp", 12, ""),)


@pytest.mark.parametrize(
    "head",
    [
        "V0922 20:33:25.983000 679839 torch/x.py:12] [0/0] [__output_code] ",
        "[2023-11-20 15:52:39,304] [0/0] torch._dynamo.guards: [INFO] ",
    ],
)
def test_what_the_loggers_of_the_compiler_write_before_a_message(head: str) -> None:
    assert pasted(f"{head}self must be a matrix").text == "self must be a matrix"


@pytest.mark.parametrize("stamp", ["Apr 14 21:00:09 ", "2024-05-01T12:00:00.1234567Z "])
def test_the_time_before_each_line_is_no_text(stamp: str) -> None:
    lines = ("Traceback (most recent call last):", "ValueError: one", "of two")
    found = pasted("\n".join(f"{stamp}{line}" for line in lines))
    assert (found.raised, found.text) == ("ValueError", "one of two")


@pytest.mark.parametrize(
    "after",
    [
        "Traceback (most recent call last):\n  File 'x.py', line 3",  # of another process
        "\nThe above exception was the direct cause of the following exception:",
        "I0424 17:43:09.048000 14 torch/x.py:7] [0/0] Restarting",  # another record of the log
    ],
)
def test_a_message_ends_where_another_begins(after: str) -> None:
    record = "V0424 17:43:09.047000 14 torch/x.py:5] [0/0] "
    assert pasted(f"{record}ValueError: one\n{record}of two\n{after}").text == "one of two"


def test_a_part_of_a_message_that_looks_like_an_exception() -> None:
    found = pasted("DistBackendError: NCCL error in: a.hpp:3, no\nncclRemoteError: A call failed")
    assert found.raised == "DistBackendError"
    assert found.text == "NCCL error in: a.hpp:3, no ncclRemoteError: A call failed"


def test_the_records_of_a_log_are_read_one_by_one(tree_index: Index) -> None:
    own = "[rank0]:[E321 02:07:08.408 train.cpp:6] something of the program itself"
    other = "[rank0]:[E321 02:07:08.409 reducer.cpp:12] self must be a matrix"
    (found,) = Messages(tree_index.facts.store).said(f"{own}\n{other}\n")
    assert found.text == "self must be a matrix"


def test_time_to_read_a_text_grows_with_its_length() -> None:
    for line in ("E   [rank0]: x\n", "a" * 80, "Apr 14 21:00:09 ", "what(): ", "Exception raised "):
        few, many = (partial(pasted, line * count) for count in (2000, 4000))
        assert takes_less(many, 3.5 * least_seconds(few) + 0.01), line
    for line in ("[", "(", "'", '" '):
        less, more = (partial(_VALUES.sub, "", line * count) for count in (4000, 8000))
        assert takes_less(more, 3.5 * least_seconds(less) + 0.01), line


_POOL = """
void grow(size_t n) {
  TORCH_CHECK(n < 9, "out of all room. Tried to allocate more than nine.");
  TORCH_CHECK(false, "out of all room. Tried to allocate ", n, ". This device has ", all(),
      " in all. Set its limit higher if that is not enough for you and others. See the notes.");
}
"""


def test_a_sentence_that_another_version_lacks(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "c10/Pool.cpp").write_text(_POOL)
    text = "out of all room. Tried to allocate 2 GiB (4 GiB in all; 3 GiB are free). See the notes."
    with opened(tree_copy, cache) as index:
        first, *_ = Messages(index.facts.store).said(text)
    assert (first.location.line, first.is_alike) == (4, True)


_FRAME = """
def f(why):
    log.warning("compiling hit the limit, last reason: %s. More: see x", why)
"""
_GUARD = """
def g():
    raise ValueError("a guard failed on a parameter, so set it to False")
"""


def test_a_record_of_a_log_is_rather_of_the_file_that_logs_it(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "torch/fx/frame.py").write_text(_FRAME)
    (tree_copy / "torch/fx/guard.py").write_text(_GUARD)
    reason = "a guard failed on a parameter, so set it to False"
    text = f"compiling hit the limit, last reason: {reason}"
    with opened(tree_copy, cache) as index:
        said = Messages(index.facts.store).said
        (record,) = said(f"W0110 12:27:06.332000 158 torch/fx/frame.py:9] [2/8] {text}")
        assert said(text)[0].location.path == "torch/fx/guard.py"
    assert record.location.path == "torch/fx/frame.py"


_INVALID = """void f() {
  text += "received an invalid combination of arguments - ";
BLANK  text += "didn't match because some of the keywords were incorrect: ";
  text += "didn't match because some of the arguments have invalid types: (";
}
"""


def test_statements_of_one_text_far_from_each_other(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "c10/Invalid.cpp").write_text(_INVALID.replace("BLANK", "\n" * 62))
    text = "f() received an invalid combination of arguments - got (int). It didn't match because "
    text += "some of the arguments have invalid types: (int)"
    with opened(tree_copy, cache) as index:
        found = Messages(index.facts.store).said(text)
    assert [one.location.line for one in found] == [2, 66]


def test_a_deprecation_is_a_warning(tree_index: Index) -> None:
    kinds = ("deprecated", "warnings.warn", "TORCH_WARN", "TORCH_CHECK", "raise ValueError")
    told = [Message(Location("a.py", 1), kind, "x", 1, True).does for kind in kinds]
    assert told == ["warning"] * 3 + ["error"] * 2


def test_a_message_with_other_words_is_told_as_such(tree_index: Index) -> None:
    said = Messages(tree_index.facts.store).said
    for text, alike in (
        ("self must be a matrix", False),
        ("must be a matrix", False),  # cut out of it
        ("self must be a", False),
        ("dropout probability has to be between 0 and 1, but is 3.5", True),
        ("dropout probability has to be between 0 and 1", False),
        ("a library with words of its own: self must be a matrix", True),
        ("'SomeLongNameOfAClass' object has no attribute 'some_long_name_of_it'", False),
    ):
        assert said(text)[0].is_alike == alike, text


def test_statements_that_make_one_text_are_given_in_its_order(tree_index: Index) -> None:
    begun = "The storage of b was freed before its last use."
    rest = "Keep a reference to the tensor that owns it alive."
    found = Messages(tree_index.facts.store).said(f"{begun} {rest}")
    assert [one.is_rest for one in found] == [False, True]
    assert found[0].location.line + 1 == found[1].location.line


def test_an_exception_of_which_nothing_is_known_leads_to_the_one_around_it(
    tree_index: Index,
) -> None:
    said = Messages(tree_index.facts.store).said
    (found,) = said("RuntimeError: self must be a matrix\nKeyError: 'x'")
    assert found.text == "self must be a matrix"
    assert said("KeyError: 'x'") == ()


def test_of_equal_lines_that_nearer_to_the_top_comes_first(tree_index: Index) -> None:
    found = Messages(tree_index.facts.store).said(NO_PARAMETERS)
    assert [one.location.path for one in found] == [
        "torch/optim/swa.py",
        "torch/distributed/optim/functional.py",
    ]


def test_a_text_that_is_cut_behind_a_value() -> None:
    said = f"out of memory. Tried to allocate {HOLE}. GPU {HOLE} has {HOLE} in all"
    for value in ("2.00 GiB", "20", "[2, 3]", "'a name'"):
        assert Match(f"out of memory. Tried to allocate {value}", said).fits, value
    for words in ("more than this", "2 GiB of its memory"):
        assert not Match(f"out of memory. Tried to allocate {words}", said).fits, words


def test_a_text_with_its_value_is_not_that_of_other_words(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "c10/Pool.cpp").write_text(
        "void grow(size_t n) {\n"
        '  TORCH_CHECK(n < 9, "out of room. Tried to allocate more than nine.");\n'
        '  TORCH_CHECK(false, "out of room. Tried to allocate ", n, ". There is ", rest(), " in '
        'all, of which none is free.");\n'
        "}\n"
    )
    with opened(tree_copy, cache) as index:
        found = Messages(index.facts.store).said("out of room. Tried to allocate 2.00 GiB")
    assert [one.location.line for one in found] == [3]


def test_the_last_frame_tells_the_file_that_raised(tree_index: Index) -> None:
    said = Messages(tree_index.facts.store).said

    def after(*frames: str) -> list[str]:
        lines = "".join(f'  File "{one}", line 3, in f\n    step()\n    ~~~~\n' for one in frames)
        text = (
            "Traceback (most recent call last):\n" + lines + "ValueError: \x1b[31m" + NO_PARAMETERS
        )
        return [one.location.path for one in said(text)]

    assert after("/lib/torch/optim/swa.py") == ["torch/optim/swa.py"]
    assert len(after("/lib/torch/optim/swa.py", "/lib/torch/_utils.py")) == 2
    assert len(after("/lib/torch/optim/swa.py", "<stdin>")) == 2


def test_a_line_of_a_program_calls_cxx(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "torch/fx/also.py").write_text('raise RuntimeError("self must be a matrix")\n')
    text = 'File "train.py", line 3, in f\n    x @ y\nRuntimeError: self must be a matrix'
    with opened(tree_copy, cache) as index:
        messages = Messages(index.facts.store)
        assert len(messages.said("self must be a matrix")) == 2
        (found,) = messages.said(text)
    assert found.location.path == "aten/src/ATen/native/LinearAlgebra.cpp"


def test_the_colours_of_a_terminal_are_no_text() -> None:
    assert literal(r"\033[1monly if\x1b[0m. \"So\"\n") == 'only if. "So" '
