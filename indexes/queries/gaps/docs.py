"""Operators without docs, with docs that contradict the schema, or that no page lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from indexes.linking.python.paths import Found, place_of, same_name
from indexes.model.files import PythonFact
from indexes.model.regex import regex
from indexes.model.schema import tensor_options
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Difficulty, Gap, Kind
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.docs import PAGES, read_page

_PARSER = "torch/csrc/utils/python_arg_parser.cpp"


def lacks(tree: Tree) -> str:
    return tree.lacks("torch/_torch_docs.py")


def _docstrings(tree: Tree, name: str) -> list[Found]:
    return [found for found in tree.python.by_target(name) if found[1].kind == "docs"]


def _is_python(tree: Tree, name: str) -> bool:
    """Whether Python defines a function or method over the generated one."""
    kinds = ("functional", "method", "alias")
    return any(f.kind in kinds and f.symbol == name for _, f in tree.python.by_target(name))


# --------------------------------------------------------------------------- missing


def find_missing(tree: Tree) -> Iterator[Gap]:
    """Public methods and functions without a docstring that are tested, or documented under another
    name."""
    for name, ops in tree.bound.items():
        plain = "._" not in name and name not in tree.ignored
        if not plain or _docstrings(tree, name) or _is_python(tree, name):
            continue
        twin = _documented_twin(tree, name)
        method = name.startswith("torch.Tensor.")
        tested = method and any(tree.opinfos(op) for op in ops)
        if twin or tested:
            yield _missing(tree, name, ops[0], twin)


def _documented_twin(tree: Tree, name: str) -> Found | None:
    """The docstring of the method for a function, and vice versa; in-place functions are documented
    as methods."""
    last = name.rpartition(".")[2]
    method = name.startswith("torch.Tensor.")
    if not method and last.endswith("_"):
        return None
    twin = f"torch.{last}" if method else f"torch.Tensor.{last}"
    found = _docstrings(tree, twin)
    if not method and not any(tree.opinfos(op) for op in tree.bound[name]):
        return None
    return found[0] if found else None


def _base(op: str) -> str:
    return op.partition(".")[0]


def _missing(tree: Tree, name: str, op: str, twin: Found | None) -> Gap:
    place = tree.natives[op].location
    rule = "a generated public binding without a docstring"
    rule += f"; {twin[1].target} has one" if twin else "; OpInfo tests it as a method"
    opinfo = [place_of(found) for found in tree.opinfos(op)[:1]]
    evidence = (place, *([place_of(twin)] if twin else opinfo))
    return Gap(
        place,
        f"{name} has no docstring",
        rule,
        evidence,
        op,
        subject=name.removeprefix("torch."),
        difficulty="easy" if twin else "medium",
    )


# ------------------------------------------------------------------------- signatures


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature in the first line of a docstring."""

    name: str
    parameters: tuple[str, ...]
    defaults: tuple[tuple[str, str], ...] = ()
    """(parameter, value) of those that are given one."""


_HEAD = regex(r"r?(?:\"\"\"|''')\s*([\w.]+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:->|\n)")
_SPLIT = regex(r",(?![^\[(]*[\])])")
_PARAMETER = regex(r"(\w+)\s*(?::[^=]*)?(?:=(.*))?", re.DOTALL)


def signature(text: str) -> Signature | None:
    """The signature that a docstring begins with; None if it has none or its parameters are not
    plain names."""
    head = _HEAD.search(text)
    if head is None or text[: head.start()].count('"""'):
        return None
    parameters: list[tuple[str, str]] = []
    for part in _SPLIT.split(head[2].replace("\\", " ")):
        part = part.strip()
        if part and part not in ("*", "/") and not part.startswith("*"):
            named = _PARAMETER.fullmatch(part)
            if named is None:
                return None
            parameters.append((named[1], (named[2] or "").strip()))
    names = tuple(name for name, _ in parameters)
    return Signature(head[1], names, tuple(one for one in parameters if one[1]))


