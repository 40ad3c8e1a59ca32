"""Resolves a pasted name in one index: what kind of name it is, and what it leads to."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from indexes.model.answers import Hit, NameMatch
from indexes.model.errors import NAME_CHARACTERS, NotFound, UsageError
from indexes.model.regex import regex
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming import (
    compiled,
    cxx,
    errors,
    graph_breaks,
    interpreter,
    keys,
    notes,
    operators,
    places,
    python,
    tests,
    texts,
    variables,
)
from indexes.queries.naming.cxx import namesakes, with_source
from indexes.queries.naming.near import near
from indexes.queries.naming.python import near_python
from indexes.queries.naming.query import NameKind, NameQuery
from indexes.queries.naming.spelling import parse_name
from indexes.queries.pasted import pasted, without_table
from indexes.store.lookup import Lookup

World = Callable[[NameQuery, IndexedTree], NameMatch | None]
"""A lookup of one kind; None if it finds nothing."""


def resolve(text: str, index: IndexedTree) -> NameMatch:
    """The meaning of a text, by the first lookup that knows it, in the order that its spelling
    suggests; of kind ``none``, with similar names and namesakes, if none does. Raises UsageError
    for a text that is too long."""
    if len(text) > NAME_CHARACTERS:
        text = without_table(text)
    if len(text) > NAME_CHARACTERS:
        raise UsageError(f"a name or text of more than {NAME_CHARACTERS:,} characters")
    query = parse_name(text.encode("utf-8", "replace").decode())  # no file has half a character
    for world in (*_BY_FORM, *_ORDER[query.kind]):
        if found := world(query, index):
            return _with_more(found, query, index)
    return _unknown(query, index)


def not_found(match: NameMatch, message: str) -> NotFound:
    """The error with similar names."""
    namesakes = (f"{hit.name} {hit.location.path}:{hit.location.line}" for hit in match.namesakes)
    return NotFound(message, match.suggestions, tuple(namesakes))


def unknown(text: str, version: str) -> str:
    """That a name or a message means nothing in a version."""
    error = pasted(text)
    if not error.raised:
        return f"nothing is named {text.strip()!r} in PyTorch {version}"
    said = f"no line of PyTorch {version} is known to say {error.text!r}"
    return f"{said}: Python, a library or the program itself may say it"


def _with_more(found: NameMatch, query: NameQuery, index: IndexedTree) -> NameMatch:
    """Adds C++ meanings of a bare Python name and vice versa, and what a device kernel's name
    runs."""
    if found.kind == "symbol":
        return _with_methods(with_source(found, query, index), query, index)
    if found.kind not in ("python", "key") or query.kind != "bare":
        return found
    return replace(found, namesakes=namesakes(query.base, index))


def _with_methods(found: NameMatch, query: NameQuery, index: IndexedTree) -> NameMatch:
    """A C++ class, with the Python methods of its name: ``TENSOR_MATCH``."""
    is_class = query.kind == "bare" and [hit.kind for hit in found.hits[:1]] == ["class"]
    other = python.find_member(query, index) if is_class else None
    methods = [hit for hit in other.hits if hit.kind == "method"] if other else []
    if not methods:
        return found
    return replace(found, hits=(*found.hits, *methods), confidence="ambiguous")


def _unknown(query: NameQuery, index: IndexedTree) -> NameMatch:
    public = near_python(query.paths[0], index) if query.kind == "python" and query.paths else ()
    near = tuple(dict.fromkeys((*public, *_near(query, index.facts))))
    others, text = namesakes(query.base, index), query.raw.strip()
    return NameMatch("none", text, suggestions=near, namesakes=others, confidence=None)


_LIKE = 0.85
"""The similarity to an operator's name for one written with a module."""


def _near(query: NameQuery, facts: Lookup) -> tuple[str, ...]:
    if query.kind in ("text", "place"):
        return ()
    if query.overload and (overloads := facts.overloads(query.base)):
        return tuple(one.full_name for one in overloads)
    if query.base.isupper() and (alike := near(query.base, variables.environment(facts), 3, _LIKE)):
        return alike
    operators = dict.fromkeys(name.partition(".")[0] for name in facts.operator_names)
    if query.kind in ("python", "library"):
        overloaded = [name.partition(".")[0] for name in query.operators]  # ``sofmax.int``
        found = [near(name, operators, 5, _LIKE) for name in (*overloaded, query.base)]
        return tuple(dict.fromkeys(name for names in found for name in names))
    first = facts.node_names if query.kind == "grad_fn" else operators
    return near(query.base, first, 5) or near(query.base, (*operators, *facts.node_names), 5)


