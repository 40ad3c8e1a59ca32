"""Differences in native_functions.yaml (operators, schemas, dispatch, tags, other fields),
derivatives.yaml and deprecated.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from indexes.codegen.rows import Row, kernel_rows
from indexes.codegen.variants import is_generated
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import DerivativeEntry, Formula, Location, NativeFunction
from indexes.queries.diff.compatibility import breaks_backward, breaks_forward
from indexes.queries.diff.model import Change, Facet, Side, Verdict, side_change
from indexes.readers.yaml.derivatives import Deprecated

_REMOVED = "check_forward_backward_compatibility: an overload of the version before must stay"
_ADDED = "check_forward_backward_compatibility: a new overload breaks no caller"
_WITHOUT_SCHEMA = "higher_order::"
_KEPT = "FunctionSchema::isBackwardCompatibleWith holds"
_KEPT_FORWARD = "FunctionSchema::isForwardCompatibleWith holds"
_FIELDS = (
    "structured",
    "structured_delegate",
    "structured_inherits",
    "precomputed",
    "ufunc_inner_loop",
    "python_module",
)
_SETS = ("autogen", "variants")
_DEFAULTS = {"device_check": "ExactSame", "device_guard": "True"}
"""Defaults of absent fields (NativeFunction.from_yaml); of the others, False."""

Natives = Mapping[str, NativeFunction]


def operator_changes(before: Natives, after: Natives) -> Iterator[Change]:
    """All differences of two native_functions.yaml, in order."""
    was, now = _registered(before), _registered(after)
    for name, old in before.items():
        if name not in after:
            yield _removed(old)
    for name, new in after.items():
        before_it = before.get(name)
        if before_it is None:
            yield _added(new)
        else:
            yield from _entry(before_it, new)
            yield from _dispatch(new, was.get(name, {}), now.get(name, {}))


def _registered(functions: Natives) -> dict[str, dict[str, Row]]:
    """The kernels that each entry registers itself by key, written or implied."""
    found: dict[str, dict[str, Row]] = {}
    for row in kernel_rows(functions.values()):
        own = row.source_function is row.native and not row.symbol.endswith("::meta")
        if own or is_generated(row.native):
            found.setdefault(row.op, {})[row.key] = row
    return found


def _removed(old: NativeFunction) -> Change:
    change = _changed("operator", old, _origin(old), Side(old.schema, old.location), None)
    return _judged(change, old, "breaking", _REMOVED)


def _added(new: NativeFunction) -> Change:
    change = _changed("operator", new, _origin(new), None, Side(new.schema, new.location))
    return _judged(change, new, "compatible", _ADDED)


def _judged(change: Change, function: NativeFunction, verdict: Verdict, rule: str) -> Change:
    """A change with the verdict of the check, which compares schemas: operators that take functions
    have none."""
    if function.space == _WITHOUT_SCHEMA:
        return change
    return replace(change, backward=verdict, rules=(rule,))


def _origin(function: NativeFunction) -> str:
    return "made by torchgen" if is_generated(function) else "declared"


def _entry(old: NativeFunction, new: NativeFunction) -> Iterator[Change]:
    if parse_schema(old.schema) != parse_schema(new.schema):
        yield schema_change(old, new)
    if is_generated(old) != is_generated(new):
        yield _changed("entry", new, "origin", _side(old, _origin(old)), _side(new, _origin(new)))
    for name, was, now in _fields(old, new):
        if was != now:
            yield _changed("entry", new, name, _side(old, was, name), _side(new, now, name))
    was, now = _listed(sorted(_tags(old))), _listed(sorted(_tags(new)))
    if was != now:
        yield _changed("tags", new, "tags", _side(old, was, "tags"), _side(new, now, "tags"))


def schema_change(old: NativeFunction, new: NativeFunction) -> Change:
    """A changed schema with PyTorch's verdicts."""
    now, was = parse_schema(new.schema), parse_schema(old.schema)
    backward, forward = tuple(breaks_backward(now, was)), tuple(breaks_forward(now, was))
    rules = [
        *(f"backward: {what} ({rule})" for what, rule in backward),
        *(f"forward: {what} ({rule})" for what, rule in forward),
        *(() if backward else (_KEPT,)),
        *(() if forward else (_KEPT_FORWARD,)),
    ]
    before, after = Side(old.schema, old.location), Side(new.schema, new.location)
    change = _changed("schema", new, "schema", before, after)
    applied = tuple(rules)
    return replace(change, backward=_verdict(backward), forward=_verdict(forward), rules=applied)


