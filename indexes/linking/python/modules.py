"""The Python files of a tree as modules, and the definitions of their names."""

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
    """The definition of a name."""

    kind: Kind
    name: str
    """The full name: ``torch.nn.modules.linear.Linear.forward``."""
    path: str = ""
    line: int = 0
    end_line: int = 0
    node: ast.AST | None = None
    """A function without its body, a class body, or a value."""
    instance_of: Found | None = None
    """The class of an attribute that is an instance."""
    made_from: tuple[Found, ...] = ()
    """The functions passed to the one that made this: ``boolean_dispatch(if_true=...)``."""
    assigned: Location | None = None
    """The assignment under the name that was looked up, if any."""

    @property
    def location(self) -> Location:
        """Its place in the tree; an empty path for names bound in C++."""
        return Location(self.path, self.line, self.end_line)


class Module:
    """One file, read on demand."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.text = Text(data)

    @cached_property
    def scope(self) -> Scope:
        """Its bindings; empty if it is not Python."""
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
        """Some of its lines, dedented."""
        text = b"\n".join(self.lines[line - 1 : end_line]).decode("utf-8", "replace")
        return textwrap.dedent(text)

    def function(self, line: int) -> Function | None:
        """The function whose ``def`` is on a line, with its body."""
        tree = parsed(self.source(line, self.ends.get(line, line)), self.path)
        if isinstance(tree, Problem) or not tree.body:
            return None
        ast.increment_lineno(tree, line - 1)
        first = tree.body[0]
        return first if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def module_of(found: Found) -> str:
    """The module of the file with the definition."""
    return module_name(found.path)


def merged(orders: list[list[Found]]) -> list[Found]:
    """The C3 merge of several orders of classes; concatenated if they conflict."""
    merged: list[Found] = []
    orders = [list(order) for order in orders if order]
    while orders:
        behind = {one.name for order in orders for one in order[1:]}
        first = next((o[0] for o in orders if o[0].name not in behind), orders[0][0])
        merged.append(first)
        left = ([one for one in order if one.name != first.name] for order in orders)
        orders = [order for order in left if order]
    return merged
