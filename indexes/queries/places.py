"""What stands at a line of YAML, C++, a TORCH_LIBRARY block, Python or a generated ``.pyi``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from indexes.linking.facts import Known, LibraryUse
from indexes.linking.graph import Node
from indexes.linking.python.paths import PythonIndex
from indexes.linking.registrations import written_registrations
from indexes.linking.visible import stub_name, stub_scope
from indexes.model.answers import Callee, Hit, Place
from indexes.model.errors import NotFound, SourceError
from indexes.model.files import PythonFact, canonical, module_name, pack, unpack
from indexes.model.idioms import close, meaning_of
from indexes.model.lines import grouped, listed
from indexes.model.vocabulary import Definition, Location
from indexes.queries.graph_places import callees, reaching, starts_of, targets, uses_of
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.unread import UnreadBodies
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.operators import leads_to
from indexes.readers.cxx.facts import keeps_bodies
from indexes.readers.cxx.lexer import lex
from indexes.readers.python.blocks import blocks, decorated, innermost
from indexes.source.files import read_file
from indexes.store.lookup import Lookup
from indexes.store.notes import StoredNotes
from indexes.store.registrations import library_uses, named_macros, outline_of

_USERS = 5
"""Most users named for a place that no operator reaches."""


def at(index: IndexedTree, path: str, line: int) -> tuple[Place, ...]:
    """What stands at ``path:line``, innermost first."""
    facts = index.facts
    if path.endswith(".pyi") and (generated := stub_places(index, facts, path, line)):
        return generated
    path = facts.whole_path(path)
    places = [*_yaml(index, facts, path, line), *_members(index, path, line)]
    places += _macro_uses(facts, path, line)
    places += library_places(facts, path, line, index.read)
    places += _definitions(index, path, line)
    if path.endswith(".py"):
        places += python_places(index, facts, path, line)
    places += _notes(facts, path, line)
    if not places:
        near = _nearest(facts, path, line)
        text = f"; the nearest is {near.name} at line {near.location.line}" if near else ""
        raise NotFound(f"nothing is indexed at {path}:{line}{text}")
    return tuple(places)


def _nearest(facts: Lookup, path: str, line: int) -> Definition | None:
    """The definition that begins or ends nearest to a line outside all definitions."""

    def away(one: Definition) -> int:
        return min(abs(one.location.line - line), abs(one.location.end_line - line))

    return min((known.definition for known in facts.definitions_in(path)), key=away, default=None)


def _yaml(index: IndexedTree, facts: Lookup, path: str, line: int) -> list[Place]:
    if path == index.source.locate("native_functions.yaml"):
        found = [one for one in facts.natives() if one.location.covers(line)]
        return [
            Place("operator", f.full_name, f.location, f.schema, (f.full_name,), "its YAML entry")
            for f in sorted(found, key=lambda one: "generated" in one.tags)
        ]
    if path == index.source.locate("derivatives.yaml"):
        return _derivative_places(facts, line)
    return []


def _derivative_places(facts: Lookup, line: int) -> list[Place]:
    for entry in facts.entries():
        if entry.location.covers(line):
            formulas = [
                Place(
                    "formula", f"{', '.join(f.inputs)}: {f.text}", f.location, f.kind, (entry.op,)
                )
                for s in entry.sets
                for f in s.formulas
                if f.location.covers(line)
            ]
            nodes = ", ".join(s.grad_fn for s in entry.sets if s.grad_fn)
            return [*formulas, Place("derivative", entry.op, entry.location, nodes, (entry.op,))]
    return []


def _notes(facts: Lookup, path: str, line: int) -> Iterator[Place]:
    """The notes that a line is of, and those that it refers to."""
    stored = StoredNotes(facts.store)
    for one in stored.at(path, line):
        heads = [one] if one.has_text else stored.titled(one.title)[0]
        rule = "the line is of this note" if one.has_text else "the line refers to this note"
        for head in heads:
            yield Place("note", head.title, head.location, rule=rule)


def _members(index: IndexedTree, path: str, line: int) -> list[Place]:
    if path != index.source.locate("TensorImpl.h"):
        return []
    return [
        Place("member", m.name, m.location, f"{m.type}: {m.comment}"[:400])
        for m in index.tensorimpl()
        if line == m.location.line or any(a.line == line for a in m.accessors)
    ]


def _macro_uses(facts: Lookup, path: str, line: int) -> list[Place]:
    places = []
    for use in facts.macro_uses_at(path, line):
        text = f"{use.name}({use.arguments})"
        if use.stub:
            what = "registration" if meaning_of(use.name) == "registered" else "stub"
            ways = reaching(facts, _stub_nodes(facts, use.stub, use.location))
            ops = tuple(dict.fromkeys(way.op for way in ways))
            rule = "uses of the stub"
            places.append(Place(what, use.stub, use.location, text, ops, rule, ways=ways))
        elif not use.made:
            places.append(Place("macro", use.name, use.location, text))
    return places


def _stub_nodes(facts: Lookup, stub: str, where: Location) -> list[Node]:
    uses = [use for use in facts.stub_uses(stub) if use.location.path == where.path]
    names = (stub_name(stub_scope(u), u.stub) for u in uses if u.location.line == where.line)
    return [Node("stub", name) for name in dict.fromkeys(names)]


def _definitions(index: IndexedTree, path: str, line: int) -> Iterator[Place]:
    calls_told = False
    for known in index.facts.definitions_at(path, line):
        place = _definition_place(index.facts, known)
        if known.definition.kind != "class" and not calls_told:
            calls_told = True
            place = replace(place, calls=_calls(index, known, line))
        yield place


def _calls(index: IndexedTree, known: Known, line: int) -> tuple[Callee, ...]:
    """The calls on a line of a definition, whose body is read now if the index lacks it."""
    found = callees(index.facts, known, line)
    if found or keeps_bodies(known.definition.location.path):
        return found
    bodies = UnreadBodies(ImpactFacts(index.facts, index.source.content))
    return targets(index.facts, bodies.edges_at(known, line))


def _definition_place(facts: Lookup, known: Known) -> Place:
    found = known.definition
    own = facts.kernel_of(known)
    ways = reaching(facts, starts_of(facts, known))
    ops = [*own, *(way.op for way in ways)]
    if found.kind == "function":
        ops += (hit.op for hit in registrations_of(facts, known) if hit.op)
    if found.kind == "macro":
        ops += (op for one in facts.made_by(found) for op in facts.kernel_of(one))
    kind = "kernel" if own else found.kind
    rule = "a kernel of these operators" if own else "reached by these operators"
    rule = rule if ops else _unreached(facts, known)
    detail = found.parameters + (f"  [{found.guard}]" if found.guard else "")
    operators = tuple(dict.fromkeys(ops))
    return Place(kind, found.qualified, found.location, detail, operators, rule, ways=ways)


def _unreached(facts: Lookup, known: Known) -> str:
    found = known.definition
    if found.kind not in ("function", "macro"):
        return ""
    if not keeps_bodies(found.location.path):
        return f"its uses are not in the index: torchnav callers {found.qualified}"
    users = [facts.by_id(edge.caller) for edge in uses_of(facts, known)]
    names = dict.fromkeys(one.definition.qualified for one in users if one and one.id != known.id)
    if names:
        return f"no operator is known to reach it; used by {listed(names, _USERS)}"
    return f"nothing in this tree is known to {'launch' if found.cuda_global else 'use'} it"


_LONGEST = 60
"""Most lines of one registration."""


def library_places(facts: Lookup, path: str, line: int, read: Callable[[str], str]) -> list[Place]:
    """The registrations around a line of a file; ``read`` gives its text."""
    uses = library_uses(facts, path=path)
    starts = {use.location.line for use in uses if 0 <= line - use.location.line < _LONGEST}
    for start in sorted(starts, reverse=True):
        end = _end(read(path), start)
        if end >= line:
            here = [use for use in uses if use.location.line == start]
            return _registrations(facts, here, Location(path, start, end))
    return []


def _end(text: str, start: int) -> int:
    lines = text.split("\n")[start - 1 : start - 1 + _LONGEST]
    clean = lex("\n".join(lines)).clean
    opened = clean.find("(")
    closed = close(clean, opened) if opened >= 0 else -1
    return start + clean.count("\n", 0, closed) if closed >= 0 else start


def _registrations(facts: Lookup, uses: list[LibraryUse], place: Location) -> list[Place]:
    found: dict[str, list[str]] = {}
    rules: dict[str, str] = {}
    for one in written_registrations(uses, named_macros(facts, uses)):
        registration = one.registration
        found.setdefault(registration.key, []).append(registration.op)
        rules[registration.key] = registration.rule
    places = list(_defined_operators(facts, uses, place))
    for key, ops in found.items():
        name, known = f"{key}: {_named(ops)}", tuple(op for op in ops if facts.native(op))
        why = "registered with the dispatcher here"
        places.append(Place("registration", name, place, rules[key], known, why))
    return places


def _defined_operators(facts: Lookup, uses: list[LibraryUse], place: Location) -> Iterator[Place]:
    for use in uses:
        native = facts.native(use.op) if use.method == "def" else None
        if native is not None and native.defined_by:
            rule = f"defined here: {native.defined_by}"
            yield Place("operator", use.op, place, native.schema, (use.op,), rule)


def _named(ops: list[str]) -> str:
    names = [op or "the fallback for all operators" for op in ops]
    return names[0] if len(names) == 1 else f"{len(names)} operators, {names[0]} .. {names[-1]}"


def registrations_of(facts: Lookup, function: Known) -> list[Hit]:
    """The TORCH_LIBRARY lines that register a function, with the operators."""
    return [
        Hit(
            "registration",
            f"{one.key}: {one.op or 'fallback'}",
            one.location,
            one.rule,
            one.op if facts.native(one.op) else None,
        )
        for number in _inside(facts, function)
        for one in facts.library_kernels_of(number)
    ]


def _inside(facts: Lookup, known: Known) -> list[int]:
    if known.definition.kind != "class":
        return [known.id]
    where = known.definition.location
    return [
        one.id
        for one in facts.definitions_in(where.path)
        if where.covers(one.definition.location.line)
    ]


_HIDDEN = ("def", "class", "deferred", "binding_skip", "test_call")
"""Kinds of rows for internal use, or with an extent that is read on demand."""


def python_places(index: IndexedTree, facts: Lookup, path: str, line: int) -> list[Place]:
    """Registrations, docs, OpInfo entries and tests at a line, then the enclosing block."""
    outline = outline_of(facts.store, path)
    rows = facts.python.in_file(path)
    found = [
        fact
        for fact in rows
        if fact.kind not in _HIDDEN and fact.line <= line <= max(fact.line, fact.end_line)
    ]
    found += [fact for fact in outline if fact.kind == "test" and fact.line == line]
    found.sort(key=lambda fact: fact.end_line - fact.line)
    groups = grouped(((one.kind, one.symbol or one.target, one.line), one) for one in found)
    places = [_place(facts, path, name, rows) for (_, name, _), rows in groups.items()]
    return places + _block(index, [*outline, *rows], path, line)


CALLING = ("functional", "method", "module")
"""Kinds of Python places that call their operators; the others are registered for theirs."""
_OF_ROWS = ("at", "binding", "call", "forward", "returned", "site")
"""What only those who link a row need of its details."""


def _place(facts: Lookup, path: str, name: str, rows: list[PythonFact]) -> Place:
    """The place of the rows of one function, which may call several operators."""
    first = rows[0]
    where = Location(path, first.line, first.end_line)
    pairs = {k: v for k, v in unpack(first.detail).items() if k not in _OF_ROWS}
    operators = dict.fromkeys(op for row in rows for op in operators_of_target(facts, row.target))
    rule = "calls these operators" if first.kind in CALLING and operators else ""
    return Place(first.kind, name, where, pack(**pairs), tuple(operators), rule)


def _block(index: IndexedTree, outline: list[PythonFact], path: str, line: int) -> list[Place]:
    data = index.source.read(path)
    found = innermost(blocks(data), decorated(data, line))
    if found is None:
        return []
    at = found.head.line
    where = Location(path, at, found.end_line)
    for fact in outline:
        if fact.line == at and fact.kind in ("def", "class"):
            return [Place(fact.kind, fact.symbol, where)]
    kind = "class" if found.head.is_class else "def"
    return [Place(kind, f"{module_name(path)}.{found.head.qualified}", where)]


def operators_of_target(facts: Lookup, target: str) -> tuple[str, ...]:
    """The overloads of a Python file's row: see ``PythonFact.target``."""
    name = target.removeprefix("aten::")
    if not name:
        return ()
    if name == target and "::" not in name:
        return leads_to(target, facts) if target.startswith("torch.") else ()
    name = name.removesuffix(".default")
    if facts.native(name):
        return (name,)
    return tuple(f.full_name for f in facts.overloads(name))


