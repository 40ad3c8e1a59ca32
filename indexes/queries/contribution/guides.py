"""What PyTorch's own guides say of a change: how to build, test and lint, and what to mind.

Commands and rules are those that stand in the indexed tree, each with its line. A command
whose file, make target or configuration the tree does not have is not given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from indexes.model.errors import SourceError
from indexes.model.vocabulary import Location
from indexes.readers.project.guide import Paragraph, read_commands, read_comments, read_paragraphs
from indexes.source.source import Source

Purpose = Literal["set up", "build", "test", "lint"]


@dataclass(frozen=True, slots=True)
class Command:
    """A command to run from the top of the tree."""

    purpose: Purpose
    text: str
    location: Location
    """Where the tree says so."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Convention:
    """A rule of the tree's guides, quoted."""

    text: str
    location: Location
    about: str
    """What it concerns: the heading that it stands under."""


class _Wanted(NamedTuple):
    purpose: Purpose
    pattern: str
    note: str = ""


_GUIDES = ("CONTRIBUTING.md", "README.md")
_WANTED = (
    _Wanted("set up", r"git submodule update --init --recursive"),
    _Wanted("set up", r"pip install (?:-r requirements\.txt|--group dev)"),
    _Wanted("build", r"(?:python3? setup\.py develop|(?:python3? -m )?pip install .*-e \.)$"),
    _Wanted(
        "build",
        r"(?:[A-Z_]+=\S+ )*USE_CUDA=0 (?:[A-Z_]+=\S+ )*(?:python3? setup\.py develop"
        r"|.*pip install .*-e \.)$",
        "for the CPU alone",
    ),
    _Wanted("build", r"ninja torch_cpu", "that library alone, in build/"),
    _Wanted(
        "build",
        r"(?:\./|python3? )tools/build_with_debinfo\.py",
        "some files again, with debug information",
    ),
    _Wanted("test", r"python3? test/run_test\.py$", "everything"),
    _Wanted("test", r"python3? test/test_\w+\.py \w+\.\w+$", "one test, for example"),
    _Wanted("test", r"pytest test/test_\w+\.py -k", "some tests, for example"),
    _Wanted("lint", r"make setup[-_]lint", "once"),
    _Wanted("lint", r"make lint"),
    _Wanted("lint", r"make quicklint"),
    _Wanted("lint", r"lintrunner(?: -a)?"),
    _Wanted("lint", r"spin (?:lint|fixlint|quicklint)"),
)


class _Rule(NamedTuple):
    """Where a convention stands, and which files it is for."""

    paths: str
    guide: str
    """The file that states it; a pattern over paths when it has a group."""
    text: str
    """What its paragraph holds."""


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

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """How to set up, build, test and lint; each text once, the first place that gives it."""
        found: dict[str, Command] = {}
        for guide in _GUIDES:
            for one in read_commands(self._text(guide)):
                for wanted in _WANTED:
                    if re.match(wanted.pattern, one.text) and self.exists(one.text):
                        where = Location(guide, one.line)
                        command = Command(wanted.purpose, one.text, where, wanted.note)
                        found.setdefault(one.text, command)
                        break
        if lint := self._lintrunner():
            found.setdefault(lint.text, lint)
        order = ("set up", "build", "test", "lint")
        return tuple(sorted(found.values(), key=lambda one: order.index(one.purpose)))

    def _lintrunner(self) -> Command | None:
        makefile = self._text("Makefile").splitlines()
        line = next((n for n, text in enumerate(makefile, 1) if text.strip() == "lintrunner"), 0)
        if line and self._has(".lintrunner.toml"):
            return Command("lint", "lintrunner -a", Location("Makefile", line), "and correct")
        return None

    def exists(self, command: str) -> bool:
        """Whether the tree has what a command names: a file, a make target, a configuration."""
        words = [word for word in command.split() if not re.match(r"[A-Z_]+=", word)]
        program = words[0] if words else ""
        arguments = words[1:]
        if program == "make":
            return all(self._has_target(one) for one in arguments[:1])
        if program in ("lintrunner", "spin"):
            needed = {"lintrunner": ".lintrunner.toml", "spin": ".spin/cmds.py"}
            return self._has(needed[program])
        if program == "git":
            return "submodule" not in arguments or self._has(".gitmodules")
        if program.startswith("./"):
            return self._has(program[2:])
        return all(self._has(one) for one in _files(arguments))

    def _has_target(self, target: str) -> bool:
        return bool(re.search(rf"^{re.escape(target)}\s*:", self._text("Makefile"), re.MULTILINE))

    # --------------------------------------------------------------------- conventions

    def conventions(self, paths: Iterable[str]) -> tuple[Convention, ...]:
        """The rules for changes of these files, each once, as the tree's guides word them."""
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
            self._read[guide] = read(self._text(guide))
        return self._read[guide]

    @cached_property
    def _read(self) -> dict[str, tuple[Paragraph, ...]]:
        return {}

    def _has(self, path: str) -> bool:
        return self._source.root.joinpath(path).exists()

    def _text(self, path: str) -> str:
        try:
            return self._source.read(path).decode("utf-8", "replace")
        except SourceError:
            return ""


def _files(arguments: list[str]) -> Iterator[str]:
    """The arguments that name files of the tree."""
    for one in arguments:
        path = one.partition("::")[0]
        if re.fullmatch(r"[\w./-]+\.(py|txt|toml)", path) and not path.startswith("/"):
            yield path


def _shortened(text: str) -> str:
    """The first sentences of a paragraph, with an ellipsis when there are more."""
    if len(text) <= _LONGEST:
        return text
    end = max(text.rfind(". ", 0, _LONGEST), text.rfind(": ", 0, _LONGEST))
    return f"{text[: end + 1]} …" if end > _LONGEST // 3 else f"{text[:_LONGEST].rstrip()} …"
