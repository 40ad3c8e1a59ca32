"""Plans of checks and their messages: what is checked, the wording, and the tests for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from indexes.linking.graph import DEVICES
from indexes.linking.python.paths import place_of
from indexes.model.answers import Hop
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.changes.backends import test_files
from indexes.queries.changes.check_drafts import corrected
from indexes.queries.changes.diffs import edited
from indexes.queries.changes.kernels import operators_below
from indexes.queries.changes.model import Action, Change, ChangeStep, Neighbour, Parts, TestRun
from indexes.queries.changes.test_runs import covering, run_of
from indexes.queries.contribution.helpers import helpers
from indexes.queries.contribution.layouts import layouts
from indexes.queries.contribution.siblings import siblings
from indexes.queries.contribution.steps import APART
from indexes.queries.gaps.kernels.dependents import needing
from indexes.queries.gaps.tree import Tree
from indexes.queries.operator_tests import Selection, Suite

_LITERAL = regex(r"\"((?:[^\"\\\n]|\\.)*)\"")
_PLAIN = regex(r"[\w ,:'-]+")
"""What means itself in a regular expression."""
_SENTENCE = "Say which argument is wrong, what it should be, and what it is."
_BY_RULE = "Write the check that the rule names."
_SHORTEST = 8
"""Fewest letters of an expected text that distinguish it."""
_MOST_FILES = 6
_MOST_ALIKE = 4
_FIRST = 3
"""Overloads that are examined."""
_DEVICES = (None, "CPU", "CUDA")
"""Devices whose kernels' checks count."""
_MACRO = regex(r"\b(?:TORCH_CHECK\w*|AT_ERROR|AT_ASSERT\w*|AT_CHECK|THArgCheck)\(")
_CHECKED = regex(rf"{_MACRO.pattern}|\b\w*check\w*\(")
_ASKS = regex(r"\bis_(sparse(?:_csr)?|quantized|mkldnn|nested)\(|\bk(Sparse(?:Csr)?|Mkldnn)\b")
"""Asks for a tensor's layout."""
_LONGEST = 20


def error_message(tree: Tree, change: Change) -> Parts:
    """Plans a check that says which argument is wrong, and how."""
    if change.gap:
        steps = list(_edits(tree, change))
    else:
        steps = list(_checking_places(tree, change))
    steps += [*_twins(tree, change), *_elsewhere(tree, change, steps), *_alike(tree, steps)]
    test_steps, runs = _tests(tree, change, steps)
    return Parts((*steps, *test_steps), tuple(_model(tree, steps)), tuple(runs), _missing(runs))


def _missing(runs: list[TestRun]) -> tuple[str, ...]:
    return () if runs else ("no test of this tree is known to run these lines",)


# ------------------------------------------------------------------------------- edits


