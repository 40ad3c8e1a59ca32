"""How many links of the labs each tree resolves, and which of the others it may have all the same.

    python -m benchmarks.labs TREE... [--cache FOLDER]

TREE is a checkout, or ``wheel`` for the installed torch. A name counts as

- resolved: it leads to a line that has the name, to an entry of native_functions.yaml or
  derivatives.yaml of its operator, to a line of its card, or to a file or module of its name;
- elsewhere: it leads to a line that does not have the name;
- absent: the lab says that it is not there, and no file of the tree defines its last word;
- namesake: the lab says so, and some file defines that word, in another scope or in the one that
  is meant: the first such file is printed, for a person to judge.

The last two are a look at the text of all sources, made apart from the index.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.labs.cells import all_labs
from navigator.labs.report import Link, look_up, names_in

_SUFFIXES = {".py", ".pyi", ".in", ".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh", ".yaml"}
_FOLDERS = ("torch", "aten", "c10", "torchgen", "tools", "functorch")
_LAST = re.compile(r"\w+$")
_FILE = re.compile(r"[\w/]+\.(?:cpp|h|py|yaml)")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", nargs="+", help="checkouts, or wheel")
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    names = dict.fromkeys(name for lab in all_labs() for name in names_in(lab))
    for tree in options.trees:
        source = Source.find(None if tree == "wheel" else tree)
        with contextlib.closing(Index.open(source, options.cache)) as index:
            found = {name: look_up(name, index) for name in names}
            kinds = dict(_kinds(index, found))
            counts = Counter(kind.partition(" ")[0] for kind in kinds.values())
            told = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
            print(f"{index.info.version} ({index.info.kind}): {len(names)} names: {told}")
            for name, kind in kinds.items():
                if kind not in ("resolved", "absent"):
                    print(f"  {kind.partition(' ')[0]}: {name}  {kind.partition(' ')[2]}")


KINDS = ("resolved", "elsewhere", "absent", "namesake")


def _kinds(index: Index, found: dict[str, Link]) -> Iterator[tuple[str, str]]:
    absent = [name for name, link in found.items() if link.location is None]
    defined = _defined(Path(index.source.top), absent)
    for name, link in found.items():
        if link.location is None:
            yield name, f"namesake {defined[name]}" if name in defined else "absent"
        else:
            has = _has_name(index, name, link)
            yield name, "resolved" if has else f"elsewhere {link.location}"


def _has_name(index: Index, name: str, link: Link) -> bool:
    """Whether the line that a link leads to is of its name."""
    place = link.location
    assert place is not None
    operator, _, label = name.partition(": ")
    if label or _FILE.fullmatch(name):  # a line of a card is the card's; a file is its own
        return bool(label) or place.path.endswith(name)
    if place.line == 1 and place.path.endswith(".py"):  # a module
        return place.path.removesuffix(".py").replace("/", ".") == operator
    match = index.resolve(operator)
    wanted = {_last(operator), *(one.partition(".")[0] for one in match.overloads)}
    line = index.read(place.path).splitlines()[place.line - 1]
    return any(word in re.findall(r"\w+", line) for word in wanted)


def _last(name: str) -> str:
    found = _LAST.search(name)
    return found[0] if found else name


def _defined(top: Path, names: list[str]) -> dict[str, str]:
    """Which of some names a file of the tree defines, by its text alone, with the first such."""
    words = {name: _last(name) for name in names if ": " not in name and not _FILE.fullmatch(name)}
    files = {name for name in names if _FILE.fullmatch(name)}
    form = (
        r"\b(?:def|class|struct|define)\s+(?:\w+\s+)?({0})\b|\b({0})\s*\([^;]*\)\s*(?:const\s*)?\{{"
    )
    pattern = re.compile(form.format("|".join(map(re.escape, {*words.values(), "\0"}))))
    seen: dict[str, str] = {}
    for path in (path for folder in _FOLDERS for path in (top / folder).rglob("*")):
        if path.name in files:
            seen.setdefault(path.name, str(path.relative_to(top)))
        if words and path.suffix in _SUFFIXES and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            for word in {word for one in pattern.findall(text) for word in one if word}:
                seen.setdefault(word, str(path.relative_to(top)))
    return {name: seen[word] for name in names if (word := words.get(name, name)) in seen}


if __name__ == "__main__":
    main()