def _verdict(broken: tuple[tuple[str, str], ...]) -> Verdict:
    return "breaking" if broken else "compatible"


def _dispatch(
    function: NativeFunction, was: Mapping[str, Row], now: Mapping[str, Row]
) -> Iterator[Change]:
    for key in dict.fromkeys((*was, *now)):
        one, other = was.get(key), now.get(key)
        if one is None or other is None or one.symbol != other.symbol:
            yield _changed("dispatch", function, key, _kernel(one), _kernel(other))


def _kernel(row: Row | None) -> Side | None:
    if row is None:
        return None
    own = (one.path for one in row.native.dispatch or () if one.key == row.key)
    path = next(filter(None, own), row.native.location.path)
    return Side(row.symbol, Location(path, row.line))


def _fields(old: NativeFunction, new: NativeFunction) -> Iterator[tuple[str, str, str]]:
    if is_generated(old) or is_generated(new):
        return  # torchgen sets them, whatever is written elsewhere
    for name in _FIELDS:
        yield name, _text(getattr(old, name)), _text(getattr(new, name))
    for name in _SETS:
        yield name, _listed(sorted(getattr(old, name))), _listed(sorted(getattr(new, name)))
    for name in sorted({*old.flags, *new.flags}):
        yield name, _flag(old, name), _flag(new, name)


def _flag(function: NativeFunction, name: str) -> str:
    """A field as written; empty if it equals torchgen's default."""
    text = function.flags.get(name, "")
    return "" if text == _DEFAULTS.get(name, "False") else text


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "True" if value else ""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {text}" for key, text in value.items())
    return _listed(value) if isinstance(value, tuple) else str(value or "")


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values)


def _tags(function: NativeFunction) -> set[str]:
    return set(function.tags) - {"generated"}


def _side(function: NativeFunction, text: str, field: str = "func") -> Side | None:
    if not text:
        return None
    line = function.field_lines.get(field, function.location.line)
    return Side(text, Location(function.location.path, line))


def _changed(
    facet: Facet, function: NativeFunction, subject: str, before: Side | None, after: Side | None
) -> Change:
    return side_change(facet, (function.full_name,), subject, before, after)


Entries = Mapping[str, DerivativeEntry]


def formula_changes(before: Entries, after: Entries) -> Iterator[Change]:
    """Added and removed entries, and changed formulas in others."""
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
            yield side_change("formula", (op,), subject, _side_of(one), _side_of(other))
    if old.output_differentiability != new.output_differentiability:
        subject = "output_differentiability"
        yield side_change("formula", (op,), subject, _outputs(old), _outputs(new))


def _by_input(entry: DerivativeEntry) -> dict[str, Formula]:
    """``self, other`` for the default key; ``AutogradNestedTensor self`` for another."""
    return {
        f"{'' if each.key == 'Default' else each.key + ' '}{', '.join(formula.inputs)}": formula
        for each in entry.sets
        for formula in each.formulas
    }


def _side_of(formula: Formula | None) -> Side | None:
    return Side(formula.text, formula.location) if formula else None


def _outputs(entry: DerivativeEntry) -> Side | None:
    listed = entry.output_differentiability
    return None if listed is None else Side(", ".join(listed), entry.location)


def deprecated_changes(
    before: Iterable[Deprecated], after: Iterable[Deprecated]
) -> Iterator[Change]:
    """Old Python signatures that were added, removed or bound otherwise."""
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
