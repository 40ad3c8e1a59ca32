"""Registrations that depend on other modules: ``celu_ = _make_inplace(celu)``, registered by a
helper, and ``for name in pointwise_overrides_data: register_pointwise(...)``.

A reader sees one file, so it stores such calls and names; here the other modules are read. The
calls are followed, and files with such names are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from indexes.model.files import PythonFact, module_name
from indexes.readers.python.blocks import Text
from indexes.readers.python.evaluation import Evaluator
from indexes.readers.python.expressions import attribute
from indexes.readers.python.registrations import called, read_again, registration_fact, run_module
from indexes.readers.python.values import UNKNOWN, Called, Op, Path

Read = Callable[[str], bytes | None]
"""Gives a file of the tree; None if there is none."""


def module_paths(name: str) -> Iterator[str]:
    """The files that may define a dotted name, innermost modules first."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 1, -1):
        stem = "/".join(parts[:end])
        yield from (f"{stem}.py", f"{stem}/__init__.py")


def resolve(
    files: Mapping[str, Iterable[PythonFact]], read: Read
) -> Iterator[tuple[str, PythonFact]]:
    """The registrations behind ``deferred`` and ``imported`` rows, as (path, fact)."""
    modules = _Modules(read)
    for path, facts in files.items():
        for call in (fact for fact in facts if fact.kind == "deferred"):
            yield from ((path, fact) for fact in _made_by_helper(modules, path, call))
    for path, facts in files.items():
        wanted = [fact.symbol for fact in facts if fact.kind == "imported"]
        values = {name: modules.value(name) for name in wanted}
        known = {name: value for name, value in values.items() if value is not UNKNOWN}
        data = read(path) if known else None
        if data is not None:
            yield from ((path, fact) for fact in _gained(Text(data), path, known))


def _made_by_helper(modules: _Modules, path: str, fact: PythonFact) -> list[PythonFact]:
    """The registrations of a call of another module's function."""
    evaluator, names = modules.defining(fact.symbol)
    if evaluator is None or len(names) > 1 or evaluator.globals.get(names[0]) is UNKNOWN:
        return []
    call, function, at, site = called(fact)
    evaluator.registrations.clear()
    evaluator.at, evaluator.site = at, site
    try:
        made = evaluator.call_from_outside(names[0], (call.args, call.kwargs))
        if function is not None:
            evaluator.call_from_outside(names[0], ((function,), {}), made)
    except RecursionError:
        return []
    here, ends = module_name(path), {fact.line: fact.end_line}
    return [
        registration_fact(found._replace(helper=fact.symbol), here, ends)
        for found in evaluator.registrations
    ]


def _gained(text: Text, path: str, known: Mapping[str, object]) -> list[PythonFact]:
    """The registrations that a file has only once the names are known."""
    before = {(one.kind, one.target) for one in read_again(text, path, {})}
    after = dict.fromkeys(read_again(text, path, known))
    return [one for one in after if one.target and (one.kind, one.target) not in before]


class _Modules:
    """Evaluates modules on demand."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._module = cache(self._run)

    def defining(self, name: str) -> tuple[Evaluator | None, list[str]]:
        """The module that defines a dotted name, and the rest of the name; None without one."""
        for path in module_paths(name):
            if module := self._module(path):
                stem = path.removesuffix(".py").removesuffix("/__init__")
                return module, name.split(".")[stem.count("/") + 1 :]
        return None, []

    def value(self, name: str) -> object:
        """The value of a dotted name, if made of operators and constants."""
        module, names = self.defining(name)
        return _followed(module, names) if module else UNKNOWN

    def _run(self, path: str) -> Evaluator | None:
        data = self._read(path)
        return run_module(Text(data), path) if data is not None else None


def _followed(module: Evaluator, names: list[str]) -> object:
    value = module.globals.names.get(names[0], UNKNOWN)
    if isinstance(value, Called):
        value = _made_prim(value)
    for name in names[1:]:
        value = attribute(value, name)
    is_operator = isinstance(value, Op) or (isinstance(value, Path) and _is_namespace(value))
    return value if is_operator or isinstance(value, (list, tuple, dict)) else UNKNOWN


def _made_prim(call: Called) -> object:
    """The operator of ``_prims._make_prim(schema="name(...) -> ...")``."""
    schema = call.kwargs.get("schema")
    if call.callee.rpartition(".")[2] != "_make_prim" or not isinstance(schema, str):
        return UNKNOWN
    return Op("prims", schema.partition("(")[0], "default")


def _is_namespace(value: Path) -> bool:
    return value.dotted.startswith("torch.ops.")
