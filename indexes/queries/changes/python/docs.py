"""Plans of documentation: docstrings, their counterparts, pages that list them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexes.linking.python.paths import Found, place_of
from indexes.model.errors import NotFound
from indexes.model.regex import MULTILINE, regex
from indexes.model.schema import Schema
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import inserted, removed, replaced
from indexes.queries.changes.model import Action, Change, ChangeStep, Neighbour, Parts, TestRun
from indexes.queries.changes.python.lists import Lists
from indexes.queries.changes.python.rows import on_page
from indexes.queries.changes.related import neighbour
from indexes.queries.contribution.steps import each_place
from indexes.queries.gaps.docs import signature
from indexes.queries.gaps.tree import Tree
from indexes.queries.python_names.public import definitions, public_names

_LONGEST = 20
_LISTS = "lists it."
_HEAD = 6
"""Lines in which a docstring may refer to another."""
_REFERS = regex(r"\s*(?:r?\"\"\")?(?:See|In-place version of) :\w+:`")
_SIGNED = regex(r"\)(?:[ \t]*->[^\n]*)?\n")
"""The end of the call that a docstring begins with."""
_CODE = regex(r"``[^`\n]+``")
_DEFINING = ("class", "def", "docs", "functional", "module")
_COVERAGE = "test/test_docs_coverage.py"
FILE = regex(r"(?P<path>[\w./-]+\.(?:py|rst|md))(?::(?P<line>\d+))?")
"""The kind for a file whose documentation changes, or a line in it."""
_IGNORED = r"coverage_ignore|docs_coverage"


def docs(tree: Tree, change: Change) -> Parts:
    """Plans an operator's docstrings: the missing one, or all."""
    if change.gap and not change.op:
        return _plain(tree, change)
    if (place := FILE.fullmatch(change.name)) and tree.text(place["path"]):
        return _parts(tree, each_place(list(_at(tree, place["path"], int(place["line"] or 0)))))
    steps = [one for name in _missing(tree, change) for one in _docstring_added(tree, change, name)]
    own = list(_docstrings(tree, change)) if change.op else []
    steps += [*own, *_named(tree, change)] if _is_bare(change) else [*_named(tree, change), *own]
    steps = _without_referring(tree, steps)
    return _parts(tree, each_place([*steps, *_ignoring(tree, change)]))


def _without_referring(tree: Tree, steps: Sequence[ChangeStep]) -> list[ChangeStep]:
    """The steps, with listing pages and referring docstrings only to be read if there are others to
    edit."""
    follow = (s.what.endswith(_LISTS) or _refers(tree, s.location) for s in steps)
    changed = [replace(s, action="read") if f else s for s, f in zip(steps, follow, strict=True)]
    return changed if any(step.touches for step in changed) else list(steps)


def _refers(tree: Tree, where: Location) -> bool:
    head = tree.lines(where.path, where.line, where.line + _HEAD)
    return any(_REFERS.match(line) for line in head)


def docs_signature(tree: Tree, change: Change) -> Parts:
    """Plans a docstring that agrees with the schema."""
    if not (change.gap and change.op):
        return docs(tree, change)
    steps = [_corrected(tree, change), *_docstrings(tree, change)]
    return _parts(tree, each_place(steps))


def docs_page(tree: Tree, change: Change) -> Parts:
    """Plans a line on the page that lists such names."""
    if not (change.gap and len(change.gap.evidence) > 1):
        return docs(tree, change)
    docstring, row = change.gap.evidence[:2]
    last = change.gap.subject.rpartition(".")[2] if change.gap.subject else change.name
    text = tree.line(row)
    head, _, listed = text.rpartition(".")
    line = f"{head}.{last}" if head else text.replace(listed.strip(), last)
    what = f"List {last} beside {listed.strip()}."
    after = Location(row.path, row.line - (last < listed.strip()))  # put stands before put_
    steps = [
        ChangeStep("add", row, what, inserted(tree, after, [line]), change.why, row),
        ChangeStep("read", docstring, "Its docstring is there."),
        *_ignoring(tree, change),
    ]
    return _parts(tree, steps)


