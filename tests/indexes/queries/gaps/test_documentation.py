"""Docs that say something else than the code, that lead nowhere, or are excused."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.changes.planning import Changes
from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.model import Gap, GapFilter, GapList
from indexes.queries.index import Index
from tests.indexing import append, opened


def of(answer: GapList, kind: str) -> dict[str, Gap]:
    return {gap.subject or gap.name: gap for gap in answer.gaps if gap.kind == kind}


def test_docstrings_against_signatures(answer: GapList) -> None:
    gaps = of(answer, "docstring")
    found = {name: gap.what for name, gap in gaps.items() if "words.said" in name}
    assert found == {
        "torch.words.said.Said": "torch.words.said.Said documents uno",
        "torch.words.said.Said.well": "torch.words.said.Said.well documents rate=0.25",
        "torch.words.said.Said.first": "torch.words.said.Said.first documents first",
        "torch.words.said.leaves": "torch.words.said.leaves does not document two",
    }


def test_a_gap_of_a_docstring_stands_at_its_function(answer: GapList, grown: Index) -> None:
    gap = of(answer, "docstring")["torch.words.said.leaves"]
    assert grown.read(gap.location.path).splitlines()[gap.location.line - 1].startswith("def leav")


def test_names_that_roles_link_and_that_are_nowhere(answer: GapList) -> None:
    found = of(answer, "docs-link")
    assert found["torch.never_there"].what.startswith(":func:`")
    assert found["torch.never_there_either"].what.startswith("{func}`")
    assert not [name for name in found if name.startswith("torch.words.said")]


def test_a_name_linked_in_two_places_is_one_gap(tree_copy: Path, cache: Path) -> None:
    page = "\n:func:`torch.out.relu`,\n\n:func:`torch.out.relu`\n"
    append(tree_copy, {"docs/source/torch.rst": page})
    with opened(tree_copy, cache) as index:
        (gap,) = find_gaps(index, GapFilter(("docs-link",), text="torch.out.relu")).gaps
        plan = Changes(index).of_id("docs-link/torch.out.relu")
    assert gap.what == ":func:`torch.out.relu` is a dead link in 2 places"
    assert plan is not None
    (step,) = plan.steps
    assert (step.location, len(gap.evidence)) == (gap.location, 2)


def test_links_to_files_of_the_tree(answer: GapList) -> None:
    """Pages and their parts by name are no files; of hidden folders that a tree lacks nobody can
    tell."""
    found = [gap.what for gap in answer.gaps if gap.kind == "file-link"]
    assert found == ["a link leads to torch/words/unsaid.py, which does not exist"]


def test_references_to_notes_that_are_nowhere(answer: GapList, grown: Index) -> None:
    found = {name: (gap.what, gap.confidence) for name, gap in of(answer, "note-link").items()}
    near = "no comment is titled Note [Order of keys]: is Note [Order of the keys] meant?"
    assert [name for name, (_, sure) in found.items() if sure == "likely"] == ["Order of keys"]
    assert found["Order of keys"][0] == near
    assert found["Nothing like it"] == ("no comment is titled Note [Nothing like it]", "possible")
    assert not [name for name in found if name.startswith("Headed")]
    gap = of(answer, "note-link")["Order of keys"]
    assert (
        "See Note [Order of keys]"
        in grown.read(gap.location.path).split("\n")[gap.location.line - 1]
    )
    assert (
        "# Note [Order" in grown.read(gap.evidence[-1].path).split("\n")[gap.evidence[-1].line - 1]
    )
    assert gap.needs == ()


def test_names_excused_from_docs(answer: GapList) -> None:
    found = {name: (gap.difficulty, gap.what) for name, gap in of(answer, "docs-coverage").items()}
    assert found == {
        "torch.words.said.leaves": ("easy", "no page lists torch.words.said.leaves"),
        "torch.words.said.stars": (
            "easy",
            "torch.words.said.stars is documented, and is still excused from it",
        ),
        "torch.words.said.went_away": (
            "easy",
            "torch.words.said.went_away is excused from docs, and is not there",
        ),
        "torch.words.bare.bare": ("medium", "torch.words.bare.bare is not documented"),
        "torch.words.said.Said": ("medium", "no page lists torch.words.said.Said"),
    }


def test_a_docstring_may_leave_parameters_to_another(answer: GapList) -> None:
    found = of(answer, "docstring")
    assert "torch.others.said.refers" not in found
    rest = found["torch.others.said.rests"]
    assert rest.what == "torch.others.said.rests does not document third"
    assert found["torch.others.said.uses"].what.endswith("does not document used")


def test_a_docstring_may_leave_out_a_parameter_that_the_code_calls_deprecated(
    answer: GapList,
) -> None:
    assert "torch.others.said.warned" not in of(answer, "docstring")
