"""What PyTorch's guides say about a change: how to build, test and lint, and conventions.

Commands and rules are quoted from the tree, each with its line. A command whose file, make target
or configuration the tree lacks is not given.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.contribution.change_needs import Needs, Targets
from indexes.readers.project.guide import Paragraph, read_commands, read_comments, read_paragraphs
from indexes.readers.project.lintrunner_file import Linter, read_linters
from indexes.source.source import Source

Purpose = Literal["set up", "build", "docs", "test", "lint"]


@dataclass(frozen=True, slots=True)
class Command:
    """A command to run from the top of the tree."""

    purpose: Purpose
    text: str
    location: Location
    """Where the tree gives it."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Convention:
    """A rule of the tree's guides, quoted."""

    text: str
    location: Location
    about: str
    """The heading above it."""


class _Wanted(NamedTuple):
    """A command for some kinds of changes."""

    purpose: Purpose
    pattern: str
    when: Callable[[Needs], bool]
    note: str = ""
    folder: str = ""
    """The folder to run it in, if not the top."""


def _of_compiled(needs: Needs) -> bool:
    return bool(needs.compiled)


def _of_docs(needs: Needs) -> bool:
    return needs.docs


def _of_cpp_docs(needs: Needs) -> bool:
    return needs.cpp_docs


def _of_cpp(needs: Needs) -> bool:
    return needs.cpp


def _of_python(needs: Needs) -> bool:
    return needs.python


def _of_all(needs: Needs) -> bool:
    return True


_GUIDES = ("CONTRIBUTING.md", "README.md")
_INSTALLED = r"(?:python3? setup\.py develop|(?:python3? -m )?pip install .*-e \.)$"
_NIGHTLY = _Wanted(
    "set up",
    r"(?:\./|python3? )tools/nightly\.py checkout -b \S+$",
    _of_all,
    "no build: it takes the binaries of the nightly version",
)
_WANTED = (
    _Wanted("set up", r"git submodule update --init --recursive", _of_compiled),
    _Wanted("set up", r"pip install (?:-r requirements\.txt|--group dev)", _of_compiled),
    _Wanted("docs", r"pip install -r requirements\.txt", _of_docs, "what Sphinx needs", "docs"),
    _Wanted("docs", r"make html$", _of_docs, "the pages, into docs/build/html", "docs"),
    _Wanted("docs", r"make doctest$", _of_docs, "runs the code in them", "docs"),
    _Wanted("docs", r"make html$", _of_cpp_docs, "the pages of the C++ API", "docs/cpp"),
    _Wanted("docs", r"\./check-doxygen\.sh", _of_cpp_docs, "as CI does", "docs/cpp/source"),
    _Wanted("lint", r"make setup[-_]lint", _of_all, "once"),
    _Wanted("lint", r"make (?:flake8|mypy)$", _of_python),
    _Wanted("lint", r"make clang-?tidy$", _of_cpp),
    _Wanted("lint", r"make (?:quick_?)?lint$", _of_all),
    _Wanted("lint", r"lintrunner(?: -a)?$", _of_all),
    _Wanted("lint", r"spin (?:lint|fixlint|quicklint)$", _of_all),
    _Wanted("lint", r"ln -s \S*tools/git-pre-commit \S+$", _of_all, "once: a hook of git"),
)
_LINTERS = ".lintrunner.toml"
_FLAG = regex(r"([A-Z_]+)=0 ")


class _Rule(NamedTuple):
    """A convention with its place and the files it is for."""

    paths: str
    guide: str
    """The file with it; a pattern over paths if it has a group."""
    text: str
    """A pattern in its paragraph."""


