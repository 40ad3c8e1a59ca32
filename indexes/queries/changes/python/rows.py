"""Plans that remove a row: an expected failure, a skip, an exemption from documentation or types.

The row is known exactly; the other steps concern the reason for it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from indexes.model.lines import grouped, length_in_common, listed
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import Edit, edited, inserted, margin, removed, replaced
from indexes.queries.changes.model import Change, ChangeStep, Parts, TestRun
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.expectations.recorded import written_as
from indexes.queries.gaps.model import Gap
from indexes.queries.gaps.tree import Tree
from indexes.queries.naming.near import near
from indexes.queries.naming.notes import near_titles
from indexes.queries.python_names.public import definitions
from indexes.readers.python.blocks import parse
from indexes.readers.python.remarks import read_file_links
from indexes.store.notes import StoredNotes
from indexes.store.registrations import classes_named

_TEST = regex(r"\b(\w+)\.(test_\w+)")
_OWNERS = regex(r"^# Owner\(s\): .*")
_MOST_FUNCTIONS = 12
_MOST_FOUND, _MOST_MEANT = 20, 3
_ALIKE = 0.9
_ROW = "DecorateInfo("
_QUOTES = '"""'
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


def opinfo_row(tree: Tree, change: Change) -> Parts:
    """Plans the removal of an OpInfo's expected failure or skip."""
    if change.gap is None:
        return _of_operator(tree, change)
    where = change.gap.location
    code = without_row(tree, where)
    steps = [ChangeStep("remove", where, f"Remove the row: {_reason(change)}", code, change.why)]
    test = _TEST.search(change.gap.what)
    runs = list(_made_test(tree, change, *test.groups())) if test else []
    places = [Location(run.path, 0) for run in runs[:1]]
    what = "See why it fails, now that it is not excused."
    steps += [ChangeStep("run", one, what, command=runs[0].command) for one in places]
    return Parts(tuple(steps), tests=tuple(runs))


def without_row(tree: Tree, where: Location) -> tuple[str, ...]:
    """The diff without an OpInfo's row; none if other code on its lines makes that unclear."""
    left = _without_call("\n".join(tree.lines_of(where)))
    return () if left is None else replaced(tree, where, left.splitlines())


def _without_call(text: str) -> str | None:
    """The lines of a row without its only DecorateInfo, possibly before the list's closing bracket.
    None if unclear."""
    before, called, behind = text.partition(_ROW)
    ends = (at for at, mark in enumerate(behind, 1) if mark == ")")
    end = next((at for at in ends if _is_expression(called + behind[:at])), 0)
    rest = behind[end:].lstrip(",").partition("#")[0].strip()
    if not end or _ROW in behind or (before.strip() and not rest):
        return None
    return f"{before}{rest}" if rest else ""


def _is_expression(text: str) -> bool:
    try:
        return bool(parse(text).body)
    except SyntaxError:
        return False


def _of_operator(tree: Tree, change: Change) -> Parts:
    where = tree.opinfos(change.op)[:1] if change.op else []
    steps = tuple(ChangeStep("edit", Location(p, f.line), "Its OpInfo.") for p, f in where)
    return Parts(steps, tests=operator_runs(tree, change.op) if change.op else ())


def _reason(change: Change) -> str:
    return f"{change.gap.what}." if change.gap else change.title


def _made_test(tree: Tree, change: Change, cls: str, name: str) -> Iterator[TestRun]:
    rows = tree.store.query(
        "SELECT path FROM tests JOIN files ON files.id=tests.file WHERE symbol=?",
        (f"{cls}.{name}",),
    )
    paths = [path for (path,) in rows] or [path for path, _ in classes_named(tree.store, cls)]
    for path in paths[:1]:
        names = tree.opinfo_names(change.op) if change.op else []
        word = next((one for one, _ in names), change.name)
        of_file = change.gap and change.gap.location.path.endswith(f"/{word}")
        chosen = name if of_file else f"'{name} and {word.replace('.', '_')}'"
        yield TestRun(f"pytest {path} -k {chosen}", path, "the test that the row excuses")


def compile_row(tree: Tree, change: Change) -> Parts:
    """Plans the removal of a failure or skip under torch.compile."""
    assert change.gap
    row, *tests = change.gap.evidence
    what, code = ("Remove the row.", removed(tree, row)) if row.line else ("Remove the file.", ())
    steps = [ChangeStep("remove", row, what, code, change.why)]
    steps += [ChangeStep("read", one, "See what the test does.") for one in tests]
    under = change.gap.subject.partition("/")[0]
    flag = f"PYTORCH_TEST_WITH_{'INDUCTOR' if under == 'inductor' else 'DYNAMO'}=1"
    _, name = written_as(change.gap.name)
    runs = (TestRun(f"{flag} python {one.path} {name}", one.path, "compiled") for one in tests)
    return Parts(tuple(steps), tests=tuple(runs))


