"""What differs in derivatives.yaml and deprecated.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from indexes.model.vocabulary import DerivativeEntry, Formula
from indexes.queries.diff.model import Change, Side, side_change
from indexes.readers.yaml.derivatives import Deprecated

Entries = Mapping[str, DerivativeEntry]


def formula_changes(before: Entries, after: Entries) -> Iterator[Change]:
    """Entries that came and went, and the formulas that differ in those that stayed."""
    for op in dict.fromkeys((*before, *after)):
        old, new = before.get(op), after.get(op)
        if old is None or new is None:
            yield side_change("formula", (op,), "entry", _whole(old), _whole(new))
        else:
            yield from _formulas(op, old, new)


def _whole(entry: DerivativeEntry | None) -> Side | None:
    return Side(entry.schema, entry.location) if entry else None


def _formulas(op: str, old: DerivativeEntry, new: DerivativeEntry) -> Iterator[Change]:
    was, now = _by_input(old), _by_input(new)
    for subject in dict.fromkeys((*was, *now)):
        one, other = was.get(subject), now.get(subject)
        if one is None or other is None or _spaced(one.text) != _spaced(other.text):
            yield side_change("formula", (op,), subject, _side(one), _side(other))
    if old.output_differentiability != new.output_differentiability:
        subject = "output_differentiability"
        yield side_change("formula", (op,), subject, _outputs(old), _outputs(new))


def _by_input(entry: DerivativeEntry) -> dict[str, Formula]:
    """``self, other`` of the default key; ``AutogradNestedTensor self`` of another."""
    return {
        f"{'' if each.key == 'Default' else each.key + ' '}{', '.join(formula.inputs)}": formula
        for each in entry.sets
        for formula in each.formulas
    }


def _side(formula: Formula | None) -> Side | None:
    return Side(formula.text, formula.location) if formula else None


def _outputs(entry: DerivativeEntry) -> Side | None:
    listed = entry.output_differentiability
    return None if listed is None else Side(", ".join(listed), entry.location)


def deprecated_changes(
    before: Iterable[Deprecated], after: Iterable[Deprecated]
) -> Iterator[Change]:
    """Old Python signatures that were added, dropped or bound otherwise."""
    was = {_spaced(one.schema): one for one in before}
    now = {_spaced(one.schema): one for one in after}
    for schema in dict.fromkeys((*was, *now)):
        old, new = was.get(schema), now.get(schema)
        if old is None or new is None or _spaced(old.calls) != _spaced(new.calls):
            name = (new or old or was[schema]).name
            yield side_change("deprecated", (name,), schema, _signature(old), _signature(new))


def _signature(one: Deprecated | None) -> Side | None:
    return Side(one.calls, one.location) if one else None


def _spaced(text: str) -> str:
    return " ".join(text.split())