_NATIVE_README = "aten/src/ATen/native/README.md"
_BC_CHECK = "test/forward_backward_compatibility/check_forward_backward_compatibility.py"
_RULES = (
    _Rule(r"native_functions\.yaml$", _NATIVE_README, r"^\*\*Important\*\*"),
    _Rule(r"native_functions\.yaml$", _NATIVE_README, r"think about which dispatch keyword"),
    _Rule(r"native_functions\.yaml$", _NATIVE_README, r"Overload names do not have to be globally"),
    _Rule(r"native_functions\.yaml$", "CONTRIBUTING.md", r"native_functions\.yaml` usually means"),
    _Rule(r"native_functions\.yaml$", _BC_CHECK, r"How to run this test locally"),
    _Rule(r"native_functions\.yaml$", _BC_CHECK, r"The date specifies how long"),
    _Rule(r"native/\w+\.cpp$", _NATIVE_README, r"^Composite functions defined in"),
    _Rule(r"native/.*\.(cpp|cu|mm)$", _NATIVE_README, r"linker error"),
    _Rule(r"derivatives\.yaml$", "tools/autograd/derivatives.yaml", r"^Each entry consists of"),
    _Rule(r"derivatives\.yaml$|FunctionsManual", _NATIVE_README, r"^If you are writing a pair of"),
    _Rule(r"\.(h|cuh)$", "CONTRIBUTING.md", r"native_functions\.yaml` usually means"),
    _Rule(r"\.cuh?$", "CONTRIBUTING.md", r"CUDA_DEVICE_DEBUG"),
    _Rule(r"^torch/.*\.py$", "CONTRIBUTING.md", r"setup\.py develop`.*Python runtime will use"),
    _Rule(r"^test/|testing/_internal/", "CONTRIBUTING.md", r"^All PyTorch test suites are located"),
    _Rule(
        r"testing/_internal/",
        "torch/testing/_internal/opinfo/core.py",
        r"DOES NOT necessarily verify",
    ),
    _Rule(r"_docs\.py$|^docs/", "CONTRIBUTING.md", r"Google style"),
)
_LONGEST = 420


