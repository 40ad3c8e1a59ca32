"""Broken names and links in the docs, and references to notes that are nowhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Confidence, Gap, Kind
from indexes.queries.gaps.tree import Tree
from indexes.queries.naming.notes import near_titles
from indexes.queries.python_names.finding import finder_of
from indexes.readers.python.remarks import read_file_links
from indexes.store.notes import StoredNotes

_TYPE = regex(r"\w+Tensor\b")
"""``torch.FloatTensor``, which is created on import."""
_LABEL = regex(r"^\(([\w.:-]+)\)=", MULTILINE)
_TENSOR = "torch.Tensor"
_STUBS = ("torch/_C/__init__.pyi.in", "tools/pyi/gen_pyi.py")


def lacks(tree: Tree) -> str:
    there = tree.index.facts.paths("page")
    return "" if there else "the pages of the documentation are not in this source"


def find_names(tree: Tree) -> Iterator[Gap]:
    """One gap per name that roles link and that Python does not find, with all places."""
    exists = _Names(tree)
    found: dict[str, list[tuple[Location, str]]] = {}
    for place, name, role in tree.remarks("role"):
        if not exists.has(name):
            found.setdefault(name, []).append((place, role))
    for name, links in found.items():
        yield _dead(tree, name, links)


def _dead(tree: Tree, name: str, links: Sequence[tuple[Location, str]]) -> Gap:
    place, role = links[0]
    myst = f"{{{role}}}"
    written = myst if myst in tree.line(place) else f":{role}:"
    count = f" in {len(links)} places" if len(links) > 1 else ""
    what = f"{written}`{name}` is a dead link{count}"
    rule = "no module, class, function or generated binding of this tree has that name"
    places = tuple(one for one, _ in links)
    return Gap(place, what, rule, places, name=name, size=len(links))


# ------------------------------------------------------------------------------ files


def find_files(tree: Tree) -> Iterator[Gap]:
    """One gap per link to a file of PyTorch that this tree lacks."""
    holds = cache(tree.source.holds)
    labels = cache(partial(_labels, tree))
    indexed = ((place, target) for place, target, _ in tree.remarks("file link"))
    for place, target in (*_of_top(tree), *indexed):
        if not (holds(target) or _is_left_out(target, holds) or _last(target) in labels()):
            what = f"a link leads to {target}, which does not exist"
            rule = f"no file or folder {target} is in this tree"
            yield Gap(place, what, rule, (place,), name=place.path)


def _is_left_out(target: str, holds: Callable[[str], bool]) -> bool:
    """Whether a file is in a hidden folder that the tree lacks, as release archives lack
    ``.github``, so that it is unknown."""
    return target.startswith(".") and not holds(target.partition("/")[0])


def _labels(tree: Tree) -> frozenset[str]:
    """Targets of Markdown links by name: pages, and parts marked ``(name)=``."""
    pages = [path for path in tree.index.facts.paths("page") if path.endswith(".md")]
    names = {_last(path).removesuffix(".md") for path in pages}
    return frozenset(names.union(*(_LABEL.findall(tree.text(path)) for path in pages)))


def _last(target: str) -> str:
    return target.rpartition("/")[2]


def _of_top(tree: Tree) -> Iterator[tuple[Location, str]]:
    """The links in top-level documents: README.md, CONTRIBUTING.md ..."""
    for path in (name for name in tree.source.listed("") if name.endswith(".md")):
        for one in read_file_links(tree.text(path), path):
            yield Location(path, one.line), one.name


# ------------------------------------------------------------------------------ notes


def find_notes(tree: Tree) -> Iterator[Gap]:
    """One gap per ``See Note [Title]`` whose title no comment has; likely with a similar one."""
    notes = StoredNotes(tree.store)
    heads = {one.title.casefold() for one in notes.all if not one.is_mention}
    dangling: dict[str, list[Location]] = {}
    for one in notes.all:
        if one.title.casefold() not in heads:
            dangling.setdefault(one.title, []).append(one.location)
    for title, places in dangling.items():
        if not _is_headed(tree, title, places):
            yield _unheaded(notes, title, places)


def _is_headed(tree: Tree, title: str, places: Iterable[Location]) -> bool:
    """Whether a file that refers to a title heads it for readers: ``// [Title]``, in brackets once
    more than it is referred to, or ``// Note: Title``."""
    counts = Counter(place.path for place in places)
    texts = {path: tree.text(path) for path in counts}
    plain = re.compile(rf"(?im)^[\s/*#]*note: {re.escape(title)}[\s.:]*$")
    return any(
        text.count(f"[{title}]") > counts[path] or plain.search(text)
        for path, text in texts.items()
    )