def find_signatures(tree: Tree) -> Iterator[Gap]:
    """Docstrings with another name, an unknown parameter, or an unknown default in their
    signature."""
    aliases = _numpy_names(tree)
    deprecated = _deprecated(tree.text(tree.source.locate("deprecated.yaml") or ""))
    for name, ops in tree.bound.items():
        if _is_python(tree, name):
            continue
        for found in _docstrings(tree, name):
            documented = signature(_text(tree, found)) if found[0].endswith(".py") else None
            if documented is not None:
                known = _accepted(tree, name, ops, aliases)
                known |= deprecated.get(name.rpartition(".")[2], frozenset())
                yield from _disagreements(tree, name, ops[0], documented, known, found)


def _text(tree: Tree, found: Found) -> str:
    return "\n".join(tree.lines_of(place_of(found)))


def _numpy_names(tree: Tree) -> dict[str, set[str]]:
    """NumPy's names that the argument parser accepts: axis for dim."""
    text = tree.text(_PARSER)
    start = text.find("numpy_compatibility_arg_names")
    rows = re.findall(r"\{\"(\w+)\", \{([^{}]*)\}\}", text[start : start + 1000])
    found = {name: set(re.findall(r"\w+", others)) for name, others in rows}
    return found or {
        "dim": {"axis"},
        "keepdim": {"keepdims"},
        "input": {"x", "a", "x1"},
        "other": {"x2"},
    }


def _accepted(
    tree: Tree, name: str, ops: list[str], aliases: dict[str, set[str]]
) -> frozenset[str]:
    """The parameter names of all overloads in the Python binding."""
    found = {"out"}
    for op in ops:
        schema = tree.schemas[op]
        found |= {a.name for a in schema.arguments}
        if tensor_options(schema):
            found |= {"requires_grad"}
    if "self" in found:
        found |= {"input"} if not name.startswith("torch.Tensor.") else set()
    for own, others in aliases.items():
        if own in found:
            found |= others
    return frozenset(found)


def _deprecated(text: str) -> dict[str, frozenset[str]]:
    """Parameters in signatures of deprecated.yaml, by name."""
    found: dict[str, frozenset[str]] = {}
    for name, row in re.findall(r"name: (\w+)\(([^\n]*)\)", text):
        words = re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", row)
        found[name] = found.get(name, frozenset()) | frozenset(words)
    return found


def _disagreements(
    tree: Tree, name: str, op: str, documented: Signature, known: frozenset[str], found: Found
) -> Iterator[Gap]:
    if not same_name(documented.name, name) and not same_name(documented.name, found[1].symbol):
        what = f"the docstring of {_shown(name, found[1])} begins with {documented.name}(...)"
        rule = "a docstring begins with the call it is for"
        yield _disagreement(tree, name, op, what, rule, found)
        return
    unknown = [word for word in documented.parameters if not _fits(word, known)]
    if unknown:
        what = f"{_shown(name, found[1])} documents {', '.join(unknown)}"
        rule = f"no overload of {_base(op)} has a parameter of that name: it has "
        rule += ", ".join(_python_names(tree, name, op)) or "none"
        # pages of linear algebra call the first argument A, whatever the schema does: ask first
        on_purpose = unknown[:1] == list(documented.parameters[:1]) and "linalg" in name
        level: Difficulty = "medium" if on_purpose else "easy"
        yield _disagreement(tree, name, op, what, rule, found, level)
        return
    for parameter, value in documented.defaults:
        given = _defaults(tree, name, parameter)
        if given and not any(_same(value, one) for one in given):
            what = f"{_shown(name, found[1])} documents {parameter}={value}"
            rule = f"every overload of {_base(op)} has {' or '.join(sorted(given))} there"
            yield _disagreement(tree, name, op, what, rule, found)


