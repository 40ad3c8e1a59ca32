"""Runs the generators and writes one JSON object: files, the pieces of each operator in them, and
why it has none in the others.

Run as ``dump.py ROOT PART`` in the Python that has torchgen. ``ROOT`` is empty for the installed
torchgen, ``PART`` is ``aten`` or ``autograd``. It cannot write to disk.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from navigator.live.generated.calls import Call, Function, Recorder, Refusal, Text, lines_of, wrap
from navigator.live.generated.files import Files
from navigator.live.generated.reasons import collections, filters, reason, returned
from navigator.live.torchgen_check import PACKAGES, TreeFinder, limit, package_in, silenced

_ATEN = "build/aten/src/ATen"
_AUTOGRAD = "torch/csrc/autograd/generated"
_WANTED = ("--per-operator-headers", "--mps", "--xpu")
"""Options of a build that generates every file."""


class Generators:
    """The generators of a tree, or of the installed torch if ``root`` is empty."""

    def __init__(self, root: str) -> None:
        package = package_in(root) if root else PACKAGES[0]
        if not package:
            raise ImportError("this tree has no torchgen")
        if root:
            sys.meta_path.insert(0, TreeFinder(root))
        self.gen = import_module(f"{package}.gen")
        self.package = package
        self.top = os.path.dirname(os.path.dirname(os.path.abspath(self.gen.__file__ or "")))
        if package.count("."):
            self.top = os.path.dirname(self.top)
        packaged = os.path.join(self.top, "torchgen", "packaged")
        self._aten = f"{root}/aten/src/ATen" if root else f"{packaged}/ATen"
        self._folder = f"{root}/tools/autograd" if root else f"{packaged}/autograd"
        name = "tools.autograd" if root else "torchgen.packaged.autograd"
        self.autograd = import_module(f"{name}.gen_autograd")

    def where(self, path: str) -> str:
        """A path relative to the tree."""
        full = os.path.abspath(path)
        inside = full.startswith(self.top + os.sep)
        return os.path.relpath(full, self.top).replace(os.sep, "/") if inside else path

    def run(self, part: str) -> tuple[Recorder, Files]:
        """What the generators of a part write; nothing reaches the disk."""
        model = import_module(f"{self.package}.model")
        recorder = Recorder(model.NativeFunction)
        files = Files(recorder, self.where)
        wrap(recorder, self.modules(), self.where)
        managers = {getattr(module, "FileManager", None) for module in list(sys.modules.values())}
        template = import_module(f"{self.package}.code_template").CodeTemplate
        files.install([manager for manager in managers if isinstance(manager, type)], template)
        if part == "aten":
            self._aten_files()
        else:
            self._autograd_files()
        return recorder, files

    def modules(self) -> Iterator[ModuleType]:
        """The modules that make text, without torchgen's model and its type names."""
        for name, module in list(sys.modules.items()):
            folder, _, last = name.rpartition(".")
            ours = folder.startswith((self.package, self.autograd.__package__ or " "))
            if ours and (last.startswith("gen") or folder.endswith(".dest")):
                yield module

    def _aten_files(self) -> None:
        accepted = inspect.getsource(inspect.unwrap(self.gen.main))
        options = [one for one in _WANTED if f'"{one}"' in accepted]
        if '"--generate"' in accepted:
            options += ["--generate", "headers", "sources"]
        sys.argv = ["gen", "-s", self._aten, "-d", _ATEN, *options]
        self.gen.main()

    def _autograd_files(self) -> None:
        selector = import_module(f"{self.package}.selective_build.selector").SelectiveBuilder
        values: dict[str, Any] = {
            "native_functions_path": f"{self._aten}/native/native_functions.yaml",
            "tags_path": f"{self._aten}/native/tags.yaml",
            "out": _AUTOGRAD,
            "autograd_dir": self._folder,
            "operator_selector": selector.get_nop_selector(),
        }
        for name in ("gen_autograd", "gen_autograd_python"):
            function = getattr(self.autograd, name)
            takes = inspect.signature(function).parameters
            function(**{name: value for name, value in values.items() if name in takes})


