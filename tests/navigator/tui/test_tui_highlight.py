"""Colours of the visible lines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from indexes.model.errors import SourceError
from navigator.tui.source.document import Document, DocumentCache
from navigator.tui.source.highlight import MAX_BYTES, language_of


def styles(document: Document, row: int) -> dict[str, str]:
    """What each coloured piece of a line is."""
    line = document.lines[row]
    return {line[start:end]: style for start, end, style in document.spans(row)}


def test_cpp_gets_the_colours_of_c_as_well() -> None:
    """The C++ grammar's own query knows neither ``return`` nor comments nor numbers."""
    document = Document("x.cpp", 'template <int N>\nint f() { return 42; } // "no string"\n')
    assert styles(document, 0)["template"] == "keyword"
    second = styles(document, 1)
    assert second["return"] == "keyword"
    assert second["42"] == "number"
    assert second["f"] == "function"
    assert second['// "no string"'] == "comment"


def test_a_comment_over_many_lines_is_one_on_each(tree: Path) -> None:
    lines = ["/* begins", *["inside"] * 300, "ends */ int x;"]
    document = Document("x.cu", "\n".join(lines))
    assert styles(document, 150) == {"inside": "comment"}
    assert styles(document, 301)["ends */"] == "comment"


def test_columns_are_characters_not_bytes() -> None:
    document = Document("x.cpp", 'auto s = "üñ"; // ∂x\n')
    assert styles(document, 0)['"üñ"'] == "string"
    assert styles(document, 0)["// ∂x"] == "comment"


def test_yaml() -> None:
    document = Document("native_functions.yaml", "- func: add(Tensor self, int n=1)\n  # why\n")
    assert styles(document, 0)["func:"] == "property"
    assert styles(document, 0)["1"] == "number"
    assert styles(document, 1) == {"# why": "comment"}


def test_python() -> None:
    pytest.importorskip("tree_sitter_python")
    document = Document("a.py", "def f():\n    return 'x'  # why\n")
    assert styles(document, 0)["def"] == "keyword"
    assert styles(document, 1)["'x'"] == "string"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.cu", "cpp"),
        ("a/b.mm", "cpp"),
        ("a/b.pyi.in", "python"),
        ("tools/autograd/derivatives.yaml", "yaml"),
        ("README", None),
        ("a/b.txt", None),
    ],
)
def test_the_language_is_told_by_the_ending(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_random_bytes_and_enormous_files_are_shown_plain() -> None:
    noise = bytes(range(256)).decode("latin-1") * 40
    assert Document("noise.cpp", noise).spans(0) is not None
    huge = Document("table.cpp", "1,\n" * MAX_BYTES)
    assert huge.spans(5) == ()


def test_every_file_of_a_tree_can_be_shown(tree: Path) -> None:
    for path in tree.rglob("*"):
        if path.is_file():
            document = Document(str(path), path.read_bytes().decode(errors="replace"))
            for row in range(len(document.lines)):
                ends = [end for _, end, _ in document.spans(row)]
                assert all(end <= len(document.lines[row]) for end in ends)


def test_a_name_with_its_qualifiers() -> None:
    document = Document("x.cpp", "  return at::native::add_kernel(iter, x.scalar_type());")
    assert document.name_at(0, 12) == "at::native::add_kernel"
    assert document.name_at(0, 3) == "return"
    assert document.name_at(0, 0) == ""
    assert document.name_at(9, 0) == ""


def test_search_minds_case_only_where_the_reader_does() -> None:
    document = Document("x.cpp", "Softmax softmax\nsoftmax.*\n")
    assert document.find("softmax") == [(0, 0), (0, 8), (1, 0)]
    assert document.find("Softmax") == [(0, 0)]
    assert document.find(".*") == [(1, 7)]


def test_a_shelf_reads_each_file_once_and_again_when_told() -> None:
    reads: list[str] = []

    def read(path: str) -> str:
        reads.append(path)
        return "text"

    documents = DocumentCache(read, size=2)
    documents.document("a.cpp")
    documents.document("a.cpp")
    assert reads == ["a.cpp"]
    documents.forget("a.cpp")
    documents.document("a.cpp")
    documents.document("b.cpp")
    documents.document("c.cpp")
    documents.document("a.cpp")
    assert reads == ["a.cpp", "a.cpp", "b.cpp", "c.cpp", "a.cpp"]


def test_a_shelf_reads_a_file_once_and_says_what_it_has() -> None:
    read: list[str] = []

    def file(path: str) -> str:
        read.append(path)
        return "int x;\n" * 2000

    documents = DocumentCache(file)
    assert documents.cached("x.cpp") is None
    document = documents.document("x.cpp")
    assert document.spans(1490)
    assert documents.cached("x.cpp") is documents.document("x.cpp") is document
    assert read == ["x.cpp"]


def test_who_wants_a_file_that_is_being_read_waits_for_it() -> None:
    read: list[str] = []
    begun, may_end = Event(), Event()

    def slow(path: str) -> str:
        read.append(path)
        begun.set()
        assert may_end.wait(20)
        return "int x;"

    documents = DocumentCache(slow)
    with ThreadPoolExecutor() as threads:
        threads.submit(documents.ahead, "x.cpp")
        assert begun.wait(20)
        wanted = threads.submit(documents.document, "x.cpp")
        may_end.set()
        assert wanted.result().lines == ["int x;"]
    assert read == ["x.cpp"]


def test_a_file_read_ahead_in_vain_says_so_when_it_is_wanted() -> None:
    def fails(path: str) -> str:
        raise SourceError(f"no {path}")

    documents = DocumentCache(fails)
    documents.ahead("x.cpp")
    with pytest.raises(SourceError, match=r"no x\.cpp"):
        documents.document("x.cpp")