def _edits(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """One edit for each line of the gap; then the lines that show the rule."""
    assert change.gap
    path = change.gap.location.path
    places = dict.fromkeys((change.gap.location, *change.gap.evidence))
    own = [place for place in places if place.path == path]
    edits = {edit for place in own if (edit := corrected(tree, change, place))}
    code = edited(tree, path, edits) if edits else ()
    what = _SENTENCE if change.kind == "error-message" else _BY_RULE
    yield ChangeStep("edit", own[0], what, code, change.why)
    for place in own[1:]:
        if not any(edit.first == place.line for edit in edits):
            yield ChangeStep("edit", place, what, why=change.why)
    for place in places:
        if place.path != path:
            yield ChangeStep("read", place, "See the rule.", why=change.why)


# ------------------------------------------------------------------------ no gap known


def _checking_places(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """Where an operator's arguments are checked: its meta function, kernels, and checking functions
    that these call; then the public Python function."""
    seen: set[str] = set()
    named = [hit for hit in tree.index.meant(change.name).hits if "." in change.name]
    found = [ChangeStep("edit", hit.location, f"{hit.name} is called first.") for hit in named[:1]]
    for op in _checked(tree, change.op):
        found += _native_places(tree, op)
    if change.op:
        found += _python_places(tree, change.op)
    for step in found:
        if step.location.path not in seen and len(seen) < _MOST_FILES:
            seen.add(step.location.path)
            yield step


def _checked(tree: Tree, op: str | None) -> Iterator[str]:
    """An operator, and of a composite one those of its name that it calls, which check for it:
    ``linalg_cross`` for ``cross``."""
    if op:
        yield op
        words = {*op.partition(".")[0].split("_")}
        below = operators_below(tree, op, "CPU") if tree.is_composite(op) else ()
        named = (one.op for one in below if words <= {*one.op.partition(".")[0].split("_")})
        yield from islice(dict.fromkeys(named), _FIRST)


def _native_places(tree: Tree, op: str) -> Iterator[ChangeStep]:
    """Helpers named as checks that it uses and little else does; without any, or if it checks
    itself, its start. Other checks are to be read, since a check comes before the device is
    chosen."""
    hops = [h for one in _variants(tree, op) for h in tree.hops(one)]
    own = [h for h in hops if h.role in ("meta", "kernel") and _is_plain(h)]
    computing = [h for h in hops if h.role in ("call", "device_kernel") and _is_plain(h)]
    for found in _functions(tree, op)[:1] if not own else ():
        what = f"{found.qualified} is its function: check the argument here."
        yield ChangeStep("edit", found.location, what)
    starts = [hop.location for hop in (*own, *computing) if hop.location]
    below = (one.definition for one in helpers(tree.index.facts, starts))
    checking = [one for one in below if _checks(tree, one.location)]
    named = {one for one in checking if "check" in one.name.lower()}
    for hop in own[:1]:
        assert hop.location
        what = f"{op} begins here: check the argument before it is used."
        is_own = not named or _checks(tree, hop.location, _MACRO)
        yield ChangeStep("edit" if is_own else "read", hop.location, what)
    for hop in (*own[1:], *computing):
        assert hop.location
        if _checks(tree, hop.location):
            yield ChangeStep("read", hop.location, f"{hop.symbol} checks arguments too.")
    for one in checking:
        action: Action = "edit" if one in named else "read"
        yield ChangeStep(action, one.location, f"{one.name} checks arguments for it.")


def _functions(tree: Tree, op: str) -> list[Definition]:
    wanted = f"at::native::{tree.natives[op].name}"
    return [one for one in tree.index.definitions(wanted) if not APART.search(one.location.path)]


def _variants(tree: Tree, op: str) -> list[str]:
    """The overload, its in-place variant, and further overloads without named dimensions."""
    name = tree.natives[op].name
    names = [op, *tree.overloads.get(f"{name}_", ()), *tree.overloads[name]]
    plain = [
        one for one in names if not any("Dimname" in a.type for a in tree.schemas[one].arguments)
    ]
    return list(dict.fromkeys(plain))[:_FIRST]


def _is_plain(hop: Hop) -> bool:
    """Whether a hop is C++ for ordinary tensors."""
    where = hop.location
    if where is None or "/native/" not in where.path or hop.device not in _DEVICES:
        return False
    return not APART.search(where.path)


def _checks(tree: Tree, where: Location, by: re.Pattern[str] = _CHECKED) -> bool:
    return bool(by.search("\n".join(tree.lines_of(where))))


def _python_places(tree: Tree, op: str) -> Iterator[ChangeStep]:
    for name in tree.names(op):
        for path, fact in tree.python.definitions(name):
            if path.startswith("torch/") and "overrides" not in path:
                where = Location(path, fact.line)
                yield ChangeStep("edit", where, f"{name} is called first.")


# ------------------------------------------------------------------------------- twins


def _twins(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """Python registrations for the operator with checks of their own."""
    kinds = ("meta_registration", "decomposition")
    rows = (tree.registered(op, kind) for op in _checked(tree, change.op) for kind in kinds)
    for found in dict.fromkeys(one for some in rows for one in some):
        where = place_of(found)
        body = "\n".join(tree.lines_of(where))
        if "check(" in body or "raise " in body:
            what = f"{found[1].symbol} checks the same in Python: keep both alike."
            yield ChangeStep("read", where, what)


def _elsewhere(tree: Tree, change: Change, steps: list[ChangeStep]) -> Iterator[ChangeStep]:
    """The kernels for devices that do not run the check: what checks may serve these too."""
    ops = [tree.kernels.get(op, {}) for op in _checked(tree, change.op)]
    for rows, key in ((rows, key) for rows in ops for key in DEVICES if key not in _DEVICES):
        for one in rows[key].definitions[:1] if key in rows else ():
            path, where = one.location.path, one.location
            if any(s.location.path == path and where.covers(s.location.line) for s in steps):
                continue
            what = f"{one.name} computes it for {key}: see whether it checks the same."
            yield ChangeStep("read", one.location, what)


def _alike(tree: Tree, steps: list[ChangeStep]) -> Iterator[ChangeStep]:
    """The files of the same shape, which may lack the check too."""
    paths = [step.location.path for step in steps]
    for one in islice(siblings(paths, tree.native_files), _MOST_ALIKE):
        what = f"It is of the same shape as {one.of}: it may need the same."
        yield ChangeStep("read", Location(one.path, 1), what)


# ------------------------------------------------------------------------------- tests


def _tests(
    tree: Tree, change: Change, steps: list[ChangeStep]
) -> tuple[list[ChangeStep], list[TestRun]]:
    """The tests that expect the words, or else the nearest test to extend."""
    suite = Suite(tree.index.facts)
    checking = _asking(tree, steps)
    steps_of_tests = [
        ChangeStep("edit", one, "This test expects the text: update it to the new one.")
        for one in checking
    ]
    runs = [run_of(suite.at(one)) for one in checking]
    native = tree.natives.get(change.op or "")
    if native is None:
        return steps_of_tests, runs
    found = covering(tree, native.full_name)
    words = _folders(next((one.location.path for one in steps if one.touches), ""))
    hand = sorted(found.named, key=lambda one: _order(tree, one, words))
    if not steps_of_tests and hand:
        raising = (one for one in hand[0].tests if _raises(tree, one))
        test = next(raising, hand[0].tests[0])
        steps_of_tests.append(_added(tree, change, test, _expected(steps)))
    steps_of_tests += islice(
        _of_opinfo(tree, native.full_name, "read" if hand else "edit"), not checking
    )
    runs += map(run_of, (*hand, *found.files))
    return steps_of_tests, [*runs, *_of_layouts(tree, native.full_name, steps)]


def _of_opinfo(tree: Tree, op: str, action: Action) -> Iterator[ChangeStep]:
    """The OpInfo whose inputs may fail the check: its own, or that of an operator that needs it."""
    for one in (op, *needing(tree, op)):
        for found in tree.opinfos(one)[:1]:
            whose = "its OpInfo" if one == op else f"the OpInfo of {one}, which needs it,"
            what = f"Give {whose} an error_inputs_func, or another case, that fails the check."
            yield ChangeStep(action, place_of(found), what)


def _of_layouts(tree: Tree, op: str, steps: list[ChangeStep]) -> Iterator[TestRun]:
    """The test file of each layout with kernels, which check for themselves, or that what checks
    asks for."""
    names = {name.rpartition(".")[2] for name in tree.names(op)}
    whys = {key: f"it has a kernel for {key}" for key in layouts(tree, op)}
    code = "\n".join(line for s in steps if s.touches for line in tree.lines_of(s.location))
    for asked in _ASKS.finditer(code):
        layout = (asked[1] or asked[2]).title().replace("_", "")
        whys.setdefault(f"{layout}CPU", f"what checks asks for {asked[0].rstrip('(')}")
    for key, why in whys.items():
        for path in test_files(tree, key, names)[:1]:
            yield TestRun(f"pytest {path} -k {tree.natives[op].name}", path, why)


def _expected(steps: list[ChangeStep]) -> str:
    """The plain words of the first message of an edit, which a test expects."""
    now = "\n".join(line for one in steps for line in one.code if not line.startswith("-"))
    words = _PLAIN.findall(next(iter(_LITERAL.findall(now[now.find("\n+") :])), ""))
    return max(words, key=len, default="expected").strip(" ,:'-")


def _added(tree: Tree, change: Change, test: Location, expected: str) -> ChangeStep:
    names = sorted(tree.names(change.op or ""), key=lambda one: ("._" in one, "Tensor." in one))
    name = next(iter(names), change.name)
    code = (
        f'        with self.assertRaisesRegex(RuntimeError, "{expected}"):',
        f"            {name}(...)",
    )
    what = "Add a case that fails the check to the nearest test."
    return ChangeStep("add", test, what, code)


def _folders(path: str) -> frozenset[str]:
    """The folders that show a kernel's purpose: ``sparse``, ``quantized``, ``cuda``."""
    return frozenset(path.partition("/native/")[2].split("/")[:-1])


def _order(tree: Tree, tests: Selection, folders: frozenset[str]) -> tuple[bool, int, bool, int]:
    """Tests of the same backend first, then plain test files, then compilers and exporters; among
    equals those that expect errors, then those with most tests of it."""
    alike = any(one in tests.path for one in folders)
    raises = any(_raises(tree, one) for one in tests.tests)
    return (not alike, tests.path.count("/"), not raises, -len(tests.tests))


def _raises(tree: Tree, test: Location) -> bool:
    return any("assertRaises" in line for line in tree.lines_of(test))


def _asking(tree: Tree, steps: list[ChangeStep]) -> list[Location]:
    """The lines of tests that expect part of a changed message."""
    gone = "\n".join(line for step in steps for line in step.code if line.startswith("-"))
    literals = [literal for literal in _LITERAL.findall(gone) if len(literal) >= _SHORTEST]
    return [where for literal in literals for where in tree.mentions.asking(literal)][:5]


# ----------------------------------------------------------------------------- a model


def _model(tree: Tree, steps: list[ChangeStep]) -> Iterator[Neighbour]:
    """The nearest complete check in the same file."""
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
