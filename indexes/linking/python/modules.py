"""The Python files of a tree as modules, and what names in them lead to."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from indexes.model.files import module_name
from indexes.model.vocabulary import Location, Problem
from indexes.readers.python.blocks import Text, parsed
from indexes.readers.python.scope import Function, Scope, ends_of, read_scope

Kind = Literal["module", "class", "function", "method", "property", "attribute", "bound"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a name leads to."""

    kind: Kind
    name: str
    """Where it is defined: ``torch.nn.modules.linear.Linear.forward``."""
    path: str = ""
    line: int = 0
    end_line: int = 0
    node: ast.AST | None = None
    """The head of a function (its body is emptied), the body of a class, a value."""
    instance_of: Found | None = None
    """The class of an attribute that is made by calling it."""
    made_from: tuple[Found, ...] = ()
    """The functions that were given to what made this one: ``boolean_dispatch(if_true=...)``."""
    assigned: Location | None = None
    """Where it gets the name that was asked for, if that is an assignment."""

    @property
    def location(self) -> Location:
        """Its place in the tree; the path is empty for what is bound in C++."""
        return Location(self.path, self.line, self.end_line)


class Module:
    """One file, read when first asked for."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.text = Text(data)

    @cached_property
    def scope(self) -> Scope:
        """What it binds; nothing where it is not Python."""
        found = read_scope(self.text, self.path)
        return Scope("", self.path) if isinstance(found, Problem) else found

    @cached_property
    def ends(self) -> dict[int, int]:
        """The last line of each function and class, by its first."""
        return ends_of(self.text.blocks)

    @cached_property
    def lines(self) -> list[bytes]:
        return self.text.data.split(b"\n")

    def source(self, line: int, end_line: int) -> str:
        """Some of its lines, moved to the left margin."""
        text = b"\n".join(self.lines[line - 1 : end_line]).decode("utf-8", "replace")
        return textwrap.dedent(text)

    def function(self, line: int) -> Function | None:
        """The function whose ``def`` stands at a line, with its body."""
        tree = parsed(self.source(line, self.ends.get(line, line)), self.path)
        if isinstance(tree, Problem) or not tree.body:
            return None
        ast.increment_lineno(tree, line - 1)
        first = tree.body[0]
        return first if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def module_of(found: Found) -> str:
    """The module in whose file something is defined."""
    return module_name(found.path)


def merged(orders: list[list[Found]]) -> list[Found]:
    """Orders of classes as one: a base comes once all before it have come (C3); where they can't
    agree, as they stand."""
    merged: list[Found] = []
    orders = [list(order) for order in orders if order]
    while orders:
        behind = {one.name for order in orders for one in order[1:]}
        first = next((o[0] for o in orders if o[0].name not in behind), orders[0][0])
        merged.append(first)
        left = ([one for one in order if one.name != first.name] for order in orders)
        orders = [order for order in left if order]
    return merged
