"""What a new kernel changes in the YAML file and in C++."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes import backends, entries, shaders
from indexes.queries.changes.batching import registration
from indexes.queries.changes.diffs import edited, inserted, removed
from indexes.queries.changes.kernel_files import after, base_name
from indexes.queries.changes.model import ChangeStep
from indexes.queries.changes.new_kernel import NewKernel, home_in
from indexes.queries.changes.related import shared_code

_HEADER = regex(r"#include <ATen/ops/(\w+)\.h>")
_INCLUDE = regex(r"#include <ATen/native/\w+\.h>")
_INCLUDED = regex(r"#include [<\"]([\w/.]+\.h)[>\"]")
_MODEL = "torchgen/model.py"
_REGISTERED = (
    "SELECT f.path,k.line FROM library_kernels k JOIN files f ON f.id=k.file"
    " WHERE k.op=? AND k.key=? ORDER BY f.path,k.line LIMIT 1"
)
_MOST_SO_CALLED = 6
_FEWEST = 4
"""Fewest letters of a name's part that shows what something belongs to."""


def steps(new: NewKernel) -> Iterator[ChangeStep]:
    """The steps in the order of work."""
    yield from _row(new)
    yield from _known_key(new)
    yield from _kernel(new)
    if new.is_for_any_device:
        yield from _one_of_its_own(new)
    else:
        yield from _further_steps(new)
    yield from _fallbacks(new)
    yield from _formula(new)


def _further_steps(new: NewKernel) -> Iterator[ChangeStep]:
    """What a kernel that must be written needs besides."""
    yield from _registration(new)
    yield from _library(new)
    yield from _helpers(new)
    yield from _same_named_files(new)
    yield from _own_stubs(new)
    yield from _header(new)
    yield from _declared(new)
    yield from shaders.steps(new)
    yield from _own_kernel(new)
    yield from _alternatives(new)
    if new.new_path and new.is_guess:
        yield from _one_of_its_own(new)


def _one_of_its_own(new: NewKernel) -> Iterator[ChangeStep]:
    """The model's file, for an optional kernel."""
    place, base = after(new.model.kernel), new.near.base
    yield ChangeStep(
        "read", place, f"or write a kernel here, below that of {base}", (), new.near.why
    )


def _row(new: NewKernel) -> Iterator[ChangeStep]:
    if not new.rows:
        return
    first = new.rows[0]
    native = first.native
    text = ", ".join(row.native.full_name for row in new.rows)
    why = "torchgen registers for a key what its row of dispatch names"
    if new.stub:
        why += "; the kernel is the one for the CPU: its stub chooses by device"
    if native.dispatch is None and not native.structured_delegate:
        why += "; an entry that had no dispatch must name CompositeImplicitAutograd from then on"
    path, line = native.location.path, native.field_lines.get("dispatch", native.location.line)
    code = edited(new.tree, path, entries.edits(new.tree, new.rows))
    what = f"name the {new.key} kernel in the entry of {text}"
    yield ChangeStep("edit", Location(path, line), what, code, why, first.like)
    for one in new.own[:1] if native.dispatch is None and not native.structured_delegate else ():
        what = f"see {one.name}, which so far runs for all tensors: it may have to distinguish"
        yield ChangeStep("read", one.location, what)


def _known_key(new: NewKernel) -> Iterator[ChangeStep]:
    """torchgen's list of keys in ``dispatch``, if this one is missing."""
    tree, taken = new.tree, new.tree.accepted_keys
    place = tree.place_of(f"    DispatchKey.{taken[-1]},\n]", _MODEL) if taken else None
    if new.rows and place and new.key not in taken:
        code = inserted(tree, place, [f"    DispatchKey.{new.key},"])
        why = "torchgen refuses a key that is not on this list"
        yield ChangeStep("edit", place, f"let torchgen take {new.key} in dispatch", code, why)


def _kernel(new: NewKernel) -> Iterator[ChangeStep]:
    model, vote = new.model, new.votes[0]
    heads = new.heads()
    if not heads:
        what = f"check that {new.symbol} is right on {new.key} too, or give the key one of its own"
        why = "it serves the other devices of the row"
        yield ChangeStep("read", new.shared_kernel.location, what, why=why)
        return
    body = f"  // as {model.kernel.name} does: {model.kernel.location}"
    code = tuple(line for head in heads for line in _with_body(head, body))
    why = f"{new.near.base} has its {new.model_key} kernel in {model.path}"
    own = next((d for d in new.own if d.location.path == vote.path), None)
    if new.new_path:
        where, how = Location(new.new_path, 0), "in a file of its own, as this one has"
        if new.is_guess:
            how = f"in a file of its own: no operator with a {new.key} kernel is like it"
            why = f"it is called as {new.own[0].location.path} is"
    elif vote.path != model.path and own:
        where, how = after(own), "below its own kernel, as the neighbour's is below its own"
    elif vote.path != model.path:
        where, how = Location(vote.path, 0), "in the file that is named as its own is"
    else:
        where, how = after(model.kernel), "below the neighbour's"
    what = f"write the kernel {new.symbol}, {how}"
    yield ChangeStep("add", where, what, code, why, model.kernel.location)


