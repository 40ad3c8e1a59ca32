"""Finds where a program defines its own operators and ``autograd.Function``s.

The source is torch for ``custom_op`` and C++ (``_dispatch_dump``) and Python for classes; functions
passed to a ``torch.library.Library`` are noted in the call. Operators of torch itself are skipped.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple

import torch
import torch.library

from .frames import absolute
from .modules import torch_folder

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_INTERVAL_S = 2.0
"""A search takes about 7 ms."""
_DEF = re.compile(r"\s*(async\s+)?def\s")
_REGISTERED = re.compile(r"^(?:debug|(\w+)(?:\[alias\])?): registered at (.+?):(\d+)", re.M)
_SCHEMA = re.compile(r"^schema: (.+)", re.M)
_DEFAULT_KEY = "CompositeExplicitAutograd"
"""Key of a ``custom_op`` function for all devices."""
_KEYLESS = "CompositeImplicitAutograd"
"""Key of a kernel passed to a ``Library`` without a dispatch key."""
_TORCHS = ("aten::", "prim::", "prims::")
_PLUG_IN_KEYS = ("PrivateUse1", "AutogradPrivateUse1")
"""Out-of-tree devices register their kernels of torch's operators here."""
_WRAPPERS = 20
"""Maximum number of wrappers to unwrap around a function."""
_DECORATORS = 50
"""Maximum number of decorator lines of a function."""
_CUSTOM_OPS = os.path.join("_library", "custom_ops.py")
_GENERATOR = "torch._library.autograd"
"""The module that creates a class for each operator with a ``register_autograd``."""
_ANY_OPERATOR = "aten::add.Tensor"


class Definition(NamedTuple):
    """One definition of the program, and its place."""

    kind: str
    """``operator``, ``kernel``, ``fake``, ``forward`` or ``backward``."""
    name: str
    """``mylib::scale``; for an ``autograd.Function`` the name in profiles, ``SquareBackward``."""
    path: str
    line: int
    function: str = ""
    """``scale_cpu``, ``Square.backward``; empty if only the registering line is known."""
    key: str = ""
    """The dispatch key of a kernel."""
    schema: str = ""


class Place(NamedTuple):
    """A function's file, the line of its ``def``, and its name."""

    path: str
    line: int
    function: str


