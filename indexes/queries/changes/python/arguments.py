"""Plans about arguments: their documentation, and invalid ones in OpInfos."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.files import ArgumentDocs
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import Edit, edited, inserted, margin
from indexes.queries.changes.model import Change, ChangeStep, Parts, TestRun
from indexes.queries.gaps.tree import Tree
from indexes.store.tables import load

_MISSING = regex(r"does not document ([\w, ]+)$")
_SAMPLES = regex(r"sample_inputs_func\s*=\s*(?:partial\(\s*)?(\w+)")
_TEXT = regex(r"\"((?:[^\"\\\n]|\\.)*)\"")
_TESTS = "test/test_ops.py"
_ASKED = "test_errors"


# ---------------------------------------------------------------------------- docstrings


def docstring(tree: Tree, change: Change) -> Parts:
    """Plans a docstring that agrees with the signature."""
    if change.gap is None:
        return Parts((ChangeStep("edit", Location(change.name, 0), change.title),))
    head, *entries = change.gap.evidence
    missing = _MISSING.search(change.gap.what)
    if missing and entries:
        step = _added(tree, head, missing[1].split(", "), change.why)
        return Parts((step, ChangeStep("read", head, "See its signature.")))
    documented = _documented(tree, head)
    steps = [
        ChangeStep(
            "edit", one, "Make it match the signature.", _renamed(tree, one, documented), change.why
        )
        for one in entries
    ]
    return Parts((*steps, ChangeStep("read", head, "See its signature.")))


def _documented(tree: Tree, head: Location) -> ArgumentDocs:
    remarks = tree.remarks("arguments")
    return next(load(text, ArgumentDocs) for place, _, text in remarks if place == head)


def _renamed(tree: Tree, entry: Location, one: ArgumentDocs) -> tuple[str, ...]:
    """The entry of the only unknown name with the only parameter that none documents, if any."""
    unknown = [name for name in one.said if name not in one.parameters]
    missing = [name for name in one.parameters if name not in one.said]
    if len(unknown) != 1 or len(missing) != 1 or one.lines.get(unknown[0]) != entry.line:
        return ()
    word = rf"\b{re.escape(unknown[0])}\b(?=\s*[:(])"
    line, count = re.subn(word, missing[0], tree.line(entry), count=1)
    return edited(tree, entry.path, [Edit(entry.line, entry.line, (line,))]) if count else ()


def _added(tree: Tree, head: Location, names: list[str], why: str) -> ChangeStep:
    """The missing entries in signature order, each behind the previous one."""
    documented = _documented(tree, head)
    first, path = min(documented.lines.values()), head.path
    indent = margin(tree.line(Location(path, first)))
    added: dict[int, list[str]] = {}
    for name in names:
        before = documented.parameters[: documented.parameters.index(name)]
        above = [documented.lines[one] for one in before if one in documented.lines]
        after = _last(tree, Location(path, above[-1]), indent) if above else first - 1
        added.setdefault(after, []).append(f"{indent}{name}: what it is for")
    edits = [Edit(after + 1, after, tuple(lines)) for after, lines in added.items()]
    what = f"Document {', '.join(names)}."
    return ChangeStep("edit", Location(path, min(added)), what, edited(tree, path, edits), why)


def _last(tree: Tree, entry: Location, indent: str) -> int:
    """The last line of an entry, whose continuation is indented further."""
    end = entry.line
    for line in tree.lines(entry.path, entry.line + 1):
        if not line.startswith(f"{indent} "):
            break
        end += 1
    return end


# -------------------------------------------------------------------------- error inputs


def error_inputs(tree: Tree, change: Change) -> Parts:
    """Plans error inputs of an operator, beside its sample inputs and in its OpInfo."""
    if change.gap is None:
        return Parts((), missing=("no OpInfo of this tree is known to lack error inputs",))
    entry, check = change.gap.evidence[:2]
    name = f"error_inputs_{change.name}"
    steps = (
        ChangeStep("read", check, "See what it rejects, and with which messages."),
        *_function(tree, entry, check, name),
        ChangeStep("edit", entry, "Name it in the OpInfo.", _named(tree, entry, name), change.why),
    )
    word = change.gap.what.removeprefix("the OpInfo of ").partition(" ")[0].replace(".", "_")
    command = f"pytest {_TESTS} -k '{_ASKED} and {word}'"
    return Parts(steps, tests=(TestRun(command, _TESTS, "tries every error input"),))


def _named(tree: Tree, entry: Location, name: str) -> tuple[str, ...]:
    """The entry with the field above its sample inputs."""
    for above, line in enumerate(tree.lines_of(entry), entry.line - 1):
        if _SAMPLES.search(line):
            added = [f"{margin(line)}error_inputs_func={name},"]
            is_alone = line.lstrip().startswith("sample_inputs_func")
            return inserted(tree, Location(entry.path, above), added) if is_alone else ()
    return ()


def _function(tree: Tree, entry: Location, check: Location, name: str) -> Iterator[ChangeStep]:
    found = _SAMPLES.search("\n".join(tree.lines_of(entry)))
    place = tree.place_of(f"def {found[1]}(", entry.path) if found else None
    after = _end(tree, place) if place else _above_list(tree, entry)
    code = inserted(tree, Location(entry.path, after), _draft(tree, check, name))
    what = f"Write {name}, which the OpInfo then names."
    yield ChangeStep("add", Location(entry.path, after), what, code, like=place)


def _end(tree: Tree, function: Location) -> int:
    """The last line of a function at the top of its file."""
    after = function.line
    for line in tree.lines(function.path, function.line + 1):
        if line.strip() and not line.startswith((" ", ")")):
            break
        after += 1
    return _written(tree, function.path, after)


def _above_list(tree: Tree, entry: Location) -> int:
    """The last line before the list of an entry whose sample inputs are written in another file."""
    lines = tree.lines(entry.path, 1, entry.line)
    at = max(n for n, line in enumerate(lines) if n == 0 or line[:1] not in (" ", "#", ")", ""))
    while at and lines[at - 1].startswith("#"):
        at -= 1
    return _written(tree, entry.path, at)


def _written(tree: Tree, path: str, line: int) -> int:
    """The last line up to one that is not blank."""
    lines = tree.lines(path, 1, line) if line else []
    return next((n for n in range(line, 0, -1) if lines[n - 1].strip()), 0)


def _draft(tree: Tree, check: Location, name: str) -> list[str]:
    """A function with one error input, and its check's words."""
    lines = "\n".join(tree.lines(check.path, check.line, check.line + 6)).partition(";")[0]
    message = _TEXT.search(lines)
    words = re.escape(message[1]).replace("\\ ", " ") if message else ""
    return [
        "",
        "",
        f"def {name}(op_info, device, **kwargs):",
        "    # what the check refuses, for each of its conditions",
        "    yield ErrorInput(",
        "        SampleInput(torch.rand(2, device=device)),",
        f'        error_regex=r"{words}",',
        "    )",
    ]
