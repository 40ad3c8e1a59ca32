"""What stands at a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.linking.facts import Known
from indexes.linking.reverse import reaching
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Place
from indexes.queries.places_library import library_places, registrations_of
from indexes.readers.cxx.idioms import meaning_of
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from indexes.queries.index import Index


def at(index: Index, facts: Lookup, path: str, line: int) -> tuple[Place, ...]:
    """What stands at ``path:line``, innermost first."""
    if path.endswith(".pyi"):
        from indexes.queries.places_python import stub_places

        if generated := stub_places(index, facts, path, line):
            return generated
    path = facts.whole_path(path)
    places = [*_yaml(index, facts, path, line), *_members(index, path, line)]
    places += _macro_uses(facts, path, line)
    places += library_places(facts, path, line, index.read)
    places += [_definition_place(facts, known) for known in facts.definitions_at(path, line)]
    if path.endswith(".py"):
        from indexes.queries.places_python import python_places

        places += python_places(index, facts, path, line)
    if not places:
        raise NotFound(f"nothing that torchnav knows stands at {path}:{line}")
    return tuple(places)


def _yaml(index: Index, facts: Lookup, path: str, line: int) -> list[Place]:
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


def _members(index: Index, path: str, line: int) -> list[Place]:
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
            ops = tuple(r.op for r in reaching((), (use.stub,), facts))
            places.append(Place(what, use.stub, use.location, text, ops, "uses of the stub"))
        elif not use.made:
            places.append(Place("macro", use.name, use.location, text))
    return places


def _definition_place(facts: Lookup, known: Known) -> Place:
    found = known.definition
    own = tuple(facts.kernel_of(known))
    reached = () if found.kind == "class" else reaching([known], (), facts)
    ops = own + tuple(r.op for r in reached if r.op not in own)
    if found.kind == "function":
        registered = (hit.op for hit in registrations_of(facts, found))
        ops = tuple(dict.fromkeys((*ops, *filter(None, registered))))
    engine = [e.op for e in facts.entries_with(found.name)] if "autograd" in found.scope else []
    if found.kind == "macro":
        made = (op for one in facts.made_by(found) for op in facts.kernel_of(one))
        ops = (*ops, *dict.fromkeys(made))
    kind = "kernel" if own else found.kind
    rule = "a kernel of these operators" if own else "reached by these operators" if ops else ""
    detail = found.parameters + (f"  [{found.guard}]" if found.guard else "")
    return Place(kind, found.qualified, found.location, detail, (*ops, *engine), rule)