def _own_kernel(new: NewKernel) -> Iterator[ChangeStep]:
    """The CPU kernel, which shows checks and computation."""
    plain = (one for one in new.own if one.location.path != new.votes[0].path)
    for one in islice(plain, 1):
        what = f"see what {one.name} checks and computes for the CPU: the new one does the same"
        yield ChangeStep("read", one.location, what)


def _helpers(new: NewKernel) -> Iterator[ChangeStep]:
    """Functions named after the model that its kernel calls in other files."""
    word = new.near.base.strip("_")
    for one in new.homes.helpers(new.model.kernel, word) if len(word) > 2 else ():
        what = f"write what the kernel calls; this is {one.name}"
        why = f"{new.model.kernel.name} leaves the work to it"
        yield ChangeStep("add", after(one), what, (), why, one.location)
    yield from shared_code(new.tree, [new.model.kernel.location])


def _same_named_files(new: NewKernel) -> Iterator[ChangeStep]:
    """Files named after the operator below the model's folder, as a backend library's
    qnnpack/src/tanh.c."""
    folder, word = new.model.path.rpartition("/")[0], new.base.strip("_").replace("_", "-")
    named = re.compile(rf"{re.escape(folder)}/.+/{re.escape(word)}[.-][^/]*$")
    for path in islice(filter(named.match, new.tree.paths(f"{folder}/%/%")), _MOST_SO_CALLED):
        what = f"see whether {path.rpartition('/')[2]} has what the kernel is to run"
        yield ChangeStep("read", Location(path, 1), what)


def _own_stubs(new: NewKernel) -> Iterator[ChangeStep]:
    """The declaration and registration of a stub named after the model."""
    word, facts = new.near.base.strip("_"), new.tree.index.facts
    parts = [word, *(part for part in word.split("_") if len(part) >= _FEWEST)]
    stubs = new.homes.stubs(new.model.kernel) if not new.stub and not new.model.entry else ()
    for stub in (one for one in stubs if len(word) > 2 and any(p in _last(one) for p in parts)):
        why = f"{new.model.kernel.name} runs {_last(stub)}"
        for use in facts.stub_uses(_last(stub)):
            if use.what == "declared":
                what = f"declare a stub for {new.base}, as {_last(stub)} is here"
                yield ChangeStep("add", use.location, what, (), why, use.location)
        for entry in facts.registered_on(stub)[:1]:
            what = f"write what the stub runs, and register it, as for {_last(stub)}"
            yield ChangeStep("add", entry.location, what, (), why, entry.location)


def _with_body(head: tuple[str, ...], body: str) -> tuple[str, ...]:
    return (*head, body, "}") if head and head[-1].endswith("{") else head


def _registration(new: NewKernel) -> Iterator[ChangeStep]:
    entry = new.model.entry
    if new.stub and entry:
        stub, macro = _last(new.stub), entry.macro.partition(":")[0]
        code = inserted(new.tree, entry.location, [f"{macro}({stub}, &{new.symbol})"])
        why = "a stub runs what is registered on it for the device"
        yield ChangeStep("add", entry.location, f"register it on {stub}", code, why, entry.location)


def _library(new: NewKernel) -> Iterator[ChangeStep]:
    """The TORCH_LIBRARY line that registers the model's, if no row does."""
    if new.rows or new.stub:
        return
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(new.near.base)}(?![A-Za-z0-9])")
    named = re.compile(rf'(?<=[":]){re.escape(new.model.op)}(?=")')
    for path, line in new.tree.store.query(_REGISTERED, (new.model.op, new.model.key)):
        where = registration(new.tree, path, line)
        lines = new.tree.lines(path, where.line, where.end_line)
        own = [word.sub(new.base, named.sub(new.op, text)) for text in lines]
        code = inserted(new.tree, where, own)
        place = Location(path, where.end_line)
        what = f"register {new.symbol}, below that of {new.near.base}"
        yield ChangeStep("add", place, what, code, "the block is for this key", where)


