"""Public names exempted from the documentation coverage check."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Difficulty, Gap, Kind
from indexes.queries.gaps.tree import Tree
from indexes.queries.python_names.finding import finder_of

CONFIG = "docs/source/conf.py"
_LIST = regex(r"^coverage_ignore_(functions|classes)\s*(?:=|\+=)\s*\[([^\]]*)\]", MULTILINE)
_ITEM = regex(r"#[^\S\n]*([\w.]+)[^\S\n]*$|^\s*[\"'](\w+)[\"']", MULTILINE)


@dataclass(frozen=True, slots=True)
class Ignored:
    """A name in a list of exemptions."""

    name: str
    module: str
    """From the comment above; may be empty."""
    what: str
    """``functions`` or ``classes``."""
    place: Location


def ignored(text: str, path: str) -> Iterator[Ignored]:
    """The names in ``coverage_ignore_functions`` and ``coverage_ignore_classes``."""
    for found in _LIST.finditer(text):
        module = ""
        line, counted = text.count("\n", 0, found.start(2)) + 1, found.start(2)
        for item in _ITEM.finditer(text, found.start(2), found.end(2)):
            at = item.start(1) if item[1] else item.start(2)
            line += text.count("\n", counted, at)
            counted = at
            if item[1]:
                module = item[1]
            else:
                yield Ignored(item[2], module, found[1], Location(path, line))


def lacks(tree: Tree) -> str:
    text = tree.text(CONFIG)
    there = "" if _LIST.search(text) else f"{CONFIG} of this version ignores no names"
    return tree.lacks(CONFIG) or there


def find(tree: Tree) -> Iterator[Gap]:
    """One gap per undocumented name; and per row that can go, since its name is documented or
    gone."""
    pages = _Pages(tree)
    known = tree.modules
    for one in ignored(tree.text(CONFIG), CONFIG):
        name = f"{one.module}.{one.name}" if one.module else one.name
        listed = name in pages.listed and not pages.is_the_only(one.name)
        if not listed and not pages.has_alias(one):
            yield _gap(tree, name, one, known.get(one.module, ""), pages)


class _Pages:
    """Names listed on pages, and public names by module."""

    def __init__(self, tree: Tree) -> None:
        rows = tree.store.query(
            "SELECT target,path,line FROM python JOIN files ON files.id=python.file"
            " WHERE python.kind='page'"
        )
        self.listed = {target: Location(path, line) for target, path, line in rows}
        self.modules = {name.rpartition(".")[0] for name in self.listed}
        self._whole = set(_whole_modules(tree))
        self._public = finder_of(tree.index).exported

    def has_alias(self, one: Ignored) -> bool:
        """Whether a page lists it under a package's name, or with its whole module:
        ``torch.nn.Mish`` is ``torch.nn.modules.activation.Mish``, whose row must stay."""
        if one.module in self._whole:
            return True
        module = one.module.rpartition(".")[0]
        while module:
            if f"{module}.{one.name}" in self.listed:
                return True
            module = module.rpartition(".")[0]
        return False

    def is_the_only(self, name: str) -> bool:
        """Whether at most one module has the public name, since a row is for all."""
        return len(self._public.get(name, ())) <= 1

    def is_public(self, name: str) -> bool:
        return name in self._public


_WHOLE = regex(
    r"^[^\S\n]*\.\. automodule:: (\S+)\n(?:[^\S\n]+:[^\n]*\n)*?[^\S\n]+:members:", MULTILINE
)


def _whole_modules(tree: Tree) -> Iterator[str]:
    """The modules of which pages list everything: ``automodule`` with ``:members:``."""
    for path in tree.index.facts.paths("page"):
        text = tree.text(path)
        if ":members:" in text:
            yield from (found[1] for found in _WHOLE.finditer(text))


def _gap(tree: Tree, name: str, one: Ignored, path: str, pages: _Pages) -> Gap:
    text = tree.text(path) if path else ""
    at = _definition(text, one)
    definition = Location(path, text.count("\n", 0, at) + 1) if at else None
    page = pages.listed.get(name)
    rule = f"coverage_ignore_{one.what} lists it"
    hidden = one.module not in pages.modules
    level: Difficulty = "easy"
    if page:
        what = f"{name} is documented, and is still excused from it"
        rule += f", and {page} documents it: the row can go"
    elif path and not pages.is_public(one.name) and _is_removed(tree, path, one.name):
        what = f"{name} is excused from docs, and is not there"
        rule += f", and no file beside {path} has the name: the row can go"
    elif at and _HEAD.match(text, at):
        is_declared = not hidden and _is_exported(text, one.name)
        what, level = f"no page lists {name}", "easy" if is_declared else "medium"
        rule += "; it has a docstring that a page could show"
        rule += ", and __all__ says that it is public" if is_declared else ""
    else:
        what, level = f"{name} is not documented", "medium"
        rule += "; it needs a docstring, a page that lists it, and the row to go"
    evidence = (one.place, *(place for place in (page, definition) if place))
    return Gap(
        one.place, what, rule, evidence, name=name, stated=True, difficulty=level, size=int(hidden)
    )


def _is_removed(tree: Tree, path: str, name: str) -> bool:
    """Whether a module and the files beside and below it lack a name; for the package itself those
    beside it."""
    if _may_have(tree.text(path), name):
        return False
    folder = os.path.dirname(path)
    below = tree.paths(f"{folder}/%.py")
    near = (one for one in below if "/" in folder or os.path.dirname(one) == folder)
    return not any(_may_have(tree.text(one), name) for one in near)


_ALL = regex(r"__all__(?<=^__all__)\b[^=\n]*=\s*[\[(]([^\])]*)", MULTILINE)


def _is_exported(text: str, name: str) -> bool:
    """Whether a module declares a name public; a page that lists few of many may omit others on
    purpose."""
    listed = "".join(found[1] for found in _ALL.finditer(text))
    return f'"{name}"' in listed or f"'{name}'" in listed


def _may_have(text: str, name: str) -> bool:
    """Whether a module contains a name, or may import it by a star."""
    return name in text or "import *" in text or "globals()" in text


def _definition(text: str, one: Ignored) -> int:
    """The line where a module defines a name; 0 if it does not."""
    endings = (":", "(") if one.what == "classes" else ("(",)
    word = "class" if one.what == "classes" else "def"
    return max(text.find(f"\n{word} {one.name}{ending}") for ending in endings) + 1


_HEAD = regex(
    r"(?:class|def)\s+\w+\s*(?:\((?:[^()]|\([^()]*\))*\))?[^:\n]*:[^\n]*\n\s*r?(\"\"\"|''')"
)

KINDS = (
    Kind(
        "docs-coverage",
        "medium",
        "names excused from documentation",
        find,
        lacks,
        graded=True,
        python=True,
    ),
)
