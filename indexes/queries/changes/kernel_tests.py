"""What a new kernel changes in tests and docs, and the tests that run it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from indexes.linking.graph import device_of_key
from indexes.linking.python.paths import Found, place_of
from indexes.model.vocabulary import Location
from indexes.queries.changes import backends
from indexes.queries.changes.diffs import inserted, margin, removed
from indexes.queries.changes.formula_tests import below_dtypes
from indexes.queries.changes.kernel_files import base_name
from indexes.queries.changes.model import ChangeStep, TestRun
from indexes.queries.changes.new_kernel import NewKernel, has_word
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.kernels.dependents import needing
from indexes.queries.gaps.kernels.tables import lists_passing
from indexes.queries.gaps.statements import Statement
from indexes.queries.gaps.tree import Tree

_MOST_MADE = 8
"""Operators made from one that are examined."""


def steps(new: NewKernel) -> Iterator[ChangeStep]:
    """Rows of tables, OpInfo flags, a test and docs. If a row enables existing tests, none is to be
    written."""
    rows = list(_tables(new)) or list(_allowed(new))
    flags = list(_opinfo(new))
    yield from rows
    yield from flags
    yield from _python(new)
    yield from cxx_tests(new.tree, new.near.base, new.key)
    if not rows and not flags:
        yield from _test(new)
    yield from _docs(new)


def runs(new: NewKernel) -> Iterator[TestRun]:
    """The tests of a new kernel: the backend's first."""
    yield from _runs(new.tree, new.op, new.key, _files(new))


def own_runs(tree: Tree, op: str, key: str) -> Iterator[TestRun]:
    """The tests of a kernel that is there: the backend's first. Those of the dense tensors of the
    CPU and of CUDA are everywhere."""
    names = dict.fromkeys(name.rpartition(".")[2] for name in tree.names(op))
    is_dense = key in ("CPU", "CUDA")
    yield from _runs(tree, op, key, () if is_dense else backends.test_files(tree, key, names))


def _runs(tree: Tree, op: str, key: str, files: Sequence[str]) -> Iterator[TestRun]:
    """The backend's tests first, then those of the operator on the device."""
    base, device = base_name(tree.natives[op].name), device_of_key(key).lower() or "cpu"
    found = operator_runs(tree, op, device)
    compared = operator_runs(tree, op) if device != "cpu" else ()
    own = [run for run in (*compared, *found) if run.path in files]
    yield from own
    yield from _by_name(tree, base, [one for one in files if one not in {run.path for run in own}])
    yield from (run for run in found if run not in own)


def library_runs(tree: Tree, name: str, key: str) -> Iterator[TestRun]:
    """The tests of a back end that name an operator of a library."""
    yield from _by_name(tree, name, backends.test_files(tree, key, [name]))


def _by_name(tree: Tree, base: str, files: Collection[str]) -> Iterator[TestRun]:
    for path in files:
        text = tree.text(path)
        if "@ops(" in text or has_word(text, base):
            why = "the tests of this back end that have its name"
            yield TestRun(f"pytest {path} -k {base}", path, why)


def _files(new: NewKernel) -> list[str]:
    """The backend's test files, those that name the model first."""
    names = [name.rpartition(".")[2] for name in new.tree.names(new.model.op)]
    found = backends.test_files(new.tree, new.key, dict.fromkeys([*names, new.near.base]))
    return found or backends.test_files(new.tree, new.key, new.homes.of_key(new.model_key))


# ------------------------------------------------------------------------------ tables


def _paths(new: NewKernel) -> list[str]:
    """The files with tables for the key; those of a device are about plain tensors."""
    device = device_of_key(new.key)
    of_layout = [path for path in _files(new) if device == new.key or device.lower() not in path]
    return list(dict.fromkeys([*backends.table_files(new.tree, new.key), *of_layout]))


def _opinfo_names(new: NewKernel, op: str) -> list[str]:
    """OpInfo names as in tables: with and without variant."""
    found = new.tree.opinfo_names(op)
    return list(dict.fromkeys(name + end for name, variant in found for end in ("", variant)))


def _tables(new: NewKernel) -> Iterator[ChangeStep]:
    """The rows of its OpInfos and entries, ``geometric_``, or those of operators made from it."""
    names, made = _opinfo_names(new, new.op), list[str]()
    if names:
        names += [native.name for native in new.homes.groups.get(new.base, ())]
    else:
        made = needing(new.tree, new.op, _MOST_MADE)
        names = [name for op in made for name in _opinfo_names(new, op)]
    for path in _paths(new):
        for row in backends.rows_naming(new.tree, path, names):
            if not lists_passing(row):
                yield _row_of_made(new, row) if made else _row_step(new, row)


def _text(new: NewKernel, row: Statement) -> str:
    return new.tree.line(row.location).strip()


def _row_of_made(new: NewKernel, row: Statement) -> ChangeStep:
    what = f"remove the row of {row.group} if its tests pass now: {_text(new, row)}"
    why = f"it expects an operator to fail that needs {new.base}: an unexpected pass is an error"
    code = removed(new.tree, row.location) if row.whole else ()
    return ChangeStep("edit", row.location, what, code, why)


def _row_step(new: NewKernel, row: Statement) -> ChangeStep:
    why = "it expects the operator to fail: an unexpected pass is an error"
    if row.whole:
        what = f"remove the row of {row.group}: {_text(new, row)}"
        return ChangeStep("remove", row.location, what, removed(new.tree, row.location), why)
    what = f"narrow or remove the row of {row.group}: {_text(new, row)}"
    return ChangeStep("edit", row.location, what, (), why)