def _defaults(tree: Tree, name: str, parameter: str) -> set[str]:
    """The defaults of a parameter; none unless every overload has one."""
    found = set()
    for op in tree.bound[name]:
        one = next((a for a in tree.schemas[op].arguments if a.name == parameter), None)
        if one is None or one.default is None:
            return set()
        found.add(one.default)
    return found


def _same(written: str, default: str) -> bool:
    """Whether two literals are equal, or not comparable; None in a schema may mean any value."""
    one, other = _literal(written), _literal(default)
    return one is None or other is None or other[0] == "none" or one == other


def _literal(text: str) -> tuple[str, float] | None:
    if text == "None":
        return ("none", 0.0)
    if text in ("True", "False"):
        return ("bool", float(text == "True"))
    try:
        return ("number", float(text))
    except ValueError:
        return None


def _python_names(tree: Tree, name: str, op: str) -> list[str]:
    """The Python parameter names of an overload: input for self, except in methods."""
    names = [a.name for a in tree.schemas[op].arguments]
    if name.startswith("torch.Tensor."):
        return [one for one in names if one != "self"]
    return ["input" if one == "self" else one for one in names]


def _shown(name: str, fact: PythonFact) -> str:
    return name if "._" not in name else fact.symbol


def _fits(word: str, known: frozenset[str]) -> bool:
    """Whether a word combines two overloads' parameters: ``split_size_or_sections``."""
    return word in known or any(part in known for part in word.split("_or_")[:-1])


def _disagreement(
    tree: Tree,
    name: str,
    op: str,
    what: str,
    rule: str,
    found: Found,
    difficulty: Difficulty = "easy",
) -> Gap:
    subject = _shown(name, found[1]).removeprefix("torch.")
    places = (place_of(found), tree.natives[op].location)
    return Gap(places[0], what, rule, places, op, subject=subject, difficulty=difficulty)


# ------------------------------------------------------------------------------ pages


def lacks_pages(tree: Tree) -> str:
    return (
        ""
        if page_paths(tree)
        else f"the pages of the documentation ({PAGES}) are not in this source"
    )


def page_paths(tree: Tree) -> list[str]:
    names = tree.source.listed(PAGES)
    return [f"{PAGES}/{name}" for name in names if name.endswith((".rst", ".md"))]


def find_unlisted(tree: Tree) -> Iterator[Gap]:
    """Documented methods that no page lists, although one lists the variant with or without
    underscore."""
    listed = _listed_methods(tree)
    for name, ops in tree.bound.items():
        twin = name[:-1] if name.endswith("_") else f"{name}_"
        docstrings = _docstrings(tree, name)
        wanted = name.startswith("torch.Tensor.") and name not in listed and twin in listed
        if wanted and docstrings:
            place, page = place_of(docstrings[0]), listed[twin]
            rule = f"it has a docstring, and {page.path} lists {twin}"
            subject = name.removeprefix("torch.")
            what = f"no page lists {name}"
            yield Gap(place, what, rule, (place, page), ops[0], subject=subject)


def _listed_methods(tree: Tree) -> dict[str, Location]:
    """Where pages list each method, on the page with most of them, since others have another
    subject."""
    found: dict[str, list[Location]] = {}
    methods: Counter[str] = Counter()
    for path in page_paths(tree):
        for fact in read_page(tree.text(path).encode(), path):
            if fact.target.startswith("torch.Tensor."):
                methods[path] += 1
                found.setdefault(fact.target, []).append(Location(path, fact.line))
    return {name: max(places, key=lambda one: methods[one.path]) for name, places in found.items()}


KINDS = (
    Kind(
        "docs-signature",
        "easy",
        "docs that disagree with the schema",
        find_signatures,
        lacks,
        graded=True,
        python=True,
    ),
    Kind(
        "docs",
        "easy",
        "public names without a docstring",
        find_missing,
        lacks,
        graded=True,
        python=True,
    ),
    Kind(
        "docs-page",
        "easy",
        "docstrings that no page lists",
        find_unlisted,
        lacks_pages,
        python=True,
    ),
)