# ------------------------------------------------------------------------------- docs


def docs_coverage(tree: Tree, change: Change) -> Parts:
    """Plans documenting and listing an exempted name, and removing its row."""
    assert change.gap
    row, *others = change.gap.evidence
    listed = [one for one in others if one.path.endswith((".rst", ".md"))]
    lacking = change.gap.what.endswith("is not documented")
    steps = list(_docstring(tree, _dotted(change))) if lacking else []
    others = [one for one in others if one.path not in {step.location.path for step in steps}]
    steps += [] if listed else list(on_page(tree, _dotted(change)))
    steps += [ChangeStep("remove", row, "Remove the row.", removed(tree, row), change.why)]
    steps += [ChangeStep("read", one, "Look at it.") for one in others]
    runs = [TestRun("python test/test_docs_coverage.py", "test/test_docs_coverage.py", "the lists")]
    there = bool(tree.text(runs[0].path))
    missing = tuple(_unknown(steps, lacking and not others, not listed))
    return Parts(tuple(steps), tests=tuple(runs) if there else (), missing=missing)


def _unknown(steps: Sequence[ChangeStep], lacks_docs: bool, lacks_page: bool) -> Iterator[str]:
    """What to do if this tree does not show the place."""
    actions = {step.action for step in steps}
    if lacks_docs and "edit" not in actions:
        yield "no file of Python defines it: its docstring belongs to where it is bound"
    if lacks_page and "add" not in actions:
        yield "no page lists names of its package: it needs one, in docs/source"


def _docstring(tree: Tree, name: str) -> Iterator[ChangeStep]:
    """A docstring for a class or function, with a line per parameter."""
    where = definitions((name,), tree.index)[name]
    if where is None:
        return
    nodes = ast.walk(parse(tree.text(where.path)))
    at = (n for n in nodes if isinstance(n, _DEFINITIONS) and n.name == name.rpartition(".")[2])
    node = next((n for n in at if where.line <= n.lineno <= max(where.line, where.end_line)), None)
    if node is None or ast.get_docstring(node, clean=False) is None:
        code = _documented(tree, where.path, node) if node else ()
        yield ChangeStep("edit", where, f"Write the docstring of {name}.", code)


def _documented(tree: Tree, path: str, node: _Definition) -> tuple[str, ...]:
    """The diff with a docstring below the head; none if the body is on the same line."""
    first = node.body[0]
    line = min(one.lineno for one in (first, *getattr(first, "decorator_list", ()))) - 1
    while line > node.lineno and not tree.line(Location(path, line)).partition("#")[0].strip():
        line -= 1
    if line < node.lineno:
        return ()
    indent = " " * first.col_offset
    lines = [f"{indent}{one}".rstrip() for one in _drafted(node)]
    return inserted(tree, Location(path, line), lines)


def _drafted(node: _Definition) -> Iterator[str]:
    """A docstring to fill in; for a class with the parameters of its ``__init__``."""
    methods = (n for n in node.body if isinstance(n, _FUNCTIONS) and n.name == "__init__")
    made = next(methods, None) if isinstance(node, ast.ClassDef) else node
    names = [one.arg for one in _arguments(made)] if made else []
    returns = made is node and "None" not in ast.unparse(made.returns or ast.Constant(None))
    yield f"{_QUOTES}What it is for, in one line.{'' if names or returns else _QUOTES}"
    if names:
        yield from ("", "Args:", *(f"    {name}: what it is for" for name in names))
    if returns:
        yield from ("", "Returns:", "    what it gives back")
    if names or returns:
        yield _QUOTES


def _arguments(node: _Function) -> list[ast.arg]:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [one for one in given if one.arg not in ("self", "cls")]


