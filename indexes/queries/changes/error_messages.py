"""Plans of checks and their messages: what is checked, in which words, and which tests say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from indexes.linking.python.paths import place_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import replaced
from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts, TestRun
from indexes.queries.changes.test_runs import run_of
from indexes.queries.operator_tests import Suite
from indexes.store.tables import FILE_BITS

if TYPE_CHECKING:
    from indexes.queries.gaps.tree import Tree

_CALL = regex(
    r"(?P<throw>throw\s+(?:std\s*::\s*)?\w*_?\w+)\s*\(|\b(?P<macro>(?:TORCH|AT)_[A-Z_]+)\s*\("
)
_TOKEN = regex(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*[\s\S]*?\*/|[(),]")
_COMPARED = regex(r"([^=<>!&|?]+?)\s*(==|!=|<=|>=|<|>)\s*([^=<>!&|?]+)")
_PREFIX = regex(r"TORCH_CHECK\w*\([^\";]*\"(\w+)(\(\))?: ")
_INSTEAD = regex(r"use (\w+)\((false, )?")
_LITERAL = regex(r"\"((?:[^\"\\\n]|\\.)*)\"")
_ASSERTED = regex(
    r"(?:assertRaisesRegexp?\([^\"'\n]*|error_regex\s*=\s*|expectedRegex\s*=\s*)\n?\s*"
    r"[rf]*(\"[^\"\n]*\"|'[^'\n]*')"
)
_SHORTEST = 8
"""Letters of a text that tests ask for, from which on it is told apart from others."""
_MOST_FILES = 5
_FIRST = 2
"""Kernels of an operator that are looked at: those of further devices check for themselves."""
_LONGEST = 20
_WIDTH, _INDENT = 80, 4
"""Of a line of C++, by the tree's clang-format."""


def error_message(tree: Tree, change: Change) -> Parts:
    """A check that tells people which argument is wrong, and what it is."""
    if change.gap:
        steps = list(_edits(tree, change))
    else:
        steps = list(_checking_places(tree, change))
    steps += _twins(tree, change)
    told, runs = _tests(tree, change, steps)
    return Parts((*steps, *told), tuple(_model(tree, steps)), tuple(runs), _missing(runs))


def _missing(runs: list[TestRun]) -> tuple[str, ...]:
    return () if runs else ("no test of this tree is known to run these lines",)


# ------------------------------------------------------------------------------- edits


