"""Plans of batching rules: how vmap runs an operator over an additional dimension."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from json import dumps

from indexes.model.regex import regex
from indexes.model.schema import Argument, SchemaKind
from indexes.model.vocabulary import Definition, Location
from indexes.queries.changes.diffs import inserted, margin
from indexes.queries.changes.model import Change, ChangeStep, Parts
from indexes.queries.changes.python.lists import NamedRow
from indexes.queries.changes.python.memberships import Subject
from indexes.queries.changes.python.nearest import Near
from indexes.queries.changes.python.rules import Rule, RulePlan
from indexes.queries.changes.related import shared_code
from indexes.queries.gaps.batching import KEYS, batching_keys
from indexes.queries.gaps.tree import Tree

_RULE = Rule(Subject("batch-rule", r"vmap|batch"), "batching rule", r"vmap|functorch/test_ops")
_FUNCTION = regex(r"\b([A-Za-z]\w*(?:batch_rule|_decomp|_plumbing|_batch)\w*)\b")
_REGISTERED = (
    "SELECT k.op,f.path,k.line FROM library_kernels k JOIN files f ON f.id=k.file"
    " WHERE k.key IN (SELECT value FROM json_each(?))"
)
_COMPOSITE = "CompositeImplicitAutograd"
_OVERLOADED = regex(r"(VMAP_SUPPORT|\w+)2\(\w+, \w+, ")
_TYPES = {
    "int": "int64_t",
    "SymInt": "c10::SymInt",
    "float": "double",
    "bool": "bool",
    "str": "c10::string_view",
}
_ARRAYS = {"int": "IntArrayRef", "SymInt": "SymIntArrayRef", "Tensor": "TensorList"}
_SIZED = regex(r"bool\[(\d+)\]")
_ASKED = 12
"""Rules whose helpers are examined."""
_LONGEST = 6
"""Most lines of a registration."""


def batch_rule(tree: Tree, change: Change) -> Parts:
    """Plans a rule that maps the batch dimension of each argument."""
    return _BatchRulePlan(tree, change, _RULE).parts()


class _BatchRulePlan(RulePlan):
    """As for Python registrations, but in C++."""

    def _is_made_of_another(self, one: Near) -> bool:
        """Whether no line registers the model's rule by name."""
        return one.name not in self._registrations

    def _having(self) -> Collection[str]:
        """Those composite as ours is: their kernels are registered, others get a rule."""
        having, tree = super()._having(), self._tree
        if tree.is_composite(self._op):
            return self._decomposed.intersection(having) or having
        return {n for n in having if n in tree.overloads and n not in self._decomposed} or having

    @cached_property
    def _decomposed(self) -> frozenset[str]:
        """The composite operators whose kernels run under vmap."""
        tree = self._tree
        ops = (op for op in tree.registered_for(KEYS[1]) if op in tree.natives)
        return frozenset(tree.natives[op].name for op in ops if tree.is_composite(op))

    def _models(self) -> Iterator[str]:
        return iter(())  # its neighbours are C++

    def _place(self, one: Near) -> Location:
        return self._registrations.get(one.name) or self._tree.natives[one.op].location

    def _existing(self) -> Location | None:
        return self._registrations.get(self._name)

    def _beside(self, there: Location) -> Iterator[ChangeStep]:
        return shared_code(self._tree, self._rules_in(there.path))

    @cached_property
    def _registrations(self) -> dict[str, Location]:
        """The registration of each operator's rule, by name."""
        found: dict[str, Location] = {}
        for op, path, line in self._tree.store.query(
            _REGISTERED, (dumps(batching_keys(self._tree)),)
        ):
            if op in self._tree.natives:
                name = self._tree.natives[op].name
                found.setdefault(name, registration(self._tree, path, line))
        return found

    def _word(self, one: Near) -> str:
        return one.name

    def _to_write(self) -> Iterator[ChangeStep]:
        near = [one for one in self._near if one.name in self._registrations]
        if not near:
            return
        by_macro = (one for one in near if one.name in self._decomposed and self._macro(one))
        one = next(by_macro, near[0])  # one that names its kernel is none for several overloads
        where, why = self._place(one), f"{one.name} is {one.why}"
        if there := self._registrations.get(self._name):
            yield ChangeStep("read", there, "See the rule of another overload: may it serve both?")
        if one.name in self._decomposed:
            registered = [*self._to_decompose(one, margin(self._tree.line(where)))]
        else:
            written, registered = self._to_map(one, where)
            yield from written
        what = f"Register the batching rule of {self._name}, after that of {one.name}."
        code = inserted(self._tree, where, registered)
        yield ChangeStep("add", Location(where.path, where.end_line), what, code, why, where)
        if one.name not in self._decomposed:
            yield from shared_code(self._tree, self._rules_in(where.path))
        yield from self._cxx_tests(where, one.name)

    def _to_map(self, one: Near, where: Location) -> tuple[tuple[ChangeStep, ...], list[str]]:
        """The rule's function, if the model has one or is unlike ours, and its registration."""
        text = "\n".join(self._tree.lines_of(where))
        rule = next((n for n in _FUNCTION.findall(text) if one.name in n), "")
        found = self._tree.index.definitions(rule)[:1] if rule else ()
        how = f"as {rule} is for {one.name}."
        if not (found or one.is_like):  # a macro would say how it is batched: that is unknown
            rules = self._definitions_in(where.path)
            found = tuple(like for like in rules if "bdim" in like.parameters)[:1]
            how = "as the others are written."
        for like in found:
            return tuple(self._written(like, how)), [self._of_its_own(like)]
        return (), self._registration(one, text, rule).split("\n")

    def _to_decompose(self, one: Near, indent: str) -> Iterator[str]:
        """The lines that register the composite kernels, as the model's is: a macro names the
        operator, and its kernel where that has the name too."""
        macro, registered = self._macro(one), self._tree.registered_for(*KEYS)
        for op in (op for op in self._tree.overloads[self._name] if op not in registered):
            overload, row = self._tree.natives[op].overload, self._tree.kernels.get(op, {})
            defined = row[_COMPOSITE].definitions if _COMPOSITE in row else ()
            kernel = defined[0].name if defined else self._name
            if self._tree.schemas[op].kind is SchemaKind.OUT or not self._tree.is_composite(op):
                continue
            if macro and kernel == self._name:
                named = f"2({self._name}, {overload}" if overload else f"({self._name}"
                yield f"{indent}{macro}{named});"
            else:
                yield f'{indent}m.impl("{op}", native::{kernel});'

    def _macro(self, one: Near) -> str:
        """The macro that registers a model's kernel by name; empty without."""
        line = self._tree.line(self._place(one))
        found = re.match(rf"\s*(\w+?)2?\({one.name}\b", line)
        return found[1] if found else ""

    def _rules_in(self, path: str) -> list[Location]:
        return [one.location for one in self._definitions_in(path)]

    def _definitions_in(self, path: str) -> list[Definition]:
        known = self._tree.index.facts.definitions("f.path=? AND d.kind='function'", path)
        return [one.definition for one in known[:_ASKED]]

    def _cxx_tests(self, rule: Location, name: str) -> Iterator[ChangeStep]:
        """The C++ tests of ATen's own rules; those of functorch have Python tests."""
        tests = self._tree.index.facts.paths("cpp", "aten/src/ATen/test/%vmap%")
        for path in tests if "functorch" not in rule.path else ():
            lines = enumerate(self._tree.lines(path), 1)
            at = next((n for n, text in lines if f"{name}(" in text), 0)
            what = f"See the tests in C++{f', as that of {name}' * bool(at)}."
            yield ChangeStep("read", Location(path, at), what, (), "tests of such rules are there")

    def _registration(self, one: Near, text: str, rule: str) -> str:
        """The model's line with our rule's name and overload."""
        made = text.replace(rule, self._own_rule()) if rule else text
        made = self._renaming(one.name).words(made)
        overload = self._native.overload
        named = f"{self._name}, {overload}, " if overload else f"{self._name}, "
        macro = "2(" if overload else "("
        return _OVERLOADED.sub(rf"\g<1>{macro}{named}", made)

    def _own_rule(self, end: str = "batch_rule") -> str:
        """Its name, which that of another overload may have already."""
        other = f"_{self._native.overload}" * (self._name in self._registrations)
        return f"{self._name}{other}_{end}"

    def _written(self, like: Definition, how: str) -> Iterator[ChangeStep]:
        where = like.location
        code = self._signature(self._tree.text(where.path), like)
        rule = self._own_rule(_ending(like))
        what = f"Write {rule}, {how}"
        yield ChangeStep("add", Location(where.path, where.end_line), what, code, "", where)

    def _of_its_own(self, like: Definition) -> str:
        if _decomposes(like):
            return f'  m.impl("{self._native.full_name}", {self._own_rule(_ending(like))});'
        overload = self._native.overload
        macro, named = ("2", f"{self._name}, {overload}") if overload else ("", self._name)
        return f"  VMAP_SUPPORT{macro}({named}, {self._own_rule()});"

    def _signature(self, text: str, like: Definition) -> tuple[str, ...]:
        """The signature of the rule: each tensor with its batch dimension, or of what decomposes it
        where the model does."""
        schema = self._tree.schemas[self._op]
        optional = "c10::optional" if "std::optional<" not in text else "std::optional"
        arguments = [one for one in schema.arguments if not one.is_out]
        count = max(1, len(schema.returns))
        if _decomposes(like):
            returned = "Tensor" if count == 1 else f"std::tuple<{', '.join(['Tensor'] * count)}>"
            given = [f"{cxx_type(one, optional)} {one.name}" for one in arguments]
            todo = "Call the operators that it is made of: each of them is batched in turn."
        else:
            pairs = ", ".join([f"Tensor, {optional}<int64_t>"] * count)
            returned, given = f"std::tuple<{pairs}>", [_parameter(o, optional) for o in arguments]
            todo = f"Move the batch dimensions to the front, and call at::{self._name} on the rest."
        inside = ",\n    ".join(given)
        head = f"static {returned} {self._own_rule(_ending(like))}(\n    {inside}) {{"
        return (*head.split("\n"), f"  // {todo}", "}")

    def _list_steps(self, rows: Collection[NamedRow]) -> Iterator[ChangeStep]:
        """Rows to remove; no Python list has operators with rules."""
        yield from (s for s in super()._list_steps(rows) if s.action != "add")


