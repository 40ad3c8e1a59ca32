"""Plans of batching rules: how vmap runs an operator over an additional dimension."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from json import dumps

from indexes.model.regex import regex
from indexes.model.schema import Argument
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import inserted
from indexes.queries.changes.model import Change, ChangeStep, Parts
from indexes.queries.changes.python.lists import NamedRow
from indexes.queries.changes.python.memberships import Subject
from indexes.queries.changes.python.nearest import Near
from indexes.queries.changes.python.rules import Rule, RulePlan
from indexes.queries.changes.related import shared_code
from indexes.queries.gaps.batching import batching_keys
from indexes.queries.gaps.tree import Tree

_RULE = Rule(Subject("batch-rule", r"vmap|batch"), "batching rule", r"vmap|functorch/test_ops")
_FUNCTION = regex(r"\b([A-Za-z]\w*(?:batch_rule|_decomp|_plumbing|_batch)\w*)\b")
_REGISTERED = (
    "SELECT k.op,f.path,k.line FROM library_kernels k JOIN files f ON f.id=k.file"
    " WHERE k.key IN (SELECT value FROM json_each(?))"
)
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
        where = self._place(near[0])
        lines = self._tree.lines_of(where)
        one, text = near[0], "\n".join(lines)
        rule = next((n for n in _FUNCTION.findall(text) if one.name in n), "")
        registered = self._registration(one, text, rule)
        if not (one.is_like or rule) and "VMAP_SUPPORT(" in self._tree.text(where.path):
            registered = self._of_its_own()  # a macro would say how it is batched: that is unknown
            yield from self._written(self._rules_in(where.path)[:1], "as the others are written.")
        yield from self._function(one, rule)
        what = f"Register the batching rule of {self._name}, after that of {one.name}."
        code = inserted(self._tree, where, registered.split("\n"))
        why = f"{one.name} is {one.why}"
        yield ChangeStep("add", Location(where.path, where.end_line), what, code, why, where)
        yield from shared_code(self._tree, self._rules_in(where.path))
        yield from self._cxx_tests(where, one.name)

    def _rules_in(self, path: str) -> list[Location]:
        known = self._tree.index.facts.definitions("f.path=? AND d.kind='function'", path)
        return [one.definition.location for one in known[:_ASKED]]

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
        if rule and "m.impl(" in text:  # it does by hand what VMAP_SUPPORT does
            text = f"  VMAP_SUPPORT({one.name}, {rule});"
        made = text.replace(rule, self._own_rule) if rule else text
        made = self._renaming(one.name).words(made)
        overload = self._native.overload
        named = f"{self._name}, {overload}, " if overload else f"{self._name}, "
        macro = "2(" if overload else "("
        return _OVERLOADED.sub(rf"\g<1>{macro}{named}", made)

    @property
    def _own_rule(self) -> str:
        return f"{self._name}_batch_rule"

    def _function(self, one: Near, name: str) -> Iterator[ChangeStep]:
        """The rule, if the model has one of its own."""
        found = self._tree.index.definitions(name)[:1] if name else ()
        yield from self._written([d.location for d in found], f"as {name} is for {one.name}.")

    def _written(self, like: Sequence[Location], how: str) -> Iterator[ChangeStep]:
        for where in like:
            code = self._signature(self._tree.text(where.path))
            what = f"Write {self._own_rule}, {how}"
            yield ChangeStep("add", Location(where.path, where.end_line), what, code, "", where)

    def _of_its_own(self) -> str:
        overload = self._native.overload
        macro, named = ("2", f"{self._name}, {overload}") if overload else ("", self._name)
        return f"  VMAP_SUPPORT{macro}({named}, {self._own_rule});"

    def _signature(self, text: str) -> tuple[str, ...]:
        """The signature of the rule: each tensor with its batch dimension."""
        schema = self._tree.schemas[self._op]
        optional = "c10::optional" if "std::optional<" not in text else "std::optional"
        pairs = ", ".join([f"Tensor, {optional}<int64_t>"] * max(1, len(schema.returns)))
        arguments = [one for one in schema.arguments if not one.is_out]
        given = ",\n".join(f"    {_parameter(one, optional)}" for one in arguments)
        todo = "  // Move the batch dimensions to the front, and call at::NAME on what is there."
        lines = (
            f"static std::tuple<{pairs}> {self._own_rule}(",
            f"{given}) {{",
            todo.replace("NAME", self._name),
            "}",
        )
        return tuple("\n".join(lines).split("\n"))

    def _list_steps(self, rows: Collection[NamedRow]) -> Iterator[ChangeStep]:
        """Rows to remove; no Python list has operators with rules."""
        yield from (s for s in super()._list_steps(rows) if s.action != "add")


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