def _edits(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """One for each line that the gap was found by."""
    assert change.gap
    path = change.gap.location.path
    for place in dict.fromkeys((change.gap.location, *change.gap.evidence)):
        if place.path == path:
            yield _edit(tree, change, place)
    for place in change.gap.evidence:
        if place.path != path:
            yield ChangeStep("read", place, "See the rule.", why=change.why)


def _edit(tree: Tree, change: Change, place: Location) -> ChangeStep:
    text = tree.text(place.path)
    start = sum(
        len(line) + 1 for line in tree.lines(place.path, 1, place.line - 1) if place.line > 1
    )
    found = _CALL.search(text, start)
    line_end = text.find("\n", start)
    end = _closing(text, found.end()) if found and found.start() < line_end else -1
    if found is None or end < 0:
        return ChangeStep("edit", place, _sentence(change), why=change.why)
    new = _rewritten(tree, change, place, found["macro"] or found["throw"], text[found.end() : end])
    last = text.count("\n", 0, end) + 1
    whole = text[start : text.find("\n", end)]
    made = whole.replace(text[found.start() : end + 1], new, 1)
    where = Location(place.path, place.line, last)
    return ChangeStep(
        "edit", where, _sentence(change), replaced(tree, where, made.split("\n")), change.why
    )


def _sentence(change: Change) -> str:
    return "Say which argument is wrong, what it should be, and what it is."


def _rewritten(tree: Tree, change: Change, place: Location, called: str, inside: str) -> str:
    """The call as it should be."""
    instead = _INSTEAD.search(change.why)
    if called.startswith("throw"):
        return f"TORCH_CHECK(false, {inside.strip()})"
    if instead and called != instead[1]:
        return f"{instead[1]}({instead[2] or ''}{inside})"
    if any(word in _top_level(inside) for word in (",",)):
        return f"{called}({inside})"
    message = _message(tree, change, place, inside)
    line = f"{called}({inside.rstrip()}, {message})"
    if len(line) + _INDENT <= _WIDTH:
        return line
    first = tree.lines(place.path, place.line, place.line)[0]
    indent = " " * (len(first) - len(first.lstrip()) + 4)
    return f"{called}(\n{indent}{inside.strip()},\n{indent}{message})"


def _top_level(text: str) -> str:
    """The commas of a text that stand in no parentheses."""
    depth, found = 0, ""
    for token in _TOKEN.finditer(text):
        depth += (token.group() == "(") - (token.group() == ")")
        found += "," if token.group() == "," and depth == 0 else ""
    return found


def _closing(text: str, start: int) -> int:
    """Where the parenthesis closes that opens before ``start``; -1 for nowhere."""
    depth = 1
    for token in _TOKEN.finditer(text, start):
        depth += (token.group() == "(") - (token.group() == ")")
        if depth == 0:
            return token.start()
    return -1


def _message(tree: Tree, change: Change, place: Location, condition: str) -> str:
    """What should hold, and what there is instead, as arguments of TORCH_CHECK."""
    said = " ".join(condition.split())
    words = f"{_prefix(tree, change, place)}expected {_escaped(said)}"
    compared = _COMPARED.fullmatch(said)
    if compared is None:
        return f'"{words}"'
    got = compared[1].strip()
    return f'"{words}, but got {_escaped(got)} = ", {got}'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _prefix(tree: Tree, change: Change, place: Location) -> str:
    """How messages of the file begin: ``gcd(): `` or ``gcd: ``."""
    name = change.op.partition(".")[0] if change.op else change.name
    styles = Counter(m[2] or "" for m in _PREFIX.finditer(tree.text(place.path)))
    ends = styles.most_common(1)[0][0] if styles else "()"
    return f"{name.rpartition('::')[2]}{ends}: "


# ------------------------------------------------------------------------ no gap known


def _checking_places(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """Where the arguments of an operator are checked: its meta function, its kernels, and the
    functions with messages that these call; then the Python function that people call."""
    seen: set[str] = set()
    named = [hit for hit in tree.index.meant(change.name).hits if "." in change.name]
    found = [(hit.location, f"{hit.name} is called first.") for hit in named[:1]]
    if change.op:
        found += [*_native_places(tree, change.op), *_python_places(tree, change.op)]
    for where, what in found:
        if where.path not in seen and len(seen) < _MOST_FILES:
            seen.add(where.path)
            yield ChangeStep("edit", where, what)


_CHECKS = f"""
    WITH RECURSIVE reached(id, depth) AS (
        SELECT d.id, 0 FROM files f JOIN definitions d ON d.id>>{FILE_BITS}=f.id
        AND d.id BETWEEN f.id<<{FILE_BITS} AND (f.id+1<<{FILE_BITS})
        WHERE f.path=? AND d.line=?
        UNION SELECT e.target, r.depth+1 FROM reached r JOIN edges e
        ON e.caller=r.id WHERE r.depth<2 AND typeof(e.target)='integer')
    SELECT f.path, min(m.line), d.name, min(r.depth) FROM reached r
    JOIN definitions d ON d.id=r.id JOIN files f ON f.id=d.id>>{FILE_BITS}
    JOIN messages m ON m.file=f.id AND m.line BETWEEN d.line AND d.end_line
    GROUP BY d.id ORDER BY 4, f.path
"""
"""The functions with messages that a function calls, and those that these call."""


def _native_places(tree: Tree, op: str) -> Iterator[tuple[Location, str]]:
    own = [hop for hop in tree.index.chain(op).hops if hop.role in ("meta", "kernel")]
    places = [hop.location for hop in own if hop.location and hop.parent in (0, 1, None)]
    for where in places[:_FIRST]:
        yield where, f"{op} begins here: check the argument before it is used."
    for where in places[:_FIRST]:
        for path, line, name, depth in tree.store.query(_CHECKS, (where.path, where.line)):
            if depth and "/native/" in path:
                yield Location(path, line), f"{name} checks arguments for it."


def _python_places(tree: Tree, op: str) -> Iterator[tuple[Location, str]]:
    for name in tree.names(op):
        for path, fact in tree.python.definitions(name):
            if path.startswith("torch/") and "overrides" not in path:
                yield Location(path, fact.line), f"{name} is called first."


# ------------------------------------------------------------------------------- twins


def _twins(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """What Python registers for the operator and checks itself."""
    for kind in ("meta_registration", "decomposition") if change.op else ():
        for found in tree.registered(change.op or "", kind):
            where = place_of(found)
            body = "\n".join(tree.lines(where.path, where.line, where.end_line))
            if "check(" in body or "raise " in body:
                what = f"{found[1].symbol} checks the same in Python: keep both alike."
                yield ChangeStep("read", where, what)


# ------------------------------------------------------------------------------- tests


def _tests(
    tree: Tree, change: Change, steps: list[ChangeStep]
) -> tuple[list[ChangeStep], list[TestRun]]:
    """The tests that ask for the words, or else the nearest test to add to."""
    suite = Suite(tree.index.facts)
    asked = _asking(tree, steps)
    told = [
        ChangeStep("edit", one, "This test asks for the text: let it ask for the new one.")
        for one in asked
    ]
    runs = [run_of(suite.at(one)) for one in asked]
    native = tree.natives.get(change.op or "")
    if native is None:
        return told, runs
    covering = suite.of(native)
    words = _folders(next((one.location.path for one in steps if one.touches), ""))
    hand = sorted(covering.named, key=lambda one: _order(tree, one.tests[0], words))
    if not told and hand:
        told.append(_added(tree, change, hand[0].tests[0]))
    elif not told and covering.opinfos:
        where = covering.opinfos[0].location
        what = "Give its OpInfo an error_inputs_func, or a case more, that meets the check."
        told.append(ChangeStep("edit", where, what))
    return told, [*runs, *map(run_of, (*hand, *covering.files))]


def _added(tree: Tree, change: Change, test: Location) -> ChangeStep:
    names = sorted(tree.names(change.op or ""), key=lambda one: ("._" in one, "Tensor." in one))
    name = next(iter(names), change.name)
    code = (
        '        with self.assertRaisesRegex(RuntimeError, "expected"):',
        f"            {name}(...)",
    )
    what = "Add a case that meets the check to the nearest test."
    return ChangeStep("add", test, what, code)


def _folders(path: str) -> frozenset[str]:
    """What a kernel is for, by its folders: ``sparse``, ``quantized``, ``cuda``."""
    return frozenset(path.partition("/native/")[2].split("/")[:-1])


def _order(tree: Tree, test: Location, folders: frozenset[str]) -> tuple[bool, bool, int]:
    """Tests for the same backend first, then those that expect errors, then those of the plain
    test files: further down stand compilers and exporters."""
    alike = any(one in test.path for one in folders)
    return (not alike, not _raises(tree, test), test.path.count("/"))


def _raises(tree: Tree, test: Location) -> bool:
    return any(
        "assertRaises" in line
        for line in tree.lines(test.path, test.line, test.end_line or test.line)
    )


def _asking(tree: Tree, steps: list[ChangeStep]) -> list[Location]:
    """The lines of tests whose expected text is part of a message that is changed."""
    gone = "\n".join(line for step in steps for line in step.code if line.startswith("-"))
    literals = [literal for literal in _LITERAL.findall(gone) if len(literal) >= _SHORTEST]
    return [where for literal in literals for where in _asserting(tree, literal)][:5]


def _asserting(tree: Tree, literal: str) -> Iterator[Location]:
    for path in tree.paths("test/%.py"):
        text = tree.text(path)
        for found in _ASSERTED.finditer(text) if "Regex" in text or "error_regex" in text else ():
            asked = found[1].strip("\"'").replace("\\", "").strip(".*^$ ")
            if len(asked) >= _SHORTEST and asked in literal:
                yield Location(path, text.count("\n", 0, found.start(1)) + 1)


# ----------------------------------------------------------------------------- a model


def _model(tree: Tree, steps: list[ChangeStep]) -> Iterator[Neighbour]:
    """The nearest check of the same file that says all of it."""
    first = next((one.location for one in steps if one.touches), None)
    if first is None or not first.path.startswith(("aten/", "c10/", "torch/csrc/")):
        return
    text = tree.text(first.path)
    found = list(regex(r"TORCH_CHECK\w*\([^;]*?\"[^;]*?got[^;]*?;").finditer(text))
    lines = [(text.count("\n", 0, m.start()) + 1, m) for m in found]
    if lines:
        line, match = min(lines, key=lambda pair: abs(pair[0] - first.line))
        code = tuple(match[0].split("\n")[:_LONGEST])
        where = Location(first.path, line, line + len(code) - 1)
        yield Neighbour(
            f"line {line}", "a check of the same file that says what it got", where, code
        )
