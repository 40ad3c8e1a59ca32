"""Python names that the tree deprecates but still uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from indexes.model.files import module_name
from indexes.model.python import PythonAnswer
from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree
from indexes.queries.python_names.finding import finder_of

_ARGUMENTS = r"\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
_DECORATED = regex(
    rf"^@(?<!overload\n@)(?:\w+\.)?deprecated{_ARGUMENTS}\n"
    r"(?:@[^\n]*\n)*(?:def|class)[ \t]+([A-Za-z]\w*)",
    MULTILINE,
)
_TEXT = regex(r"[fr]?\"([^\"\n]*)\"|[fr]?'([^'\n]*)'")
_SIGN = "deprecated("
_FindName = Callable[[str], PythonAnswer | None]
_PACKAGES = ("torch/", "functorch/", "test/", "benchmarks/")


@dataclass(frozen=True, slots=True)
class Deprecated:
    """A function or class under ``@deprecated(...)``."""

    name: str
    module: str
    place: Location
    says: str


def deprecated_names(text: str, path: str) -> Iterator[Deprecated]:
    """The deprecated functions and classes of a file, except single overloads."""
    for found in _DECORATED.finditer(text) if _SIGN in text else ():
        line = text.count("\n", 0, found.start(2)) + 1
        says = "".join(one or other for one, other in _TEXT.findall(found[1]))
        yield Deprecated(found[2], module_name(path), Location(path, line), says)


def lacks(tree: Tree) -> str:
    there = any(True for _ in _all_names(tree))
    return "" if there else "no function of this version is under @deprecated(...)"


def _all_names(tree: Tree) -> Iterator[Deprecated]:
    for path in tree.index.facts.paths("python"):
        if path.startswith("torch/"):
            yield from deprecated_names(tree.text(path), path)


def find(tree: Tree) -> Iterator[Gap]:
    """One gap per file that uses a deprecated name by its module, at the first use."""
    known: dict[str, list[Deprecated]] = {}
    for one in _all_names(tree):
        known.setdefault(one.name, []).append(one)
    if not known:
        return
    find_name, mentions = cache(finder_of(tree.index).find), _Mentions("|".join(known))
    for path in (*tree.index.facts.paths("python"), *tree.index.facts.paths("test")):
        text = tree.text(path)
        if path.startswith(_PACKAGES) and any(name in text for name in known):
            yield from _uses(text, path, known, mentions, find_name)


class _Mentions:
    """Finds calls and imports of some names by module: (module, name)."""

    def __init__(self, names: str) -> None:
        # Each begins with a literal, to which the engine skips.
        self._call = re.compile(rf"(torch(?<![\w.`~]torch)(?:\.\w+)*)\.({names})\s*[(]")
        self._import = re.compile(rf"from[ \t]+(torch[\w.]*)[ \t]+import[ \t][^\n#]*\b({names})\b")

    def find(self, text: str) -> list[re.Match[str]]:
        imports = (one for one in self._import.finditer(text) if not _before(text, one).strip())
        return sorted([*self._call.finditer(text), *imports], key=re.Match.start)


def _before(text: str, found: re.Match[str]) -> str:
    return text[text.rfind("\n", 0, found.start()) + 1 : found.start()]


def _deprecates(owner: str, one: Deprecated, find_name: _FindName) -> bool:
    """Whether a module deprecates a name, or a package exports it from there; ``torch.vmap`` is not
    ``torch._vmap_internals``'s."""
    if owner == one.module:
        return True
    if not one.module.startswith(f"{owner}."):
        return False
    found = find_name(f"{owner}.{one.name}")
    place = found.location if found else None
    return place is not None and place.path == one.place.path


def _uses(
    text: str,
    path: str,
    known: Mapping[str, list[Deprecated]],
    mentions: _Mentions,
    find_name: _FindName,
) -> Iterator[Gap]:
    seen: dict[Deprecated, list[Location]] = {}
    for found in mentions.find(text):
        owner, name = found[1], found[2]
        before = _before(text, found)
        for one in known[name]:
            is_words = "#" in before or ">>>" in before
            exported = found[0].startswith("from") and path.endswith("__init__.py")
            own = exported or one.place.path == path or f"_{name}(self" in text
            if not own and not is_words and _deprecates(owner, one, find_name):
                line = text.count("\n", 0, found.end()) + 1
                seen.setdefault(one, []).append(Location(path, line))
    for one, places in seen.items():
        yield _gap(one, places)


def _gap(one: Deprecated, places: list[Location]) -> Gap:
    count = f" in {len(places)} places" if len(places) > 1 else ""
    path = places[0].path
    what = f"{path} uses {one.name}{count}, which is deprecated"
    text = f': "{one.says}"' if one.says else ""
    rule = f"{one.place} is under @deprecated{text}"
    name = f"{one.module}.{one.name}"
    subject = f"{name}/{path}"
    return Gap(places[0], what, rule, (*places, one.place), name=name, subject=subject, stated=True)


KINDS = (
    Kind(
        "deprecated-name",
        "easy",
        "files that use deprecated names",
        find,
        lacks,
        apart=True,
        python=True,
    ),
)