_SECONDS = 300
_BROAD = 16
"""Calls that wrote more families of files than this are not about one of them."""
_COMMON = 8
"""Texts shared by operators of more names belong to none: ``namespace at {``."""


class _Range(NamedTuple):
    """Lines of a file that a function wrote."""

    file: int
    first: int
    last: int
    function: int


_Texts = dict[int, dict[tuple[str, ...], list[Text]]]
"""Texts by number of lines, then by their lines."""
_NO_TEXTS: _Texts = {}


class Dump:
    """Matches returned texts with written files."""

    def __init__(self, generators: Generators, recorder: Recorder, files: Files) -> None:
        self._where = generators.where
        self._modules = list(generators.modules())
        self._recorder = recorder
        self._files = files
        self._written = files.written()
        self._functions: dict[Function, int] = {}
        self._reasons: dict[tuple[Any, ...], int] = {}
        self._families_of: dict[Function, set[str]] = defaultdict(set)
        self._words: dict[int, str] = {}
        self._reason_numbers: dict[tuple[Any, ...], int] = {}

    def answer(self) -> dict[str, Any]:
        """Everything, with numbers in place of repeated values."""
        pieces = self._pieces()
        absent = self._absent(pieces)
        return {
            "files": [[one.path, one.family, one.text] for one in self._written],
            "pieces": [row for op in sorted(pieces) for row in self._rows(op, pieces[op])],
            "absent": absent,
            "functions": [[one.name, one.path, one.line] for one in self._functions],
            "reasons": list(self._reasons),
            "writers": self._writers(),
            "named": self._named(sorted(pieces)),
            "nodes": self._nodes(),
            "matched": sorted(set().union(*self._recorder.links.values())),
        }

    def _pieces(self) -> dict[str, set[_Range]]:
        """Operator -> its pieces in the files, none inside another."""
        texts = self._by_first_line()
        found: dict[str, set[_Range]] = defaultdict(set)
        for number, file in enumerate(self._written):
            written = [line.strip() for line in file.text.split("\n")]
            numbers = [at for at, line in enumerate(written, 1) if line]
            lines = list(filter(None, written))
            for at, line in enumerate(lines):
                for length, known in texts.get(line, _NO_TEXTS).items():
                    end = at + length
                    for text in known.get(tuple(lines[at:end]), ()):
                        maker = self._function(text, file.family)
                        where = _Range(number, numbers[at], numbers[end - 1], maker)
                        for operator in self._operators(text):
                            found[operator].add(where)
        return {op: set(_outermost(ranges)) for op, ranges in found.items()}

    def _by_first_line(self) -> dict[str, _Texts]:
        """Thousands of texts share a first line, but have few different lengths."""
        found: dict[str, _Texts] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
        names: dict[str, set[str]] = defaultdict(set)
        texts = dict.fromkeys(self._recorder.texts)
        for text in texts:
            names[text.text] |= {one.partition(".")[0].rstrip("_") for one in text.operators}
        for text in (one for one in texts if len(names[one.text]) <= _COMMON):
            lines = lines_of(text.text)
            if not all(line.startswith("#include") for line in lines):
                found[lines[0]][len(lines)][lines].append(text)
        return found

    def _function(self, text: Text, family: str) -> int:
        by = self._recorder.makers.get(text.text.strip(), text.by)
        self._families_of[text.by].add(family)
        return self._functions.setdefault(by, len(self._functions))

    def _operators(self, text: Text) -> set[str]:
        """The operators of a text; a Node's text belongs to all operators that use it."""
        found = set()
        for one in text.operators:
            found |= self._recorder.links.get(one, set()) if one.startswith("node:") else {one}
        return found

    def _rows(self, operator: str, ranges: set[_Range]) -> Iterator[list[Any]]:
        for number, first, last, function in sorted(ranges):
            part = self._written[number].part(first)
            template = [part.template, part.line, part.name] if part else ["", 0, ""]
            yield [operator, number, first, last, function, *template]

    def _absent(self, pieces: dict[str, set[_Range]]) -> list[list[Any]]:
        """(operator, family, reason) where a generator returned nothing for an operator."""
        has = {op: {self._written[one.file].family for one in pieces[op]} for op in pieces}
        best: dict[tuple[str, str], tuple[bool, bool, int, int]] = {}
        for refusal, asker, writing in self._recorder.refusals:
            families = [writing] if writing else _families(asker)
            if not 0 < len(families) <= _BROAD:
                continue
            number = self._reason(refusal)
            for family in families:
                rank = (*self._distance(refusal, family), len(families), number)
                for op in self._operators(Text(refusal.operators, "", refusal.by)):
                    if family not in has.get(op, ()):
                        best[op, family] = min(best.get((op, family), rank), rank)
        return [[op, family, number] for (op, family), (*_, number) in sorted(best.items())]

    def _distance(self, refusal: Refusal, family: str) -> tuple[bool, bool]:
        """How far a refusal is from a reason: the maker of the file's pieces is nearest."""
        makes = family in self._families_of.get(refusal.by, ())
        return not makes, not self._words[self._reason(refusal)].startswith("if ")

    def _reason(self, refusal: Refusal) -> int:
        key = (refusal.by, refusal.lines, refusal.asked)
        if key not in self._reason_numbers:
            self._reason_numbers[key] = self._reason_number(refusal)
        return self._reason_numbers[key]

    def _reason_number(self, refusal: Refusal) -> int:
        by = refusal.by
        line = returned(by.file, refusal.lines) or by.line
        words, comment = reason(by.file, line)
        row: list[Any] = [by.name, by.path, line, words, comment]
        for path, at in refusal.asked:
            condition, note = reason(path, at)
            if condition.startswith("if ") or note:
                row.append((self._where(path), at, condition, note))
                break
        number = self._reasons.setdefault(tuple(row), len(self._reasons))
        self._words[number] = words
        return number

    def _writers(self) -> dict[str, list[list[Any]]]:
        """Family -> where it is written, and under which conditions."""
        return {
            family: [[self._where(path), line, filters(path, line)] for path, line in places]
            for family, places in self._files.writers.items()
        }

    def _nodes(self) -> list[str]:
        """Families of files that have text for each Node."""
        makers = {
            text.by for text in self._recorder.texts if any("node:" in o for o in text.operators)
        }
        return sorted({family for by in makers for family in self._families_of.get(by, ())})

    def _named(self, operators: list[str]) -> list[list[Any]]:
        """(collection, path, line, operators) for collections in generators that name operators."""
        by_name: dict[str, list[str]] = defaultdict(list)
        for op in operators:
            base = op.partition(".")[0]
            for spelling in {op, base, op.replace(".", "_"), base.rstrip("_")}:
                by_name[spelling].append(op)
        found = []
        for name, path, line, names in collections(self._modules):
            ops = sorted({op for one in names for op in by_name.get(one, ())})
            if ops:
                found.append([name, self._where(path), line, ops])
        return found


def _families(asker: Call | None) -> list[str]:
    """Families of files written in the call that asked, or in the nearest outer one."""
    while asker is not None and not asker.families:
        asker = asker.above
    return list(asker.families) if asker else []


def _outermost(ranges: set[_Range]) -> Iterator[_Range]:
    before: _Range | None = None
    for one in sorted(ranges, key=lambda one: (one.file, one.first, -one.last)):
        if before is None or one.file != before.file or one.last > before.last:
            yield one
            before = one


def main(root: str, part: str) -> None:
    """Prints the answer; ``absent`` says why nothing could be run."""
    with silenced() as out, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        limit(_SECONDS)
        sys.dont_write_bytecode = True
        json.dump(_answer(root, part), out)
        os.chdir("/")


def _answer(root: str, part: str) -> dict[str, Any]:
    try:
        generators = Generators(root)
        recorder, files = generators.run(part)
        return Dump(generators, recorder, files).answer()
    except (Exception, SystemExit) as error:  # noqa: BLE001 the tree's own code fails as it likes
        words = re.sub(r"\s+", " ", str(error)).strip()
        return {"unable": f"{type(error).__name__}: {words}"}


if __name__ == "__main__":
    main(*sys.argv[1:3])
