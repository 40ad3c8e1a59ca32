"""What a lab is: cells, claims, needs; and what every lab of ours keeps to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from navigator.labs.cells import NEEDS, Lab, all_labs, read_lab
from navigator.labs.report import names_in
from tests.navigator.labs.made import HEAD, lab


def test_cells_keep_the_lines_of_the_file(tmp_path: Path) -> None:
    made = lab(tmp_path, "# %%\nx = 1\n\nassert x == 1, 'one'\n\n# %% [markdown]\n# Then `x`.\n")

    assert [(cell.line, cell.is_markdown) for cell in made.cells] == [
        (2, True),
        (8, False),
        (13, True),
    ]
    assert made.cells[1].text == "x = 1\n\nassert x == 1, 'one'"
    assert [(claim.line, claim.text) for claim in made.claims] == [(10, "one")]
    assert made.cells[2].text == "Then `x`."


def test_a_lab_says_what_it_is_about_and_needs(tmp_path: Path) -> None:
    head = HEAD + "# needs: compiler, torch 2.4\n"
    made = lab(tmp_path, "# %% needs: CUDA\nassert True\n", head)

    assert (made.number, made.name, made.title) == (7, "made", "A title")
    assert made.summary == "What it is about."
    assert made.needs == ("compiler", "torch 2.4")
    assert made.cells[1].needs == ("CUDA",)


def test_what_is_no_lab_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "01_none.py"
    path.write_text("x = 1\n")
    with pytest.raises(ValueError, match="does not begin with a title"):
        read_lab(path)


LABS = all_labs()


def test_labs_are_in_an_order() -> None:
    assert [one.number for one in LABS] == list(range(1, len(LABS) + 1))
    assert len({one.name for one in LABS}) == len(LABS) >= 20


@pytest.mark.parametrize("one", LABS, ids=lambda one: one.name)
def test_a_lab_is_short_and_says_what_each_claim_means(one: Lab) -> None:
    text = one.path.read_text(encoding="utf-8")
    asserts = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert)]
    said = [node.msg.value for node in asserts if isinstance(node.msg, ast.Constant)]

    assert len(text.splitlines()) <= 80
    assert len(one.claims) == len(asserts) == len(said) >= 4
    assert one.summary
    assert names_in(one)
    assert {need.split()[0] for cell in one.cells for need in (*one.needs, *cell.needs)} <= {*NEEDS}
