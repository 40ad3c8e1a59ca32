"""Places: ``SoftMax.cpp:303``, a line of a traceback, a file of the tree."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePosixPath

from indexes.model.answers import Hit, NameMatch, Place
from indexes.model.errors import NotFound
from indexes.model.files import module_name
from indexes.model.python import PythonAnswer, PythonPlace
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery, match_of
from indexes.queries.pasted import part_of, pasted
from indexes.queries.places import at, stub_places
from indexes.queries.python_names.finding import find_in_modules
from indexes.queries.python_names.members import find_in_classes
from indexes.readers.python.blocks import Head, Text


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The files of that name with what stands at the line, and the operators that reach the line of
    a single one; for a Python frame its function."""
    if query.base.endswith(".pyi") and (made := _generated(query, index)):
        return made
    named = query.base if query.kind == "place" else query.raw.strip()
    frames = pasted(query.raw).places if query.kind == "place" else ()
    looks = (look(*one, index) for look in (_in_frame, _moved) for one in frames if one[2])
    if found := next(filter(None, looks), None):
        return found
    paths, function = files_named(named, index), frames[0][2] if frames else ""
    found = _match(named, paths, query, index)
    if (
        not (function and found and len(paths) == 1)
        or found.note
        or _has(function, paths[0], index)
    ):
        return found
    note = f"{paths[0]} has no function {function} here; the torch that ran differs"
    return replace(found, note=note, confidence="by rule")


