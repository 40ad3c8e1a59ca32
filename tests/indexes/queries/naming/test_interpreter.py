"""Messages that Python itself says, and that PyTorch may say too."""

from __future__ import annotations

import pytest

from indexes.queries.index import Index
from tests.indexing import grown

MODULE = "torch.nn.modules.module"
NO_ATTRIBUTE = "AttributeError: {} has no attribute 'x'"


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        (NO_ATTRIBUTE.format("'NoneType' object"), []),
        ("TypeError: 'NoneType' object is not subscriptable", []),
        (
            NO_ATTRIBUTE.format("'Block' object"),
            [f"{MODULE}.Module.__getattr__", f"{MODULE}.Block"],
        ),
        (NO_ATTRIBUTE.format("'Optimizer' object"), ["torch.optim.optimizer.Optimizer"]),
        (
            NO_ATTRIBUTE.format("'TheirModel' object"),
            [f"{MODULE}.Module.__getattr__", f"{MODULE}.Pipe.__getattr__"],
        ),
        (NO_ATTRIBUTE.format("module 'torch.optim'"), ["torch.optim"]),
        ("ImportError: cannot import name 'x' from 'torch.optim' (/x.py)", ["torch.optim"]),
        ("ModuleNotFoundError: No module named 'torch._six'", []),
        (
            "TypeError: Optimizer.step() got an unexpected keyword argument 'x'",
            ["torch.optim.optimizer.Optimizer.step"],
        ),
        ("TypeError: forward() missing 1 required positional argument: 'x'", []),
        ("TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'", []),
        ("IndexError: tuple index out of range", []),
    ],
)
def test_what_it_is_about(tree_index: Index, text: str, hits: list[str]) -> None:
    found = tree_index.resolve(text)
    assert (found.kind, [hit.name for hit in found.hits]) == ("error", hits)
    said_here = any(hit.kind == "error" for hit in found.hits)
    assert found.note.startswith(f"Python itself says this{' too' if said_here else ', no line'}")
    assert found.confidence == ("ambiguous" if said_here else "by rule")


@pytest.mark.parametrize(
    "form", ["module '{}' has no attribute '{}'", "cannot import name '{1}' from '{0}' (/x.py)"]
)
def test_what_a_module_has_here_and_had_not_where_it_ran(tree_index: Index, form: str) -> None:
    module = "torch.optim.optimizer"
    found = tree_index.resolve(f"ImportError: {form.format(module, 'Optimizer')}")
    assert [hit.name for hit in found.hits] == [f"{module}.Optimizer"]
    assert found.note.endswith(f"this source has {module}.Optimizer, the torch that ran had not")
    gone = tree_index.resolve(f"ImportError: {form.format('torch._C', '_gone')}")
    assert (gone.hits, gone.note.partition("; ")[2]) == ((), "nothing is named torch._C._gone here")


def test_the_line_of_a_class_is_found_behind_many_others(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    said = "raise AttributeError(f\"'{type(self).__name__}' object has no attribute '{name}'\")"
    others = "".join(f"def say_{n}(self, name):\n    {said}\n\n\n" for n in range(40))
    with grown(tmp_path_factory, {"torch/_first.py": others}) as index:
        found = index.resolve(NO_ATTRIBUTE.format("'Block' object"))
    assert [hit.name for hit in found.hits] == [f"{MODULE}.Module.__getattr__", f"{MODULE}.Block"]
