"""What keeps the house in order: its rooms, its imports and what is not to be found in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import grimp
import pytest

from indexes.store.index_file import LAYOUT_ROOMS, SCAN_ROOMS, STAGE_ROOMS

ROOT = Path(__file__).parents[1]
PACKAGES = ("indexes", "navigator")


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def test_no_folder_holds_more_modules_than_can_be_kept_in_mind() -> None:
    folders = {path.parent for path in sources()}
    modules = {f: [p for p in f.glob("*.py") if p.name != "__init__.py"] for f in folders}
    assert {str(f.relative_to(ROOT)): len(m) for f, m in modules.items() if len(m) > 25} == {}


def test_no_folder_of_tests_is_passed_over(pytestconfig: pytest.Config) -> None:
    passed_over = pytestconfig.getini("norecursedirs")
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    ours = [path for path in folders if not {"tree", "extension"} & {*path.parts}]
    names = {part for path in ours for part in path.relative_to(ROOT).parts}
    assert "build" in names
    assert not [name for name in names for pattern in passed_over if fnmatch(name, pattern)]


def test_the_formatter_wins() -> None:
    words = ("fmt: " + "skip", "fmt: " + "off")
    assert [path for path in sources() if any(w in path.read_text() for w in words)] == []


_ALLOWED = ("__future__", "_thread", "torch._", "torch.testing._")
"""``_thread`` is documented: the recorder's thread is none of the program's own. What torch tells
of its profiler, its compilers and its OpInfos it tells under private names."""


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_module_of_others_is_imported(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            private = any(part.startswith("_") for part in name.split("."))
            assert not private or name.startswith(_ALLOWED), f"{path} imports {name}"


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    circles = [
        f"{module} -> {imported}"
        for module in sorted(graph.modules)
        for imported in graph.find_modules_directly_imported_by(module)
        if graph.find_shortest_chain(imported, module)
    ]
    assert circles == []


def _rooms_behind(graph: grimp.ImportGraph, *modules: str) -> set[str]:
    """The rooms of ``indexes`` whose code has a say in what some modules do."""
    behind = {m for module in modules for m in graph.find_upstream_modules(module)}
    return {name.split(".")[1] for name in {*behind, *modules} if name.count(".") > 1}


def test_what_an_index_is_valid_for_holds_all_the_code_that_makes_it() -> None:
    graph = grimp.build_graph("indexes", exclude_type_checking_imports=True, cache_dir=None)
    scan = _rooms_behind(graph, "indexes.build.scan", "indexes.store.index_file")
    stages = _rooms_behind(graph, "indexes.build.stages")
    given = {"source", *LAYOUT_ROOMS}  # bytes come from the one, a file of other tables is refused
    assert "readers" in scan
    # Of linking the store takes the class in which it gives definitions back.
    assert scan - given - {"linking"} <= set(SCAN_ROOMS)
    assert stages - given <= set(STAGE_ROOMS)


def test_nothing_that_is_kept_is_run() -> None:
    """Indexes and caches hold rows and JSON; pickles are read of memory snapshots alone, by an
    unpickler that makes plain values. Compiled code beside the sources once answered wrongly."""
    runs = {"pickle", "marshal", "shelve", "dbm"}
    found: dict[str, set[str]] = {}
    for path in sources():
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = {a.name for node in tree if isinstance(node, ast.Import) for a in node.names}
        found |= {path.name: names & runs} if names & runs else {}
    assert found == {"memory_snapshot.py": {"pickle"}}


_MEANT_TO_END = {"test_python_process.py", "test_schema_check.py"}
"""Tests of time limits."""


def test_tests_wait_as_long_as_a_busy_machine_needs() -> None:
    """A limit of a few seconds fails beside other work; what comes is waited for, not slept for."""
    short = [
        f"{path.name}:{node.value.lineno}"
        for path in (ROOT / "tests").rglob("*.py")
        if path.name not in _MEANT_TO_END and not {"tree", "extension"} & {*path.parts}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword) and node.arg == "timeout"
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int | float)
        if node.value.value < 20
    ]
    assert short == []
