"""Plans of OpInfos, through which hundreds of tests run an operator."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import dedent

from indexes.linking.python.paths import Found, place_of
from indexes.model.files import PythonFact, unpack
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import inserted, margin
from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts, TestRun
from indexes.queries.changes.python.lists import Lists
from indexes.queries.changes.python.nearest import Near, nearest
from indexes.queries.changes.python.traits import Traits
from indexes.queries.changes.related import neighbour
from indexes.queries.changes.test_runs import covering
from indexes.queries.gaps.kernels.dependents import needing
from indexes.queries.gaps.tree import Tree
from indexes.queries.operator_tests import formatted_name
from indexes.readers.python.blocks import parse, parse_expression

_LEFT_OUT = ("skips", "decorators")
"""Fields that a model has for its own reasons."""
_SAMPLES = "sample_inputs_func"
_RENAMED = (_SAMPLES, "op", "aten_name")
"""Fields that ours has under another name."""


def opinfo(tree: Tree, change: Change) -> Parts:
    """Plans an entry in ``op_db``, after the most similar operator's."""
    assert change.op
    lists = Lists(tree)
    entries = {
        name: [f for f in found if unpack(f[1].detail).get("db") == "op_db"]
        for name, found in Traits(tree, lists).found("opinfo").items()
    }
    having = frozenset(name for name, found in entries.items() if found)
    near = nearest(tree, change.op, having)
    own = entries.get(change.name) or []
    if own and not change.gap:
        return Parts((), title=f"OpInfo of {change.name}", there=place_of(own[0]))
    if not near:
        return Parts((), missing=("no operator of this tree has an OpInfo to copy from",))
    found = entries[near[0].name][0]
    steps = (*_to_read(tree, change), *_steps(tree, change, near[0], found))
    neighbours = tuple(_neighbour(tree, one, entries[one.name][0]) for one in near[:2])
    tests = tuple(_runs(tree, change, near[0], formatted_name(found[1])))
    text = f"no operator similar to {change.name} has an OpInfo: {near[0].name} is the nearest, and"
    missing = () if near[0].is_like else (f"{text} its inputs and dtypes are a guess",)
    return Parts(steps, neighbours, tests, missing, f"OpInfo of {change.name}")


def inputs(tree: Tree, change: Change, noun: str) -> Iterator[ChangeStep]:
    """What tests an operator without an OpInfo: a draft of one, or those of operators that need a
    private one."""
    op = change.op or ""
    if _is_public(tree, op):
        yield from (step for step in opinfo(tree, change).steps if step.touches)
        return
    for other in needing(tree, op):
        what = f"{other} needs it: inputs of this OpInfo test its {noun} too"
        yield ChangeStep("read", place_of(tree.opinfos(other)[0]), what)


def tests_of_new(tree: Tree, change: Change) -> tuple[TestRun, ...]:
    """The tests that an OpInfo has an operator run; none of a private one."""
    return opinfo(tree, change).tests if _is_public(tree, change.op or "") else ()


def _is_public(tree: Tree, op: str) -> bool:
    """Whether it has an OpInfo of its own: factories, which take no tensor to override, too."""
    return op in tree.public_set or bool(tree.documentation(op))


def python_ref(tree: Tree, change: Change, near: Sequence[Near]) -> Iterator[ChangeStep]:
    """Plans the entry that tests a ref against the operator, after the nearest one's."""
    names = dict.fromkeys(tree.opinfo_names(change.op or ""))
    for own in list(filter(_is_of_ref, tree.opinfos(change.op or "")))[:1]:
        what = f"See the entry of {own[1].symbol}: a ref of another module has its own beside it."
        yield ChangeStep("read", place_of(own), what)
        return
    known = ((one.name, found) for one in near for found in tree.opinfos(one.op))
    name, model = next((pair for pair in known if _is_of_ref(pair[1])), ("", None))
    if model:
        where = place_of(model)
        cls, module = unpack(model[1].detail)["cls"], model[1].symbol.rpartition(".")[0]
        indent = margin(tree.line(where))
        lines = [indent + line for one in names for line in _ref_entry(cls, module, *one)]
        what = f"Add the {cls} of {change.name}, after that of {name}."
        why = "the tests of refs run for what python_ref_db lists"
        code = inserted(tree, where, lines) if lines else ()
        yield ChangeStep("add", Location(where.path, where.end_line), what, code, why, where)
    elif others := list(filter(_is_of_ref, tree.index.facts.python.of_kinds("opinfo"))):
        path, _ = Counter(path for path, _ in others).most_common(1)[0]
        last = max((place_of(one) for one in others if one[0] == path), key=_line)
        what = f"Add the entry of {change.name} to those of refs: none of the models has one."
        yield ChangeStep("add", Location(path, last.end_line), what, like=last)


def _line(place: Location) -> int:
    return place.line


def _is_of_ref(found: Found) -> bool:
    return "ref_of" in unpack(found[1].detail)


