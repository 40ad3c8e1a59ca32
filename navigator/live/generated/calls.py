"""Wraps every function of the generators to record which call made which text for which operators.

Runs in the Python that has torchgen: the standard library alone.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from types import FunctionType, ModuleType
from typing import Any

_MANY = 64
"""Arguments with more operators than this are not about single ones."""
_LAST = 3
Operators = frozenset[str]
_NOBODY: Operators = frozenset()


@dataclass(frozen=True)
class Function:
    """A function of a generator."""

    name: str
    path: str
    """Path in the tree."""
    line: int
    file: str = ""
    """Path on this machine."""


@dataclass(frozen=True)
class Text:
    """Text that a call returned."""

    operators: Operators
    text: str
    by: Function


@dataclass(frozen=True)
class Refusal:
    """A call about operators that returned nothing to write."""

    operators: Operators
    by: Function
    lines: tuple[int, ...]
    """The last lines that it ran: the ``return`` that it left by and the code after it."""
    asked: tuple[tuple[str, int], ...] = ()
    """The returns of functions that it called about the same operator: (path, line)."""


@dataclass(eq=False)
class Call:
    """A running call of a wrapped function."""

    by: Function
    operators: Operators
    texts: list[Text] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    families: dict[str, None] = field(default_factory=dict)
    """The families of files written during the call."""
    above: Call | None = None


class Recorder:
    """Collects the results of a run's calls."""

    def __init__(self, operator_class: type) -> None:
        self._class = operator_class
        self._known: dict[int, tuple[Any, Operators]] = {}
        self.stack: list[Call] = []
        self.texts: list[Text] = []
        self.refusals: list[tuple[Refusal, Call | None, str]] = []
        """Each with the calling call, and the family of files being written."""
        self.makers: dict[str, Function] = {}
        """Text -> the innermost function that returned it."""
        self.links: dict[str, set[str]] = {}
        """Node -> the operators that use its entry of derivatives.yaml."""
        self.writing = ""
        """The family of the file being written, or empty."""
        self._refused: dict[tuple[Function, Operators, str], Refusal] = {}
        self._paused = False

    def wrapped(self, function: FunctionType, by: Function) -> Callable[..., Any]:
        """The function, with its calls recorded."""

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            if self._paused:
                return function(*args, **named)
            about = self._of((*args, *named.values()))
            this = Call(by, about, above=self.stack[-1] if self.stack else None)
            self.stack.append(this)
            try:
                result = function(*args, **named)
            finally:
                self.stack.pop()
            self._returned(this, result, function, args, named)
            return result

        return call

    def _of(self, values: Iterable[Any]) -> Operators:
        """The operators of a call: of the argument with the fewest."""
        found = [operators for value in values if (operators := self._about(value))]
        return min(found, key=len, default=_NOBODY)

    def _about(self, value: Any) -> Operators:
        """The operators that an argument is about."""
        if isinstance(value, (str, int, bool, type(None))):
            return _NOBODY
        if isinstance(value, (list, tuple)):
            one_name = 0 < len(value) <= _MANY and len({_base(one) for one in value}) == 1
            return _NOBODY.union(*map(self._about, value)) if one_name else _NOBODY
        known = self._known.get(id(value))
        if known is None or known[0] is not value:
            known = self._known[id(value)] = (value, self._operators(value))
        return known[1]

    def _operators(self, value: Any) -> Operators:
        if isinstance(value, self._class):
            return frozenset([name_of(value)])
        if callable(group := getattr(value, "functions", None)):
            return frozenset(name_of(one) for one in group())
        for attribute in ("func", "function"):
            of = getattr(value, attribute, None)
            if isinstance(of, self._class):
                return frozenset([name_of(of)]) | self._node(value, name_of(of))
        return _NOBODY

    def _node(self, value: Any, operator: str) -> Operators:
        """The Node of an entry of derivatives.yaml, noted for a match of one."""
        if isinstance(of := getattr(value, "op", None), str):
            return frozenset([f"node:{of}"])
        infos = getattr(value, "info", None)
        for info in infos.values() if isinstance(infos, dict) else ():
            self.links.setdefault(f"node:{getattr(info, 'op', None)}", set()).add(operator)
        return _NOBODY

    def _returned(
        self, call: Call, result: Any, function: FunctionType, args: Any, named: Any
    ) -> None:
        texts = list(strings(result))
        for text in texts:
            self.makers.setdefault(text.strip(), call.by)
        if not call.operators:
            self._pass_on(call, call.texts, [])
            return
        parts = _parts(call, texts, isinstance(result, str))
        refusals = [refusal for refusal in call.refusals if refusal.operators < call.operators]
        if _empty(result) or (call.refusals and not call.texts):
            inner = refusals or call.refusals[-1:]
            refusals = inner or [self._refused_by(call, function, args, named)]
        self._pass_on(call, parts, refusals)

    def _pass_on(self, call: Call, texts: list[Text], refusals: list[Refusal]) -> None:
        above = self.stack[-1] if self.stack else None
        if above is not None:
            above.texts += texts
        else:
            self.texts += texts
        if above is not None and above.operators:
            above.refusals += refusals
        else:
            self.refusals += [(refusal, above, self.writing) for refusal in refusals]

    def _refused_by(self, call: Call, function: FunctionType, args: Any, named: Any) -> Refusal:
        key = (call.by, call.operators, self.writing)
        if key not in self._refused:
            self._refused[key] = self._refusal(call, function, args, named)
        return self._refused[key]

    def _refusal(self, call: Call, function: FunctionType, args: Any, named: Any) -> Refusal:
        """The line by which a call returned, and the calls before it; found by calling it again."""
        code = inspect.unwrap(function).__code__
        lines: list[int] = []
        returns: list[tuple[str, int]] = []
        about = [arg for arg in args if self._about(arg)]

        def called(frame: Any, _event: str, _value: Any) -> Any:
            if frame.f_code is code:
                return stepped
            of_it = frame.f_back is not None and frame.f_back.f_code is code
            same = of_it and any(one is given for one in about for given in frame.f_locals.values())
            return answered if same else None

        def stepped(frame: Any, event: str, _value: Any) -> Any:
            if event == "line":
                lines.append(frame.f_lineno)
            return stepped

        def answered(frame: Any, event: str, value: Any) -> Any:
            if event == "return" and isinstance(value, (str, bool)):
                returns.append((frame.f_code.co_filename, frame.f_lineno))
            return answered

        self._paused = True
        sys.settrace(called)
        try:
            function(*args, **named)
        finally:
            sys.settrace(None)
            self._paused = False
        return Refusal(call.operators, call.by, tuple(lines[-_LAST:]), tuple(returns))