def _find_unsaid(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The last line of the traceback and the class of an exception whose text no line has, and the
    operators in the text."""
    error = pasted(query.raw)
    frame = places.find_last_frame(query.raw, index)
    found = errors.exception_of(error, index)
    named = operators.find(parse_name(error.text), index) if found else None
    by_name = errors.named_hits(index, named.overloads) if named else ()
    ops = by_name or errors.operators_in(error.text, index)
    raised = [Hit(one.kind, one.name, one.location) for one in found.places] if found else []
    if not (raised or ops or frame):
        return None
    here = "the traceback ends in this line" if frame else "it names this operator"
    reason = "this is the exception that was raised" if raised and not frame else here
    note = f"no line of this source says the text; {reason}"
    hits = (*([frame] if frame else ()), *raised, *ops)
    return NameMatch(
        "error", error.raised or error.text, hits=hits, note=note, confidence="by rule"
    )


def _find_only_line(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A source line as tracebacks print it, if no other is equal; tests are written as programs,
    and an import, a ``with`` or a decorator names something, wherever it stands."""
    found = None if _NAMES_ONE.match(query.raw) else texts.find_line(query, index)
    return found if found and found.confidence == "exact" else None


_NAMES_ONE = regex(r"\s*(?:@|(?:import|from|with|except)\s)")


def _find_called(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """What a statement of a program calls by a name that is not public, and so may be its own: the
    line, if PyTorch has it, else what of PyTorch can be called by that name."""
    if line := texts.find_line(query, index):
        return line
    worlds = (python.find, cxx.find, python.find_member)
    found = next(filter(None, (world(query, index) for world in worlds)), None)
    hits = tuple(hit for hit in (found.hits if found else ()) if hit.kind in _CALLED_BARE)
    note = f"unless {query.base} is a function of the program itself"
    return replace(found, hits=hits, note=note, confidence="ambiguous") if found and hits else None


_CALLED_BARE = ("function", "class", "macro")


def _find_in_statement(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """What a statement is about; nothing for an import of a package that the tree lacks."""
    package = query.base.partition(".")[0] if "import " in query.raw else ""
    if not query.base or (package and not index.source.holds(package)):
        return None
    found = resolve(query.base, index)
    callee = query.base.partition("(")[0]
    is_local = found.confidence == "ambiguous" and callee.isidentifier() and callee.islower()
    return None if is_local or found.kind in ("none", "error") else found


_NUMBERED = regex(r"(\w*?[A-Za-z])_?(?:_\d+)+")
_COUNTED = regex(r"(\w*?[A-Za-z])_*\d+(?:_\d+)*")


def _find_node(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Nodes of FX graphs, ``layer_norm_2`` and ``mm_default``, named after an operator or
    overload."""
    numbered = _NUMBERED.fullmatch(query.base)
    name = numbered[1] if numbered else query.base
    cuts = [at for at, sign in enumerate(name) if sign == "_" and at]
    named = [
        one.full_name
        for at in reversed(cuts)
        for one in index.facts.overloads(name[:at])
        if (one.overload or "default").lower() == name[at + 1 :]
    ]
    for one in (*named, *([name] if numbered else [])):
        node = parse_name(one)
        if found := operators.find(node, index) or operators.find_library_operator(node, index):
            return replace(found, note=f"{_NODE}: {one}", confidence="by rule")
    if not numbered or not hasattr(operator, name):
        return None
    note = f"{_NODE}: Python's operator.{name}"
    return NameMatch("symbol", query.base, note=note, confidence="by rule")


_NODE = "a node of a graph, which FX names after what it calls"


def _find_numbered(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``__compiled_fn_3``: the lines with the beginning of such names."""
    numbered = _COUNTED.fullmatch(query.base)
    return texts.find_beginning(numbered[1], query, index) if numbered else None


def _find_member_of_python(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``structured_delegate``, which looks like a name that torchgen derives."""
    name = query.raw.strip()
    return python.find_member(replace(query, base=name), index) if name.isidentifier() else None


def _find_function_of_node(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``CompiledFunctionBackward``, of an autograd class that a function defines; for a class of
    the program the metaclass that makes its Node."""
    name = query.base.rstrip("0123456789").removesuffix("Backward")
    found = python.find_member(replace(query, base=name), index) if name else None
    where = found.hits[0].location if found else None
    head = index.read(where.path).split("\n")[where.line - 1] if where else ""
    if re.search(r"class \w+\(.*\bFunction\b", head):
        return found
    meta = f"{_FUNCTIONS}.FunctionMeta" if query.symbols[0].startswith(_FUNCTIONS) else ""
    note = f"this makes the Node of {name}, a torch.autograd.Function of the program"
    made = python.find(replace(query, paths=(meta,)), index) if meta else None
    return made and replace(made, note=note, confidence="by rule")


_FUNCTIONS = "torch.autograd.function"
"""The module that Nodes of functions in Python name as theirs."""


def _find_yaml_field(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``device_check``: a field of native_functions.yaml, where torchgen reads it."""
    known = "SELECT 1 FROM ops WHERE instr(substr(data,1,instr(data,'}')),?) LIMIT 1"
    if "(" in query.raw or not index.facts.store.query(known, (f'"{query.base}":',)):
        return None
    found = python.find(replace(query, paths=(f"{_ENTRY}.{query.base}",)), index)
    note = f"a field of native_functions.yaml: torchnav explain {query.base}"
    return found and replace(found, note=note)


_ENTRY = "torchgen.model.NativeFunction"


def _find_core_class(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """``Dispatcher``: a core C++ class, then undocumented Python names."""
    found = cxx.find_core_class(query, index)
    if found is None or python.is_documented(query, index):
        return None
    other = python.find(query, index)
    hits = (*found.hits, *(other.hits if other else ()))
    return replace(found, hits=hits, confidence="ambiguous" if other else found.confidence)


_BY_FORM: tuple[World, ...] = (
    notes.find,
    tests.find,
    compiled.find_guard,
    compiled.find_kernel,
    texts.find_row,
    graph_breaks.find,
    cxx.find_cut,
)
"""Lookups by the form of a text alone."""
_ORDER: Mapping[NameKind, tuple[World, ...]] = {
    "bare": (
        operators.find,
        _find_core_class,
        python.find_public,
        python.find_of_tensor,
        keys.find,
        python.find_documented,
        python.find_initials,
        tests.find_bare,
        _find_node,
        python.find,
        operators.find_library_operator,
        variables.find,
        _find_yaml_field,
        cxx.find_stub,
        cxx.find,
        cxx.find_member,
        errors.find_dispatch,
        cxx.find_called,
        cxx.of_vendor,
        cxx.of_library,
        python.find_member,
        places.find_stem,
        python.find_parameter,
        _find_numbered,
        texts.find_setting,
    ),
    "operator": (errors.find_whole, operators.find, cxx.find, texts.find_literal),
    "call": (operators.find, python.find_public, _find_called),
    "library": (
        errors.find_whole,
        operators.find_library_operator,
        keys.find,
        cxx.find_member,
        cxx.find,
        cxx.find_stub,
        cxx.of_library,
        texts.find_literal,
    ),
    "python": (
        variables.find,
        keys.find_in_python,
        python.find,
        python.find_star_imported,
        texts.find_foreign,
        python.find_of_class,
        operators.find,
        places.find,
        errors.find_dispatch,
        python.find_of_alias,
        python.find_member,
        python.find_inner,
        texts.find_literal,
    ),
    "local": (python.find_inner,),
    "grad_fn": (operators.find_node, python.find, cxx.find, _find_function_of_node),
    "stub": (cxx.find_stub, cxx.find, operators.find),
    "symbol": (
        cxx.find_member,
        cxx.find_first,
        keys.find,
        cxx.find_stub,
        operators.find,
        cxx.find,
        operators.find_node,
        cxx.find_called,
        cxx.of_vendor,
        cxx.of_library,
        _find_member_of_python,
        texts.find_literal,
        texts.find_line,
    ),
    "place": (places.find,),
    "statement": (_find_only_line, _find_in_statement, texts.find_line),
    "text": (
        notes.find_title,
        interpreter.find,
        errors.find,
        operators.find,
        cxx.find,
        _find_unsaid,
        places.find_named,
        cxx.of_library,
        texts.find_line,
    ),
}