def on_page(tree: Tree, name: str, or_package: bool = True) -> Iterator[ChangeStep]:
    """A line on the page that lists most names of the module, in order; else of its package."""
    rows = list(tree.index.facts.python.of_kinds("page"))
    own = module = name.rpartition(".")[0]
    siblings = [(path, fact) for path, fact in rows if fact.target.rpartition(".")[0] == own]
    while or_package and module.count(".") > 1 and not siblings:
        module = module.rpartition(".")[0]
        siblings = [(path, fact) for path, fact in rows if fact.target.startswith(f"{module}.")]
    pages = Counter(path for path, _ in siblings)
    for page, _ in pages.most_common(1):
        there = sorted((f.target.lower(), Location(page, f.line)) for p, f in siblings if p == page)
        where, like = _beside(name.lower(), there)
        code = _listed(tree, where, like, name) if module == own else ()
        yield ChangeStep("add", where, f"List {name} on the page of {module}.", code, "", like)


def _beside(name: str, there: Sequence[tuple[str, Location]]) -> tuple[Location, Location]:
    """After which line a name belongs, and its neighbour in the order of names that begins most
    like it: a page has groups, each in an order of its own."""
    before = [one for one in there if one[0] < name][-1:]
    after = [one for one in there if one[0] >= name][:1]  # alike but for case
    first, like = max((*before, *after), key=lambda one: length_in_common(one[0], name))
    return like._replace(line=like.line - (first > name), end_line=0), like


def _listed(tree: Tree, where: Location, like: Location, name: str) -> tuple[str, ...]:
    """The diff with a name on a line; none in a directive."""
    line = tree.line(like)
    head, dot, _ = line.rpartition(".")
    written = f"{head}{dot}" if dot else margin(line)
    is_directive = line.strip().startswith("..")
    return () if is_directive else inserted(tree, where, [written + name.rpartition(".")[2]])


def _dotted(change: Change) -> str:
    gap = change.gap
    return (gap.subject if gap and gap.subject else "") or change.name


def docs_link(tree: Tree, change: Change) -> Parts:
    """Plans the correction of a broken reference."""
    assert change.gap
    name = _dotted(change)
    named = sorted(_named(tree, name))
    new = named[0] if len(named) == 1 else ""
    what = f"{name} does not exist: write {new}." if new else f"Correct {name}, or remove it."
    if not new and (perhaps := named or _spelled(tree, name)):
        what += f" Perhaps it is {listed(perhaps, _MOST_MEANT, ' or ')}."
    return Parts(tuple(_corrections(tree, change, change.gap.evidence, (name, new), what)))


def _named(tree: Tree, name: str) -> set[str]:
    """What has the last word of a dead link in another module: on pages, as nothing else can be
    linked to; of a private module wherever it is defined. Case counts only among several, and of
    several names of one thing the shortest is taken."""
    last = name.rpartition(".")[2]
    found = _on_pages(tree)
    if "._" in name:
        found = {hit.name for hit in tree.index.find(last, _MOST_FOUND) if "._" in hit.name}
    lasts = {one: one.rpartition(".")[2] for one in found - {name}}
    folded = {one for one, word in lasts.items() if word.casefold() == last.casefold()}
    exact = {one for one in folded if lasts[one] == last} or folded
    places = definitions(sorted(exact, key=len, reverse=True), tree.index)
    shortest = {place or name: name for name, place in places.items()}
    return {*shortest.values()}


def _spelled(tree: Tree, name: str) -> Sequence[str]:
    """What a page lists of its module under a similar name."""
    module = name.rpartition(".")[0]
    beside = (one for one in _on_pages(tree) if one.rpartition(".")[0] == module)
    return near(name, sorted(beside), _MOST_FOUND, _ALIKE)


def _on_pages(tree: Tree) -> set[str]:
    return {fact.target for _, fact in tree.index.facts.python.of_kinds("page")}


def file_link(tree: Tree, change: Change) -> Parts:
    """Plans the correction of a link to a file that is gone, which may have another name now."""
    assert change.gap
    where = change.gap.location
    links = (
        o.name for o in read_file_links(tree.text(where.path), where.path) if o.line == where.line
    )
    folder, _, file = next((one for one in links if one in change.gap.what), "").rpartition("/")
    ending = file[file.rfind(".") :]
    alike = near(file, [one for one in tree.source.listed(folder) if one.endswith(ending)], 2, 0)
    what = f"{change.gap.what[:1].upper()}{change.gap.what[1:]}: correct it, or remove it."
    steps = [ChangeStep("edit", where, what, why=change.why)]
    steps += [
        ChangeStep("read", Location(f"{folder}/{one}", 0), "See whether this is meant.")
        for one in alike
    ]
    return Parts(tuple(steps))


