"""Blocks found by their indentation are those that Python's own parser finds."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.readers.python.blocks import (
    blocks,
    heads,
    innermost,
    triple_quoted,
    without_bodies,
    without_strings,
)


def _wheel_files(root: Path) -> Iterator[Path]:
    for folder in (
        "_refs",
        "_decomp",
        "_dynamo",
        "nn",
        "jit",
        "utils",
        "testing/_internal/jit_utils.py",
    ):
        at = root / "torch" / folder
        yield from sorted(at.rglob("*.py")) if at.is_dir() else [at]


def _parsed(data: bytes) -> dict[tuple[int, str], int]:
    found: dict[tuple[int, str], int] = {}

    def visit(node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{outer}.{child.name}" if outer else child.name
                found[child.lineno, name] = child.end_lineno or 0
                visit(child, name)
            else:
                visit(child, outer)

    visit(ast.parse(data), "")
    return found


def _scanned(data: bytes) -> dict[tuple[int, str], int]:
    return {(block.head.line, block.head.qualified): block.end_line for block in blocks(data)}


def test_every_block_of_the_wheel_is_exact(torch_root: Path) -> None:
    count = 0
    for path in _wheel_files(torch_root):
        data = path.read_bytes()
        parsed = _parsed(data)
        assert parsed == _scanned(data), path
        count += len(parsed)
    assert count > 5000


@pytest.mark.checkout
def test_every_block_of_a_checkout_is_exact() -> None:
    root = Path(os.environ["TORCHNAV_CHECKOUT"])
    for folder in ("torch", "test"):
        for path in sorted((root / folder).rglob("*.py"))[::12]:
            data = path.read_bytes()
            try:
                parsed = _parsed(data)
            except (SyntaxError, ValueError):
                continue
            assert parsed == _scanned(data), path


def test_text_that_looks_like_code() -> None:
    data = b'''\
def real():
    text = """
def inside_a_string():
    pass
"""
    other = '\\'\\'\\' not a string start'  # """ nor is this
    return text


class Outer:
    """def in_docstring(): pass"""

    async def method(
        self,
        definition=None,
    ):
        return f"""{definition}
at column 0
"""

    if True:

        def conditional(self): ...


undefined = "class Nothing:"
if undefined:

    def later():
        pass
'''
    assert _scanned(data) == _parsed(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"def",
        b"def f(",
        b'"""',
        b"'''\\",
        b"class\n",
        b"def f(:\n\tpass\nx",
        b"\xff\xfe\x00def f():\n pass",
        b"def f():\r\n    return 1\r\nx = 1\r\n",
        b" def f(): pass",
        bytes(range(256)) * 20,
    ],
)
def test_bad_input_gives_blocks_within_the_file(data: bytes) -> None:
    last = data.count(b"\n") + 1
    for block in blocks(data):
        assert 1 <= block.head.line <= block.end_line <= last


def test_innermost() -> None:
    data = (
        b"class A:\n    def f(self):\n        def g():\n            pass\n        return g\n\nx = 1"
    )
    found = blocks(data)
    names = [
        block.head.qualified if block else ""
        for block in (innermost(found, n) for n in range(1, 8))
    ]
    assert names == ["A", "A.f", "A.f.g", "A.f.g", "A.f", "", ""]


def test_heads_can_be_narrowed() -> None:
    data = (
        b"class TestA:\n    def helper(self): pass\n    def test_b(self): pass\ndef test_c(): 1\n"
    )
    found = heads(data, None, (b"def test", b"class "))
    assert [(head.qualified, head.line) for head in found] == [
        ("TestA", 1),
        ("TestA.test_b", 3),
        ("test_c", 4),
    ]


def test_emptied_source_keeps_its_lines_and_parses(torch_root: Path) -> None:
    data = (torch_root / "torch/_refs/__init__.py").read_bytes()
    spans = triple_quoted(data)
    outer = [block for block in blocks(data) if block.head.parent < 0]
    for emptied in (without_bodies(data, outer), without_strings(data, spans)):
        assert emptied.count(b"\n") == data.count(b"\n")
        lines = {node.lineno for node in ast.parse(emptied).body if hasattr(node, "name")}
        assert lines == {node.lineno for node in ast.parse(data).body if hasattr(node, "name")}
