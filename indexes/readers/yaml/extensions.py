"""Reads kernels of extensions from YAML, in torchgen's formats for code outside PyTorch.

A backend's file (``backend:``, ``cpp_namespace:``, ``supported:``, torchgen/gen_backend_stubs.py)
lists operators by name; one of ExecuTorch's (torchgen/executorch/parse.py) lists the kernels of
each operator. A file like native_functions.yaml is read as that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import RUNTIME_KEY, Location, NativeFunction, Problem
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.readers.yaml.nodes import Entry, Node, compose, decoded, read_entries

Form = Literal["backend", "runtime", "native", ""]
_BACKEND = regex(r"(?m)^backend\s*:")
_KERNELS = regex(r"(?m)^[ \t]+kernels\s*:")
_ENTRY = regex(r"(?m)^- ?(?:op\s*:|func\s*:\s*[\w:.]+\()")
_LISTS = ("supported", "autograd", "full_codegen", "symint", "custom", "custom_autograd")


@dataclass(frozen=True, slots=True)
class ListedKernel:
    """A kernel that a file lists for an operator."""

    op: str
    """``add.Tensor``, with a namespace other than aten."""
    symbol: str
    """The C++ function; empty if it follows from the operator."""
    line: int
    rule: str
    key: str = ""
    """The dispatch key, if the entry names one."""
    native: NativeFunction | None = None
    """The operator that the entry defines."""
    autograd: bool = False
    symint: bool = False


@dataclass(frozen=True, slots=True)
class KernelFile:
    """What one file lists."""

    form: Form
    path: str
    backend: str = ""
    """``NPU``, ``XLA``."""
    namespace: str = ""
    """The C++ namespace of a backend's kernels."""
    kernels: tuple[ListedKernel, ...] = ()
    functions: tuple[NativeFunction, ...] = ()
    """The entries of a file like native_functions.yaml."""


def form_of(text: str) -> Form:
    """The format of a YAML file; empty if it does not name kernels."""
    if _BACKEND.search(text) and "supported" in text:
        return "backend"
    if _ENTRY.search(text) is None:
        return ""
    return "runtime" if _KERNELS.search(text) else "native"


def read_extension(data: bytes, path: str) -> tuple[KernelFile | None, tuple[Problem, ...]]:
    """The kernels in a YAML file of an extension; None if it does not name any."""
    text = decoded(data)
    form = form_of(text)
    if form == "backend":
        return _backend(text, path)
    if form == "runtime":
        entries, problems = read_entries(data, path)
        kernels = tuple(one for entry in entries for one in _runtime(entry, path, problems))
        return KernelFile(form, path, kernels=kernels), tuple(problems)
    if form == "native":
        functions, problems_ = read_native_functions(data, path)
        return KernelFile(form, path, functions=functions), _unreadable(problems_)
    return None, ()


def _unreadable(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems of invalid entries; an extension may have fields of its own."""
    return tuple(one for one in problems if one.message.startswith("not "))


# ---------------------------------------------------------------------------- ExecuTorch


def _runtime(entry: Entry, path: str, problems: list[Problem]) -> Iterator[ListedKernel]:
    """The kernels of an entry: ``- op: add.out``, or ``- func: ...`` for an operator of its own."""
    name, native = _operator(entry, path, problems)
    listed = entry.fields.get("kernels")
    for one in listed.value.items if listed and name else ():
        field = (one.fields or {}).get("kernel_name")
        if field is None or not field.value.text:
            problems.append(Problem(path, one.line, f"a kernel of {name} without kernel_name"))
            continue
        space, _, function = field.value.text.rpartition("::")
        # As torchgen places it: functions stand in the namespace native of the one that is named.
        symbol = f"{space or 'at'}::native::{function}"
        rule = "kernels: the runtime calls it by kernel_name, in the namespace native"
        yield ListedKernel(name, symbol, field.line, rule, RUNTIME_KEY, native)


def _operator(
    entry: Entry, path: str, problems: list[Problem]
) -> tuple[str, NativeFunction | None]:
    if (op := entry.fields.get("op")) and op.value.text:
        return op.value.text.removeprefix("aten::"), None
    if (func := entry.fields.get("func")) and func.value.text:
        try:
            native = defined(func.value.text, path, entry.line, entry.end_line)
        except ValueError as error:
            problems.append(Problem(path, func.line, str(error)))
        else:
            return native.full_name, native
    return "", None


def defined(schema: str, path: str, line: int, end_line: int, space: str = "") -> NativeFunction:
    """The operator that an extension defines by a schema. Raises ValueError."""
    read = parse_schema(schema)
    namespace = read.namespace or space
    name = read.name if namespace in ("", "aten") else f"{namespace}::{read.name}"
    full = f"{name}.{read.overload}" if read.overload else name
    return NativeFunction(
        name=name,
        overload=read.overload,
        schema=" ".join(f"{full}({schema.partition('(')[2]}".split()),
        location=Location(path, line, end_line),
        field_lines={"func": line},
        dispatch=(),
        variants=(),
        tags=(),
        defined_by=f"func: in {path} at line {line}",
    )


# -------------------------------------------------------------------------- backends


def _backend(text: str, path: str) -> tuple[KernelFile | None, tuple[Problem, ...]]:
    problems: list[Problem] = []
    root = compose(text, 0, path, problems)
    fields = (root.fields if root else None) or {}
    words = {key: field.value.text or "" for key, field in fields.items()}
    backend = words.get("backend", "")
    symints = {name for name, _ in _names(fields["symint"].value)} if "symint" in fields else set()
    kernels = [
        one
        for key in _LISTS
        if key in fields and key != "symint"
        for one in _listed(fields[key].value, key, backend, path, problems)
    ]
    made = tuple((replace(one, symint=True) if one.op in symints else one) for one in kernels)
    space = words.get("cpp_namespace", "")
    return KernelFile("backend", path, backend, space, made), tuple(problems)


def _names(listed: Node) -> Iterator[tuple[str, Node]]:
    for item in listed.items:
        field = (item.fields or {}).get("func")
        name = field.value.text if field else item.text
        if name:
            yield name, item


def _listed(
    listed: Node, key: str, backend: str, path: str, problems: list[Problem]
) -> Iterator[ListedKernel]:
    for name, item in _names(listed):
        rule = f"{key}: torchgen's stubs for the backend {backend} call it"
        if "(" not in name:
            op = name.removeprefix("aten::")
            yield ListedKernel(op, "", item.line, rule, autograd=key == "autograd")
            continue
        try:
            native = defined(name, path, item.line, item.last, backend.lower())
        except ValueError as error:
            problems.append(Problem(path, item.line, str(error)))
            continue
        named = (item.fields or {}).get("dispatch")
        keys = (named.value.fields if named else None) or {}
        for each in keys.values():
            symbol = each.value.text or ""
            yield ListedKernel(native.full_name, symbol, each.line, rule, each.key, native)
        if not keys:
            yield ListedKernel(native.full_name, "", item.line, rule, native=native)
