"""Names without a definition: build options, ``#if`` conditions, words compared with texts,
TorchScript node kinds, and literals: rows of profiles, modes, backends."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery, match_of
from indexes.readers.python.blocks import triple_quoted

_OPTION = r"(?im)^[ \t]*(?:cmake_dependent_)?option\s*\(\s*%s\b[^)]*\)"
_SET = r"(?im)^[ \t]*set\s*\(\s*%s\b[^)\n]*\)?"
_ASKED = (
    r"^[ \t]*\#[ \t]*(?:if|ifdef|ifndef|elif|define)\b[^\n]*\b%s\b"
    r"|(?:[=!]=|\bcompare\s*\()\s*\"%s\""
)
_READS = 40
"""Most lines listed."""


def find_setting(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``USE_MKLDNN``, ``max_split_size_mb``, ``aot_graphs`` and ``QuantizedConvReLU2d``: where an
    option is declared, where it is read, and other occurrences as a text."""
    name = query.base
    if not name.isidentifier() or (name.islower() and "_" not in name.strip("_")):
        return _find_command(name, index)
    bare = name.removeprefix("__")  # loggers print the names of artifacts so
    text = rf"{_ASKED.replace('%s', name)}|[\"'](?:__)?{bare}[\"']|^[ \t]*{name}[ \t]*=(?!=)"
    paths = index.facts.python.saying(bare, f"__{bare}", name)
    found = _lines(
        sorted(paths, key=lambda path: path.endswith(".py")), text, (bare,), name, "read", index
    )
    defines = re.compile(rf"\#\s*define\s+{name}\b").match
    lines = sorted(
        found,
        key=lambda hit: (not defines(hit.detail), hit.detail.startswith(f"{name} ="), _rank(hit)),
    )
    hits = [*_options(name, index), *lines]
    note = "" if any(_ASKS.search(hit.detail) for hit in hits) else _NOT_DEFINED
    return match_of("variable", name, hits[:_READS], note, "by rule" if note else "exact")


def _find_command(name: str, index: IndexedTree) -> NameMatch | None:
    """``torchrun``: an entry point of the package."""
    command = rf"[\"']?{name}[\"']?[ ]*=[ ]*[\"']?([\w.]+):(\w+)"
    paths = ("setup.py", "pyproject.toml") if name.isidentifier() else ()
    for place, found, _ in code_lines(paths, command, [name], index):
        meant = python_names.find(f"{found[1]}.{found[2]}", index)
        hits = [Hit(o.kind, o.name, o.location) for o in (meant.places if meant else ())]
        hits.append(Hit("text", name, place, found[0].strip("\"'")))
        note = f"the command that runs {found[1]}.{found[2]}"
        return NameMatch("variable", name, hits=tuple(hits), note=note)
    return None


_ASKS = regex(r"\A(?:#|option of|set by|asked for)|[=!]=|\bcompare\b")
_NOT_DEFINED = "no definition has this name; these lines write it"


