"""Registrations with the dispatcher: one kernel for one operator under one key.

Read from calls on a ``torch::Library``, ``m.impl("resize_", TORCH_FN(f))``, and from the Meta
kernels that PyTorch registers from Python on import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from indexes.codegen.variants import is_composite_implicit
from indexes.model.files import PythonFact, unpack
from indexes.model.idioms import library_block, names_of, split_outside
from indexes.model.regex import regex
from indexes.model.schema import SchemaKind, parse_schema
from indexes.model.vocabulary import Location, NativeFunction

_NAME = regex(
    r'"((?:\w+::)?[\w.]+)\s*(?:\(|")|R"(?P<raw>\w*)\(\s*((?:\w+::)?[\w.]+)\s*(?:\(|\)(?P=raw)")'
)
_DISPATCH = regex(r"(?:torch::)?dispatch\s*\(\s*(?:\w+::)*(?:DispatchKey::)?(?:k)?(\w+)\s*,")
_FALLTHROUGH = regex(r"\bmakeFallthrough\s*\(")
_BOXED = regex(
    r"\bmakeFrom(?:Boxed|Unboxed)\w*\s*(?:<\s*(?:[A-Z_]+\()?&?\s*([\w:]+)|\(\s*&?\s*([\w:]+))"
)
"""A call in a template's argument is a macro's: ``SINGLE_ARG(f<1, true>)``."""
_WRAPPER = rf"(?:{names_of('function')}|static_cast\s*<.*>)"
_WRAPPED = regex(rf"{_WRAPPER}\s*\(\s*&?\s*(.+)\)\s*$", re.S)
_TAGS = regex(r"(?:\{\s*)?(?:(?:at|torch)::Tag::|std::vector<at::Tag>)")
_KEY = regex(r"(?:\w+::)*DispatchKey::k?(\w+)$")
_CATCH_ALL = "CatchAll"
"""A block's argument for no key (aten/src/ATen/core/library.cpp)."""
_EVERY = "CompositeImplicitAutograd"


@dataclass(frozen=True, slots=True)
class Registration:
    """A kernel that is registered for an operator under a key."""

    op: str
    """Empty for a backend fallback, which serves every operator."""
    key: str
    kernel: str
    origin: str
    """A file of the tree, or the generator and its output."""
    rule: str = ""
    fallthrough: bool = False
    location: Location | None = None
    condition: str = ""
    """What a build needs for it to exist; empty for every build."""


def library_registration(
    block: str,
    method: str,
    arguments: str,
    location: Location,
    macros: Mapping[str, str] | None = None,
) -> Registration | None:
    """The registration by one call; None if it registers no kernel.

    ``block``: the arguments of the TORCH_LIBRARY* macro (``aten, CPU, m``), ``macros``: the
    object-like macros of the file, which such calls often name.
    """
    key = library_block(block).key or _CATCH_ALL
    key = (macros or {}).get(key, key)
    key = _EVERY if key == _CATCH_ALL else key
    given = (part.strip() for part in split_outside(arguments, angles=True))
    parts = [part for part in given if part]
    if method == "fallback" and len(parts) == 1:
        return _registration("", key, parts[0], location, macros or {})
    op = registered_operator(block, method, parts[0]) if parts else None
    function = _function(parts) if op else None
    if not op or function is None:
        return None
    named = [found[1] for part in parts[1:] if (found := _key_in(part))]
    return _registration(op, named[0] if named else key, function, location, macros or {})


def _function(parts: list[str]) -> str | None:
    """The argument that is a kernel, not the schema or the tags behind it."""
    given = [part for part in parts[1:] if not (_is_tags(part) or _key_in(part))]
    return given[-1] if given else None


# Of these patterns few are needed: a word that each has spares even making it.


def _is_tags(part: str) -> bool:
    return "Tag" in part and _TAGS.match(part) is not None


def _key_in(part: str) -> re.Match[str] | None:
    return _KEY.match(part) if "DispatchKey::" in part else None


