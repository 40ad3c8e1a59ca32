"""What a change of the tree affects: from changed files to definitions, and from those up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal, cast

from indexes.linking.facts import Known, StubUse
from indexes.linking.python.paths import Found
from indexes.linking.visible import is_header
from indexes.model.errors import NotFound, SourceError
from indexes.model.files import module_name
from indexes.model.idioms import stub_of
from indexes.model.impact import Affected, Changed
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.impact.answers import Impacts
from indexes.queries.impact.changed_cxx import CppChange, compare_cpp, tokens
from indexes.queries.impact.changed_text import (
    TextChange,
    changed_lines,
    checks_of,
    compare_python,
    compare_yaml,
    docstrings_added,
    documented_by_page,
)
from indexes.queries.impact.dispatch import stub_node
from indexes.queries.impact.graph import Node
from indexes.queries.impact.python import python_node
from indexes.queries.impact.rebuild import Rebuild
from indexes.queries.impact.test_commands import MAX_TESTED, in_tiers, tests_of_generators
from indexes.queries.impact.walk import DISPATCHES, Start
from indexes.queries.index import Index
from indexes.readers.cxx.scopes import decode
from indexes.readers.python.blocks import Text
from indexes.readers.python.opinfo import is_opinfo_file, read_opinfo
from indexes.readers.python.tests import is_test_file
from indexes.source.files import read_file
from indexes.source.git_diff import FileChange, TreeChange, changes

_CPP = (".cpp", ".cc", ".c", ".h", ".hpp", ".cuh", ".cu", ".hip", ".mm", ".metal", ".m", ".inl")
_GENERATORS = ("torchgen/", "tools/autograd/", "tools/pyi/", "aten/src/ATen/templates/")
_WORDS = regex(r"[A-Za-z_]\w*")
_What = Literal["added", "changed", "removed"]


def affected(
    index: Index,
    since: str | None = None,
    until: str | None = None,
    staged: bool = False,
    dispatches: int = DISPATCHES,
    most: int | None = MAX_TESTED,
) -> Affected:
    """What differs between two states of the tree, and what that reaches in the indexed one.

    Raises SourceError without git history, NotFound for an unknown revision.
    """
    if index.source.kind == "wheel":
        raise SourceError(
            "an installed torch has no history: affected needs a checkout or clone (torchnav"
            " clone); torchnav impact SYMBOL works here"
        )
    tree = changes(index.source.root, since, until, staged)
    return _Comparison(index, tree).answer(dispatches, most)


class _Comparison:
    """The files of one change, compared one by one."""

    def __init__(self, index: Index, tree: TreeChange) -> None:
        self.index = index
        self.tree = tree
        self.changes: list[Changed] = []
        self.quiet: list[str] = []
        self.told: list[str] = []
        self.starts: list[Start] = []
        self.opinfos: list[Found] = []
        """Rows of OpInfos that change, or that name a function which does."""
        self._removed: list[Known] = []
        self._later: list[Callable[[Impacts], None]] = []
        self._documents: list[str] = []
        """Files of which documentation changes."""

    def answer(self, dispatches: int, most: int | None) -> Affected:
        for file in self.tree.files:
            self._file(file)
        impacts = Impacts(self.index, self._removed)
        for step in self._later:
            step(impacts)
        self.starts += [Start(Node.of(known), "it is removed") for known in self._removed]
        starts = list(dict.fromkeys(self.starts))
        impact = impacts.of(starts, dispatches, False, self.told, most)
        impact = impacts.with_tests(impact, most, list(dict.fromkeys(self.opinfos)))
        generators = (one.name for one in self.changes if one.kind == "generator")
        first = tests_of_generators(self.index.source, generators)
        impact = replace(impact, tests=in_tiers((*first, *impact.tests)))
        return Affected(
            self.tree.base,
            self.tree.target,
            tuple(self.changes),
            tuple(self.quiet),
            impact,
            len(self.tree.files),
            checks_of(self.index.source, list(dict.fromkeys(self._documents))),
        )

    def _file(self, file: FileChange) -> None:
        if file.unreadable:
            self.told.append(f"{file.path}: {file.unreadable}")
            return
        before = len(self.changes)
        path = file.path
        if path == self.index.source.locate("native_functions.yaml"):
            self._yaml(file, "operator entry", "schema")
        elif path == self.index.source.locate("derivatives.yaml"):
            self._yaml(file, "derivative entry", "backward")
        elif path.startswith(_GENERATORS):
            self._generator(file)
        elif path.endswith(_CPP):
            self._cpp(file)
        elif path.endswith(".py"):
            self._python(file)
        elif path.endswith((".rst", ".md")):
            self._page(file)
        else:
            self._add("file", path, _what(file), Location(path, 0), "no code that is followed")
            return
        if len(self.changes) == before:
            self.quiet.append(path)

    def _add(self, kind: str, name: str, what: str, at: Location, detail: str = "") -> None:
        self.changes.append(Changed(kind, name, cast("_What", what), at, detail))

    # -------------------------------------------------------------------- documentation

    def _page(self, file: FileChange) -> None:
        """A page of documentation or another text: the names on its changed lines."""
        self._documents.append(file.path)
        found = documented_by_page(file.old or b"", file.new or b"", file.path)
        for name, line in found:
            self._add("documentation", name, _what(file), Location(file.path, line))
        if not found:
            lines = changed_lines(file.old or b"", file.new or b"")
            at = Location(file.path, lines[0] if lines else 0)
            self._add("documentation", file.path, _what(file), at, "names no function or class")

    # ----------------------------------------------------------------------------- YAML

    def _yaml(self, file: FileChange, kind: str, side: str) -> None:
        found = compare_yaml(decode(file.old or b""), decode(file.new or b""))
        for one in found:
            at = Location(file.path, one.line, one.end_line)
            self._add(kind, one.name, one.what, at, one.detail)
            self._later.append(partial(self._entry, one, side))

    def _entry(self, one: TextChange, side: str, impacts: Impacts) -> None:
        rule = f"its entry is {one.what}" + (f": {one.detail}" if one.detail else "")
        names = [one.name]
        native = impacts.facts.native(one.name)
        if side == "backward":
            names = self.index.facts.differentiated(one.name) or names
        elif native:
            names = list(self._at_entry(native.location)) or names
        for name in names:
            node = impacts.facts.operator(name, side)
            of_rows = impacts.facts.keys.of_rows
            keys = of_rows(name, one.keys) if one.keys and side == "schema" else None
            self.starts.append(Start(replace(node, keys=keys), rule))

    def _at_entry(self, where: Location) -> list[str]:
        try:
            places = self.index.at(where.path, where.line)
        except NotFound:
            return []
        return list(dict.fromkeys(op for place in places for op in place.operators))

    # --------------------------------------------------------------------- generated, C++

    def _generator(self, file: FileChange) -> None:
        python = file.path.endswith(".py")
        if python:
            same = compare_python(file.old or b"", file.new or b"") == []
        else:
            same = tokens(decode(file.old or b"")) == tokens(decode(file.new or b""))
        if same:
            return
        what = "generator" if python else "template"
        cost = Rebuild(self.index.source, self.index.facts).cost(file.path)
        self._add(what, file.path, _what(file), Location(file.path, 0), cost.rule)
        self.told.append(
            f"{file.path}: a {what} of torchgen: all operators that are generated from it may be"
            f" affected; {cost}"
        )

    def _cpp(self, file: FileChange) -> None:
        found, rest = compare_cpp(file.old or b"", file.new or b"", file.path)
        for one in found:
            self._cpp_change(one, file.path)
        if rest:
            cost = Rebuild(self.index.source, self.index.facts).cost(file.path)
            what = "header" if is_header(file.path) else "file scope"
            self._add(what, file.path, _what(file), Location(file.path, 0), str(cost))
            self.told.append(
                f"{file.path}: lines outside of definitions differ (declarations, includes,"
                f" constants): what uses them is not followed; files rebuilt: {cost}"
            )
        left_out = self._compiled and file.path not in self._compiled
        if (found or rest) and left_out and not is_header(file.path):
            self.told.append(f"{file.path}: not compiled by this build (compile_commands.json)")

    @cached_property
    def _compiled(self) -> frozenset[str]:
        """The sources that an existing build compiles; empty without one."""
        root = self.index.source.root
        for place in (root / "compile_commands.json", root / "build" / "compile_commands.json"):
            try:
                rows = json.loads(read_file(place))
                return frozenset(
                    str(row["file"]).removeprefix(f"{root}/") for row in rows if "file" in row
                )
            except (OSError, ValueError, TypeError):
                continue
        return frozenset()

    def _cpp_change(self, one: CppChange, path: str) -> None:
        if one.definition:
            self._definition(one.what, one.definition)
        elif one.stub_use:
            use = one.stub_use
            at = Location(path, use.line, use.end_line)
            self._add("macro use", f"{use.name}({use.arguments[:60]})", one.what, at)
            self._later.append(lambda impacts: self._macro_use(impacts, one, path))
        elif one.registration:
            op, block = one.registration
            at = Location(path, one.line)
            self._add("registration", f"{op} in TORCH_LIBRARY({block})", one.what, at)
            self._later.append(lambda impacts: self._registration(impacts, op, one.what))
        else:
            self._add("macro", one.macro, one.what, Location(path, one.line))
            self._later.append(lambda impacts: self._macro(impacts, one, path))

    def _definition(self, what: str, found: Definition) -> None:
        kind = "function" if found.kind == "macro_use" else found.kind.replace("_func", " function")
        self._add(kind, found.qualified, what, found.location)
        if what == "removed":
            self._removed.append(Known(-1 - len(self._removed), found))
        else:
            self._later.append(lambda impacts: self._known(impacts, what, found))

    def _known(self, impacts: Impacts, what: str, found: Definition) -> None:
        """Starts from the indexed definition: at its line, else by name if the index is of another
        state."""
        here = [
            k
            for k in impacts.facts.named(found.name)
            if k.definition.location.path == found.location.path
            and k.definition.scope == found.scope
        ]
        same = [k for k in here if k.definition.location.line == found.location.line]
        same = same or [k for k in here if k.definition.parameters == found.parameters] or here
        for known in same:
            self.starts.append(Start(Node.of(known), f"it is {what}"))
        if not same:
            self.told.append(f"{found.qualified}: not in the indexed state of the tree")

    def _macro_use(self, impacts: Impacts, one: CppChange, path: str) -> None:
        use = one.stub_use
        assert use
        if name := stub_of(use.name, use.arguments):
            place = Location(path, use.line)
            made = StubUse(use.name, name, use.arguments, use.scope, place, use.guard)
            self.starts.append(Start(stub_node(made), f"{use.name} is {one.what}"))
            return
        for known in impacts.facts.in_file(path):
            if known.definition.location.line == use.line and one.what != "removed":
                self.starts.append(Start(Node.of(known), f"the macro use is {one.what}"))

    def _macro(self, impacts: Impacts, one: CppChange, path: str) -> None:
        """A macro without parameters; the users of a removed one are unknown."""
        here = [
            Start(Node.of(known), f"it is {one.what}")
            for known in impacts.facts.named(one.macro)
            if known.definition.kind == "macro" and known.definition.location.path == path
        ]
        self.starts += here
        if not here:
            self.told.append(f"{path}:{one.line}: uses of the macro {one.macro} are not followed")

    def _registration(self, impacts: Impacts, op: str, what: str) -> None:
        name = op.removeprefix("aten::")
        if impacts.facts.native(name):
            node = impacts.facts.operator(name, "registration")
            self.starts.append(Start(node, f"its registration is {what}"))

    # ---------------------------------------------------------------------------- Python

    def _python(self, file: FileChange) -> None:
        found = compare_python(file.old or b"", file.new or b"")
        path = file.path
        if found is None:
            self._add("python", path, _what(file), Location(path, 0), "no valid Python: not read")
            self.told.append(f"{path}: no valid Python on one side: what differs is not known")
            return
        for one in found:
            self._python_change(one, path, file.new or b"")
        if found and is_opinfo_file(path, file.new or b""):
            self.opinfos += _opinfos_changed(file)
            names = {one.name for one in found if one.what == "changed"}
            self.opinfos += self._opinfos_naming({n for n in names if not _is_database(n)})

    def _opinfos_naming(self, names: set[str]) -> Iterator[Found]:
        entries = self.index.facts.python.of_kinds("opinfo") if names else ()
        for path, rows in grouped((one[0], one) for one in entries).items():
            lines = self.index.source.text(path).splitlines()
            for row in rows:
                text = "\n".join(lines[row[1].line - 1 : max(row[1].line, row[1].end_line)])
                if not names.isdisjoint(_WORDS.findall(text)):
                    yield row

    def _python_change(self, one: TextChange, path: str, new: bytes) -> None:
        at = Location(path, one.line, one.end_line)
        if added := docstrings_added(new, path, one):
            self._documents.append(path)
            for fact in added:
                place = Location(path, fact.line, fact.end_line)
                self._add("documentation", fact.target, one.what, place, "docstring")
            return
        kind = "test" if is_test_file(path) else "python"
        self._add(kind, f"{module_name(path)}.{one.name}", one.what, at, one.detail)
        if one.detail.endswith("docstring"):
            self._documents.append(path)
        if one.detail == "docstring":
            return
        if is_opinfo_file(path, new) and _is_database(one.name):
            return  # of its rows those that differ are looked for
        self._later.append(lambda impacts: self._function(impacts, one, path, at))

    def _function(self, impacts: Impacts, one: TextChange, path: str, at: Location) -> None:
        rule = f"it is {one.what}"
        if one.what != "removed" and path in impacts.python_paths:
            wanted = [b for b in impacts.python.blocks(path) if b.head.qualified == one.name]
            self.starts += [Start(python_node(path, block), rule) for block in wanted]
            if wanted:
                return
        symbol = f"{module_name(path)}.{one.name}"
        self.starts.append(Start(Node("python", f"{path}:{one.name}", symbol, at), rule))


def _is_database(name: str) -> bool:
    return name.endswith(("_db", "<statement>"))


def _opinfos_changed(file: FileChange) -> Iterator[Found]:
    new = file.new or b""
    lines = set(changed_lines(file.old or b"", new))
    for fact in read_opinfo(Text(new), file.path)[0]:
        if not lines.isdisjoint(range(fact.line, max(fact.line, fact.end_line) + 1)):
            yield file.path, fact


def _what(file: FileChange) -> str:
    return "added" if not file.old_path else "removed" if not file.new_path else "changed"