def _header(new: NewKernel) -> Iterator[ChangeStep]:
    """The header that declares the kernel or stub, unless included."""
    if new.new_path or new.votes[0].path != new.model.path:
        return
    lines = new.tree.lines(new.model.path)
    if new.stub:
        yield from _stub_header(new, lines)
        return
    wanted = {f"{base_name(row.native.name)}_native" for row in new.rows if not row.shared}
    listed = [(at, m[1]) for at, text in enumerate(lines, 1) if (m := _HEADER.match(text))]
    missing = sorted(wanted - {name for _, name in listed})
    if listed and missing:
        above = [at for at, name in listed if name < missing[0]] or [listed[0][0] - 1]
        place, like = Location(new.model.path, above[-1]), Location(new.model.path, listed[0][0])
        code = inserted(new.tree, place, [f"#include <ATen/ops/{one}.h>" for one in missing])
        why = "a file compiled under AT_PER_OPERATOR_HEADERS includes each operator's header"
        yield ChangeStep("edit", place, "include the header that declares it", code, why, like)


def _declared(new: NewKernel) -> Iterator[ChangeStep]:
    """The header of its folder that the model's file includes and that declares the model."""
    tree, path, name = new.tree, new.model.path, new.model.kernel.name
    folder = f"{path.rpartition('/')[0]}/"
    declared = re.compile(rf"^\s*[\w:<>&*, ]+[ &*]{re.escape(name)}\(")
    for included in _INCLUDED.findall(tree.text(path)):
        header = f"aten/src/{included}" if included.startswith("ATen/") else folder + included
        lines = enumerate(tree.lines(header) if header.startswith(folder) else (), 1)
        if at := next((number for number, line in lines if declared.match(line)), 0):
            what = f"declare it here too if other files call it, as {name} is"
            yield ChangeStep("read", Location(header, at), what)


def _stub_header(new: NewKernel, lines: Sequence[str]) -> Iterator[ChangeStep]:
    uses = new.tree.index.facts.stub_uses(_last(new.stub))
    header = next((use.location for use in uses if use.what == "declared"), None)
    there = [at for at, text in enumerate(lines, 1) if _INCLUDE.match(text)]
    if header is None or not there:
        return
    line = f"#include <{header.path.removeprefix('aten/src/')}>"
    if line not in lines:
        above = [at for at in there if lines[at - 1] < line] or [there[0] - 1]
        place = Location(new.model.path, above[-1])
        what = f"include the header that declares {_last(new.stub)}"
        yield ChangeStep("edit", place, what, inserted(new.tree, place, [line]), "", header)


def _alternatives(new: NewKernel) -> Iterator[ChangeStep]:
    for vote in new.alternatives:
        home = home_in(vote)
        place = after(home.kernel) if home.path == vote.path else Location(vote.path, 0)
        what = f"or write the kernel here instead, as {vote.near.base} has it"
        yield ChangeStep("read", place, what, (), vote.near.why, home.kernel.location)


def _fallbacks(new: NewKernel) -> Iterator[ChangeStep]:
    """Registrations that redirect the operator to another device."""
    wanted = {n.full_name for n in new.homes.groups.get(new.base, ())}
    rows = new.tree.store.query(
        "SELECT k.op,f.path,k.line FROM library_kernels k JOIN files f ON f.id=k.file"
        " WHERE k.key=? ORDER BY f.path,k.line",
        (new.key,),
    )
    for op, path, line in rows:
        place = Location(path, line)
        if op in wanted and "fallback" in "".join(new.tree.lines(path, line, line)):
            what = f"remove the registration by which {op} falls back to another device"
            why = "the dispatcher refuses a second kernel for the same key, or warns of it"
            yield ChangeStep("remove", place, what, removed(new.tree, place), why)


def _formula(new: NewKernel) -> Iterator[ChangeStep]:
    """A formula for the key's own autograd, if the model has one."""
    words = [word.replace("_", "") for word in backends.words_of(new.key)]
    theirs, mine = (new.tree.index.derivative(op) for op in (new.model.op, new.op))
    known = {one.key for one in mine.sets} if mine else set()
    for one in theirs.sets if theirs else ():
        if one.key not in known | {"Default"} and any(w in one.key.lower() for w in words):
            place = mine.location if mine else one.location
            what = f"give {new.op} a formula for {one.key}"
            why = f"{new.model.op} has one of its own for it"
            yield ChangeStep("add", place, what, (), why, one.location)


def _last(name: str) -> str:
    return name.rpartition("::")[2]
