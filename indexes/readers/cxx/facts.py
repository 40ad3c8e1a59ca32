"""``read_cpp``: the facts of one C++ file, as plain lists that are cheap to send and store."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from indexes.model.errors import CXX_NESTING
from indexes.model.files import MARK, Branch, Call, Include, MacroFact, RemarkFact
from indexes.model.idioms import STRUCTURED, idiom_of, library_block, meaning_of, stub_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.cxx.bodies import library_calls
from indexes.readers.cxx.lexer import NEVER, Lines, flat, read_includes
from indexes.readers.cxx.local_macros import LocalMacros, without_strings
from indexes.readers.cxx.marks import result_mark
from indexes.readers.cxx.messages import read_messages
from indexes.readers.cxx.remarks import read_remarks
from indexes.readers.cxx.scopes import Found, Macro, Scan, ScopedUse, decode, scan_text
from indexes.readers.cxx.shaders import SHADER, asks_shaders, embedded, host_names
from indexes.readers.cxx.signs import Functors
from indexes.readers.cxx.sites import Body, Reader, Text
from indexes.readers.messages import MessageFact, read_words
from indexes.readers.notes import read_notes

_MAX_MACRO_BODY = 20_000
_TESTS = regex(r"/(?:tests?|bench|benchmarks?)/")
"""Folders with a backend's own tests, which have no operators."""
_STABLE = ("torch/csrc/stable/", "torch/headeronly/")
_BELOW = ("c10/", "torch/include/c10/", *_STABLE, *(f"torch/include/{one}" for one in _STABLE))
_OPERATOR_FOLDERS = ("aten/", "torch/csrc/autograd/", "torch/include/ATen/", MARK)
"""Folders of extensions that contain operators."""


UNSAID = ("", "", "", 0, "", 0, "")
"""Default values of a definition's fields from ``base`` to ``bound``."""


class DefinitionFact(NamedTuple):
    """A definition with the calls of its body."""

    name: str
    scope: str
    kind: str
    line: int
    end_line: int
    parameters: str
    guard: str
    is_global: int
    """1 for a ``__global__`` function."""
    base: str
    macro: str
    """The macro that defines it: ``TORCH_IMPL_FUNC``, or one of the tree."""
    macro_path: str
    macro_line: int
    returns: str
    """The mark of what a function returns."""
    is_virtual: int
    """1 for a method declared ``virtual`` or ``override``."""
    bound: str
    """The values of its template's parameters and of its class's."""
    calls: list[Call]
    branches: list[Branch]
    """The branches that its calls are in."""


class UseFact(NamedTuple):
    """A macro use at namespace or class scope, or a macro that begins a definition."""

    name: str
    arguments: str
    scope: str
    line: int
    guard: str
    offset: int
    parameters: str | None = None
    """The ``(...)`` behind a use that begins a definition; None for a plain use."""
    end_line: int = 0


class LibraryFact(NamedTuple):
    """A call on a ``torch::Library`` inside a ``TORCH_LIBRARY*`` block."""

    macro: str
    block: str
    """Arguments of the block: ``aten, CPU, m``."""
    method: str
    """``impl`` ...; ``use`` for a macro that may expand to such calls."""
    arguments: str
    line: int
    block_line: int
    guard: str
    offset: int
    macro_path: str = ""
    """The file of the macro that contains the call, if any."""
    macro_line: int = 0


class AliasFact(NamedTuple):
    """``using X = Y;``, or ``using namespace Y;`` with an empty name."""

    name: str
    target: str
    scope: str
    line: int
    inside: int = 0
    """1 inside a body."""