def note_link(tree: Tree, change: Change) -> Parts:
    """Plans the correction of each reference to a note that is nowhere."""
    assert change.gap
    title, stored = change.gap.name, StoredNotes(tree.store)
    (new, *_) = (*near_titles(title, stored), "")
    heads = stored.titled(new)[0] if new else []
    what = f"Refer to Note [{new}]." if new else f"Correct Note [{title}], or remove it."
    places = [one.location for one in stored.titled(title)[1]]
    reads = (ChangeStep("read", one.location, "See whether this is meant.") for one in heads)
    return Parts((*reads, *_corrections(tree, change, places, (title, new), what)))


def _corrections(
    tree: Tree, change: Change, places: Iterable[Location], names: tuple[str, str], what: str
) -> Iterator[ChangeStep]:
    """A step for each file with a name to be replaced; without a new one it has no code."""
    for here in grouped((one.path, one) for one in places).values():
        yield ChangeStep("edit", here[0], what, _renamed(tree, here, *names), change.why)


def _renamed(tree: Tree, places: Sequence[Location], name: str, new: str) -> tuple[str, ...]:
    """The lines of one file with a name replaced; none without a new one."""
    lines = {one.line: tree.line(one) for one in places}
    edits = [Edit(at, at, (text.replace(name, new),)) for at, text in lines.items() if name in text]
    return edited(tree, places[0].path, edits) if new and edits else ()


# ----------------------------------------------------------------- types and owners


def typing(tree: Tree, change: Change) -> Parts:
    """Plans types for a file: remove its comment, annotate each function."""
    assert change.gap
    where = change.gap.location
    untyped = list(_untyped(tree.text(where.path)))
    steps = [
        ChangeStep("edit", Location(where.path, line), f"Annotate {name}.")
        for line, name in untyped[:_MOST_FUNCTIONS]
    ]
    what = "Remove the comment that excuses the file."
    steps.append(ChangeStep("remove", where, what, _without_excuse(tree, where), change.why))
    more = len(untyped) - len(steps) + 1
    missing = (f"{more} more functions of the file have no types",) if more > 0 else ()
    return Parts(tuple(steps), missing=missing)


def _without_excuse(tree: Tree, where: Location) -> tuple[str, ...]:
    text = tree.line(where)
    return removed(tree, where) if text.lstrip().startswith("#") else ()


def _untyped(text: str) -> Iterator[tuple[int, str]]:
    try:
        module = parse(text)
    except SyntaxError:
        return
    for node in (one for one in ast.walk(module) if isinstance(one, _FUNCTIONS)):
        if node.returns is None or any(one.annotation is None for one in _arguments(node)):
            yield node.lineno, node.name


def test_owner(tree: Tree, change: Change) -> Parts:
    """Plans an owner for a test file, as beside it."""
    assert change.gap
    where = change.gap.location
    folder = where.path.rpartition("/")[0]
    siblings = [p for p in tree.paths(f"{folder}/%.py") if p.rpartition("/")[0] == folder]
    lines = {path: tree.line(Location(path, 1)) for path in siblings if path != where.path}
    owners = Counter(
        line for line in lines.values() if _OWNERS.match(line) and "unknown" not in line
    )
    line, count = next(iter(owners.most_common(1)), ("", 0))
    if 2 * count <= len(lines):  # no owner is that of the folder
        what = "Name the owner in the first line: the label of the module that the tests are for."
        return Parts((ChangeStep("edit", where, what, why=change.why),))
    like = next(path for path, own in lines.items() if own == line)
    at = Location(where.path, 1)
    owned = _OWNERS.match(tree.line(at))
    code = replaced(tree, at, [line]) if owned else inserted(tree, at._replace(line=0), [line])
    what = f"Name the owner; {count} of the {len(lines)} other files of the folder have this one."
    return Parts((ChangeStep("edit", at, what, code, change.why, Location(like, 1)),))


# ------------------------------------------------------------------------ duplicates


def duplicate(tree: Tree, change: Change) -> Parts:
    """Plans one function in place of several equal ones."""
    gap = change.gap
    assert gap
    first, *others = dict.fromkeys((gap.location, *gap.evidence))
    steps = [ChangeStep("edit", first, f"Keep this one, where all can include it.{_shared(gap)}")]
    steps += [
        ChangeStep("edit", one, "Remove it, and call the one that you keep.", why=change.why)
        for one in others
    ]
    return Parts(tuple(steps), tests=operator_runs(tree, change.op) if change.op else ())


def _shared(gap: Gap) -> str:
    folders = {one.path.rpartition("/")[0] for one in gap.evidence}
    return "" if len(folders) > 1 else f" Put it in a header in {folders.pop()}."
