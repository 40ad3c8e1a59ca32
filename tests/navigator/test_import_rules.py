"""Who may load what, proved in processes of their own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module({package!r})
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def loaded_by(code: str) -> set[str]:
    """Top-level names of the modules that a fresh interpreter has after running ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stdout.splitlines()[-1].split())


def test_indexes_knows_no_screen_no_git_and_no_torch() -> None:
    loaded = loaded_by(_IMPORT_ALL.format(package="indexes"))
    assert "yaml" in loaded or "sqlite3" in loaded  # it did import the package
    assert not loaded & {"torch", "textual", "rich", "click", "git", "navigator"}


def test_the_screen_never_loads_torch() -> None:
    loaded = loaded_by(_IMPORT_ALL.format(package="navigator.tui"))
    assert "textual" in loaded
    assert "torch" not in loaded


def test_capture_needs_only_torch_and_the_standard_library() -> None:
    paths = sorted((ROOT / "navigator/capture").rglob("*.py"))
    assert paths
    # It also runs as a folder of scripts, whose modules then import one another by name.
    own = {name for path in paths for name in (path.stem, path.parent.name)}
    allowed = {*sys.stdlib_module_names, "torch", "navigator", *own}
    for path in paths:
        for name in imported(path):
            assert name.partition(".")[0] in allowed, f"{path} imports {name}"
            if name.startswith("navigator"):
                assert name == "navigator" or name.startswith("navigator.capture"), path


def imported(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return names


_ANSWER = """
import io, sys
from contextlib import redirect_stdout
from navigator.cli.main import main
with redirect_stdout(io.StringIO()) as out:
    status = main({arguments!r})
assert status == 0, (status, out.getvalue()[:500])
assert out.getvalue()
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


@pytest.mark.parametrize(
    "arguments",
    [["op", "softmax", "--json"], ["op", "relu"], ["find", "softmax"], ["export", "kernels"]],
    ids=" ".join,
)
def test_an_answer_loads_only_what_it_needs(arguments: list[str], wheel_cache: str) -> None:
    loaded = loaded_by(_ANSWER.format(arguments=[*arguments, "--cache", wheel_cache]))
    heavy = {"textual", "rich", "git", "torch", "tree_sitter", "yaml", "numpy", "asyncio"}
    assert not loaded & heavy


_OURS = """
import sys
from contextlib import redirect_stdout
from io import StringIO
from navigator.cli.main import main
with redirect_stdout(StringIO()):
    status = main({arguments!r})
assert status == 0
print(*(name for name in sys.modules if name.partition(".")[0] in ("indexes", "navigator")))
"""


def test_an_answer_passes_few_modules(small_tree: tuple[str, ...]) -> None:
    ours = loaded_by(_OURS.format(arguments=["op", "mul.Tensor", *small_tree]))
    assert "indexes.queries.routing.routes" in ours
    assert "indexes.build.builder" not in ours
    assert len(ours) <= 56
    assert len(loaded_by(_OURS.format(arguments=["op", "mul", *small_tree]))) <= 57


_QUERY = """
import contextlib, sys
from pathlib import Path
from indexes.queries.index import Index
from indexes.source.source import Source
with contextlib.closing(Index.open(Source.find({tree!r}), Path({cache!r}))) as index:
    assert index.chain("mul.Tensor").hops and index.find("mul") and index.operators()
    assert index.uses("mul_stub") and index.at("aten/src/ATen/native/BinaryOps.cpp", 90)
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def test_asking_an_index_loads_only_what_it_needs(small_tree: tuple[str, ...]) -> None:
    options = dict(zip(small_tree[::2], small_tree[1::2], strict=True))
    loaded = loaded_by(_QUERY.format(tree=options["--tree"], cache=options["--cache"]))
    heavy = {"torch", "textual", "rich", "click", "git", "tree_sitter", "yaml", "asyncio"}
    assert not loaded & heavy


def test_workers_of_the_screen_load_neither_textual_nor_torch() -> None:
    code = "import navigator.tui.processes.chains, navigator.tui.processes.indexing, sys\n"
    loaded = loaded_by(code + "import indexes.queries.chains.chain; print(*sys.modules)")
    assert "indexes.queries.chains.chain" in loaded
    assert not loaded & {"torch", "textual", "rich", "click"}