def _allowed(new: NewKernel) -> Iterator[ChangeStep]:
    """A row in lists of what works, if the model has one."""
    theirs, mine = _opinfo_names(new, new.model.op), _opinfo_names(new, new.op)
    for path in _paths(new) if mine else ():
        for row in backends.rows_naming(new.tree, path, theirs):
            if lists_passing(row):
                text = re.sub(r"([\"'])[\w.]+\1", rf"\1{mine[0]}\1", _text(new, row), count=1)
                what, why = f"add a row to {row.group}", "the device's tests run for what it lists"
                yield ChangeStep("add", row.location, what, (text,), why, row.location)


# ------------------------------------------------------------------- OpInfo, tests, docs


def _opinfo(new: NewKernel) -> Iterator[ChangeStep]:
    """OpInfo flags for support of a layout."""
    theirs, mine = new.tree.opinfos(new.model.op)[:1], new.tree.opinfos(new.op)[:1]
    if not theirs or not mine:
        return
    other, own = _entry(new, theirs[0]), _entry(new, mine[0])
    for word in backends.words_of(new.key):
        flag = f"supports_{word}=True"
        if flag in other and f"supports_{word}=" not in own:
            why = f"the OpInfo of {new.model.op} says so: the tests of the layout take it then"
            place, like = _place(mine[0]), _place(theirs[0])
            code = _with_flag(new, mine[0], flag)
            yield ChangeStep("edit", place, f"add {flag} to its OpInfo", code, why, like)


def _with_flag(new: NewKernel, found: Found, flag: str) -> tuple[str, ...]:
    path, fact = found
    lines = new.tree.lines_of(place_of(found))
    at = below_dtypes(lines)
    if at is None:
        return (f"{flag},",)
    line = f"{margin(lines[at])}{flag},"
    return inserted(new.tree, Location(path, fact.line + at), [line])


def _place(found: Found) -> Location:
    return Location(found[0], found[1].line)


def _entry(new: NewKernel, found: Found) -> str:
    return "".join(new.tree.lines_of(place_of(found))).replace(" ", "")


def _python(new: NewKernel) -> Iterator[ChangeStep]:
    """A layout's Python code, ``torch/ao/nn/quantized``, if it has the model."""
    device = device_of_key(new.key)
    words = [word for word in backends.words_of(new.key) if word != device.lower()]
    public = re.escape(new.near.base.strip("_"))  # that of _adaptive_avg_pool2d has no underscore
    named = re.compile(rf"\s*(?:def|class) {public}\b|.*\baten\.{new.near.base}\b")
    folders = (f"torch/%{word}/%.py" for word in words)
    for path in dict.fromkeys(path for like in folders for path in new.tree.paths(like)):
        lines = enumerate(new.tree.lines(path), 1)
        if at := next((n for n, text in lines if named.match(text)), 0):
            place = Location(path, at)
            what = f"{new.near.base} is in Python for this layout: see whether {new.base} is to be"
            yield ChangeStep("read", place, what)


def cxx_tests(tree: Tree, base: str, key: str) -> Iterator[ChangeStep]:
    """The C++ tests of an operator in a backend's files."""
    words = backends.words_of(key)
    called = re.compile(rf"\b{re.escape(base)}\(")
    for path in tree.index.facts.paths("cpp", "aten/src/ATen/test/%"):
        lines = enumerate(tree.lines(path), 1) if _begins(path, words) else ()
        if at := next((n for n, text in lines if called.search(text)), 0):
            what = f"{base} is tested in C++ for this back end"
            yield ChangeStep("read", Location(path, at), what)


def _begins(path: str, words: Sequence[str]) -> bool:
    return path.rpartition("/")[2].startswith(tuple(f"{word}_" for word in words))


def _test(new: NewKernel) -> Iterator[ChangeStep]:
    """A test beside the model's in the backend's tests."""
    for path in _files(new)[:1]:
        lines = new.tree.lines(path)
        named = re.compile(rf"\s*def test_\w*{re.escape(new.near.base)}")
        found = [at for at, text in enumerate(lines, 1) if named.match(text)]
        found += [at for at, text in enumerate(lines, 1) if has_word(text, new.near.base)]
        place = Location(path, next(iter(found), 0))
        what = f"test {new.base} on this back end"
        what += f", as {new.near.base} is tested here" if found else ""
        like = place if found else None
        yield ChangeStep("add", place, what, (), "its tests are in this file", like)
        for other in backends.running(new.tree, path):
            what = f"a new class of tests in {path} is imported here too"
            yield ChangeStep("read", other, what, (), "this file runs its classes by name", other)


def _docs(new: NewKernel) -> Iterator[ChangeStep]:
    """A line on pages that list a layout's or device's operators."""
    theirs, mine = _public(new, new.model.op), _public(new, new.op)
    for page in backends.docs_pages(new.tree, new.key):
        lines = new.tree.lines(page)
        listed = [at for at, text in enumerate(lines, 1) if _lists(text, theirs)]
        if listed and mine and not any(_lists(text, mine) for text in lines):
            place = Location(page, listed[0])
            what = f"list {mine[0]} on the page, as {new.near.base} is"
            text = lines[listed[0] - 1].replace(new.near.base, new.base)
            yield ChangeStep("add", place, what, inserted(new.tree, place, [text]), "", place)


def _public(new: NewKernel, op: str) -> list[str]:
    return [name for name in new.tree.names(op) if "._" not in name]


def _lists(text: str, names: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text) for name in names)
