"""What torchgen writes for an operator: runs the generators once per version of a tree, in a
separate process, and answers from the cached output."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.model.errors import NotFound, SourceError
from indexes.model.vocabulary import Location, SourceInfo
from indexes.serialize.answers import Object, envelope, shape
from indexes.source.aside import written_aside
from indexes.source.files import listed, modified, read_file
from indexes.source.source import Source, cache_folder
from indexes.source.torch_install import installed_torch, target_python
from navigator.live.python_process import ask_each
from navigator.live.torchgen_check import package_in


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that a build generates."""

    location: Location
    """Its path in the build."""
    family: str
    """The generated file, whatever its shard: ``VariableType.cpp``."""
    text: str
    template: Location | None
    """The template's placeholder; None in a file without a template."""
    placeholder: str
    generator: Location
    function: str
    """The function that makes it."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Generated files that contain nothing for the operator."""

    families: tuple[str, ...]
    reason: str
    """The condition in the generator's source; empty if it was not asked about the operator."""
    location: Location | None
    function: str
    comment: str
    """The comment in the source there."""
    because: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """A line that supports a reason: a collection that names the operator, or a nested call."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class Generated:
    """Everything that the generators of a tree write for an operator."""

    op: str
    source: SourceInfo
    generators: str
    """Which generators: ``torchgen of this tree``, ``torchgen of the installed torch 2.13.0``."""
    note: str
    """Why not the tree's; empty if they are."""
    pieces: tuple[Piece, ...]
    absences: tuple[Absence, ...]


shape(Piece, "path line end_line family text template placeholder generator function")
shape(Absence, "families reason place=location function comment because")
shape(Reason, "text place=location")


def generated_json(answer: Generated) -> Object:
    """The JSON of ``torchnav generated``."""
    return envelope(
        answer.source,
        op=answer.op,
        generators=answer.generators,
        note=answer.note,
        pieces=answer.pieces,
        absences=answer.absences,
    )


_PARTS = ("aten", "autograd")
_TIMEOUT = 600.0
"""Seconds."""
_RUNNING = "running torchgen and the autograd generators, once for this tree: a minute or two"
_START = (
    "import sys; root = sys.argv[1]; sys.path[:] = [root, *filter(None, sys.path)];"
    " from navigator.live.generated.dump import main;"
    " sys.path.remove(root); main(*sys.argv[2:])"
)
"""Our folder is on the path for our own modules only, and the current folder never is."""
_OF_CHECKOUT = (
    "aten/src/ATen/templates",
    "aten/src/ATen/native/native_functions.yaml",
    "aten/src/ATen/native/tags.yaml",
    "tools/autograd",
)


def generated(
    source: Source, op: str, cache: Path | None = None, tell: Callable[[str], None] | None = None
) -> Generated:
    """What the generators of a tree write for an operator, named as in native_functions.yaml.

    Raises:
        SourceError: In one line, if they can't be run.
        NotFound: If they know no such operator.
    """
    root, paths = _generators(source)
    path = (cache or cache_folder()) / "generated" / f"{digest([*paths, Path(__file__).parent])}.db"
    if not path.is_file():
        if tell:
            tell(_RUNNING)
        save(path, _run(root))
    else:
        os.utime(path)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return _Reader(db, op).answer(source.info, *_generators_used(source, root))


def _generators(source: Source) -> tuple[str, list[Path]]:
    """The tree whose generators run, empty for the installed ones, and their description."""
    root = Path(source.top)
    if source.kind != "wheel" and (package := package_in(source.top)):
        if not (root / "tools/autograd/gen_autograd.py").is_file():
            raise SourceError("this tree has torchgen and no tools/autograd/gen_autograd.py")
        return source.top, [root / package.replace(".", "/"), *(root / one for one in _OF_CHECKOUT)]
    torch = installed_torch()
    if torch is None:
        raise SourceError("this tree has no torchgen, and there is no installed torch with one")
    return "", [torch.root / "torchgen"]


def _generators_used(source: Source, root: str) -> tuple[str, str]:
    """The generators that ran, and a note if they are not the tree's."""
    if root:
        return f"{package_in(root)} and tools/autograd of this tree", ""
    torch = installed_torch()
    version = torch.version if torch else ""
    whose = f"torchgen of the installed torch {version}"
    if source.kind == "wheel" or version.partition("+")[0] == source.info.version:
        return whose, ""
    lacking = f"this tree, {source.info.version}, has no torchgen"
    return whose, f"{lacking}; the one that belongs to it may differ"


