"""What knows the functions of a Python module by their names alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from indexes.queries.contribution.by_name import (
    expected_outputs,
    generator_lists,
    private,
    private_modules,
    scripted,
    tables_of,
)
from indexes.queries.corpus import Corpus
from indexes.source.source import Source

MODULE = "torch/functional.py"
FILES = {
    "torch/__init__.py": "from .functional import *\n",
    MODULE: "from ._shapes import wide\nfrom torch._common import all\n"
    "def lu(A): ...\ndef norm(A): ...\ndef _checked(A): ...\ndef cdist(a, b): ...\n",
    "torch/jit/_builtins.py": "ops = [\n 'lu']\nfs = {getattr(torch.functional, o) for o in ops}\n",
    "torch/overrides.py": "rows = {\n    torch.lu: 1,\n    torch.norm: 2,\n    torch.sum: 3}\n",
    "torch/linalg.py": "y = torch.norm(torch.lu(x))\nf = torch.cdist\n[torch.cdist, 1]\n",
    "torch/testing/rows.py": "rows = [torch.lu, torch.norm]\n",
    "torchgen/lists.py": "# cdist\ncomplex = {\n    'cdist_x',\n    'cdist', 'lu'}\n",
    "torch/_shapes.py": "wide = 1\n",
    "torch/_common.py": "all = 1\n",
    **{f"torch/use{at}.py": "from torch._common import all\n" for at in range(6)},
}


class _Files:
    """The indexed files of a small library."""

    def paths(self, kind: str) -> tuple[str, ...]:
        return tuple(FILES) if kind == "python" else ()


CORPUS = Corpus(cast("Any", _Files()), lambda path: FILES.get(path, "").encode())


def test_private_modules_that_few_import_from() -> None:
    assert [one.location.path for one in private_modules(CORPUS, MODULE)] == ["torch/_shapes.py"]


def test_tables_list_functions_under_their_package_too_or_take_them_by_a_text() -> None:
    found = [(str(one.location), one.rule) for one in tables_of(CORPUS, MODULE, "norm")]
    assert found == [
        ("torch/overrides.py:3", "lists 2 functions of torch.functional by their names"),
        ("torch/jit/_builtins.py:2", "lists 1 functions of torch.functional by their names"),
    ]


def test_functions_made_by_a_helper_are_listed_too() -> None:
    files = {
        "torch/_refs/__init__.py": "eq = _make(torch.eq)\nlt = _make(torch.lt)\n",
        "torch/_prims/context.py": "map = {\n    0: torch._refs.eq,\n    1: torch._refs.lt,}\n",
    }
    names = type("Names", (), {"paths": lambda self, kind: tuple(files)})
    corpus = Corpus(cast("Any", names()), lambda path: files.get(path, "").encode())
    (table,) = tables_of(corpus, "torch/_refs/__init__.py")
    assert str(table.location) == "torch/_prims/context.py:2"


def test_a_private_function_is_known_where_one_file_defines_it() -> None:
    assert str(private(CORPUS, "_checked")) == f"{MODULE}:5"
    assert private(CORPUS, "lu") is None
    assert private(CORPUS, "_absent") is None


def test_expected_outputs_of_the_tests_of_a_name_in_all_dimensions(tmp_path: Path) -> None:
    (tmp_path / "aten/src/ATen/native").mkdir(parents=True)
    (tmp_path / "aten/src/ATen/native/native_functions.yaml").write_text("")
    folder = tmp_path / "test/onnx/expect"
    folder.mkdir(parents=True)
    for name in ("upsample_nearest_scale", "upsample_nearest", "upsample_near", "not_upsample"):
        (folder / f"TestOperators.test_{name}.expect").write_text("")
    found = expected_outputs(Source.find(str(tmp_path)), ["upsample_nearest2d"])
    assert [one.symbol.partition("test_")[2] for one in found] == [
        "upsample_nearest.expect",
        "upsample_nearest_scale.expect",
    ]


def test_generators_that_list_an_operator_are_tables() -> None:
    (found,) = generator_lists(CORPUS, "cdist")
    assert (found.role, str(found.location)) == ("table", "torchgen/lists.py:4")
    assert not [*generator_lists(CORPUS, "norm")]


def test_functions_of_torchscript_in_cpp_are_tables(tmp_path: Path) -> None:
    (tmp_path / "aten/src/ATen/native").mkdir(parents=True)
    (tmp_path / "aten/src/ATen/native/native_functions.yaml").write_text("")
    folder = tmp_path / "torch/csrc/jit/runtime"
    folder.mkdir(parents=True)
    text = 'const std::string code = R"(\n    def cdist(a, b):\n        return a\n)";\n'
    (folder / "symbolic_script.cpp").write_text(text)
    (folder / "other.cpp").write_text("// def cdist(\n")
    source = Source.find(str(tmp_path))
    (found,) = scripted(source, "cdist")
    assert str(found.location) == "torch/csrc/jit/runtime/symbolic_script.cpp:2"
    assert not [*scripted(source, "dist")]