def registered_operator(block: str, method: str, arguments: str) -> str | None:
    """The operator of a call on a library: ``add.Tensor`` for aten, with a namespace for others,
    empty for a fallback; None if it registers nothing."""
    if method == "fallback":
        return ""
    name = _NAME.search(arguments) if method in ("impl", "def") else None
    if name is None:
        return None
    namespace = library_block(block).namespace
    op = (name[1] or name[3]).removeprefix("aten::")
    return op if "::" in op or namespace in ("aten", "_") else f"{namespace}::{op}"


def _registration(
    op: str, key: str, function: str, location: Location, macros: Mapping[str, str]
) -> Registration:
    text = macros.get(function.strip(), function).strip()
    dispatched = _DISPATCH.match(text) if "dispatch" in text else None
    if dispatched is not None:
        key = dispatched[1]
        text = text[dispatched.end() :].rstrip().removesuffix(")").strip()
    fallthrough = "makeFallthrough" in text and _FALLTHROUGH.search(text) is not None
    kernel = "fallthrough" if fallthrough else _kernel(text)
    rule = "a fallback for all operators" if not op else "written by hand"
    return Registration(op, key, kernel, location.path, rule, fallthrough, location)


def _kernel(text: str) -> str:
    """The function's name: ``f`` for ``TORCH_FN(f)`` and ``makeFromBoxedFunction<&f>()``."""
    boxed = _BOXED.search(text) if "makeFrom" in text else None
    if boxed is not None:
        return boxed[1] or boxed[2]
    if (wrapped := _WRAPPED.match(text)) is not None:
        return _kernel(wrapped[1].strip())
    return "lambda" if text.startswith("[") else " ".join(text.removeprefix("&").split())


Row = tuple[str, PythonFact]
"""A row of a Python file, with the file's path."""

_ACTIVATE = "activate_meta"
_TABLES = ("meta", "post_autograd", "pre_autograd")
"""The global tables in order of precedence."""
_DECORATOR = {"meta_registration": "register_meta", "decomposition": "register_decomposition"}
_EXPLICIT = "CompositeExplicitAutograd"
_SERVE_META = ("Meta", "CompositeImplicitAutograd", _EXPLICIT, f"{_EXPLICIT}NonFunctional")


@dataclass(frozen=True, slots=True)
class MetaRules:
    """How a version of PyTorch makes Python functions Meta kernels, read from its own functions."""

    activate: Row | None = None
    decorators: Mapping[str, Row] = field(default_factory=dict)
    """The decorators that register, by kind of row, in versions without such a function."""
    left: frozenset[str] = frozenset()
    """What ``activate_meta`` leaves to C++ by name: ``aten::clone.default``."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> MetaRules:
        """From the ``meta_rule`` rows of a tree."""
        found = {fact.symbol.rpartition(".")[2]: (path, fact) for path, fact in rows}
        left = frozenset(fact.target for _, fact in rows if "::" in fact.target)
        kinds = {kind: found[name] for kind, name in _DECORATOR.items() if name in found}
        return cls(found.get(_ACTIVATE), kinds, left)

    @property
    def known(self) -> bool:
        """Whether they cover every row."""
        return self.activate is not None or len(self.decorators) == len(_DECORATOR)

    def by(self, fact: PythonFact) -> Row | None:
        """What registers a row's function for Meta; None if nothing does."""
        detail = unpack(fact.detail)
        if fact.kind not in _DECORATOR or "registry" in detail or "key" in detail:
            return None
        if self.activate:
            return self.activate
        rule = self.decorators.get(fact.kind)
        return rule if rule and _is_on(unpack(rule[1].detail), detail) else None

    def leaves(self, target: str, native: NativeFunction | None, composite: bool) -> bool:
        """Whether ``activate_meta`` leaves an operator to C++."""
        return target in self.left or composite or (native is not None and _is_view(native))

    def only_where_none(self, rule: Row) -> bool:
        """Whether it first asks if C++ has a kernel for Meta."""
        return "where" in unpack(rule[1].detail)