def _plain(tree: Tree, change: Change) -> Parts:
    where = change.gap.location if change.gap else Location(change.name, 0)
    what = change.gap.what if change.gap else change.title
    return Parts((ChangeStep("edit", where, f"{what[:1].upper()}{what[1:]}.", why=change.why),))


def _parts(tree: Tree, steps: list[ChangeStep]) -> Parts:
    return Parts(tuple(steps), tuple(_model(tree, steps)), tuple(_checks(tree)))


# ---------------------------------------------------------------------- what there is


def _named(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """The documentation of the subject's public names, and pages that list them."""
    if change.gap:
        return
    names = [change.name] if "." in change.name else []
    if change.bare or not names:
        names += public_names(tree.index.facts.python, change.name.rpartition(".")[2])
    places = definitions(dict.fromkeys(names), tree.index)
    listed = {place for name, place in places.items() if _pages(tree, name)}
    for name, place in places.items():
        is_first = place == places[names[0]]
        if _is_meant(change, is_first):
            found = _of_name(tree, name, place)
            is_own = is_first and not (change.op and _is_bare(change))
            yield from found if is_own else map(_to_read, found)
            written = any(fact.kind == "docs" for _, fact in tree.python.by_target(name))
            alone = written and not _pages(tree, name)
            if alone or (place and place not in listed):
                listed.update((place,) if place else ())
                yield from map(_to_read, on_page(tree, name))


def _is_bare(change: Change) -> bool:
    """Whether several things may have the name, operators first."""
    return "." not in change.name


def _to_read(step: ChangeStep) -> ChangeStep:
    return replace(step, action="read", code=())


def _is_meant(change: Change, is_same: bool) -> bool:
    """Whether a similar name is meant too: an operator and a class mean the computation under every
    name; another function only itself."""
    last = change.name.rpartition(".")[2]
    return is_same or bool(change.op) or last[:1].isupper() or "." not in change.name


def _at(tree: Tree, path: str, line: int) -> Iterator[ChangeStep]:
    """The docstring or row at a line, or the file; then other documentation of the same names."""
    yield ChangeStep("edit", Location(path, line), f"What {path} says{' here' * bool(line)}.")
    if not line:
        yield from _pages_of_file(tree, path)
        return
    stored = tree.index.facts.python
    names = [name.rpartition(".")[2] for name in _documented_at(tree, path, line)]
    twins = dict.fromkeys(twin for name in names for twin in public_names(stored, name))
    for twin, where in definitions(twins, tree.index).items():
        yield from _of_name(tree, twin, where)


def _pages_of_file(tree: Tree, path: str) -> Iterator[ChangeStep]:
    rows = tree.index.facts.python.in_file(path)
    names = dict.fromkeys(fact.symbol for fact in rows if fact.kind in _DEFINING)
    found = [(name, page) for name in names for page, _ in _pages(tree, name)]
    for page in dict.fromkeys(page for _, page in found):
        first = next(name for name, of in found if of == page)
        yield ChangeStep("read", Location(page, 0), f"{page} lists {first} and others of it.")


def _documented_at(tree: Tree, path: str, line: int) -> list[str]:
    rows = [fact for fact in tree.index.facts.python.in_file(path) if fact.line == line]
    listed = [fact.target for fact in rows if fact.kind == "page"]
    try:
        places = tree.index.at(path, line)
    except NotFound:
        places = ()
    return list(dict.fromkeys([*listed, *(place.name for place in places)]))


def _of_name(tree: Tree, name: str, where: Location | None) -> Iterator[ChangeStep]:
    """The docstring of a Python name, and the pages that list it."""
    rows = tree.index.facts.python.by_target(name)
    for path, fact in (found for found in rows if found[1].kind == "docs"):
        yield ChangeStep("edit", Location(path, fact.line), f"The docstring of {name}.")
    if where and not where.path.endswith("overrides.py"):
        yield ChangeStep("edit", where, f"The docstring of {name}.")
    for path, fact in _pages(tree, name):
        yield ChangeStep("edit", Location(path, fact.line), f"{path} {_LISTS}")


def _docstrings(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """The operator's other docstrings, and pages that list it, to read."""
    assert change.op
    action: Action = "read" if change.gap or "." in change.name else "edit"
    subject = f"torch.{change.gap.subject or change.name}" if change.gap else ""
    pages = {path for path, _ in _pages(tree, subject)}
    seen: set[tuple[str, int]] = set()
    for role in ("docs", "python"):
        for hop in tree.hops(change.op):
            where = hop.location
            if hop.role != role or where is None or (where.path, where.line) in seen:
                continue
            if role == "python" and not _has_docstring(tree, where):
                continue
            seen.add((where.path, where.line))
            is_page = where.path.startswith("docs/")
            if is_page and change.gap and where.path not in pages:
                continue  # it lists another name of the operator
            what = f"{hop.symbol} {_LISTS}" if is_page else f"The docstring of {hop.symbol}."
            yield ChangeStep(action, where, what)


def _has_docstring(tree: Tree, where: Location) -> bool:
    """Whether a class or function has one, or is a call that adds it."""
    if not where.path.startswith("torch/") or where.path.endswith("overrides.py"):
        return False
    lines = tree.lines(where.path, where.line, where.line + 12)
    return any('"""' in line for line in lines)


# ------------------------------------------------------------------------ a correction


def _corrected(tree: Tree, change: Change) -> ChangeStep:
    assert change.gap
    assert change.op
    where = change.gap.location
    text = "\n".join(tree.lines_of(where))
    made = _with_names(text, tree.schemas[change.op], change.gap.subject)
    what = "Make the docstring match the schema."
    if made == text:
        return ChangeStep("edit", where, what, why=change.why)
    return ChangeStep("edit", where, what, replaced(tree, where, made.split("\n")), change.why)


def _with_names(text: str, schema: Schema, subject: str) -> str:
    """A docstring with a schema's parameters and defaults in place of wrong ones."""
    documented = signature(text)
    if documented is None:
        return text
    last = subject.rpartition(".")[2]
    if last and documented.name.rpartition(".")[2] != last:
        return text.replace(f"{documented.name}(", f"{last}(", 1)
    method = subject.startswith("Tensor.")
    known = [a.name for a in schema.arguments if not (method and a.name == "self")]
    known = [one if one != "self" else "input" for one in known]
    wrong = [one for one in documented.parameters if one not in known and one != "out"]
    lacking = [one for one in known if one not in documented.parameters]
    for old, new in zip(wrong, lacking, strict=False) if len(wrong) <= len(lacking) else ():
        text = _with_name(text, old, new)
    for parameter, value in documented.defaults if not wrong else ():
        default = next((a.default for a in schema.arguments if a.name == parameter), None)
        if default is not None and default != value and default.lower() != value.lower():
            text = text.replace(f"{parameter}={value}", f"{parameter}={default}", 1)
    return text


def _with_name(text: str, old: str, new: str) -> str:
    """A docstring with a parameter renamed in signature, list and references, not in examples."""
    word = regex(rf"(?<![\w.'\"]){old}(?![\w'\"])")
    signed = _SIGNED.search(text)
    end = signed.end() if signed else len(text)
    head, rest = word.sub(new, text[:end]), text[end:].replace(f":attr:`{old}`", f":attr:`{new}`")
    rest = _CODE.sub(lambda code: word.sub(new, code[0]), rest)
    return head + regex(rf"^(\s+){old}(?= ?\()", MULTILINE).sub(rf"\g<1>{new}", rest)


# ----------------------------------------------------------------- a missing docstring


def _missing(tree: Tree, change: Change) -> list[str]:
    """The names without a docstring: ``torch.Tensor.gcd`` by the gap; for an operator its function
    and method, unless defined in Python."""
    if change.gap and change.gap.what.endswith("has no docstring"):
        return [change.gap.what.partition(" ")[0]]
    if change.gap or not change.op:
        return []
    wanted = (f"torch.{change.name}", f"torch.Tensor.{change.name}")
    public = [one for one in tree.names(change.op) if one in wanted]
    kinds = {name: {f.kind for _, f in tree.python.by_target(name)} for name in public}
    return [name for name in public if not kinds[name] & {"docs", "functional", "method"}]


def _docstring_added(tree: Tree, change: Change, name: str) -> Iterator[ChangeStep]:
    assert change.op
    method = name.startswith("torch.Tensor.")
    path = "torch/_tensor_docs.py" if method else "torch/_torch_docs.py"
    after = _before_in_file(tree, name, path)
    if after is None:
        return
    where = place_of(after)
    lines = ["", *_docstring(tree, change.op, name, _adder(tree, after))]
    what = f"Add the docstring of {name}."
    last = Location(where.path, where.end_line)
    yield ChangeStep("add", last, what, inserted(tree, last, lines), change.why, where)
    yield ChangeStep("read", tree.natives[change.op].location, "See its schema.")
    if not _pages(tree, name):
        yield from on_page(tree, name)


def _before_in_file(tree: Tree, name: str, path: str) -> Found | None:
    """The docstring after which one belongs, by the file's order of names."""
    facts = [found for found in tree.index.facts.python.of_kinds("docs") if found[0] == path]
    lower = [found for found in facts if found[1].target.lower() < name.lower()]
    return max(lower or facts, key=lambda found: found[1].target.lower(), default=None)


def _adder(tree: Tree, found: Found) -> str:
    """The call that adds docstrings there: ``add_docstr_all("``, ``add_docstr(``."""
    return tree.line(place_of(found)).partition("(")[0].strip() or "add_docstr"


def _docstring(tree: Tree, op: str, name: str, adder: str) -> tuple[str, ...]:
    schema, last = tree.schemas[op], name.rpartition(".")[2]
    method = name.startswith("torch.Tensor.")
    parameters = [
        ("input" if a.name == "self" else a.name) + ("" if a.default is None else f"={a.default}")
        for a in schema.arguments
        if not (method and a.name == "self") and not a.is_out
    ]
    given = f'"{last}"' if adder.endswith("_all") else name
    returned = " -> Tensor" if len(schema.returns) == 1 else ""
    see = f"See :func:`torch.{last}`" if method else f"See :meth:`torch.Tensor.{last}`"
    if last.endswith("_"):
        see = f"In-place version of :meth:`~Tensor.{last.rstrip('_')}`"
    head = f"{last}({', '.join(parameters)}){returned}"
    return (f"{adder}(", f"    {given},", '    r"""', head, "", see, '""",', ")")


def _pages(tree: Tree, name: str) -> list[Found]:
    return [f for f in tree.index.facts.python.by_target(name) if f[1].kind == "page"]


# -------------------------------------------------------------------- lists and checks


def _ignoring(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    """The rows in lists of names without documentation."""
    if not change.op:
        return
    lists = Lists(tree)
    for row in lists.naming({change.name}, _IGNORED):
        about = regex(_IGNORED).search(f"{row.location.path} {row.list.title}")
        if about and "." not in row.row.name.strip("."):
            what = f"Remove {row.row.name} from {row.list.title}: it is then documented."
            yield ChangeStep("remove", row.location, what, removed(tree, row.location))


def _checks(tree: Tree) -> Iterator[TestRun]:
    if tree.text(_COVERAGE):
        yield TestRun(f"python {_COVERAGE}", _COVERAGE, "public names are on a page of the docs")


def _model(tree: Tree, steps: list[ChangeStep]) -> Iterator[Neighbour]:
    like = next((step.like for step in steps if step.like and step.like.path.endswith(".py")), None)
    if like:
        why = "the docstring before it in the file"
        yield neighbour(tree, str(like), why, like, most=_LONGEST)