def find_row(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Names in profiles and of generated files, ``Optimizer.step#SGD.step``, ``ProfilerStep*`` and
    ``<eval_with_key>.3``, by the literals that they begin with."""
    found = _ROW.fullmatch(query.raw.strip())
    if found is None:
        return None
    begin, sign = found[1], {"*": "[#*]", ".": r"\."}.get(found[2], "#")
    return _said(rf"[\"']{re.escape(begin)}{sign}", [begin.strip("<>")], query, index)


_ROW = regex(r"([^\s#*]{4,}?)(#|\*\Z|(?<=>)\.(?=\d+\Z))\S*")


def find_beginning(name: str, query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Lines with the longest beginning of a generated name: ``__resume_at`` for
    ``__resume_at_164_2``, ``arg`` for ``arg0_1``."""
    words = name.split("_")
    begins = [name] if len(name) > 2 else []
    begins += ("_".join(words[:end]) for end in range(len(words) - 1, _WORDS - 1, -1))
    for begin in begins:
        after = "\"'{%" if len(begin) >= _LONG else "{%"  # a short one is a word too
        if found := _said(rf"[\"']{begin}_?[{after}]", [begin, f"{begin}_"], query, index):
            note = "programs number such names; these lines say how it begins"
            return replace(found, note=note)
    return None


_LONG, _WORDS = 7, 3
"""Letters of a name that tells enough as a whole, words of a part of one that does."""


def find_literal(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``nccl:all_reduce``, ``max-autotune`` and ``prim::If``: the lines with exactly this literal,
    or the schema of this operator; for a TorchScript node the lines that declare and handle its
    kind."""
    name = query.raw.strip("\"' ")
    if name.isidentifier() or len(name) < _SHORTEST or "\n" in name:
        return None
    literal, words = rf"[\"']{re.escape(name)}(?:[\"'( ]|\.\w*\()", [name]
    if option := _COMMAND_LINE.match(name):
        words = [option[1].replace("_", "-"), option[1].replace("-", "_")]
        literal = rf"[\"']--(?:{'|'.join(words)})[\"']"
    space, _, kind = name.partition("::")
    if space.isidentifier() and kind.isidentifier():
        literal += rf"|\b_\({space}, {kind}\)|\bcase {name}:"
    return _said(literal, words, query, index)


_COMMAND_LINE = regex(r"--([a-zA-Z][\w-]*)")


def find_foreign(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Names of another package, ``tl.load`` and ``np.dot``: the lines with its import name."""
    name = query.paths[-1] if query.paths else ""
    owner, _, last = name.partition(".")
    module = index.facts.python.imported_as(owner)
    if not module or index.source.holds(module.partition(".")[0]):
        return None
    text = rf"\b{re.escape(name)}\b"
    hits = tuple(
        islice(_lines(index.facts.paths("python"), text, (name,), name, "text", index), _FEW)
    )
    note = f"{module}.{last}, which is not PyTorch's"
    note += "; lines that write it" if hits else ""
    return NameMatch("variable", name, hits=hits, note=note, confidence="by rule")


_FEW = 5


def find_line(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A line of code as tracebacks print it: ``raise e.remove_dynamo_frames() from None``."""
    line = query.raw.strip()
    if "\n" in line or len(line) < _LINE or not _CODE.search(line):
        return None
    text = rf"(?<![\w.]){re.escape(line)}[ \t]*(?:\#.*)?$"
    hits = tuple(islice(_lines(_code(index), text, (line,), line, "text", index), _READS))
    is_only = len(hits) == 1 and "testing" not in hits[0].location.path
    note = "the line itself" if is_only else "written so here; a program may have the same line"
    return match_of("variable", line, hits, note, "exact" if is_only else "ambiguous")


_LINE = 12
_CODE = regex(r"[(=\[{;]|\w\.\w")


_SHORTEST = 4


def _said(
    literal: str, words: Sequence[str], query: NameQuery, index: IndexedTree
) -> NameMatch | None:
    """The lines with a literal, in files with one of its first words, node kinds first."""
    name = query.raw.strip()
    is_indexed = all(map(_INDEXED.fullmatch, words))
    paths = index.facts.python.saying(*words) if is_indexed else _code(index)
    parts = [word.rpartition("::")[2] for word in words]  # ``_(prim, If)`` has the last alone
    ordered = sorted(paths, key=lambda path: not path.endswith(".py"))
    hits = sorted(_lines(ordered, literal, parts, name, "text", index), key=_rank)
    return match_of("variable", name, hits[:_READS], _NOT_DEFINED, "by rule")


_INDEXED = regex(r"\w[\w.:-]*")


def _rank(hit: Hit) -> tuple[bool, bool, bool, bool]:
    """Sort key: node kinds and their handlers, then ``#if`` conditions, then assignments, then
    comparisons."""
    is_kind = hit.detail.startswith(("_(", "case "))
    is_test, is_asked = "/testing/" in hit.location.path, bool(_ASKS.search(hit.detail))
    return not is_kind, is_test, not is_asked, bool(_LOOKED_FOR.search(hit.detail))


_LOOKED_FOR = regex(r"startswith|\b(?:if|in)\b")


def _options(name: str, index: IndexedTree) -> Iterator[Hit]:
    """The lines of CMake that declare an option; else those that set it, else those that read it
    there and in build scripts."""
    files = ["CMakeLists.txt", *(f"cmake/{one}" for one in index.source.listed("cmake"))]
    files = [path for path in files if path.endswith(_CMAKE)]
    programs = ["setup.py", "pyproject.toml", *_started(index)]
    for pattern, kind, paths in (
        (_OPTION, "option of the build", files),
        (_SET, "set by the build", files),
        (_BUILT, "asked for by the build", [*files, *programs]),
    ):
        found = [*code_lines(paths, pattern.replace("%s", name), [name], index)]
        for place, one, _ in found:
            yield Hit("variable", name, place, f"{kind}: {' '.join(one[0].split())}")
        if found:
            return


_CMAKE = (".cmake", ".cmake.in", ".txt")
_BUILT = (
    r"(?im)^(?![ \t]*\#)[^\n\"']*(?:\$(?:ENV)?\{|\b(?:els)?if[^\n\"']*?[( ])%s\b[^\n]*"
    r"|^(?![ \t]*\#)[^\n]*[\"']%s(?:[\"']|[ ]*=[ ]*[\w.]+:)[^\n]*"
)
"""Reads of variables in CMake and of the environment in programs; a command's entry point."""


def _started(index: IndexedTree) -> list[str]:
    listed = ((folder, one) for folder in _PROGRAMS for one in index.source.listed(folder))
    return [f"{folder}/{one}" for folder, one in listed if one.endswith(".py")]


_PROGRAMS = ("tools", "tools/setup_helpers")


def code_lines(
    paths: Iterable[str],
    pattern: str,
    parts: Collection[str],
    index: IndexedTree,
    in_texts: bool = True,
) -> Iterator[tuple[Location, re.Match[str], str]]:
    """The code lines that match a pattern, in files with one of its ``parts``; unless ``in_texts``,
    without strings and trailing comments."""
    words, wanted = [part.encode() for part in parts], re.compile(pattern, re.MULTILINE)
    for path in paths:
        data = index.source.content(path)
        text = data.decode("latin-1") if any(word in data for word in words) else ""
        is_python = path.endswith(".py")
        pages = triple_quoted(data) if text and is_python else None
        for one in wanted.finditer(text):
            start = data.rfind(b"\n", 0, one.start()) + 1
            before, line = data[start : one.start()], data[start:].partition(b"\n")[0].strip()
            is_open = is_python and (before.count(b'"') % 2 or before.count(b"'") % 2)
            is_aside = not in_texts and (is_open or (b"#" if is_python else b"//") in before)
            in_page = pages and pages.end_at(one.start()) and not one[0].endswith("=")
            if not (is_aside or in_page or line.startswith(_COMMENTS)):
                place = Location(path, text.count("\n", 0, one.start()) + 1)
                yield place, one, line.decode("utf-8", "replace")


_COMMENTS = (b"//", b"# ", b"* ")


def _lines(
    paths: Iterable[str],
    pattern: str,
    parts: Sequence[str],
    name: str,
    kind: str,
    index: IndexedTree,
) -> Iterator[Hit]:
    found = code_lines(paths, pattern, parts, index)
    return (Hit(kind, name, place, line) for place, _, line in found)


def _code(index: IndexedTree) -> Iterator[str]:
    yield from index.facts.paths("python")
    yield from index.facts.paths("cpp")