def _is_on(rule: Mapping[str, str], detail: Mapping[str, str]) -> bool:
    """Whether a decorator's own parameter enables registration."""
    if "on" in rule:
        return detail.get(rule["on"]) != "False"
    return detail.get(rule["off"]) in (None, "False")


def served_by_cpp(native: NativeFunction) -> bool:
    """Whether its YAML entry has a kernel for the Meta key."""
    if native.structured or native.structured_delegate or is_composite_implicit(native):
        return True
    schema = parse_schema(native.schema)
    if schema.kind is SchemaKind.INPLACE and len(schema.returns) == 1:
        return True  # torchgen makes a Meta kernel that returns self
    return any(kernel.key in _SERVE_META for kernel in native.dispatch or ())


def python_meta(
    rows: Iterable[Row],
    rules: MetaRules,
    natives: Mapping[str, NativeFunction],
    keys: Mapping[str, frozenset[str]],
    served: Callable[[str], bool],
) -> Iterator[Registration]:
    """The Meta kernels registered from Python. ``keys``: those with a C++ registration, by
    operator; ``served``: whether that serves Meta."""
    for op, row in _chosen(rows, rules, keys).items():
        rule = rules.by(row[1])
        if not rule:
            continue
        if rule is rules.activate:
            composite = "CompositeImplicitAutograd" in keys[op]
            left = rules.leaves(_target(op), natives.get(op), composite)
        else:
            left = rules.only_where_none(rule) and served(op)
        if not left:
            yield _by_python(op, row, rule)


def _by_python(op: str, row: Row, rule: Row) -> Registration:
    path, fact = row
    what = "a meta function" if fact.kind == "meta_registration" else "a decomposition"
    who = rule[1].symbol.rpartition(".")[2]
    how = f"{who} registers {what} for the Meta key as torch is imported"
    where = Location(path, fact.line, fact.end_line)
    condition = unpack(fact.detail).get("when", "")
    how += f", if {condition}" if condition else ""
    return Registration(op, "Meta", fact.symbol, rule[0], how, False, where, condition)


def _chosen(
    rows: Iterable[Row], rules: MetaRules, keys: Mapping[str, frozenset[str]]
) -> dict[str, Row]:
    """The deciding row of each operator: the surest of the first table that has it."""
    overloads: dict[str, list[str]] = {}
    for op in filter(keys.get, keys):
        overloads.setdefault(op.partition(".")[0], []).append(op)
    ranked: dict[str, tuple[tuple[int, bool], Row]] = {}
    for row in rows:
        if not row[1].target or not rules.by(row[1]):
            continue
        rank = _rank(row[1])
        for op in _operators(row[1].target, overloads):
            if op not in ranked or rank < ranked[op][0]:
                ranked[op] = (rank, row)
    return {op: row for op, (_, row) in ranked.items()}


def _rank(fact: PythonFact) -> tuple[int, bool]:
    detail = unpack(fact.detail)
    table = "meta" if fact.kind == "meta_registration" else detail.get("type", "post_autograd")
    return _TABLES.index(table) if table in _TABLES else len(_TABLES), "when" in detail


def _operators(target: str, overloads: Mapping[str, list[str]]) -> list[str]:
    """The overloads of a row: one, or all of the name."""
    name, _, overload = target.removeprefix("aten::").partition(".")
    full_name = name if overload in ("", "default") else f"{name}.{overload}"
    return [o for o in overloads.get(name, []) if not overload or o == full_name]


def _target(op: str) -> str:
    name = op if "::" in op else f"aten::{op}"
    return name if "." in name else f"{name}.default"


def _is_view(native: NativeFunction) -> bool:
    """``OpOverload.is_view``: an argument is aliased, and none is written to."""
    annotated = [a for a in parse_schema(native.schema).arguments if a.annotation]
    return bool(annotated) and not any(a.mutable for a in annotated)