def _decomposes(rule: Definition) -> bool:
    """Whether a rule takes plain tensors, as what calls other operators does."""
    return bool(rule.parameters) and "bdim" not in rule.parameters


def _ending(rule: Definition) -> str:
    return next((one for one in ("batching_rule", "decomp") if one in rule.name), "batch_rule")


def registration(tree: Tree, path: str, line: int) -> Location:
    """A registration up to its closing line."""
    depth = 0
    for at, text in enumerate(tree.lines(path, line, line + _LONGEST), line):
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            return Location(path, line, at)
    return Location(path, line, line)


def _parameter(argument: Argument, optional: str) -> str:
    written = f"{cxx_type(argument, optional)} {argument.name}"
    if argument.base_type == "Tensor" and "[" not in argument.type:
        return f"{written}, {optional}<int64_t> {argument.name}_bdim"
    return written


def cxx_type(argument: Argument, optional: str = "std::optional") -> str:
    """The C++ type of a kernel's parameter."""
    base, kind = argument.base_type, argument.type
    if base in ("Tensor", "Scalar") and "[" not in kind:  # what is given by reference
        return f"const {optional}<{base}>&" if kind.endswith("?") else f"const {base}&"
    if kind.startswith("Tensor?["):
        return f"const c10::List<{optional}<Tensor>>&"
    if "[" in kind and base in _ARRAYS:
        return _ARRAYS[base] if not kind.endswith("?") else f"Optional{_ARRAYS[base]}"
    written = _TYPES.get(base, f"at::{base}")
    if size := _SIZED.search(kind):
        written = f"std::array<{written}, {size[1]}>"
    elif "[" in kind:
        written = f"ArrayRef<{written}>"
    return f"{optional}<{written}>" if kind.endswith("?") else written
