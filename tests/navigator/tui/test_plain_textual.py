"""Textual by its public names alone, and screens that are Textual's."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

import navigator.tui

FOLDER = Path(navigator.tui.__file__).parent
MODULES = [one.name for one in pkgutil.walk_packages([str(FOLDER)], "navigator.tui.")]
_OWN = re.compile(r"\bself\.(_[a-z]\w*)")


def _classes() -> list[type[MessagePump]]:
    """Every screen, widget and application of torchnav."""
    members = (one for name in MODULES for one in vars(import_module(name)).values())
    found = {one for one in members if inspect.isclass(one) and issubclass(one, MessagePump)}
    return sorted((one for one in found if _is_ours(one)), key=lambda one: one.__qualname__)


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("navigator.")


@cache
def _private_names(cls: type) -> set[str]:
    """Names with an underscore that a class defines, or sets on itself."""
    defined = {name for name in vars(cls) if name.startswith("_") and not name.startswith("__")}
    return defined | set(_OWN.findall(inspect.getsource(cls)))


def _made_by_textual() -> set[str]:
    """What Textual notes on every class that is derived from its own."""

    class Plain(Widget):
        pass

    return set(vars(Plain))


@pytest.mark.parametrize("cls", _classes(), ids=lambda cls: cls.__name__)
def test_no_private_name_of_textual_is_used(cls: type[MessagePump]) -> None:
    bases = [base for base in cls.__mro__ if base.__module__.startswith("textual.")]
    theirs = {name for base in bases for name in _private_names(base)}
    assert not (_private_names(cls) - _made_by_textual()) & theirs


@pytest.mark.parametrize("name", MODULES)
def test_no_private_name_of_something_else_is_used(name: str) -> None:
    """``self._x`` alone: what is called so elsewhere may change with any version."""
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
            assert isinstance(node.value, ast.Name), ast.unparse(node)
            assert node.value.id in ("self", "cls"), ast.unparse(node)


def test_screens_inherit_from_textual_alone() -> None:
    screens = [one for one in _classes() if issubclass(one, Screen)]
    assert len(screens) > 5
    for screen in screens:
        assert screen.__bases__[0] in (Screen, ModalScreen)
        assert len([base for base in screen.__mro__ if _is_ours(base)]) == 1


@cache
def _tree(name: str) -> ast.Module:
    path = FOLDER.parents[1] / Path(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))