def stub_places(index: IndexedTree, facts: Lookup, path: str, line: int) -> tuple[Place, ...]:
    """The template and the generator behind a line of a generated ``.pyi``."""
    found = stub_line(path, line, _text(index, path), facts.python)
    if found is None:
        return ()
    operators = leads_to(found.python_path, facts) if found.python_path else ()
    name = found.python_path or path
    return (
        Place("generated", name, found.template, found.rule, operators, "its template"),
        Place("generator", name, found.generator, "", operators, "the generator that writes it"),
    )


def _text(index: IndexedTree, path: str) -> bytes | None:
    try:
        return index.source.read(path.replace("\\", "/").removeprefix("./"))
    except SourceError:
        pass
    try:
        return read_file(path)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class StubLine:
    """A line of a generated stub file."""

    python_path: str
    """``torch.relu``, ``torch.Tensor.relu``, ``torch._C._nn.gelu``; empty if unknown."""
    template: Location
    generator: Location
    """The line of the generator that writes the file."""
    rule: str


def stub_line(path: str, line: int, data: bytes | None, facts: PythonIndex) -> StubLine | None:
    """The source of a line of a ``.pyi`` that a generator of this tree makes, else None.

    ``path`` may be absolute; ``data`` is the file's text if there is one (as in an installed
    torch), without which only the generator is known.
    """
    made = "torch/" + path.replace("\\", "/").rpartition("torch/")[2]
    found = next((one for one in facts.by_target(made) if one[1].kind == "generated_file"), None)
    if found is None:
        return None
    generator, fact = found
    written_at = Location(generator, fact.line, fact.end_line)
    rule = f"{made} is generated from {fact.symbol} by {generator}"
    declared = _declared(made, line, data) if data else ""
    return StubLine(declared, Location(fact.symbol, 0), written_at, rule)


def _declared(made: str, line: int, data: bytes) -> str:
    block = innermost(blocks(data), line)
    if block is None:
        return ""
    owner, _, name = block.head.qualified.rpartition(".")
    if owner in {"TensorBase", "_TensorBase"}:
        return f"torch.Tensor.{name}"
    module = made.removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")
    return canonical(f"{module}.{block.head.qualified}")
