"""Macros that the tree calls deprecated, and that its own code still uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.checks.code import Use, by_function, product_files, uses
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree

_SIGN = "deprecated_"
_DEFINE = regex(r"((?:^//[^\n]*\n)*)^#define[ \t]+(\w+)\(((?:[^\n]*\\\n)*[^\n]*)", MULTILINE)
_INSTEAD = regex(r"\b[Uu]se\s+([A-Z]\w+(?:\([^)]*\))?(?:\s+or\s+[A-Z]\w+(?:\([^)]*\))?)*)")


@dataclass(frozen=True, slots=True)
class Deprecated:
    """A macro whose body calls a function that is deprecated, so that each use warns."""

    name: str
    place: Location
    instead: str
    """What its comment says to use; empty where it does not."""


def deprecated_macros(text: str, path: str) -> Iterator[Deprecated]:
    """The deprecated macros of a file: ``#define AT_ERROR(...) deprecated_AT_ERROR(); ...``."""
    for found in _DEFINE.finditer(text) if _SIGN in text else ():
        if f"{_SIGN}{found[2]}(" in found[3]:
            line = text.count("\n", 0, found.start(2)) + 1
            said = _INSTEAD.search(found[1].replace("\n// ", " "))
            yield Deprecated(found[2], Location(path, line), said[1] if said else "")


def lacks(tree: Tree) -> str:
    """The sources of PyTorch's C++ are in a checkout only."""
    return tree.lacks_kernels()


def find(tree: Tree) -> Iterator[Gap]:
    """One gap for each function that uses a deprecated macro."""
    paths = product_files(tree)
    headers = (path for path in paths if path.endswith(".h"))
    known = {m.name: m for path in headers for m in deprecated_macros(tree.text(path), path)}
    if not known:
        return
    # Literals first: the engine then skips to them, which a word's beginning would not let it.
    names = "|".join(rf"{one}(?<!\w{one})" for one in known)
    word = regex(rf"({names})\s*\(")
    for path in paths:
        text = tree.text(path)
        if not any(name in text for name in known):
            continue
        found = (use for use in uses(text, path, word) if not _is_defined(text, use))
        for function, used in by_function(tree, found):
            yield _gap(tree, known, function, used)


def _is_defined(text: str, use: Use) -> bool:
    """Whether a use is the macro's own ``#define``, ``#undef`` or ``#ifdef``."""
    start = text.rfind("\n", 0, use.found.start()) + 1
    return text[start : use.found.start()].lstrip().startswith("#")


def _gap(
    tree: Tree, known: Mapping[str, Deprecated], function: Definition | None, used: list[Use]
) -> Gap:
    places = [one.location for one in used]
    macros = [known[name] for name in dict.fromkeys(one.found[1] for one in used)]
    path = places[0].path
    name = function.name if function else path.rpartition("/")[2]
    count = f" in {len(places)} places" if len(places) > 1 else ""
    what = f"{name} uses {' and '.join(one.name for one in macros)}{count}"
    instead = f": use {_with_calls(macros[0].instead)}" if macros[0].instead else ""
    rule = f"{macros[0].place} calls {macros[0].name} deprecated{instead}"
    evidence = (*places, *(one.place for one in macros))
    op = tree.operator_of(function)
    subject = subject_of(function) if function else path
    return Gap(places[0], what, rule, evidence, op, name, subject, size=len(used))


def _with_calls(words: str) -> str:
    """Each macro of a comment as a call."""
    return regex(r"\b([A-Z_]{4,})\b(?!\()").sub(r"\1(...)", words)


KINDS = (
    Kind(
        "deprecated-macro",
        "easy",
        "deprecated C++ macros still in use",
        find,
        lacks,
        unit="places",
        few=5,
    ),
)
