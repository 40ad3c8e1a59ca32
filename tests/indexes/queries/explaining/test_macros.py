"""Macros, by the comments of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from indexes.model.errors import NotFound
from indexes.model.vocabulary import Definition, Location
from indexes.queries.explaining.macros import explain, on_line
from indexes.queries.index import Index
from indexes.source.source import Source

HEADER = """\
/* A file of macros. */
// Registers a KERNEL for a key.
// REGISTER_IT(add)
using Kernel = void (*)();
void call(/*msg*/ const char* text);

// Declares one.
#define DECLARE_IT(x) \\
  extern Kernel x

#define REGISTER_IT(x) install(x)
#define PLAIN_IT(x) x
"""
LINES = {"DECLARE_IT": (8, 9), "REGISTER_IT": (11, 11), "PLAIN_IT": (12, 12)}


class Macros:
    """Definitions of the macros above."""

    def definitions(self, symbol: str, /) -> Sequence[Definition]:
        if symbol not in LINES:
            return ()
        return (Definition(symbol, "", "macro", Location("c10/It.h", *LINES[symbol])),)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "aten/src/ATen/native").mkdir(parents=True)
    (tmp_path / "aten/src/ATen/native/native_functions.yaml").write_text("")
    (tmp_path / "c10").mkdir()
    (tmp_path / "c10/It.h").write_text(HEADER)
    return Source.find(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("DECLARE_IT", [(7, 7), (8, 9)]),  # the comment right above
        ("REGISTER_IT", [(2, 3), (11, 11)]),  # the one that names it
        ("PLAIN_IT", [(12, 12)]),  # none does
    ],
)
def test_comment_and_definition(source: Source, name: str, places: list[tuple[int, int]]) -> None:
    found = explain(Macros(), source, name).passages
    assert [(one.location.line, one.location.end_line) for one in found] == places
    assert found[-1].text.startswith(f"#define {name}(x)")


def test_the_macro_of_a_line(source: Source) -> None:
    assert on_line(Macros(), source, "c10/It.h", 8).field == "DECLARE_IT"
    with pytest.raises(NotFound, match="no macro"):
        on_line(Macros(), source, "c10/It.h", 4)


def test_macros_of_a_tree(tree_index: Index) -> None:
    found = explain(tree_index, tree_index.source, "AT_FORALL_SCALAR_TYPES_WITH_COMPLEX")
    assert found.passages[0].text.startswith("// A list macro")
    with pytest.raises(NotFound, match="no macro NO_SUCH"):
        explain(tree_index, tree_index.source, "NO_SUCH")
