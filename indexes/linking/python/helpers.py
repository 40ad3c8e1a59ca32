"""Registrations made through a helper of another file: ``celu_ = _make_inplace(celu)``.

A reader sees one file, so it keeps such a call; here the helper's body, kept by the reader of
its own file, is followed for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from indexes.model.files import PythonFact, module_name
from indexes.readers.python.blocks import parse
from indexes.readers.python.evaluation import Evaluator
from indexes.readers.python.registrations import called, registration_fact
from indexes.readers.python.values import UNKNOWN


def resolve(files: Mapping[str, Iterable[PythonFact]]) -> Iterator[tuple[str, PythonFact]]:
    """The registrations behind the ``deferred`` rows of all files, as (path, fact)."""
    sources = {
        fact.symbol: fact.detail
        for facts in files.values()
        for fact in facts
        if fact.kind == "helpers"
    }
    helpers = _Helpers(sources)
    for path, facts in files.items():
        for fact in facts:
            if fact.kind == "deferred":
                yield from ((path, found) for found in _registrations(helpers, path, fact))


def _registrations(helpers: _Helpers, path: str, fact: PythonFact) -> list[PythonFact]:
    module, _, name = fact.symbol.rpartition(".")
    evaluator = helpers.module(module)
    if evaluator is None or evaluator.globals.get(name) is UNKNOWN:
        return []
    call, function, at, site = called(fact)
    evaluator.registrations.clear()
    evaluator.at, evaluator.site = at, site
    try:
        made = evaluator.call_from_outside(name, call.args, call.kwargs)
        if function is not None:
            evaluator.call_from_outside(name, (function,), {}, made)
    except RecursionError:
        return []
    here = module_name(path)
    ends = {fact.line: fact.end_line}
    return [
        registration_fact(found._replace(helper=fact.symbol), here, ends)
        for found in evaluator.registrations
    ]


class _Helpers:
    """The modules that define helpers, evaluated when first asked for."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._read: dict[str, Evaluator | None] = {}

    def module(self, name: str) -> Evaluator | None:
        if name not in self._read:
            self._read[name] = self._evaluate(name)
        return self._read[name]

    def _evaluate(self, name: str) -> Evaluator | None:
        if name not in self._sources:
            return None
        evaluator = Evaluator(name, is_package=True)
        try:
            evaluator.execute(parse(self._sources[name]).body, evaluator.globals)
        except (SyntaxError, ValueError, RecursionError):
            return None
        return evaluator