def _unheaded(notes: StoredNotes, title: str, places: list[Location]) -> Gap:
    near = near_titles(title, notes)
    what = f"no comment is titled Note [{title}]"
    what += f": is Note [{near[0]}] meant?" if near else ""
    rule = "no indexed comment has that title"
    heads = [one.location for one in notes.titled(near[0])[0]] if near else []
    sure: Confidence = "likely" if near else "possible"
    return Gap(places[0], what, rule, (*places, *heads), name=title, confidence=sure)


# ------------------------------------------------------------------------------ names


class _Names:
    """Existing names of torch, by the cheapest test first."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._modules = tree.modules
        self._finder = finder_of(tree.index)
        rows = tree.store.query("SELECT DISTINCT target FROM python WHERE kind IN ('page','docs')")
        self._listed = frozenset(target for (target,) in rows)
        self.has = cache(self._has)

    def _has(self, name: str) -> bool:
        """Whether a name exists, or may exist at run time."""
        if name in self._listed or name in self._tree.bound:
            return True
        module, rest = split(name, self._modules)
        if not rest:
            return True
        text = self._tree.text(self._modules.get(module, ""))
        if all(holds(text, part) for part in rest.split(".")) or _TYPE.match(rest):
            return True
        if self._is_member(module, rest) or (module == "torch" and self._is_declared(rest)):
            return True
        return self._finder.find(name) is not None or self._is_native(name)

    def _is_member(self, module: str, rest: str) -> bool:
        """Whether a word occurs in the file of a class that a page lists under a public name."""
        first, _, member = rest.partition(".")
        if not member or f"{module}.{first}" not in self._listed:
            return False
        exporting = self._finder.exported.get(first, ())
        return any(holds(self._tree.text(path), member) for path in exporting)

    def _is_declared(self, name: str) -> bool:
        """Whether a C++ stub declares it: ``torch.finfo``, ``torch.int32``."""
        forms = (f"class {name}", f"\n{name}: ", f"\ndef {name}(", f'"{name}": [')
        return any(form in self._tree.text(path) for path in _STUBS for form in forms)

    def _is_native(self, name: str) -> bool:
        """Whether it may be a member of a C++ class other than Tensor, which Python files do not
        show."""
        owner, _, member = name.rpartition(".")
        if owner == _TENSOR or owner in self._modules:
            return member.startswith("__")
        found = self._finder.find(owner)
        if found is None or found.kind != "class" or found.location is None:
            return found is not None
        line = self._tree.line(found.location)
        return "_C." in line


KINDS = (
    Kind("docs-link", "easy", "names that docs link and that are nowhere", find_names, lacks),
    Kind("file-link", "easy", "links to files that do not exist", find_files, lacks),
    Kind(
        "note-link",
        "easy",
        "references to notes that are nowhere",
        find_notes,
        Tree.lacks_kernels,
        python=True,
    ),
)


def split(name: str, known: Mapping[str, str]) -> tuple[str, str]:
    """A dotted name as the longest known module and the rest: ``("torch.nn", "Linear.forward")``;
    the module may be empty."""
    module = name
    while module and module not in known:
        module = module.rpartition(".")[0]
    return module, name[len(module) :].lstrip(".")


def holds(text: str, word: str) -> bool:
    """Whether a text has a name as a whole word. Faster than compiling a pattern for each of
    thousands."""
    at = text.find(word)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(one.isalnum() or one == "_" for one in around):
            return True
        at = text.find(word, at + 1)
    return False