def _run(root: str) -> list[dict[str, Any]]:
    """Runs the two halves of the generators in parallel."""
    folder = str(Path(__file__).parents[3])
    command = ["-c", _START, folder, root and os.path.abspath(root)]
    python = target_python().path
    commands = ([*command, part] for part in _PARTS)
    found: list[dict[str, Any]] = ask_each(python, *commands, timeout=_TIMEOUT)
    for one in found:
        if "unable" in one:
            whose = "of this tree" if root else "of the installed torch"
            raise SourceError(f"the generators {whose} cannot run: {one['unable']}")
    return found


class _Reader:
    """Reads one operator's answer from the cache."""

    def __init__(self, db: sqlite3.Connection, op: str) -> None:
        self._db = db
        self._op = op
        self._texts: dict[int, list[str]] = {}
        self._facts: dict[str, Any] = {}

    def answer(self, source: SourceInfo, whose: str, note: str) -> Generated:
        """Everything in the cache for the operator."""
        pieces = tuple(self._pieces())
        if not pieces:
            raise NotFound(
                f"the generators write nothing for {self._op}: not in the YAML they read"
            )
        absences = tuple(self._absences({piece.family for piece in pieces}))
        return Generated(self._op, source, whose, note, pieces, absences)

    def _pieces(self) -> Iterator[Piece]:
        rows = self._db.execute(
            "SELECT p.file, f.path, f.family, first, last, template, p.line, placeholder,"
            " g.name, g.path, g.line FROM pieces p JOIN files f ON f.id = p.file"
            " JOIN functions g ON g.id = p.function WHERE op = ? ORDER BY p.file, first",
            (self._op,),
        )
        for file, path, family, first, last, template, line, placeholder, name, maker, at in rows:
            yield Piece(
                Location(path, first, last),
                family,
                "\n".join(self._lines(file)[first - 1 : last]),
                Location(template, line) if template else None,
                placeholder,
                Location(maker, at),
                name,
            )

    def _lines(self, file: int) -> list[str]:
        if file not in self._texts:
            row = self._db.execute("SELECT text FROM files WHERE id = ?", (file,)).fetchone()
            self._texts[file] = zlib.decompress(row[0]).decode().split("\n")
        return self._texts[file]

    def _absences(self, has: set[str]) -> Iterator[Absence]:
        """Each reason once, with all its files."""
        families: dict[int, list[str]] = defaultdict(list)
        every = set(self._fact("families"))
        rows = "SELECT family, reason FROM absent WHERE op = ? ORDER BY family"
        for family, reason in self._db.execute(rows, (self._op,)):
            if family in every:
                families[reason].append(family)
        for reason, names in families.items():
            yield self._refused(tuple(names), reason)
        known = {*has, *(name for names in families.values() for name in names)}
        yield from self._not_asked(sorted(every - known))

    def _refused(self, families: tuple[str, ...], number: int) -> Absence:
        row = self._db.execute("SELECT value FROM reasons WHERE id = ?", (number,)).fetchone()
        name, path, line, words, comment, *conditions = json.loads(row[0])
        because = tuple(
            Reason(": ".join(one for one in (condition, note) if one), Location(where, at))
            for where, at, condition, note in conditions
        )
        named = self._named(words)
        return Absence(families, words, Location(path, line), name, comment, (*named, *because))

    def _not_asked(self, families: list[str]) -> Iterator[Absence]:
        """Files whose generator was not asked about the operator, with the conditions around it."""
        same: dict[tuple[Any, ...], list[str]] = defaultdict(list)
        nodes, writers = self._fact("nodes"), dict(self._fact("writers"))
        for family in families:
            if family in nodes:
                matched = self._op in self._fact("matched")
                same["", "", 0, _NO_NODE if matched else _NO_ENTRY].append(family)
                continue
            path, line, conditions = writers[family][0]
            words = " and ".join(dict.fromkeys(conditions))
            same[f"condition there: {words}" if words else "", path, line, ""].append(family)
        for (words, path, line, comment), names in same.items():
            place = Location(path, line) if path else None
            yield Absence(tuple(names), words or comment, place, "", "", self._named(words))

    def _named(self, words: str) -> tuple[Reason, ...]:
        """Collections in a condition that name the operator."""
        mentioned = set(re.findall(r"\w+", words))
        places = {
            (name, path, line): None
            for name, path, line, ops in self._fact("named")
            if name in mentioned and self._op in ops
        }
        has = f"has {self._op.partition('.')[0]}"
        return tuple(Reason(f"{name} {has}", Location(*place)) for name, *place in places)

    def _fact(self, name: str) -> Any:
        if name not in self._facts:
            row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            self._facts[name] = json.loads(row[0])
        return self._facts[name]


