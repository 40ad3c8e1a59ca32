"""Pasted error messages: the lines that raise them, the functions around, the dtypes that a macro
covers, the operators that reach them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, zip_longest

from indexes.model.answers import Hit, NameMatch, Place
from indexes.model.errors import NotFound
from indexes.model.lines import LINE
from indexes.model.python import PythonAnswer
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Location
from indexes.queries import python_names
from indexes.queries.graph_places import callers_outside
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.messages import Message, Messages
from indexes.queries.naming import operators
from indexes.queries.naming.called import (
    on_stack,
    operators_of,
    raised_elsewhere,
    raised_from,
    reached,
)
from indexes.queries.naming.places import files_named
from indexes.queries.naming.query import NameQuery, has_words, match_of
from indexes.queries.naming.spelling import parse_name
from indexes.queries.naming.texts import code_lines
from indexes.queries.pasted import (
    FAILED,
    KERNEL,
    NOT_IMPLEMENTED,
    WHEN_CALLING,
    Asserted,
    Pasted,
    asserted,
    has_message,
    part_of,
    pasted,
)
from indexes.queries.places import at
from indexes.readers.messages import DISPATCH

_LOOKED_AT = 5
"""Lines for which functions and operators are determined."""
_OPERATORS = 8
_FOR_ALL = "torchCheckMsgImpl"
"""Functions that make the text of TORCH_CHECKs without one."""


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The lines that can raise ``query.raw``, then the operators that reach the first of them."""
    if (where := asserted(query.raw)) and (match := _assertion(where, index)):
        return match
    condition = part_of(query.raw, FAILED)
    if condition and (match := _failed(condition, query.raw, index)):
        return match
    raising = raised_from(query.raw, index)
    found = Messages(index.facts.store).said(query.raw) if has_message(query.raw) else ()
    if not found:
        return raising or raised_elsewhere(query.raw, index)
    if found[0].kind.endswith(_FOR_ALL):
        condition = max(found[0].values, key=len, default="")
        if checks := _checking(condition, index):
            return match_of("error", condition, checks, _note(len(checks)))
    if found[0].kind != DISPATCH and (name := part_of(query.raw, NOT_IMPLEMENTED)):
        return _of_macro(name, found, index)
    return _with_raising(match_said(found, index, query.raw), raising)


def _with_raising(match: NameMatch | None, raising: NameMatch | None) -> NameMatch | None:
    """What was found for a message, after the function that raised it, if none of that is in it."""
    if match is None or raising is None:
        return match or raising
    function = [hit for hit in raising.hits if hit.kind == "error"]
    if any(hit.name == one.name for hit in match.hits for one in function):
        return match
    return replace(match, hits=(*function, *match.hits), confidence="by rule")


