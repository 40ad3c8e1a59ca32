"""What Python files and pages say of themselves and of names."""

from __future__ import annotations

import pytest

from indexes.readers.python.remarks import documented, read_remarks, said


@pytest.mark.parametrize(
    ("docstring", "names"),
    [
        ("Args:\n    a (int, optional): one\n        a: no entry\n    b, c: two", ("a", "b", "c")),
        ("    Args:\n        *args: some\n    Returns:\n        x: no", ("args",)),
        ("Args:\n    - a: a list is another form", ()),
        ("Args:\n    words that go on\n    over lines", ()),
        ("Keyword args:\n    a: one", ("a",)),
    ],
)
def test_sections_of_arguments(docstring: str, names: tuple[str, ...]) -> None:
    assert said(docstring).names == names


def test_a_class_is_held_against_its_own_init() -> None:
    text = (
        'class A(B):\n    """Args:\n        x: one\n    """\n\n\n'
        'class C:\n    """Args:\n        y: one\n    """\n    def __init__(self, y): pass\n'
    )
    assert [one.name for one in documented(text)] == ["C"]


FILE = b"""# mypy: allow-untyped-defs
def f(a):
    '''See :func:`torch.never` and https://github.com/pytorch/pytorch/blob/main/torch/away.py

    Args:
        b: not there
    '''
    return torch._convert(a) + torch._convert(a) + my_torch._other(a)
"""


def test_a_file_says_what_leads_where_and_what_it_is_excused_from() -> None:
    found = [(one.kind, one.name, one.line) for one in read_remarks(FILE, "torch/words.py")]
    assert found == [
        ("arguments", "f", 2),
        ("role", "torch.never", 3),
        ("file link", "torch/away.py", 3),
        ("untyped", "allow-untyped-defs", 1),
        ("internal call", "_convert", 0),
        ("names", "a f", 0),
    ]


def test_what_is_internal_itself_needs_no_other() -> None:
    kinds = {one.kind for one in read_remarks(FILE, "torch/_words.py")}
    assert kinds == {"role", "file link", "untyped", "names"}


def test_the_names_of_a_file_are_those_that_it_defines_and_its_classes_derive_from() -> None:
    text = (
        b"class Adam(optim.Optimizer, Generic[T]):\n    fused: bool = True\n"
        b"    async def step(self, closure=g(1), *, lr: float):\n        return other(closure)\n"
    )
    found = {one.kind: one.name for one in read_remarks(text, "torch/adam.py")}
    assert found == {"names": "Adam closure fused lr self step", "bases": "Optimizer Generic"}


def test_a_page_links_what_stands_beside_it() -> None:
    text = b"[one](beside.md) `[no](code.md)` {py:class}`~torch.Tensor`"
    found = [(one.kind, one.name) for one in read_remarks(text, "docs/source/notes/page.md")]
    assert found == [("role", "torch.Tensor"), ("file link", "docs/source/notes/beside.md")]


def test_comments_of_a_page_are_not_rendered() -> None:
    text = b"""\
.. see :func:`torch.gone`
..
   and :func:`torch.lost`

   (:func:`torch.away`)
.. note:: :func:`torch.add`
.. _a target: https://github.com/pytorch/pytorch/blob/main/torch/add.py
  .. :mod:`torch.never`
  :mod:`torch.nn`
"""
    found = [(one.name, one.line) for one in read_remarks(text, "docs/source/page.rst")]
    assert found == [("torch.add", 6), ("torch.nn", 9), ("torch/add.py", 7)]
