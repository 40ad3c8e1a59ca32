"""Keeps the files that generators write in memory, with the template line of each part.

Runs in the Python that has torchgen: the standard library alone.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from navigator.live.generated.calls import Recorder

_PER_OPERATOR = "/ops/"


@dataclass(frozen=True)
class Part:
    """The text in place of one placeholder of a template."""

    first: int
    """Its first line in the file."""
    name: str
    template: str
    line: int
    """Line of the placeholder in the template."""


@dataclass
class File:
    """A generated file."""

    path: str
    text: str
    family: str
    parts: list[Part] = field(default_factory=list)

    def part(self, line: int) -> Part | None:
        """The part that contains a line."""
        at = bisect_right(self.parts, line, key=lambda one: one.first)
        return self.parts[at - 1] if at else None


class Files:
    """Replaces the disk while the generators run."""

    def __init__(self, recorder: Recorder, where: Callable[[str], str]) -> None:
        self._recorder = recorder
        self._where = where
        self.files: dict[str, File] = {}
        self.writers: dict[str, list[tuple[str, int]]] = {}
        """Family -> where the generators request it: (path, line)."""
        self._filled: dict[str, list[Part]] = {}
        """Text of a filled template -> its parts."""
        self._templates: set[str] = set()
        self._family = ""

    def written(self) -> list[File]:
        """The files that are not templates of others."""
        return [file for file in self.files.values() if file.path not in self._templates]

    def install(self, managers: list[type], template: Any) -> None:
        """Replaces the functions by which generators read templates and write files."""
        for manager in managers:
            manager._write_if_changed = lambda _self, filename, contents: self._written(  # type: ignore[attr-defined]
                _posix(filename), contents
            )
            for name in _WRITERS:
                if function := getattr(manager, name, None):
                    setattr(manager, name, self._writer(function))
        read, fill = template.from_file, template.substitute

        def from_file(filename: Any) -> Any:
            path = _posix(filename)
            if path not in self.files:
                return read(filename)
            self._templates.add(path)
            return template(self.files[path].text, path)

        def substitute(this: Any, env: Any = None, **named: Any) -> Any:
            text = fill(this, env, **named)
            if this.filename:
                values = {**(env or {}), **named}
                self._filled[text] = self._parts(this, values, fill)
            return text

        template.from_file = staticmethod(from_file)
        template.substitute = substitute

    def _writer(self, function: Any) -> Any:
        """A wrapped method of a file manager; the outermost call names the family."""

        def write(this: Any, filename: Any, *args: Any, **named: Any) -> Any:
            if self._family:
                return function(this, filename, *args, **named)
            template = args[0] if args and not callable(args[0]) else named.get("template_fn")
            self._family = family(f"{this.install_dir}/{filename}", str(template or filename))
            self._note_writer()
            self._recorder.writing = self._family
            for call in self._recorder.stack:
                call.families[self._family] = None
            try:
                return function(this, filename, *args, **named)
            finally:
                self._family = self._recorder.writing = ""

        return write

    def _note_writer(self) -> None:
        frame = sys._getframe(2)
        place = (frame.f_code.co_filename, frame.f_lineno)
        places = self.writers.setdefault(self._family, [])
        if place not in places:
            places.append(place)

    def _written(self, path: str, text: str) -> None:
        parts = self._filled.get(text, [])
        self._filled.clear()
        if "Everything." not in path:  # all shards in one file, which builds don't compile
            self.files[path] = File(path, text, self._family, parts)

    def _parts(self, template: Any, env: Mapping[str, Any], fill: Any) -> list[Part]:
        """The parts of a filled template, in order."""
        parts, line, end, pattern = [], 1, 0, template.pattern
        held = self.files.get(_posix(template.filename))
        for found in template.substitution.finditer(pattern):
            line += pattern.count("\n", end, found.start())
            end = found.end()
            name = found.group(2).strip("{},")
            at = pattern.count("\n", 0, found.start()) + 1
            origin = held.part(at) if held else None
            path = origin.template if origin else self._where(str(template.filename))
            parts.append(Part(line, name, path, origin.line if origin else at))
            line += _filling(template, found, env, fill).count("\n")
        return parts


_WRITERS = ("write_sharded_with_template", "write_sharded", "write_with_template", "write")


def _posix(path: Any) -> str:
    return str(path).replace(os.sep, "/")


def _filling(template: Any, found: Any, env: Mapping[str, Any], fill: Any) -> str:
    """What the template's rule puts in place of one placeholder."""
    before = "" if found.group(1) is not None else "x"
    return str(fill(type(template)(before + found.group(0)), env))


def family(path: str, template: str) -> str:
    """The family of a file: RegisterCPU for its shards, Operator for ``ops/add_ops.h``."""
    name, stem = os.path.basename(path), os.path.splitext(os.path.basename(template))[0]
    if _PER_OPERATOR in path or name.startswith(f"{stem}_"):
        return os.path.basename(template)
    return name