def find_whole(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A message that is whole in a text that names an operator and does not call it: ``Expected
    aten::slice or aten::select.``"""
    if not has_words(query.raw.strip()) or _CALLED.search(query.raw):
        return None
    found = Messages(index.facts.store).said(query.raw)
    is_whole = found and found[0].is_whole and not found[0].is_alike
    return match_said(found, index, query.raw) if is_whole else None


_CALLED = regex(r"\w[(\[]")


def match_said(found: tuple[Message, ...], index: IndexedTree, text: str = "") -> NameMatch | None:
    """The lines, the functions around the first of them, and the operators that reach it or are
    named in the text."""
    if not found:
        return None
    around = [_around(index, one.location) for one in found[:_LOOKED_AT]]
    stack = on_stack(index, text)
    lines = reached(list(zip(found, around, strict=False)), text, stack, index)
    found, around = (*(o for o, _ in lines), *found[_LOOKED_AT:]), [places for _, places in lines]
    hits = [_hit(index, *one) for one in lines]
    hits[1:1] = _exception(index, found[0], text)
    hits[:0] = _using(hits, text, index)
    hits += [_hit(index, one, ()) for one in found[len(lines) :]]
    calling = _calling(index, text)
    hits += calling
    named = _named(index, found[0], text)
    hits += [one for one in named if one.name not in {other.name for other in stack}]
    around = [_around(index, one.location) for one in calling] or around
    hits += stack or operator_hits(index, _in_turn([operators_of(one) for one in around]))
    several = sum(not one.is_rest for one in found)
    note = _ALIKE if found[0].is_alike else _of_others(found, text) or _note(several)
    hits = [_with_keys(one, text, index) for one in hits]
    match = NameMatch("error", found[0].text, hits=tuple(hits), note=note)
    return match if several == 1 and not note else replace(match, confidence="ambiguous")


def _using(hits: list[Hit], text: str, index: IndexedTree) -> list[Hit]:
    """The line named in a text, if it uses a macro that makes the message: ``__FILE__`` and
    ``__LINE__`` in a macro are those of its use."""
    macros = [f"{hit.name}(" for hit in hits if hit.name.isidentifier()]
    for given, line in _PLACE.findall(text)[:_LOOKED_AT] if macros else ():
        for path in files_named(given, index):
            where = Location(path, int(line))
            code = "".join(index.read(path).split("\n")[where.line - 1 : where.line])
            if used := next((one for one in macros if one in code), ""):
                return [in_function(Hit("error", path, where, f"uses {used[:-1]}"), index)]
    return []


_PLACE = regex(rf"([\w./+-]+\.\w+):({LINE})\b")


def _exception(index: IndexedTree, one: Message, text: str) -> list[Hit]:
    """The raised class, if the text is not in the raising statement."""
    answer = None if one.kind.startswith(_RAISES) else exception_of(pasted(text), index)
    if answer is None or answer.kind != "class" or answer.location is None:
        return []
    return [Hit("class", answer.defined, answer.location, "the exception that was raised")]


def exception_of(error: Pasted, index: IndexedTree) -> PythonAnswer | None:
    """The class of an exception, by its module too if that still has it."""
    names = dict.fromkeys(filter(None, (error.exception, error.raised)))
    return next(filter(None, (python_names.find(name, index) for name in names)), None)


_RAISES = ("raise ", "throw ", "TORCH_")
"""Statements that raise with a text."""


def find_dispatch(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The dtype dispatches under exactly this name, ``geqrf_cpu``."""
    return match_said(Messages(index.facts.store).dispatched(query.raw.strip("\"' ")), index)


def _assertion(failed: Asserted, index: IndexedTree) -> NameMatch | None:
    """The line of a failed assertion, by its message or its condition, since files change between
    versions; all of them, the nearest first, if several have the condition."""
    condition, path, line, said = failed
    paths = files_named(path, index)
    if len(paths) != 1:
        return None
    found = code_lines(paths, _asserting(condition), [""], index) if condition else ()
    lines = sorted((place.line for place, *_ in found), key=lambda one: abs(one - line))
    lines = _saying(said, paths[0], index) or lines
    note = _NO_ASSERTION if not lines else _note(len(lines))
    places = [Location(paths[0], one) for one in lines or [line]]
    hits = [_check_hit(condition, where, index) for where in places[:_LOOKED_AT]]
    hits += operator_hits(index, operators_of(_around(index, places[0])))
    sure: Confidence = "exact" if len(lines) == 1 else "ambiguous"
    return NameMatch("error", condition, hits=tuple(hits), note=note, confidence=sure)


_NO_ASSERTION = "no assertion of this file has that condition; the line is the pasted one"


def _saying(said: str, path: str, index: IndexedTree) -> list[int]:
    """The lines of a file with the message of an assertion."""
    found = Messages(index.facts.store).said(said) if said else ()
    return [one.location.line for one in found if one.location.path == path and one.is_whole]


def _failed(condition: str, text: str, index: IndexedTree) -> NameMatch | None:
    """The assertions with a condition, or its message, which changes less; those in a kernel or
    file named in the text if there are any."""
    quoted = re.search(r"\"[^\"]+\"", condition)
    hits = _checking(condition, index) or (_checking(quoted[0], index) if quoted else [])
    if kernel := part_of(text, KERNEL):
        own = [hit for hit in hits if hit.name.rpartition("::")[2] == kernel]
        other = None if own else _of_kernel(condition, kernel, index)
        if not (own or other):
            note = f"this source has no kernel {kernel}; others that check the same"
            return match_of("error", condition, hits, note, "ambiguous")
    else:
        named, other = [path for path, *_ in pasted(text).places], None
        own = [hit for hit in hits if any(path.endswith(hit.location.path) for path in named)]
    hits = own or hits
    return other or match_of("error", condition, hits, _note(len(hits)))


def _of_kernel(condition: str, name: str, index: IndexedTree) -> NameMatch | None:
    """The kernels of a name, if none has exactly this condition."""
    kernels = (k.definition for k in index.facts.named(name) if k.definition.cuda_global)
    hits = [Hit("error", one.qualified, one.location, f"checks {condition}") for one in kernels]
    note = "a macro makes the assertion: this is the kernel that the text names"
    return match_of("error", condition, hits, note, "by rule")


def _checking(condition: str, index: IndexedTree) -> list[Hit]:
    """The lines with a check of a condition, however it is wrapped."""
    longest = max(re.findall(r"\w+", condition), key=len, default="")
    paths = index.facts.paths("cpp") if longest else ()
    found = code_lines(paths, _asserting(condition), [longest], index)
    return [_check_hit(condition, place, index) for place, *_ in found]


def _asserting(condition: str) -> str:
    words = r"\s*".join(re.escape(word) for word in condition.split())
    return rf"(?:ASSERT|CHECK|\bassert)\w*\((?:[^;\"]*&&)?\s*{words}\s*[,)]"


def _check_hit(condition: str, where: Location, index: IndexedTree) -> Hit:
    places = _around(index, where)
    name = places[0].name if places else where.path
    return Hit("error", name, where, f"checks {condition}".strip(), _first(places))


def _of_macro(name: str, found: tuple[Message, ...], index: IndexedTree) -> NameMatch:
    """The macro, if none of its uses has the name as a literal."""
    note = f'no macro that dispatches dtypes is given "{name}" as a literal; this is what says it'
    hits = tuple(_hit(index, one, ()) for one in found)
    return NameMatch("error", found[0].text, hits=hits, note=note, confidence="by rule")


_ALIKE = "no line says all of this; what follows says a part of it, with other words around"


def _of_others(found: Iterable[Message], text: str) -> str:
    """That every line raises another exception of Python than the one in the text."""
    raised = pasted(text).raised
    named = [one.kind.rpartition(".")[2].removeprefix("raise ") for one in found if not one.is_rest]
    statements = all(one.kind.startswith("raise ") for one in found if not one.is_rest)
    if not raised or not statements or raised in named:
        return ""
    return f"none of these raises {raised}: Python, a library or the program may say the same"


def _note(several: int) -> str:
    if several == 1:
        return ""
    return f"{several} lines raise this message; its values or the traceback show which one"


def in_function(hit: Hit, index: IndexedTree) -> Hit:
    """A hit with the name of its function, which is looked up for the first hits only."""
    is_unnamed = hit.name == hit.location.path
    places = _around(index, hit.location) if is_unnamed else ()
    return replace(hit, name=places[0].name) if places else hit


def _around(index: IndexedTree, where: Location) -> tuple[Place, ...]:
    try:
        return at(index, where.path, where.line)
    except NotFound:
        return ()


def _in_turn(reaching: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The operators that reach several lines, one of each line in turn."""
    turns = chain.from_iterable(zip_longest(*dict.fromkeys(reaching)))
    return tuple(dict.fromkeys(name for name in turns if name))


def _hit(index: IndexedTree, one: Message, places: tuple[Place, ...]) -> Hit:
    if one.kind == DISPATCH:
        return _dispatch_hit(index, one, places)
    where = one.location
    known = index.facts.definitions_at(where.path, where.line) if not places else []
    name = places[0].name if places else known[0].definition.qualified if known else where.path
    kind = f"{one.kind}: " if one.kind else ""
    return Hit(one.does, name, where, f"{kind}{one.text}", _first(places))


def _first(places: tuple[Place, ...]) -> str | None:
    """The nearest operator, if few reach the place or the function or file is named after it: one
    of the hundreds that check their sizes tells nothing."""
    found = operators_of(places)
    nearest = next(iter(found), None)
    if nearest is None or len(found) <= _OPERATORS:
        return nearest
    base = nearest.rpartition("::")[2].partition(".")[0].strip("_")
    named = f"{places[0].name} {places[0].location.path.rpartition('/')[2]}"
    return nearest if base in named.lower() else None


def _dispatch_hit(index: IndexedTree, one: Message, places: tuple[Place, ...]) -> Hit:
    """The macro that lacks a dtype, with those that it has."""
    where = one.location
    known = index.facts.definitions_at(where.path, where.line)
    uses = [use for each in known for use in index.dtypes.of(each.definition)]
    here = [use for use in uses if where.line <= use.location.line <= where.end_line]
    covered = [f"{use.macro} covers {', '.join(use.dtypes)}" for use in here]
    name = known[0].definition.qualified if known else where.path
    dtypes = "; ".join(dict.fromkeys(covered)) or "its dtypes are not known"
    return Hit("error", name, where, f'"{one.text}": {dtypes}', _first(places))


def _named(index: IndexedTree, one: Message, text: str) -> list[Hit]:
    """The operators in a text: ``Could not run 'aten::add.out'``, ``linear(): got``."""
    called = [value for value in one.values if "::" in value]
    called += [value for value in one.values[:1] if f"{value}():" in text]
    called += _of_wrapper(index, part_of(text, _IN_METHOD))
    return named_hits(index, (name.removeprefix("aten::") for name in called))


_IN_METHOD = regex(r"\bin method ((?:\w+::)*wrapper_\w+)\)")
"""The function by torchgen that checks devices, in its message."""


def _of_wrapper(index: IndexedTree, name: str) -> tuple[str, ...]:
    found = operators.find(parse_name(name), index) if name else None
    return found.overloads[:1] if found else ()


_NAMED_OPERATOR = regex(r"(?:\b(aten)(?:::|\.)|\btorch\.ops\.(\w+)\.)(\w+(?:\.\w+)?)")


def operators_in(text: str, index: IndexedTree) -> list[Hit]:
    """The operators in a text by full name: ``aten::add.out``, ``aten.add.default``."""
    found = _NAMED_OPERATOR.findall(text)
    names = (f"{space}::{name}".removesuffix(".default") for _, space, name in found)
    return named_hits(index, (name.removeprefix("aten::").lstrip(":") for name in names))


def named_hits(index: IndexedTree, names: Iterable[str]) -> list[Hit]:
    """The operators in a text, or their first overload."""
    natives = (
        index.native(name) or next(iter(index.facts.overloads(name)), None) for name in names
    )
    found = {one.full_name: one for one in natives if one}
    return [
        Hit("operator", name, one.location, "named in the text", name)
        for name, one in found.items()
    ]


_UNSUPPORTED = regex(
    r"Could not run '(?:aten::)?([\w:.]+)' with arguments from the '(\w+)' backend"
)


def _with_keys(hit: Hit, text: str, index: IndexedTree) -> Hit:
    """The operator without a kernel for its arguments, with the keys that have one."""
    found = _UNSUPPORTED.search(text) if hit.kind == "operator" else None
    if found is None or hit.name != found[1]:
        return hit
    keys = dict.fromkeys(row.key for row in index.facts.kernels(hit.name))
    some = f"; its entry has one for {', '.join(keys)}" if keys else ""
    return replace(hit, detail=f"{hit.detail}; it had no kernel for {found[2]}{some}")


def _calling(index: IndexedTree, text: str) -> list[Hit]:
    """The callers of a library function that failed."""
    refused = part_of(text, WHEN_CALLING)
    called = callers_outside(index.facts, refused) if refused else ()
    return [
        Hit("caller", one.definition.qualified, place, f"calls {refused}") for one, place in called
    ][:_LOOKED_AT]


def operator_hits(index: IndexedTree, names: tuple[str, ...]) -> list[Hit]:
    """Operators that reach the line, those that users call first."""
    hits: list[Hit] = []
    for name in sorted(names, key=lambda name: (name[0] == "_", "backward" in name)):
        native = index.native(name)
        if native and len(hits) < _OPERATORS:
            more = len(names) - _OPERATORS
            rest = f" ({more} more do: torchnav at)" if len(hits) == _OPERATORS - 1 < more else ""
            hits.append(Hit("operator", name, native.location, f"reaches this line{rest}", name))
    return hits


def hits_reaching(index: IndexedTree, where: Location) -> list[Hit]:
    """The operators that reach the function at a place."""
    return operator_hits(index, operators_of(_around(index, where)))
