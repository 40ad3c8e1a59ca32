"""Which Metal kernels a body runs: those of its shader library that the strings in it name.

A library is made of a ``.metal`` file, whose bundled form the Objective-C++ file includes, or of a
string in that file. A kernel belongs to the longest string of the file that its name begins with:
``"exp"`` asks for ``exp_float_float`` where nothing asks for ``exp_complex``."""

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
from indexes.model.vocabulary import Confidence
from indexes.readers.cxx.shaders import HANDED, SHADER

_OPEN = "{}"
"""Where ``fmt::format`` puts something into a string."""
_HEADERS = "/metal/"
_STRING = "s"
"""An argument that is a string: see ``readers.cxx.marks``."""


class Shader(NamedTuple):
    """A function that runs for a string in a body."""

    known: Known
    confidence: Confidence
    candidates: int


class Shaders:
    """Finds the Metal kernels of strings. Answers are kept while it lives."""

    def __init__(self, facts: ResolverFacts, functions_run: FunctionsRun) -> None:
        self.facts = facts
        self._functions_run = functions_run
        self._by_string = lru_cache(64)(self._find_by_string)

    def of(self, call: Call, caller: Known) -> list[Shader]:
        """The kernels that a string in a body means, the functions that they are given first."""
        path = caller.definition.location.path
        is_told = call.receiver != HANDED and not call.name.startswith(_OPEN)
        own = self._by_string(path).get(call.name) if is_told else None
        hosts = own or [*self._put_in(call.name, caller)] or [*self._handed_on(call.name, caller)]
        found = {one.id: one for host in hosts for one in self._run_by(host)}
        if _is_open(call.name) and len(_named(found.values())) > 1:
            return [Shader(one, "ambiguous", len(found)) for one in found.values()]
        is_whole = [host.definition.name for host in hosts] == [call.name]
        return [Shader(one, "exact" if is_whole else "by rule", 1) for one in found.values()]

    def _find_by_string(self, path: str) -> dict[str, list[Known]]:
        """Of each string that a file sees the names of kernels that are its own."""
        own = (text for _, text in self.facts.shaders_asked(path))
        asked = {text for text in (*own, *self.facts.shaders_shared()) if text[:2] != _OPEN}
        patterns = list(map(_Pattern.of, asked))
        found: dict[str, list[Known]] = {}
        for host in self.facts.shaders_of(path):
            for text in _longest(patterns, host.definition.name):
                found.setdefault(text, []).append(host)
        return found

    def _put_in(self, text: str, caller: Known) -> Iterator[Known]:
        """The names that begin with a string put into another of a function that the caller calls,
        ``"bicubic2d"`` into ``"upsample_{}_{}"``, but for those of a longer string."""
        for path, functions in [] if _is_open(text) else self._called(caller):
            asked = self.facts.shaders_asked(path)
            put = {text, *(one for _, one in asked if not _is_open(one))}
            for outer in [one for name, one in asked if name in functions and _is_open(one)]:
                filled = {outer.replace(_OPEN, one, 1): one for one in put}
                patterns = list(map(_Pattern.of, filled))
                # What begins with a hole says too little by itself to have kernels of its own.
                is_bare = outer.startswith(_OPEN)
                hosts = self.facts.shaders_of(path) if is_bare else self._by_string(path).get(outer)
                for host in hosts or ():
                    if text in {filled[one] for one in _longest(patterns, host.definition.name)}:
                        yield host

    def _handed_on(self, text: str, caller: Known) -> Iterator[Known]:
        """The names that begin with a string, in the shader library of a file that gets it through
        a function beside the caller: ``add_sub_template(x, "add")`` gives it to another file's."""
        path = caller.definition.location.path
        calls, said = self.facts.calls(caller), f'"{text}"'
        given = (call for call in calls if said in call.given.split(GIVEN_SEPARATOR))
        called = (one for call in given for one in self.facts.named(call.name))
        beside = (one for one in called if one.definition.location.path == path)
        inner = (one for known in beside for one in self.facts.calls(known))
        taking = {one.name for one in inner if _STRING in one.arguments.split()}
        there = (one.definition.location.path for one in self._with_library(taking, path))
        for where in () if _is_open(text) else dict.fromkeys(there):
            whole = (one for _, one in self.facts.shaders_asked(where) if not _is_open(one))
            patterns = list(map(_Pattern.of, {text, *whole}))
            for host in self.facts.shaders_of(where):
                if text in _longest(patterns, host.definition.name):
                    yield host

    def _called(self, caller: Known) -> Iterator[tuple[str, set[str]]]:
        """What may hold a string that others are put into: of the caller's file the caller and what
        it calls; of another file with a shader library a function that it calls, and what that
        calls."""
        path = caller.definition.location.path
        names = {call.name for call in self.facts.calls(caller) if call.kind != SHADER}
        yield path, {caller.definition.name, *names}
        for one in self._with_library(names, path):
            within = (call.name for call in self.facts.calls(one))
            yield one.definition.location.path, {one.definition.name, *within}

    def _with_library(self, names: Iterable[str], path: str) -> Iterator[Known]:
        """The functions of some names in other files that have a shader library."""
        for name in sorted(names):
            found = self.facts.named(name)
            if any(one.definition.location.path == path for one in found):
                continue
            for one in found:
                if self.facts.shaders_asked(one.definition.location.path) and linkable(one, path):
                    yield one

    def _run_by(self, host: Known) -> Iterator[Known]:
        """What runs under a kernel's name: the object that its function is given, and that. A class
        with several methods helps the kernel, which computes."""
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
    """What a name can mean by itself: the kernels and the functors among what runs. Methods of
    other names help a kernel."""
    kernels = {one.definition.name for one in run if is_metal_kernel(one.definition.parameters)}
    functors = {one.id for one in run if one.definition.name == "operator()"}
    return {*kernels, *functors} or {one.definition.name for one in run}


class _Pattern(NamedTuple):
    text: str
    expression: re.Pattern[str]
    length: int
    """Of what is written out in it."""

    @classmethod
    def of(cls, text: str) -> _Pattern:
        """Of ``"exp"``, ``"matmul_"`` or ``"upsample_{}_{}"``: the rest of a name is its types."""
        parts = text.split(_OPEN)
        begins = ".*".join(map(re.escape, parts))
        rest = "" if text.endswith(("_", _OPEN)) else "(?:_|$)"
        return cls(text, re.compile(begins + rest), sum(map(len, parts)))


def _is_open(text: str) -> bool:
    """Whether a part of the kernel's own name is put into a string, not its types alone."""
    return _OPEN in text.removesuffix(_OPEN)


def _longest(patterns: Sequence[_Pattern], name: str) -> set[str]:
    """The strings that say most of a name, of those that it begins with."""
    fitting = [one for one in patterns if one.expression.match(name)]
    most = max((one.length for one in fitting), default=0)
    return {one.text for one in fitting if one.length == most}


def _is_kernel_of(known: Known, host: Known) -> bool:
    """Whether a function is the one that a name is given, in its file or in a header of Metal."""
    found, path = known.definition, known.definition.location.path
    is_seen = path == host.definition.location.path or (is_header(path) and _HEADERS in path)
    return is_seen and found.kind == "function" and is_metal_kernel(found.parameters)
