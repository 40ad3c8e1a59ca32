"""Where the installed torch's public names are defined. Runs as a separate process: imports every
public module of torch and functorch.

A name is public by the rules of test_public_bindings.py: it is in ``__all__`` of a module without a
private part in its path or, without ``__all__``, has no leading underscore and its value's module
is PyTorch's. Documented names are read from standard input. Arguments restrict the modules.

Writes one JSON object: classes, their methods, and functions, each with the path and line of its
``class`` or ``def``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import linecache
import os
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

Place = tuple[str, int]
PACKAGES = ("torch", "functorch")


def modules(wanted: list[str]) -> Iterator[ModuleType]:
    """Public modules that can be imported, or only the requested ones."""
    if wanted:
        yield from map(importlib.import_module, wanted)
        return
    for name in PACKAGES:
        top = importlib.import_module(name)
        yield top
        for found in pkgutil.walk_packages(top.__path__, f"{name}.", onerror=lambda _: None):
            if not any(part.startswith("_") for part in found.name.split(".")):
                with contextlib.suppress(BaseException):
                    yield importlib.import_module(found.name)


def public(module: ModuleType) -> Iterator[str]:
    """The public names of a module."""
    if (listed := getattr(module, "__all__", None)) is not None:
        yield from listed
        return
    for name in dir(module):
        home = getattr(getattr(module, name, None), "__module__", None) or ""
        if not name.startswith("_") and str(home).partition(".")[0] in PACKAGES:
            yield name


def place(value: Any, top: str) -> Place | None:
    """Path and line of a value's ``class`` or ``def``; None without Python source."""
    value = inspect.unwrap(value)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return None
    path = inspect.getsourcefile(value)
    if path is None or not path.startswith(top):
        return None
    find: Callable[[Any], int] = _class_line if inspect.isclass(value) else _first_line
    line = find(value)
    lines = linecache.getlines(path)
    while not lines[line - 1].lstrip().startswith(("def ", "async def ", "class ")):
        line += 1  # skip decorators
    return os.path.relpath(path, top).replace(os.sep, "/"), line


@cache
def _class_line(value: type) -> int:
    return inspect.getsourcelines(value)[1]


def _first_line(value: Any) -> int:
    """As ``inspect.getsourcelines``, which also looks for the end."""
    line: int = getattr(value, "__func__", value).__code__.co_firstlineno
    return line


def places(owner: Any, names: Iterator[str], prefix: str, top: str) -> Iterator[tuple[str, Place]]:
    """The places of attributes that have one."""
    for name in names:
        with contextlib.suppress(Exception):
            if found := place(getattr(owner, name), top):
                yield f"{prefix}.{name}", found


def listed(names: list[str], top: str) -> Iterator[tuple[str, Place]]:
    """The places of listed names."""
    for name in names:
        owner, _, last = name.rpartition(".")
        with contextlib.suppress(Exception):
            yield from places(_value(owner), iter([last]), owner, top)


def _value(name: str) -> Any:
    first, *rest = name.split(".")
    value: Any = importlib.import_module(first)
    for at, part in enumerate(rest):
        if not hasattr(value, part):
            value = importlib.import_module(".".join([first, *rest[: at + 1]]))
        else:
            value = getattr(value, part)
    return value


def members(names: dict[str, Place], top: str) -> Iterator[tuple[str, Place]]:
    """The public methods of classes among some names, once per class."""
    seen = set()
    for name in names:
        with contextlib.suppress(Exception):
            value = _value(name)
            if isinstance(value, type) and value not in seen:
                seen.add(value)
                yield from places(value, (n for n in dir(value) if n[0] != "_"), name, top)


def main() -> None:
    """Answers on standard output."""
    warnings.simplefilter("ignore")
    import torch

    top = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found: dict[str, Place] = {}
        for module in modules(sys.argv[1:]):
            found.update(places(module, public(module), module.__name__, top))
        found.update(listed(json.loads(sys.stdin.read() or "[]"), top))
        methods = dict(members(found, top))
    answer = {"names": found, "methods": methods}
    json.dump({"version": torch.__version__, **answer}, sys.stdout)


if __name__ == "__main__":
    main()