class Guides:
    """The guides of one tree."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def commands_for(self, paths: Iterable[str], docs: bool = False) -> tuple[Command, ...]:
        """The commands to set up, build, document and lint a change, in this order. ``docs``: it
        changes docstrings."""
        needs = Needs(tuple(dict.fromkeys(paths)), docs)
        if not needs.paths:
            return ()
        lints = list(self._lints(needs))
        found = [*self._wanted(needs), *self._builds(needs), *lints]
        once: dict[str, Command] = {}
        for one in found:
            if not (lints and self._runs_lintrunner(one.text)):
                once.setdefault(one.text, one)
        order = ("set up", "build", "docs", "test", "lint")
        return tuple(sorted(once.values(), key=lambda one: order.index(one.purpose)))

    def _wanted(self, needs: Needs) -> Iterator[Command]:
        for wanted in _WANTED:
            if wanted.when(needs):
                yield from self._stated_commands(wanted)

    def _stated_commands(self, wanted: _Wanted) -> Iterator[Command]:
        found = [
            (folder != wanted.folder, where, text)
            for where, text, folder in self._commands
            if folder in ("", wanted.folder)
            and re.match(wanted.pattern, text)
            and self.exists(text, wanted.folder)
        ]
        if found:
            _, where, text = min(found, key=lambda one: one[0])
            text = f"(cd {wanted.folder} && {text})" if wanted.folder else text
            yield Command(wanted.purpose, text, where, wanted.note)

    @cached_property
    def _commands(self) -> tuple[tuple[Location, str, str], ...]:
        """The commands of the guides, in order, each with its folder."""
        return tuple(
            (Location(guide, one.line), one.text, one.folder * self._has(one.folder))
            for guide in _GUIDES
            for one in read_commands(self._source.text(guide))
        )

    # -------------------------------------------------------------------------- builds

    def _without_build(self) -> Iterator[Command]:
        """The setup for Python and docs with nightly binaries, if the tree supports it."""
        nightly = list(self._stated_commands(_NIGHTLY))
        yield from nightly or self._stated_commands(_Wanted("build", _INSTALLED, _of_all))

    def _builds(self, needs: Needs) -> Iterator[Command]:
        if not needs.compiled:
            yield from self._without_build() if needs.python or needs.docs else ()
            return
        yield from self._smallest(needs)
        stated = [where for where, text, _ in self._commands if "ninja " in text]
        for target in self.targets.of(needs.compiled) if stated else ():
            name = f"bin/{target.name}" if target.is_program else target.name
            note = f"after the first build: {target.name} alone, as {stated[0]} does it"
            yield Command("build", f"(cd build && ninja {name})", target.location, note)
            if target.is_program:
                yield Command("test", f"./build/bin/{target.name}", target.location)

    def _smallest(self, needs: Needs) -> Iterator[Command]:
        """The smallest build that includes the change."""
        given = [
            (where, text)
            for where, text, _ in self._commands
            if re.match(rf"(?:[A-Z_]+=\S+ )*{_INSTALLED}", text) and self.exists(text)
        ]
        if given:
            where, text = max(given, key=lambda one: len(_FLAG.findall(one[1])))
            wanted = [flag for flag in _FLAG.findall(text) if needs.asks_for(flag)]
            for flag in wanted:
                text = text.replace(f"{flag}=0 ", "")
            left = " ".join(f"{flag}=0" for flag in wanted)
            notes = [f"without {left}: the change is in what that leaves out"] if wanted else []
            notes += ["on a Mac, where MPS is built"] if needs.mps else []
            yield Command("build", text, where, "; ".join(notes))

    # --------------------------------------------------------------------------- lints

    def _lints(self, needs: Needs) -> Iterator[Command]:
        """lintrunner, with the linters for these files."""
        command = self._lintrunner()
        mine = [one for one in self.linters if any(map(one.takes, needs.paths))]
        if command and mine:
            named = [f"{one.code} (:{one.line})" for one in mine if not one.takes_all]
            rest = len(mine) - len(named)
            others = [f"{rest} that look at every file"] if rest else []
            note = f"corrects too; {_LINTERS}: {', '.join([*named, *others])}"
            yield Command(command.purpose, command.text, command.location, note)

    @cached_property
    def linters(self) -> tuple[Linter, ...]:
        return read_linters(self._source.text(_LINTERS).encode())

    @cached_property
    def targets(self) -> Targets:
        return Targets(self._source)

    def _lintrunner(self) -> Command | None:
        makefile = self._source.text("Makefile").splitlines()
        line = next((n for n, text in enumerate(makefile, 1) if text.strip() == "lintrunner"), 0)
        if line and self._has(_LINTERS):
            return Command("lint", "lintrunner -a", Location("Makefile", line), "and correct")
        return None

    def _runs_lintrunner(self, command: str) -> bool:
        """Whether a command is a make target that runs the linters: that corrects nothing."""
        target = command.removeprefix("make ")
        rule = rf"^{re.escape(target)}:.*\n(?:\t.*\n)*?\tlintrunner(?: --?[\w-]+)*$"
        text = self._source.text("Makefile") if target != command else ""
        return re.search(rule, text, re.MULTILINE) is not None

    def exists(self, command: str, folder: str = "") -> bool:
        """Whether the tree has a command's file, make target or configuration."""
        words = [word for word in command.split() if not re.match(r"[A-Z_]+=", word)]
        program = words[0] if words else ""
        arguments = words[1:]
        if program == "make":
            return all(self._has_target(one, folder) for one in arguments[:1])
        if program in ("lintrunner", "spin"):
            needed = {"lintrunner": _LINTERS, "spin": ".spin/cmds.py"}
            return self._has(needed[program])
        if program == "git":
            return "submodule" not in arguments or self._has(".gitmodules")
        if program.startswith("./"):
            return self._has(posixpath.join(folder, program))
        if program == "ln":
            return self._has("tools/git-pre-commit")
        return all(self._has(posixpath.join(folder, one)) for one in _files(arguments))

    def _has_target(self, target: str, folder: str) -> bool:
        """Whether a Makefile has a target; that of docs passes any on to Sphinx."""
        text = self._source.text(posixpath.join(folder, "Makefile"))
        return bool(re.search(rf"^(?:{re.escape(target)}|%)\s*:", text, re.MULTILINE))

    # --------------------------------------------------------------------- conventions

    def conventions(self, paths: Iterable[str]) -> tuple[Convention, ...]:
        """The rules for changes of these files, as the guides word them."""
        found: dict[Location, Convention] = {}
        for path in dict.fromkeys(paths):
            for rule in _RULES:
                if re.search(rule.paths, path):
                    for one in self._stated(rule):
                        found.setdefault(one.location, one)
        return tuple(found.values())

    def _stated(self, rule: _Rule) -> Iterator[Convention]:
        for paragraph in self._paragraphs(rule.guide):
            if re.search(rule.text, paragraph.text):
                text = _shortened(paragraph.text)
                yield Convention(text, Location(rule.guide, paragraph.line), paragraph.section)
                return

    def _paragraphs(self, guide: str) -> tuple[Paragraph, ...]:
        if guide not in self._read:
            read = read_paragraphs if guide.endswith(".md") else read_comments
            self._read[guide] = read(self._source.text(guide))
        return self._read[guide]

    @cached_property
    def _read(self) -> dict[str, tuple[Paragraph, ...]]:
        return {}

    def _has(self, path: str) -> bool:
        return self._source.holds(path)


def _files(arguments: list[str]) -> Iterator[str]:
    for one in arguments:
        path = one.partition("::")[0]
        if re.fullmatch(r"[\w./-]+\.(py|txt|toml)", path) and not path.startswith("/"):
            yield path


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    end = max(text.rfind(". ", 0, _LONGEST), text.rfind(": ", 0, _LONGEST))
    return f"{text[: end + 1]} …" if end > _LONGEST // 3 else f"{text[:_LONGEST].rstrip()} …"
