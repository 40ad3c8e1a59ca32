"""Which Metal kernels a body runs: those of its shader library that its strings name.

A library is a ``.metal`` file, whose bundled form the Objective-C++ file includes, or a string in
that file. A kernel belongs to the longest string that its name begins with: ``"exp"`` means
``exp_float_float`` unless another string is ``exp_complex``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from indexes.linking.facts import Call, Known
from indexes.linking.functors import FunctionsRun, named_in
from indexes.linking.scopes import ResolverFacts
from indexes.linking.visible import is_header, is_metal_kernel, linkable
from indexes.model.files import GIVEN_SEPARATOR
from indexes.model.lines import grouped
from indexes.model.vocabulary import Confidence
from indexes.readers.cxx.shaders import HANDED, SHADER

_OPEN = "{}"
"""The placeholder of ``fmt::format``."""
_HEADERS = "/metal/"
_STRING = "s"
"""The mark of a string argument: see ``readers.cxx.marks``."""


class Shader(NamedTuple):
    """A function that runs because a string names it."""

    known: Known
    confidence: Confidence
    candidates: int


class Shaders:
    """Finds the Metal kernels that strings name, with a cache."""

    def __init__(self, facts: ResolverFacts, functions_run: FunctionsRun) -> None:
        self.facts = facts
        self._functions_run = functions_run
        self._by_string = lru_cache(64)(self._find_by_string)

    def of(self, call: Call, caller: Known) -> list[Shader]:
        """The kernels that a string in a body names, after the functions passed to them."""
        path = caller.definition.location.path
        is_complete = call.receiver != HANDED and not call.name.startswith(_OPEN)
        own = self._by_string(path).get(call.name) if is_complete else None
        hosts = own or [*self._put_in(call.name, caller)] or [*self._handed_on(call.name, caller)]
        found = {one.id: one for host in hosts for one in self._run_by(host)}
        if _is_open(call.name) and len(_named(found.values())) > 1:
            return [Shader(one, "ambiguous", len(found)) for one in found.values()]
        is_whole = [host.definition.name for host in hosts] == [call.name]
        return [Shader(one, "exact" if is_whole else "by rule", 1) for one in found.values()]

    def _find_by_string(self, path: str) -> dict[str, list[Known]]:
        """The kernels of each string that a file uses."""
        own = (text for _, text in self.facts.shaders_asked(path))
        texts = {text for text in (*own, *self.facts.shaders_shared()) if text[:2] != _OPEN}
        patterns = list(map(_Pattern.of, texts))
        return grouped(
            (text, host)
            for host in self.facts.shaders_of(path)
            for text in _longest(patterns, host.definition.name)
        )

    def _put_in(self, text: str, caller: Known) -> Iterator[Known]:
        """The kernels named by a string that a called function formats into another one, as
        ``"bicubic2d"`` into ``"upsample_{}_{}"``."""
        for path, functions in [] if _is_open(text) else self._called(caller):
            strings = self.facts.shaders_asked(path)
            put = {text, *(one for _, one in strings if not _is_open(one))}
            for outer in [one for name, one in strings if name in functions and _is_open(one)]:
                filled = {outer.replace(_OPEN, one, 1): one for one in put}
                patterns = list(map(_Pattern.of, filled))
                # What begins with a hole says too little by itself to have kernels of its own.
                is_bare = outer.startswith(_OPEN)
                hosts = self.facts.shaders_of(path) if is_bare else self._by_string(path).get(outer)
                for host in hosts or ():
                    if text in {filled[one] for one in _longest(patterns, host.definition.name)}:
                        yield host

    def _handed_on(self, text: str, caller: Known) -> Iterator[Known]:
        """The kernels in another file's library, if a function of the caller's file passes the
        string on: ``add_sub_template(x, "add")``."""
        path = caller.definition.location.path
        calls, literal = self.facts.calls(caller), f'"{text}"'
        given = (call for call in calls if literal in call.given.split(GIVEN_SEPARATOR))
        called = (one for call in given for one in self.facts.named(call.name))
        of_file = (one for one in called if one.definition.location.path == path)
        inner = (one for known in of_file for one in self.facts.calls(known))
        taking = {one.name for one in inner if _STRING in one.arguments.split()}
        there = (one.definition.location.path for one in self._with_library(taking, path))
        for where in () if _is_open(text) else dict.fromkeys(there):
            whole = (one for _, one in self.facts.shaders_asked(where) if not _is_open(one))
            patterns = list(map(_Pattern.of, {text, *whole}))
            for host in self.facts.shaders_of(where):
                if text in _longest(patterns, host.definition.name):
                    yield host

    def _called(self, caller: Known) -> Iterator[tuple[str, set[str]]]:
        """Functions that may contain the format string, by file: the caller and its callees; in
        other files with a shader library a callee and its callees."""
        path = caller.definition.location.path
        names = {call.name for call in self.facts.calls(caller) if call.kind != SHADER}
        yield path, {caller.definition.name, *names}
        for one in self._with_library(names, path):
            within = (call.name for call in self.facts.calls(one))
            yield one.definition.location.path, {one.definition.name, *within}

    def _with_library(self, names: Iterable[str], path: str) -> Iterator[Known]:
        for name in sorted(names):
            found = self.facts.named(name)
            if any(one.definition.location.path == path for one in found):
                continue
            for one in found:
                if self.facts.shaders_asked(one.definition.location.path) and linkable(one, path):
                    yield one

    def _run_by(self, host: Known) -> Iterator[Known]:
        """The kernel of a name and the functors passed to it. The kernel comes first if it uses
        several methods of a functor's class."""
        if host.definition.kind != "shader":
            yield host
            return
        for call in self.facts.calls(host):
            run = self._functions_run
            given = [one for named in named_in(call) for one in run.by(named, host, call)]
            kernels = [one for one in self.facts.named(call.name) if _is_kernel_of(one, host)]
            helps = len({one.definition.name for one in given}) > 1
            yield from (*kernels, *given) if helps else (*given, *kernels)


def _named(run: Collection[Known]) -> set[str | int]:
    """The distinct kernels and functors among what runs."""
    kernels = {one.definition.name for one in run if is_metal_kernel(one.definition.parameters)}
    functors = {one.id for one in run if one.definition.name == "operator()"}
    return {*kernels, *functors} or {one.definition.name for one in run}


class _Pattern(NamedTuple):
    text: str
    expression: re.Pattern[str]
    length: int
    """The number of literal characters."""

    @classmethod
    def of(cls, text: str) -> _Pattern:
        """The pattern of ``"exp"``, ``"matmul_"`` or ``"upsample_{}_{}"``, to which types are
        added."""
        parts = text.split(_OPEN)
        begins = ".*".join(map(re.escape, parts))
        rest = "" if text.endswith(("_", _OPEN)) else "(?:_|$)"
        return cls(text, re.compile(begins + rest), sum(map(len, parts)))


def _is_open(text: str) -> bool:
    """Whether part of the kernel's own name is formatted in, not only its types."""
    return _OPEN in text.removesuffix(_OPEN)


def _longest(patterns: Sequence[_Pattern], name: str) -> set[str]:
    fitting = [one for one in patterns if one.expression.match(name)]
    most = max((one.length for one in fitting), default=0)
    return {one.text for one in fitting if one.length == most}


def _is_kernel_of(known: Known, host: Known) -> bool:
    """Whether a function is the kernel of a name, in the same file or in a Metal header."""
    found, path = known.definition, known.definition.location.path
    is_seen = path == host.definition.location.path or (is_header(path) and _HEADERS in path)
    return is_seen and found.kind == "function" and is_metal_kernel(found.parameters)