_NO_ENTRY = "no entry of derivatives.yaml is matched to it"
_NO_NODE = "its entry of derivatives.yaml makes no Node"


_KEPT = 6
"""Number of files in the cache; the least recently used one is removed."""
_SCHEMA = """
CREATE TABLE files(id INTEGER PRIMARY KEY, path, family, text);
CREATE TABLE pieces(op, file, first, last, function, template, line, placeholder);
CREATE TABLE facts(name PRIMARY KEY, value);
CREATE TABLE absent(op, family, reason);
CREATE TABLE functions(id INTEGER PRIMARY KEY, name, path, line);
CREATE TABLE reasons(id INTEGER PRIMARY KEY, value);
CREATE INDEX by_piece ON pieces(op);
CREATE INDEX by_absence ON absent(op);
"""
_FACTS = ("writers", "named", "nodes", "matched")


def digest(paths: Iterable[Path]) -> str:
    """The digest of files, and of the files in folders, that generators consist of or read."""
    found = hashlib.blake2b(digest_size=16)
    for path in paths:
        for file in _files(path):
            found.update(f"{file}\0".encode() + read_file(file))
    return found.hexdigest()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(one for one in path.rglob("*") if one.suffix in _KINDS and one.is_file())


_KINDS = {".py", ".yaml", ".cpp", ".h", ".cu", ".in", ".ini"}


def save(path: Path, parts: Iterable[dict[str, Any]]) -> None:
    """Writes the processes' answers into a new file and swaps it in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_aside(path) as draft:
        with closing(sqlite3.connect(draft)) as db, db:
            _fill(db, list(parts))
        draft.replace(path)
    _make_room(path.parent)


def _fill(db: sqlite3.Connection, parts: list[dict[str, Any]]) -> None:
    db.executescript(_SCHEMA)
    for number, part in enumerate(parts):
        base = number * 1_000_000
        db.executemany("INSERT INTO files VALUES(?,?,?,?)", _file_rows(part["files"], base))
        pieces = (
            [op, base + file, a, b, base + by, *x] for op, file, a, b, by, *x in part["pieces"]
        )
        db.executemany("INSERT INTO pieces VALUES(?,?,?,?,?,?,?,?)", pieces)
        absent = ([op, family, base + reason] for op, family, reason in part["absent"])
        db.executemany("INSERT INTO absent VALUES(?,?,?)", absent)
        functions = ([base + at, *one] for at, one in enumerate(part["functions"]))
        db.executemany("INSERT INTO functions VALUES(?,?,?,?)", functions)
        reasons = ([base + at, json.dumps(one)] for at, one in enumerate(part["reasons"]))
        db.executemany("INSERT INTO reasons VALUES(?,?)", reasons)
    every = "SELECT DISTINCT family FROM pieces p JOIN files f ON f.id = p.file ORDER BY 1"
    families = [one for (one,) in db.execute(every)]
    facts = {name: _merged(part[name] for part in parts) for name in _FACTS}
    facts["families"] = families
    db.executemany("INSERT INTO facts VALUES(?,?)", [(k, json.dumps(v)) for k, v in facts.items()])


def _merged(values: Iterable[Any]) -> list[Any]:
    """The values of several lists or dictionaries, without repetition."""
    every = (item for value in values for item in _items(value))
    return [json.loads(text) for text in dict.fromkeys(map(json.dumps, every))]


def _items(value: Any) -> Iterable[Any]:
    return value.items() if isinstance(value, dict) else value


def _file_rows(files: list[Any], base: int) -> Iterator[tuple[Any, ...]]:
    for at, (path, family, text) in enumerate(files):
        yield base + at, path, family, zlib.compress(text.encode(), 1)


def _make_room(folder: Path) -> None:
    found = sorted(listed(folder, "*.db"), key=modified, reverse=True)
    for one in found[_KEPT:]:
        one.unlink(missing_ok=True)