def _parts(call: Call, texts: list[str], one_text: bool) -> list[Text]:
    """The parts of a call's text that concern operators: the texts of inner calls if these have
    fewer operators or were split into lines, else its own."""
    narrower = [one for one in call.texts if one.operators < call.operators]
    flats = [(one, "\n".join(lines_of(one))) for one in texts]
    inner = ["\n".join(lines_of(one.text)) for one in call.texts]
    if narrower and not one_text:
        free = [text for text, flat in flats if "\n" in flat and not any(i in flat for i in inner)]
        return [*narrower, *(Text(call.operators, one, call.by) for one in free)]
    cut = any("\n" in one and not any(one in flat for _, flat in flats) for one in inner)
    if cut and not one_text:
        return call.texts
    holding = [text for text, flat in flats if any(one in flat for one in inner)]
    return [Text(call.operators, one, call.by) for one in holding or texts]


@lru_cache(100_000)
def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text without indentation and empty lines, which templates change."""
    return tuple(line for one in text.split("\n") if (line := one.strip()))


def name_of(function: Any) -> str:
    """An operator's name with its overload, and its namespace unless that is aten."""
    space = getattr(function, "namespace", "aten")
    return str(function.func.name) if space == "aten" else f"{space}::{function.func.name}"


def _base(value: Any) -> str:
    """The name that groups a list's operators."""
    of = value if hasattr(value, "root_name") else getattr(value, "function", value)
    return str(getattr(of, "root_name", ""))


def strings(value: Any) -> Iterator[str]:
    """The strings in a generator's result."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from strings(one)


def _empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_empty(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return all(_empty(one) for one in value)
    return value is None or value is False or (isinstance(value, str) and not value.strip())


def wrap(recorder: Recorder, modules: Iterable[ModuleType], where: Callable[[str], str]) -> None:
    """Wraps every function and method of generator modules, wherever it was imported."""
    replaced: dict[int, Any] = {}
    for module in modules:
        for value in list(vars(module).values()):
            if getattr(value, "__module__", "") != module.__name__:
                continue
            if isinstance(value, FunctionType):
                replaced[id(value)] = recorder.wrapped(value, _function(value, where))
            elif isinstance(value, type):
                _wrap_methods(recorder, value, where)
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in replaced:
                setattr(module, name, replaced[id(value)])


def _wrap_methods(recorder: Recorder, cls: type, where: Callable[[str], str]) -> None:
    for name, value in list(vars(cls).items()):
        written = isinstance(value, FunctionType) and inspect.unwrap(value).__code__.co_filename
        if written and not written.startswith("<") and (name == "__call__" or name[:2] != "__"):
            setattr(cls, name, recorder.wrapped(value, _function(value, where)))


def _function(function: FunctionType, where: Callable[[str], str]) -> Function:
    inner = inspect.unwrap(function)
    code = inner.__code__
    lines, first = inspect.getsourcelines(code)
    above = next((at for at, one in enumerate(lines) if one.lstrip().startswith("def ")), 0)
    return Function(inner.__qualname__, where(code.co_filename), first + above, code.co_filename)
