"""PyTorch's notes: by title, by what refers to them, and on a line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.model.errors import NotFound
from indexes.queries.explaining import notes
from indexes.queries.index import Index
from tests.indexing import grown, line_of

HEADER = "c10/core/ScalarType.h"
MODULE = "torch/functional.py"
YAML = "aten/src/ATen/native/native_functions.yaml"
TEXTS = {
    HEADER: """
// Note [Promotion of numbers]
// ~~~~~~~~~~~~~~~~~~~~~~~~~~~
// The kind wins.
inline void promote() {
  // See Note [Promotion of numbers]
  // See Note [Promotion of tensors]
}
""",
    MODULE: "\n# NOTE [Promotion of Numbers]\ndef promoted(): ...\n",
    YAML: "\n# See Note [Promotion of numbers]\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with grown(tmp_path_factory, TEXTS) as index:
        yield index


@pytest.mark.parametrize(
    "text",
    ["Note [Promotion of numbers]", "// See NOTE: [promotion of numbers].", "Promotion of numbers"],
)
def test_a_title_leads_to_its_comment_then_to_what_refers_to_it(index: Index, text: str) -> None:
    match = index.resolve(text)
    assert (match.kind, match.confidence) == ("note", "exact")
    paths = [(hit.kind, hit.location.path) for hit in match.hits]
    assert paths == [("note", HEADER), ("mention", YAML), ("mention", HEADER), ("mention", MODULE)]
    head = line_of(index, HEADER, "Note [Promotion of numbers]")
    assert (match.hits[0].location.line, match.hits[0].location.end_line) == (head, head + 2)


def test_a_title_that_no_comment_has_says_so_with_what_refers_to_it(index: Index) -> None:
    match = index.resolve("Note [Promotion of tensors]")
    assert [hit.kind for hit in match.hits] == ["mention"]
    assert "no comment of this source has this title" in match.note
    assert "near titles: Promotion of numbers" in match.note
    unknown = index.resolve("Note [Promotion of number]")
    assert (unknown.kind, unknown.suggestions) == ("none", ("Promotion of numbers",))
    assert index.resolve("Note [Requires grad]").kind == "none"  # though an error says so


def test_it_is_found_by_words_of_its_title(index: Index) -> None:
    assert [hit.name for hit in index.find("of numbers", kinds=["note"])] == [
        "Promotion of numbers"
    ]


def test_the_text_is_quoted_and_its_lines_lead_to_it(index: Index) -> None:
    line = line_of(index, HEADER, "  // See Note [Promotion of numbers]")
    found = index.explain(HEADER, line)
    assert found.passages[0].text.endswith("// The kind wins.")
    assert found == notes.explain(index, "Promotion of numbers")
    assert [one.path for one in found.mentions] == [YAML, HEADER, MODULE]
    assert [one.text for one in notes.explain(index, "of numbers").passages] == [
        found.passages[0].text
    ]
    with pytest.raises(NotFound, match=r"headed Note \[Promotion of tensors\].*refers to it"):
        index.explain(HEADER, line + 1)


def test_a_line_names_the_note_that_it_is_of_or_refers_to(index: Index) -> None:
    head = line_of(index, HEADER, "Note [Promotion of numbers]")
    inside, referring = index.at(HEADER, head + 2), index.at(HEADER, head + 4)
    assert [(one.kind, one.rule) for one in inside] == [("note", "the line is of this note")]
    assert [one.name for one in referring] == ["promote", "Promotion of numbers"]
    assert referring[-1].location.line == head
