"""``read_cpp``: one C++ file in, its facts out, as plain lists that travel and store cheaply."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.cxx.bodies import body_calls, passed_names
from indexes.readers.cxx.lexer import NEVER, MacroFact, flat
from indexes.readers.cxx.library_blocks import library_calls
from indexes.readers.cxx.scopes import Found, Macro, Scan, decode, scan_text

_META = regex(r"TORCH_(?:PRECOMPUTE_)?META_FUNC(2?)$")
_INTERPRETED = regex(
    r"(?:\w*REGISTER_\w*DISPATCH|DECLARE_DISPATCH|DEFINE_DISPATCH|TORCH_LIBRARY\w*"
    r"|TORCH_(?:PRECOMPUTE_)?(?:META|IMPL)_FUNC2?)$"
)
_MAX_MACRO_BODY = 20_000
_OPERATOR_FOLDERS = ("aten/", "torch/csrc/autograd/", "torch/include/ATen/")


class CallFact(NamedTuple):
    """A call: ``kind`` is call, member, launch or name."""

    name: str
    qualifier: str
    line: int
    kind: str
    template: str


class DefinitionFact(NamedTuple):
    """A definition, with what its body calls."""

    name: str
    scope: str
    kind: str
    line: int
    end_line: int
    parameters: str
    guard: str
    is_global: int
    """1 for a ``__global__`` function: sqlite3 binds an int several times faster than a bool."""
    base: str
    macro: str
    """The macro at whose use it stands: ``TORCH_IMPL_FUNC``, or one the tree defines."""
    macro_path: str
    macro_line: int
    calls: list[CallFact]


class UseFact(NamedTuple):
    """A macro use at namespace or class scope, or a macro that begins a definition."""

    name: str
    arguments: str
    scope: str
    line: int
    guard: str
    offset: int
    parameters: str | None
    """``(...)`` that follows, when the use begins a definition; None for a plain use."""
    end_line: int


class LibraryFact(NamedTuple):
    """A call on a ``torch::Library`` inside a ``TORCH_LIBRARY*`` block."""

    macro: str
    block: str
    """Arguments of the block: ``aten, CPU, m``."""
    method: str
    """``impl`` ...; ``use`` for a macro that may make such calls."""
    arguments: str
    line: int
    block_line: int
    guard: str
    offset: int
    macro_path: str
    """Where the macro is defined that makes the call, when it is not written out."""
    macro_line: int


class AliasFact(NamedTuple):
    """``using X = Y;``, or ``using namespace Y;``, which has no name."""

    name: str
    target: str
    scope: str
    line: int


@dataclass(slots=True)
class CppFacts:
    """All facts of one C++ file."""

    definitions: list[DefinitionFact] = field(default_factory=list)
    uses: list[UseFact] = field(default_factory=list)
    macros: list[MacroFact] = field(default_factory=list)
    libraries: list[LibraryFact] = field(default_factory=list)
    aliases: list[AliasFact] = field(default_factory=list)

    def to_rows(self) -> list[Any]:
        """All but the definitions as plain tuples, to travel between processes."""
        tables = (self.uses, self.macros, self.libraries, self.aliases)
        return [[tuple(row) for row in table] for table in tables]

    @classmethod
    def from_rows(cls, data: list[Any]) -> CppFacts:
        """The inverse of ``to_rows``; raises on anything else."""
        uses, macros, libraries, aliases = data
        # Most rows go straight into the index: only what is expanded needs names.
        return cls(
            [], [UseFact(*u) for u in uses], [MacroFact(*m) for m in macros], libraries, aliases
        )


class Lines:
    """Line numbers of offsets that mostly grow."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._line = 1

    def at(self, offset: int) -> int:
        """The line of ``offset``, counted from 1."""
        if offset >= self._offset:
            self._line += self._text.count("\n", self._offset, offset)
        else:
            self._line -= self._text.count("\n", offset, self._offset)
        self._offset = offset
        return self._line