def _generated(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The template and the generator of a stub file, and the operators of the line."""
    found = stub_places(index, index.facts, query.base, query.line)
    hits = tuple(Hit(one.kind, one.name, one.location, one.rule) for one in found)
    made = found[0] if found else None
    raw = query.raw.strip()
    return NameMatch("place", raw, made.operators, hits, made.detail) if made else None


def _moved(path: str, line: int, function: str, index: IndexedTree) -> NameMatch | None:
    """Functions of a frame's name in the same module, if its file is missing; else those and
    methods in files of its name."""
    files = files_named(path, index) if path.endswith(".py") else ()
    if "/torch/" not in f"/{path}" or any(_has(function, one, index) for one in files):
        return None
    known = python_names.find(f"{module_name(files[0])}.{function}", index) if files else None
    found = _all(known or find_in_modules(function, index))
    found = [o for o in found if known or o.name == f"{module_name(o.location.path)}.{function}"]
    if files and not known:
        found += _all(find_in_classes(function, "", index))
        found = [o for o in found if o.location.path.endswith(f"/{PurePosixPath(path).name}")]
    hits = (Hit(one.kind, one.name, one.location) for one in found)
    note = f"{path} does not define the function here; this has its name"
    return match_of("place", path, hits, note, "by rule")


def _all(answer: PythonAnswer | None) -> list[PythonPlace]:
    return [*answer.places, *answer.others] if answer else []


def find_stem(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The files of a name without extension."""
    return _match(query.base, index.facts.paths_with_stem(query.base), query, index)


def find_named(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The line named in a text without known words, as in warnings, stacks and lists of
    registrations; for a Python frame the function, since lines change."""
    for path, line, function in pasted(query.raw).places:
        paths = tuple(one for one in files_named(path, index) if _is_same_file(path, one))
        if len(paths) == 1:
            place = NameQuery(query.raw, "place", path, line=line)
            there = line <= index.read(paths[0]).count("\n") + 1
            frame = _in_frame(path, line, function, index) if function else None
            match = frame or (_match(path, paths, place, index) if there else None)
            if match and match.hits:
                return NameMatch("error", path, hits=match.hits, note=_NAMED, confidence="by rule")
    return None


def find_last_frame(text: str, index: IndexedTree) -> Hit | None:
    """The line of PyTorch in the last frame of a traceback, by its code since lines change."""
    error = pasted(text)
    path, line, function = error.places[0] if error.places else ("", 0, "")
    code = error.frame.code if error.frame else part_of(text, _POINTED)
    code = code.strip().partition("\n")[0]
    if not code or not function or "/torch/" not in f"/{path}":
        return None
    for one in files_named(path, index)[:1]:
        lines = enumerate(index.read(one).split("\n"), 1)
        same = (Location(one, at) for at, written in lines if written.strip() == code)
        there = [where for where in same if _is_in(function, where, index)]
        for where in sorted(there, key=lambda where: abs(where.line - line)):
            return Hit("text", _standing(one, where.line, index)[0].name, where, code)
    return None


_POINTED = regex(r"^-+> *\d+ +(\S.*)", re.MULTILINE)
"""The line to which IPython points."""


def _in_frame(path: str, line: int, function: str, index: IndexedTree) -> NameMatch | None:
    """The function of a frame, nearest to its line, since versions differ."""
    paths = files_named(path, index) if path.endswith(".py") else ()
    heads = [one for one in _heads(paths[0], index) if one.name == function] if paths else []
    if len(paths) != 1 or not heads or _is_in(function, Location(paths[0], line), index):
        return None
    best = [min(heads, key=lambda head: abs(head.line - line))] if line else heads
    names = ((f"{module_name(paths[0])}.{one.qualified}", one.line) for one in best)
    hits = (Hit("function", name, Location(paths[0], start)) for name, start in names)
    note = f"line {line} is in another function here; the torch that ran differs"
    note = note if line else "the frame has no line; this file has the function"
    return match_of("place", path, hits, note, "ambiguous" if len(best) > 1 else "by rule")


def _heads(path: str, index: IndexedTree) -> list[Head]:
    return Text(index.source.content(path)).heads


def _has(function: str, path: str, index: IndexedTree) -> bool:
    return any(function == head.name for head in _heads(path, index))


def _is_in(function: str, where: Location, index: IndexedTree) -> bool:
    around = _standing(where.path, where.line, index)
    return any(one.name.endswith(f".{function}") for one in around)


_NAMED = "no line of this source says the text; it names this place, of a torch that may differ"


def _is_same_file(written: str, path: str) -> bool:
    """Whether a path is a file of the tree, wherever built or installed; loggers print only the
    name."""
    return f"/{written}".endswith(f"/{path}") or "/" not in written


def _match(
    named: str, paths: tuple[str, ...], query: NameQuery, index: IndexedTree
) -> NameMatch | None:
    if not paths:
        return None
    text = named + (f":{query.line}" if query.line else "")
    found = [
        (Location(path, query.line), _standing(path, query.line, index))
        for path in paths[:_LOOKED_AT]
    ]
    found += [(Location(path, query.line), ()) for path in paths[_LOOKED_AT:]]
    if len(paths) > 1:
        hits = tuple(_hit(*one) for one in found)
        note = f"{named} names {len(paths)} files"
        return NameMatch("place", text, hits=hits, note=note, confidence="ambiguous")
    ((where, places),) = found
    operators = dict.fromkeys(op for one in places for op in one.operators)
    hit = replace(_hit(where, places), op=None)
    count = index.read(where.path).count("\n") + 1 if query.line else 0
    if query.line > count:
        note = f"{where.path} has {count:,} lines here; the torch that ran differs"
        return NameMatch("place", text, hits=(hit,), note=note, confidence="by rule")
    return NameMatch("place", text, tuple(operators), (hit,))


_LOOKED_AT = 8
"""Files of a name for which the contents of the line are determined."""


def _hit(where: Location, places: tuple[Place, ...]) -> Hit:
    """A line, with the name of what stands there and an operator that reaches it."""
    operators = [op for one in places for op in one.operators]
    detail = f"in {places[0].name}" if places else ""
    return Hit("file", where.path, where, detail, next(iter(operators), None))


def _standing(path: str, line: int, index: IndexedTree) -> tuple[Place, ...]:
    """The innermost definition at a line."""
    try:
        return at(index, path, line)[:1] if line else ()
    except NotFound:
        return ()


def files_named(path: str, index: IndexedTree) -> tuple[str, ...]:
    """The indexed files with this path or end of path, shortest first; for a path in another
    checkout or an installed torch, the file with the longest common end."""
    written = re.sub(r"\A(?:(?:\.\.?/)+|[A-Za-z]:|~)", "", path.replace("\\", "/"))
    written = written.removeprefix(f"{index.info.root}/")
    if not written.startswith("/"):
        found = index.facts.paths_ending(written)
        if not found and index.source.content(written):
            return (written,)  # of the build, which is not indexed
        if found or "-packages/" not in written:
            return tuple(path for path in found if path.endswith(written)) or found
    ends = accumulate(reversed(PurePosixPath(written).parts[1:]), lambda end, part: f"{part}/{end}")
    for end in reversed([end for end in ends if "/" in end]):
        if found := index.facts.paths_ending(end):
            return found
    return ()