class Definitions:
    """Collects definitions; reports each one once."""

    def __init__(self) -> None:
        self._torch = os.path.join(torch_folder(), "")
        self._roots = (self._torch, *_build_root())
        """Folders of torch's own files, here and where it was built."""
        library = os.path.join(self._torch, "_library", "")
        self._machinery = (torch.library.__file__, library, functools.__file__, _OWN)
        self._noted: list[Definition] = []
        """Definitions passed to a ``Library`` since the last call."""
        self._written: set[Definition] = set()
        self._names: set[str] = set()
        """Operators whose registrations were checked."""
        self._next_search = 0.0

    def follow(self) -> list[Callable[[], None]]:
        """Note what is passed to a ``Library`` from now on; returns a function that stops this."""
        library = torch.library.Library
        define, impl = library.define, library.impl

        @functools.wraps(define)
        def new_define(owner: Any, schema: str, *args: Any, **kwargs: Any) -> Any:
            result = define(owner, schema, *args, **kwargs)
            self._on_define(owner.ns, schema)
            return result

        @functools.wraps(impl)
        def new_impl(owner: Any, name: Any, fn: Any, key: str = "", **kwargs: Any) -> Any:
            result = impl(owner, name, fn, key, **kwargs)
            self._on_impl(owner, name, fn, key)
            return result

        library.define, library.impl = new_define, new_impl

        def undo() -> None:
            library.define, library.impl = define, impl

        return [undo]

    def fresh(self, last: bool = False) -> list[Definition]:
        """New definitions; unless ``last``, none if the last search was a moment ago."""
        if not last and monotonic() < self._next_search:
            return []
        self._next_search = monotonic() + _INTERVAL_S
        registered, self._noted = self._noted, []
        found = list(registered)
        with suppress(RuntimeError):  # another thread is defining something; retried later
            found += self._custom_ops()
            found += self._functions()
        found += self._registered({*self._written, *found}, again=last)
        fresh = [one for one in dict.fromkeys(found) if one not in self._written]
        self._written.update(fresh)
        return fresh

    # ------------------------------------------------------------------ given to a Library

    def _on_define(self, namespace: str, schema: str) -> None:
        place = self._caller()
        if place is not None:
            name = f"{namespace}::{schema.partition('(')[0].strip()}"
            self._noted.append(Definition("operator", name, *place, schema=schema))

    def _on_impl(self, library: Any, operator: Any, fn: Any, key: str) -> None:
        place = self._place(fn)
        if place is not None:
            name = operator if isinstance(operator, str) else operator.name()
            full = name if "::" in name else f"{library.ns}::{name}"
            key = key or library.dispatch_key or _KEYLESS
            self._noted.append(Definition("kernel", full.removesuffix(".default"), *place, key))

    def _caller(self) -> Place | None:
        """The program's line that calls ``torch.library``. None for calls by torch itself and for
        ``custom_op``, which knows its function."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(self._machinery):
            if frame.f_code.co_filename.endswith(_CUSTOM_OPS):
                return None
            frame = frame.f_back
        if frame is None or frame.f_code.co_filename.startswith(self._torch):
            return None
        return Place(absolute(frame.f_code.co_filename), frame.f_lineno, "")

    # -------------------------------------------------------------------- what torch knows

    def _custom_ops(self) -> Iterator[Definition]:
        """Those of ``custom_op`` and ``triton_op``."""
        try:
            from torch._library.custom_ops import OPDEFS
        except ImportError:  # before 2.4
            return
        for name, one in list(OPDEFS.items()):
            place = self._place(one._init_fn)
            if place is not None:
                schema = f"{name.partition('::')[2]}{one._schema}"
                yield Definition("operator", name, *place, schema=schema)
            for device, fn in list(one._backend_fns.items()):
                place = self._place(fn)
                if place is not None:
                    yield Definition("kernel", name, *place, _key_of_device(device))
            place = self._place(one._abstract_fn)
            if place is not None:
                yield Definition("fake", name, *place)

    def _registered(self, known: set[Definition], again: bool) -> Iterator[Definition]:
        """The dispatcher's registrations from files on this machine, where nothing better is known.
        ``again`` repeats operators that were checked before."""
        better = {(one.name, one.key) for one in known if one.kind in ("operator", "kernel")}
        for name in self._candidates():
            if name in self._names and not again:
                continue
            self._names.add(name)
            dump = torch._C._dispatch_dump(name)
            schema = _SCHEMA.search(dump)
            for key, path, line in _REGISTERED.findall(dump):
                if (name, key) not in better and self._is_of_program(path):
                    kind, text = (
                        ("kernel", "") if key else ("operator", schema[1] if schema else "")
                    )
                    text = text.partition("::")[2]
                    yield Definition(kind, name, path, int(line), key=key, schema=text)

    def _candidates(self) -> list[str]:
        """Operators that someone other than torch may have registered something for."""
        names = torch._C._dispatch_get_all_op_names()
        operators_of = torch._C._dispatch_get_registrations_for_dispatch_key
        plugged = {name for key in _PLUG_IN_KEYS for name in operators_of(key)}
        return [name for name in names if name in plugged or not name.startswith(_TORCHS)]

    def _is_of_program(self, path: str) -> bool:
        return not path.startswith(self._roots) and os.path.isfile(path)

    def _functions(self) -> Iterator[Definition]:
        """All ``autograd.Function`` classes, by their names in profiles."""
        waiting = list(torch.autograd.Function.__subclasses__())
        for one in waiting:  # grows
            waiting += one.__subclasses__()
            forward = inspect.getattr_static(one, "forward", None)
            backward = inspect.getattr_static(one, "backward", None)
            if one.__module__ == _GENERATOR:
                forward, backward = None, _registered_backward(backward)
            for kind, name, method in (
                ("forward", one.__name__, forward),
                ("backward", f"{one.__name__}Backward", backward),
            ):
                place = self._place(method, of_torch=True)
                if place is not None:
                    yield Definition(kind, name, *place)

    # --------------------------------------------------------------------- of a function

    def _place(self, function: Any, of_torch: bool = False) -> Place | None:
        """Where a function of the program is defined. None for C functions and, unless
        ``of_torch``, torch's own."""
        found = self._function(function) or (_unwrapped(function) if of_torch else None)
        if not isinstance(found, FunctionType):
            return None
        code = found.__code__
        return Place(absolute(code.co_filename), _def_line(code), found.__qualname__)

    def _function(self, function: Any) -> FunctionType | None:
        """The program's function behind an object that torch was given or wrapped."""
        plain = _unwrapped(function)
        if not isinstance(plain, FunctionType):
            return None
        if not plain.__code__.co_filename.startswith(self._torch):
            return plain
        inner = {self._function(one) for one in _closure(plain) if isinstance(one, FunctionType)}
        inner.discard(None)
        return inner.pop() if len(inner) == 1 else None


def _build_root() -> tuple[str, ...]:
    """The folder that torch was built in, from a line written by torchgen."""
    registered = _REGISTERED.search(torch._C._dispatch_dump(_ANY_OPERATOR))
    root, found, _ = registered[2].partition("build/aten/") if registered else ("", "", "")
    return (root,) if root and found else ()


def _registered_backward(function: Any, depth: int = 3) -> Any:
    """The backward function in the class that ``torch.library`` makes for an operator."""
    plain = _unwrapped(function)
    for value in _closure(plain) if depth and isinstance(plain, FunctionType) else ():
        if isinstance(value, FunctionType):
            inner = _registered_backward(value, depth - 1)
            if inner is not value:
                return inner
        elif "_backward_fn" in getattr(value, "__dict__", ()):
            return value._backward_fn
    return function


def _closure(function: FunctionType) -> list[Any]:
    values = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # empty
            values.append(cell.cell_contents)
    return values


def _unwrapped(function: Any) -> Any:
    """The function inside methods, partials and decorators that set ``__wrapped__``."""
    for _ in range(_WRAPPERS):
        if isinstance(function, (MethodType, staticmethod, classmethod)):
            function = function.__func__
        elif isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, FunctionType) and hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return function


def _def_line(code: CodeType) -> int:
    """The line of ``def``; the code object's first line is that of its first decorator."""
    first = code.co_firstlineno
    lines = linecache.getlines(code.co_filename)[first - 1 : first + _DECORATORS]
    if code.co_name != "<lambda>":
        for number, line in enumerate(lines, first):
            if _DEF.match(line):
                return number
    return first


def _key_of_device(device: str | None) -> str:
    if device is None:
        return _DEFAULT_KEY
    return str(torch._C._dispatch_key_for_device(device))