@dataclass(slots=True)
class CppFacts:
    """All facts of one C++ file."""

    definitions: list[DefinitionFact] = field(default_factory=list)
    uses: list[UseFact] = field(default_factory=list)
    macros: list[MacroFact] = field(default_factory=list)
    libraries: list[LibraryFact] = field(default_factory=list)
    aliases: list[AliasFact] = field(default_factory=list)
    includes: tuple[Include, ...] = ()
    messages: list[MessageFact] = field(default_factory=list)
    remarks: list[RemarkFact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


BIND = "bind"
"""The method of a ``LibraryFact`` for a function bound to Python."""
_OBJECT = regex(
    r"(?m)^(?:(?:static|const|constexpr|inline)[ \t]+)*([A-Za-z_]\w*)[ \t]+(\w+)[ \t]*(?:\{\})?;"
)
"""An object of a class at the start of a line."""
_DIRECTIVE = regex(r"\b(?:using namespace|namespace (\w+)\s*=)\s*([\w:]+)\s*;")


class _Assembler:
    def __init__(self, scan: Scan, path: str, unread: Collection[str], with_bodies: bool) -> None:
        self.scan = scan
        self.path = path
        self.unread = unread
        self.line = Lines(scan.plain).at
        self.facts = CppFacts()
        self._reader = self._body_reader(path) if with_bodies else None

    def run(self) -> CppFacts:
        for found in self.scan.found:
            if found.kind == "macro":
                self._macro_head(found)
            else:
                self._define(found, found.kind, found.name)
        self.facts.uses += map(self._use, self.scan.uses)
        self.facts.definitions += self._host_names()
        if any(NEVER in guards for guards in self.scan.lexed.guards):
            self._drop_the_dead()
        self.facts.problems += self._left_out(self._reader) if self._reader else ()
        for macro in self.scan.lexed.macros:
            if macro.body and len(macro.body) <= _MAX_MACRO_BODY:
                self._macro(macro)
        for name, target, scope, offset in self.scan.aliases:
            self.facts.aliases.append(AliasFact(name, target, scope, self.line(offset)))
        return self.facts

    def _left_out(self, reader: Reader) -> Iterator[Problem]:
        for at, made in reader.macros.made.items():
            if made.refused:
                yield made.problem(self.path, self.line(at))
        words = "nested too deep: what this body calls is not read"
        yield from (Problem(self.path, line, words) for line in reader.too_deep)

    def _host_names(self) -> Iterator[DefinitionFact]:
        for one in host_names(self.scan.plain, self.scan.lexed.text):
            line, guard = self.line(one.offset), self._guard(one.offset)
            qualifier, _, function = one.function.rpartition("::")
            call = Call(function, qualifier, line, "call", flat(one.template))
            place = (one.name, "", SHADER, line, line, "", guard, 0, *UNSAID)
            yield DefinitionFact(*place, [call], [])

    def _use(self, use: ScopedUse) -> UseFact:
        arguments, place = flat(use.arguments), self.line(use.start)
        if '"' in arguments:  # the strings are blank in what was scanned
            text = self.scan.lexed.text[use.start : use.end]
            arguments = flat(text[text.index("(") + 1 : -1])
        guard, end_line = self._guard(use.start), self.line(use.end)
        return UseFact(use.name, arguments, use.scope, place, guard, use.start, None, end_line)

    def _drop_the_dead(self) -> None:
        facts = self.facts
        facts.definitions = [d for d in facts.definitions if not _is_dead(d.guard)]
        facts.uses = [u for u in facts.uses if not _is_dead(u.guard)]
        facts.libraries = [one for one in facts.libraries if not _is_dead(one.guard)]

    def _guard(self, offset: int) -> str:
        return " && ".join(self.scan.guard_at(offset))

    def _macro(self, macro: Macro) -> None:
        """A ``#define``; also a definition if a body may launch or call through it."""
        line, parameters = self.line(macro.offset), macro.parameters
        fact = (macro.name, parameters, macro.body, line, macro.offset, macro.undefined_at)
        self.facts.macros.append(MacroFact(*fact))
        if parameters is None:
            return
        first = line + macro.skipped_lines
        place = (macro.name, "", "macro", line, first + macro.body.count("\n"))
        body = self._macro_body(macro.body, first)
        made = (*place, ", ".join(parameters), self._guard(macro.offset), 0, *UNSAID)
        self.facts.definitions.append(DefinitionFact(*made, body.calls, body.branches))

    def _macro_body(self, body: str, first_line: int) -> Body:
        text = without_strings(body)
        lines = Lines(text)
        return Reader(Text(text, text, lambda at: first_line - 1 + lines.at(at))).read(0, len(text))

    def _macro_head(self, found: Found) -> None:
        """A definition, or a block of registrations, that begins with a macro."""
        row = idiom_of(found.name)
        if row and row.means in STRUCTURED:
            named = found.arguments.split(",")[: len(row.arguments.split())]
            self._define(found, row.means, "_".join(map(flat, named)), found.name)
        elif row and row.means == "library":
            self._library(found)
        else:
            if row and row.means == "bindings":
                self._bindings(found, row.argument("library", found.arguments.split(",")))
            made = self._define(found, "macro_use", found.name, found.name)
            place = (found.scope, made.line, made.guard, found.start)
            use = (found.name, flat(found.arguments), *place, found.parameters, made.end_line)
            self.facts.uses.append(UseFact(*use))

    def _define(self, found: Found, kind: str, name: str, macro: str = "") -> DefinitionFact:
        line = self.line(found.start)
        end_line = self.line(found.end) if found.end > found.body else line
        body, declared = Body(), self._declared(found) if found.kind == "function" else ("", 0)
        if self._reader and kind not in self.unread:
            body = self._reader.read(found.body, found.end, found.parameters, declared[0])
            self._directives(found)
        place = (found.scope, kind, line, end_line, flat(found.parameters))
        guard = self._guard(found.start)
        made = (name, *place, guard, found.is_global, found.base, macro, "", 0)
        fact = DefinitionFact(*made, *declared, found.bound, body.calls, body.branches)
        self.facts.definitions.append(fact)
        return fact

    def _declared(self, found: Found) -> tuple[str, int]:
        """The mark of a function's result, and whether it is declared virtual."""
        plain = self.scan.plain
        before = plain[found.head : found.start]
        behind = plain[max(found.start, plain.rfind(")", found.start, found.body)) : found.body]
        is_virtual = "virtual" in before.split() or "override" in behind.split()
        trailing = behind.partition("->")[2]
        return result_mark(trailing or before), int(is_virtual)

    def _directives(self, found: Found) -> None:
        """``using namespace mps;`` and ``namespace native_mps = at::native::mps;`` in a body,
        stored as if they stood around it."""
        plain = self.scan.plain
        if plain.find("namespace ", found.body, found.end) >= 0:
            for one in _DIRECTIVE.finditer(plain, found.body, found.end):
                place = (found.scope, self.line(one.start()))
                self.facts.aliases.append(AliasFact(one[1] or "", one[2], *place, inside=1))

    def _body_reader(self, path: str) -> Reader:
        scan, lexed = self.scan, self.scan.lexed
        directives = zip(lexed.guard_offsets, lexed.guard_kinds, lexed.guards, strict=True)
        messages, brief = path.endswith(".mm"), _TESTS.search(path) is not None
        shaders = asks_shaders(path, lexed.text)
        loops = holds_operators(path) and path.endswith((".cpp", ".h"))
        how = (list(directives), messages, brief, shaders, loops)
        text = Text(scan.plain, lexed.text, self.line, *how)
        about = (u for u in scan.uses if meaning_of(u.name) in ("declared", "defined"))
        stubs = {stub_of(u.name, u.arguments).rpartition("::")[2] for u in about}
        functions = {one.name for one in scan.found if one.kind == "function"}
        macros = LocalMacros.of(lexed.macros)
        return Reader(text, functions | stubs, macros, _functors(scan))

    def _bindings(self, found: Found, module: str) -> None:
        """Functions that a pybind11 module binds, stored under the method ``BIND``."""
        block, line = flat(found.arguments), self.line(found.start)
        texts = (self.scan.plain, self.scan.lexed.text, found.body, found.end)
        for method, arguments, at in library_calls(*texts, module):
            if method == "def":
                call = (BIND, flat(arguments), self.line(at), line, self._guard(at), at)
                self.facts.libraries.append(LibraryFact(found.name, block, *call))

    def _library(self, found: Found) -> None:
        block, line = flat(found.arguments), self.line(found.start)
        texts = (self.scan.plain, self.scan.lexed.text, found.body, found.end)
        for method, arguments, at in library_calls(*texts, library_block(block).library):
            call = (method, flat(arguments), self.line(at), line, self._guard(at), at)
            self.facts.libraries.append(LibraryFact(found.name, block, *call))


def _functors(scan: Scan) -> Functors:
    classes = {one.scope.rpartition("::")[2] for one in scan.found if one.name == "operator()"}
    every = _OBJECT.findall(scan.plain) if classes else []
    return Functors(classes, {name: class_ for class_, name in every if class_ in classes})


def _is_dead(guard: str) -> bool:
    return NEVER in guard.split(" && ")


def assemble(
    scan: Scan, path: str = "aten/", unread: Collection[str] = ("class", "enum")
) -> CppFacts:
    """The facts of a file's text or a macro's expansion, without ``unread`` kinds of bodies."""
    with_bodies = keeps_bodies(path) or registers_operators(scan)
    return _Assembler(scan, path, unread, with_bodies).run()


def registers_operators(scan: Scan) -> bool:
    """Whether a text has blocks that register kernels."""
    return any(meaning_of(one.name) == "library" for one in scan.found if one.kind == "macro")


def holds_operators(path: str) -> bool:
    """Whether a file can hold kernels, stubs or formula functions.

    Only there are macro uses expanded.
    """
    return path.startswith(_OPERATOR_FOLDERS) or "/ATen/" in path


def keeps_bodies(path: str) -> bool:
    """Whether bodies of a file are read: where operators are, and in the libraries below them. Of
    other files only definitions are kept."""
    return holds_operators(path) or (path.startswith(_BELOW) and not _TESTS.search(path))


def keeps_whole_bodies(path: str) -> bool:
    """Whether all uses in bodies are kept, as they are outside of tests."""
    return keeps_bodies(path) and not _TESTS.search(path)


def read_bodies(data: bytes, path: str) -> CppFacts:
    """The facts of a file with all bodies, wherever it is."""
    scan = scan_text(decode(data.replace(b"\x00", b" ")))
    return _Assembler(scan, path.rpartition("/")[2], ("class", "enum"), with_bodies=True).run()


def read_cpp(data: bytes, path: str) -> tuple[CppFacts, tuple[Problem, ...]]:
    """Facts of one C++, CUDA, Objective-C++ or Metal file. Never raises on its content."""
    if b"\x00" in data:
        return CppFacts(), (Problem(path, 0, "binary content: not read as C++"),)
    text = decode(data)
    scan = scan_text(text)
    facts = assemble(scan, path)
    facts.includes = read_includes(data)
    if shaders := embedded(path, text):
        _add_shaders(facts, assemble(scan_text(shaders), path))
    if not _TESTS.search(path):
        facts.messages = read_messages(scan.lexed)
        written = (d for d in facts.definitions if d.kind == "function" and not d.macro)
        functions = [(d.line, d.end_line) for d in written]
        whole = data.decode("utf-8", "replace")
        facts.remarks = [*read_remarks(whole, path, functions), *read_words(whole)]
    facts.remarks += read_notes(text)
    if deep := scan.lexed.too_deep:
        words = f"nested more than {CXX_NESTING} deep: its content is not read"
        facts.problems.append(Problem(path, Lines(scan.plain).at(deep), words))
    return facts, tuple(facts.problems)


def _add_shaders(facts: CppFacts, shaders: CppFacts) -> None:
    """Adds the facts of Metal source in strings, with the file's line numbers."""
    facts.definitions += shaders.definitions
    facts.uses += shaders.uses
    facts.macros += shaders.macros


def read_texts(data: bytes) -> list[MessageFact]:
    """The messages of a file of which nothing else is read."""
    return read_messages(scan_text(decode(data)).lexed)
