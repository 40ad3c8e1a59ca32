"""What the field on the line of the cursor means, as the documents of the tree say it."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.navigator.tui.conftest import Sit
from tests.tree_marks import TREE

README = "aten/src/ATen/native/README.md"


async def test_a_field_shows_what_the_tree_says_of_it(sit: Sit, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREE, tree)
    (tree / README).write_text("### `func`\n\nThe name and the schema.\n")
    async with sit(150, 40, tree=tree) as person:
        await person.asks_for("softmax")
        await person.presses("F")
        await person.sees("what func means", "native/README.md:1", "The name and the schema.")


async def test_a_tree_without_documents_says_so(sit: Sit) -> None:
    async with sit(150, 40) as person:
        await person.asks_for("softmax")
        await person.presses("F")
        await person.sees("this tree does not explain func")