@lru_cache(maxsize=16384)
def is_interpreted(macro: str) -> bool:
    """Whether the linker reads uses of ``macro`` as they stand, by PyTorch's own meaning of it."""
    return bool(_INTERPRETED.match(macro))


_new = tuple.__new__
"""Makes a named tuple in a third of the time that its class takes."""


class _Assembler:
    def __init__(self, scan: Scan, with_calls: bool, unread: Collection[str]) -> None:
        self.scan = scan
        self.with_calls = with_calls
        self.unread = unread
        self.lines = Lines(scan.plain)
        self.guarded = bool(scan.lexed.guards)
        self.facts = CppFacts()
        self._bodies: list[tuple[Found, DefinitionFact]] = []

    def run(self) -> CppFacts:
        for found in self.scan.found:
            if found.kind == "macro":
                self._macro_head(found)
            else:
                self.facts.definitions.append(self._definition(found, found.kind, found.name, ""))
        for use in self.scan.uses:
            self.facts.uses.append(
                UseFact(
                    use.name,
                    self._original(use.arguments, use.start, use.end),
                    use.scope,
                    self.lines.at(use.start),
                    self._guard(use.start),
                    use.start,
                    None,
                    self.lines.at(use.end),
                )
            )
        self._passed()
        if any(NEVER in guards for guards in self.scan.lexed.guards):
            self._drop_the_dead()
        self._macros()
        for name, target, scope, offset in self.scan.aliases:
            self.facts.aliases.append(AliasFact(name, target, scope, self.lines.at(offset)))
        return self.facts

    def _drop_the_dead(self) -> None:
        """Leaves out what stands under ``#if 0``."""
        facts = self.facts
        facts.definitions = [d for d in facts.definitions if not _is_dead(d.guard)]
        facts.uses = [u for u in facts.uses if not _is_dead(u.guard)]
        facts.libraries = [one for one in facts.libraries if not _is_dead(one.guard)]

    def _original(self, cleaned: str, start: int, end: int) -> str:
        if '"' not in cleaned:
            return flat(cleaned)
        text = self.scan.lexed.text[start:end]
        return flat(text[text.index("(") + 1 : -1])

    def _guard(self, offset: int) -> str:
        if not self.guarded:
            return ""
        return " && ".join(self.scan.guard_at(offset))

    def _macros(self) -> None:
        for macro in self.scan.lexed.macros:
            if not macro.body or len(macro.body) > _MAX_MACRO_BODY:
                continue
            line = self.lines.at(macro.offset)
            self.facts.macros.append(
                MacroFact(
                    macro.name, macro.parameters, macro.body, line, macro.offset, macro.undefined_at
                )
            )
            if macro.parameters is not None:
                self.facts.definitions.append(self._macro_definition(macro, line))

    def _macro_definition(self, macro: Macro, line: int) -> DefinitionFact:
        """A macro as a definition too: a body may use it to launch or to call."""
        body, first = macro.body, line + macro.skipped_lines
        calls = [
            CallFact(name, qualifier, first + body.count("\n", 0, at), kind, flat(template))
            for (name, qualifier, kind, template), offsets in body_calls(body, 0, len(body)).items()
            for at in offsets[-1:]
            if not qualifier.startswith("std")
        ]
        end_line = first + body.count("\n")
        return DefinitionFact(
            macro.name,
            "",
            "macro",
            line,
            end_line,
            ", ".join(macro.parameters or ()),
            self._guard(macro.offset),
            0,
            "",
            "",
            "",
            0,
            calls,
        )

    def _macro_head(self, found: Found) -> None:
        arguments = [flat(a) for a in found.arguments.split(",")]
        if meta := _META.match(found.name):
            name = "_".join(arguments[: 2 if meta.group(1) else 1])
            self.facts.definitions.append(self._definition(found, "meta_func", name, found.name))
        elif found.name == "TORCH_IMPL_FUNC":
            made = self._definition(found, "impl_func", arguments[0], found.name)
            self.facts.definitions.append(made)
        elif found.name.startswith("TORCH_LIBRARY"):
            self._library(found)
        else:
            self._beginning_use(found)

    def _beginning_use(self, found: Found) -> None:
        made = self._definition(found, "macro_use", found.name, found.name)
        self.facts.uses.append(
            UseFact(
                found.name,
                flat(found.arguments),
                found.scope,
                made.line,
                made.guard,
                found.start,
                found.parameters,
                made.end_line,
            )
        )
        self.facts.definitions.append(made)

    def _definition(self, found: Found, kind: str, name: str, macro: str) -> DefinitionFact:
        at = found.start
        line = self.lines.at(at)
        looked_into = self.with_calls and kind not in self.unread
        calls = self._calls(found, line) if looked_into else []
        end_line = self.lines.at(found.end) if found.end > found.body else line
        fields = (
            name,
            found.scope,
            kind,
            line,
            end_line,
            flat(found.parameters),
            self._guard(at),
            found.is_global,
            found.base,
            macro,
            "",
            0,
            calls,
        )
        made = _new(DefinitionFact, fields)
        self._bodies.append((found, made))
        return made

    def _calls(self, found: Found, line: int) -> list[CallFact]:
        calls: list[CallFact] = []
        plain, last = self.scan.plain, found.start
        count = plain.count
        spelled = body_calls(plain, found.body, found.end).items()
        for (name, qualifier, kind, template), offsets in spelled:
            if qualifier.startswith("std"):
                continue  # kept by nobody
            # Operators are told apart by their arguments, so each call of one counts.
            each = kind == "member" or qualifier == "at"
            for at in reversed(offsets) if each else offsets[-1:]:
                line += count("\n", last, at) if at > last else -count("\n", at, last)
                last = at
                fields = (name, qualifier, line, kind, template and flat(template))
                calls.append(_new(CallFact, fields))
        return calls

    def _passed(self) -> None:
        """Adds the stubs that bodies pass on by name to what they call."""
        stubs = {
            u.arguments.split(",")[0 if u.name == "DEFINE_DISPATCH" else -1].strip()
            for u in self.facts.uses
            if u.name in ("DEFINE_DISPATCH", "DECLARE_DISPATCH")
        }
        plain = self.scan.plain
        for name, at in passed_names(plain, frozenset(s for s in stubs if s)):
            for found, fact in self._bodies:
                if found.body < at < found.end:
                    fact.calls.append(CallFact(name, "", self.lines.at(at), "name", ""))

    def _library(self, found: Found) -> None:
        block = flat(found.arguments)
        variable = block.rpartition(",")[2].strip()
        line = self.lines.at(found.start)
        for call in library_calls(
            self.scan.plain, self.scan.lexed.text, found.body, found.end, variable
        ):
            self.facts.libraries.append(
                LibraryFact(
                    found.name,
                    block,
                    call.method,
                    flat(call.arguments),
                    self.lines.at(call.offset),
                    line,
                    self._guard(call.offset),
                    call.offset,
                    "",
                    0,
                )
            )


def _is_dead(guard: str) -> bool:
    return NEVER in guard.split(" && ")


def assemble(
    scan: Scan, with_calls: bool = True, unread: Collection[str] = ("class", "enum")
) -> CppFacts:
    """The facts of a scanned text; ``with_calls`` is whether bodies are looked into, other than
    those of the ``unread`` kinds."""
    return _Assembler(scan, with_calls, unread).run()


def holds_operators(path: str) -> bool:
    """Whether a file can hold kernels, stubs or formula functions.

    Only there are bodies looked into and macro uses expanded; other files give their
    definitions alone.
    """
    return path.startswith(_OPERATOR_FOLDERS) or "/ATen/" in path


def read_cpp(data: bytes, path: str) -> tuple[CppFacts, tuple[Problem, ...]]:
    """Facts of one C++, CUDA, Objective-C++ or Metal file. Never raises on its content."""
    if b"\x00" in data:
        return CppFacts(), (Problem(path, 0, "binary content: not read as C++"),)
    return assemble(scan_text(decode(data)), holds_operators(path)), ()
