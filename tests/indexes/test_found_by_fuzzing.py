"""Inputs that broke something once: see benchmarks/fuzz."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from indexes.codegen.variants import with_generated
from indexes.model.errors import NotFound, TorchnavError, UsageError
from indexes.queries.index import Index
from indexes.readers.cxx.declared_types import read_types
from indexes.readers.cxx.facts import read_bodies
from indexes.readers.project.guide import read_paragraphs
from indexes.readers.project.prose import first_sentence, package_sentence
from indexes.readers.project.toml import parse_toml
from indexes.readers.project.torchgen_lists import read_torchgen_lists
from indexes.readers.python.blocks import Text, parse, parse_expression
from indexes.readers.python.docs import read_docstrings
from indexes.readers.python.module import read_python
from indexes.readers.python.opinfo_tests import read_op_lists
from indexes.readers.yaml.extensions import read_extension
from indexes.readers.yaml.native_functions import read_native_functions
from navigator.sources import configured_sources
from tests.indexing import opened

HALF = 'lib = torch.library.Library("mylib", "FRAGMENT")\nlib.define("scale(Te\\ud800nsor x)")\n'
DEEP = [b"(" * 90_000, b"{" * 300, b"[" * 90_000 + b"1", b"x = " + b"-" * 90_000 + b"1", b"\0"]


@pytest.mark.parametrize("source", DEEP)
def test_any_python_is_read_or_refused(source: bytes) -> None:
    with pytest.raises(SyntaxError):
        parse(source)
    with pytest.raises(SyntaxError):
        parse_expression(source.decode())
    assert package_sentence(source, "x.py") is None
    assert read_torchgen_lists(source, "torchgen/model.py")[1]


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_of_strange_literals() -> None:
    assert read_torchgen_lists(b"x = 1if 2else 3\ny = '\\d'\n", "torchgen/model.py")[1] == ()


def test_half_a_character_is_kept_as_a_question_mark(tree_copy: Path, cache: Path) -> None:
    read_python(HALF.encode(), "torch/_refs/__init__.py")
    path = tree_copy / "torch/_refs/__init__.py"
    path.write_text(path.read_text() + "\nimport torch\n" + HALF)
    with opened(tree_copy, cache) as index:
        assert index.chain("add.Tensor").hops


@pytest.mark.parametrize("annotation", ['""', "'('", "int" + " | None" * 3000])
def test_annotations_that_are_none_cost_no_file(annotation: str) -> None:
    text = f'import torch\n@torch.library.custom_op("a::b", mutates_args=())\ndef e(t: {annotation}'
    facts, _ = read_python(f"{text}) -> []: ...\n".encode(), "torch/_refs/__init__.py")
    assert isinstance(facts, (list, tuple))


def test_names_with_half_a_character_or_a_nul(tree_index: Index) -> None:
    for name in ("add\ud800", ".\ud800", "add_stub\0", "add\0"):
        for ask in (tree_index.meant, tree_index.uses, tree_index.chain, tree_index.find):
            with contextlib.suppress(NotFound, UsageError):
                ask(name)


def test_an_error_of_ours_is_one_line(tree_index: Index) -> None:
    with pytest.raises(TorchnavError) as error:
        tree_index.read("a\nb\u2028c")
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["_Z2\x80", "_ZN٣abcE", "_ZN²", "_Z" + "9" * 5000])
def test_kernel_names_with_strange_digits(tree_index: Index, name: str) -> None:
    assert tree_index.kernel_name(name).name == name


def test_a_kernel_name_that_ends_within_an_operator(tree_index: Index) -> None:
    assert tree_index.kernel_name("l<operator()<e::R>(T1").name


def test_a_line_that_no_file_has(tree_index: Index) -> None:
    for ask in (tree_index.meant, tree_index.uses):
        with pytest.raises((UsageError, NotFound)):
            ask("native/BinaryOps.cpp:9999999999999999999")


def test_an_entry_that_says_itself_that_it_is_generated(tree_copy: Path, cache: Path) -> None:
    path = tree_copy / "aten/src/ATen/native/native_functions.yaml"
    entry = "\n- func: by_hand(Tensor self) -> Tensor\n  dispatch:\n    CPU: by_hand\n"
    path.write_text(f"{path.read_text()}{entry}  tags: generated\n")
    with opened(tree_copy, cache) as index:
        assert index.chain("add.Tensor").hops


def test_time_does_not_grow_with_the_square_of_repetitions() -> None:
    assert read_extension(b"\n" * 100_000 + b"- func: a(", "x.yaml")
    assert first_sentence(b"[" * 100_000, "README.md") is not None
    assert len(read_paragraphs("a word\n" * 300_000)) == 1
    assert len(read_op_lists("a = 1\n" * 300_000)) == 300_000
    assert len(read_types(b"class A { int a; };\n" * 30_000, "a.h").classes) == 1


def test_more_tensors_returned_than_letters() -> None:
    text = f"- func: a(? s) -> (T, {'T, ' * 40}Tensor)\n  autogen: .out\n"
    functions, _ = read_native_functions(text.encode(), "native_functions.yaml")
    assert with_generated(functions)


def test_a_schema_with_nothing_between_two_commas_is_refused() -> None:
    text = b"- func: a(Tensor s) -> (Tensor, , Tensor)\n  autogen: a.out\n"
    functions, problems = read_native_functions(text, "native_functions.yaml")
    assert not functions
    assert "nothing between two commas" in problems[0].message


def test_lists_and_names_that_are_nested_deep_cost_no_file() -> None:
    lists = b"void f() {\n  g(" + b"{" * 2000 + b"1" + b"}" * 2000 + b");\n}\n"
    assert read_bodies(lists, "a.cpp").definitions
    long_name = b"import torch\nadd_docstr(a" + b".b" * 700 + b", '')\n"
    read_docstrings(Text(long_name), "torch/_torch_docs.py")


def test_a_configuration_that_is_too_deep_or_names_nobody(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too deep"):
        parse_toml("a = " + "[" * 50_000)
    with pytest.raises(ValueError, match="line 2 is longer"):
        parse_toml("x = 1\n" + "a." * 60_000)
    file = tmp_path / "config.toml"
    for path in ("~nobody/x", "~\\u0000"):
        file.write_text(f'[[sources]]\npath = "{path}"\n')
        with contextlib.suppress(TorchnavError):
            assert configured_sources(file)