def _ref_entry(cls: str, module: str, name: str, variant: str) -> Iterator[str]:
    """An entry finds its OpInfo by name and variant."""
    last = name.rpartition(".")[2]
    yield from (f"{cls}(", f'    "{module}.{last}",', f'    torch_opinfo_name="{name}",')
    if variant:
        yield f'    torch_opinfo_variant_name="{variant}",'
    yield "),"


def _to_read(tree: Tree, change: Change) -> Iterator[ChangeStep]:
    assert change.op
    native = tree.natives[change.op]
    yield ChangeStep("read", native.location, f"See its arguments: {native.schema}")
    for path, fact in tree.documentation(change.op)[:1]:
        yield ChangeStep("read", Location(path, fact.line), "See what its docstring promises.")


def _steps(tree: Tree, change: Change, near: Near, found: Found) -> Iterator[ChangeStep]:
    where = place_of(found)
    public = _public(tree, change)
    call = _call(tree, where)
    samples, own = _samples(call), ""
    if samples and near.name in samples and change.name not in samples:
        at = next((d for d in tree.python.definitions(samples)), None)
        at = at or _function(tree, where.path, samples)
        if at:
            place = place_of(at)
            new = own = f"sample_inputs_{change.name}"
            lines = tree.lines_of(place)
            code = inserted(tree, place, ["", "", *(one.replace(samples, new) for one in lines)])
            what = f"Write {new}: inputs of each shape and option that it takes."
            yield ChangeStep("add", Location(place.path, place.end_line), what, code, "", place)
    lines = "\n".join(_entry(tree, where, call, near.name, public, own)).split("\n")
    what = f"Add the OpInfo of {change.name}, after that of {near.name}; test_dtypes of test_ops.py"
    what += " prints its true dtypes."
    why = f"{near.name} is {near.why}"
    yield ChangeStep(
        "add", Location(where.path, where.end_line), what, inserted(tree, where, lines), why, where
    )


def _call(tree: Tree, where: Location) -> tuple[str, ast.Call] | None:
    text = dedent("\n".join(tree.lines_of(where))).strip().rstrip(",")
    try:
        node = parse_expression(text)
    except SyntaxError:
        return None
    return (text, node) if isinstance(node, ast.Call) else None


def _samples(call: tuple[str, ast.Call] | None) -> str:
    for given in call[1].keywords if call else ():
        if given.arg == _SAMPLES and isinstance(given.value, ast.Name):
            return given.value.id
    return ""


def _function(tree: Tree, path: str, name: str) -> Found | None:
    try:
        module = parse(tree.text(path))
    except SyntaxError:
        return None
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return path, PythonFact("def", "", name, node.lineno, node.end_lineno or 0)
    return None


def _entry(
    tree: Tree,
    where: Location,
    call: tuple[str, ast.Call] | None,
    old: str,
    public: str,
    samples: str,
) -> Iterator[str]:
    """The model's entry renamed, without skips; ``samples``: our function of sample inputs, else
    the model's."""
    if call is None:
        return
    text, node = call
    indent = margin(tree.line(where))
    yield f"{indent}{ast.unparse(node.func)}("
    yield f'{indent}    "{_named(public)}",'
    for given in node.keywords:
        written = ast.unparse(given.value)
        if _is_kept(given) and (old not in written or given.arg in _RENAMED):
            value = ast.get_source_segment(text, given.value) or written
            value = "\n".join(line.strip() for line in value.splitlines())
            if given.arg == _SAMPLES:
                value = samples or value
            elif old in written:
                value = public if given.arg == "op" else f'"{public.rpartition(".")[2]}"'
            yield f"{indent}    {given.arg}={value},".replace("\n", f"\n{indent}        ")
    yield f"{indent}),"


def _is_kept(given: ast.keyword) -> bool:
    """Whether ours has it too; of decorators those for a required library."""
    items = given.value.elts if isinstance(given.value, ast.List | ast.Tuple) else [given.value]
    plain = given.arg == "decorators" and all(isinstance(one, ast.Name) for one in items)
    return plain or given.arg not in _LEFT_OUT


def _neighbour(tree: Tree, one: Near, found: Found) -> Neighbour:
    where = place_of(found)
    row = Location(where.path, where.line)
    return neighbour(tree, one.op, one.why, where, row, f"'{one.name}'")


def _named(public: str) -> str:
    return public.removeprefix("torch.").removeprefix("Tensor.").removeprefix("_C._nn.")


def _public(tree: Tree, change: Change) -> str:
    return next(iter(tree.names(change.op or "")), f"torch.{change.name}")


def _runs(tree: Tree, change: Change, near: Near, theirs: str) -> Iterator[TestRun]:
    """The model's OpInfo tests, as they will exist for ours."""
    own = _named(_public(tree, change)).replace(".", "_")
    for one in covering(tree, near.op).files:
        if f"_{theirs}_cpu" in one.command:
            command = f"pytest {one.path} -k _{own}_cpu"
            yield TestRun(command, one.path, f"made for each OpInfo; {change.name} joins")
