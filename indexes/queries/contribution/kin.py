"""Files similar to those of a contribution, and functions of the same name in the C++ library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal

from indexes.model.python import PythonCall
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.contribution.helpers import HEADERS, definitions_at
from indexes.queries.contribution.siblings import Sibling, parts, siblings, twins
from indexes.queries.contribution.steps import Step
from indexes.queries.corpus import Corpus
from indexes.source.source import Source
from indexes.store.lookup import Lookup

_METHODS = "torch/csrc/api/"
_LIBRARY = f"{_METHODS}include/"
_LOOPS, _VECTORS = "/native/cpu/", "aten/src/ATen/cpu/vec"
_MOST_VECTORS = 6
_COMPUTING = ("meta", "delegate", "kernel", "registration", "device_kernel")
_MATH = regex(r"#include <(c10/metal/\w*math\.h)>")
_SHADER = regex(r"\b(?:VK_KERNEL|GLSL_SPV)\((\w+)\)")
_VARIANT = regex(r"\s*-\s+NAME:\s*(\w+)\s*")
"""A shader that is made from another with parameters."""
_VULKAN = "/native/vulkan/"
_MOST = 12
_MOST_SHADERS = 4
_MOST_CALLS = 4
_SHAPE = "of the same shape as {}: a fix of one may apply to all"
_NAME = "of the same name as {}: what is declared or runs elsewhere"
_BESIDE = "declares or defines what {} has"
_PART = "named after {}: a part of what that begins"


def operator_siblings(facts: Lookup, name: str, steps: Sequence[Step]) -> Iterator[Step]:
    native = [s for s in steps if "/native/" in s.location.path]
    own = [s.location.path for s in native if s.role in ("kernel", "device_kernel")]
    base = [s.location.path for s in native if s.role in ("kernel", "registration")]
    named = {step.location.path for step in steps}
    files = [path for path in facts.paths("cpp") if path not in named]
    yield from in_library(facts, name)
    if any(_LOOPS in path for path in [*own, *base]):
        yield from islice(of_vectors(facts, name), _MOST_VECTORS)
        places = (s.location for s in native if s.role in ("kernel", "device_kernel", "helper"))
        yield from islice(vectors_called(facts, places), _MOST_VECTORS)
    folders = {folder_of(step.location.path) for step in native if step.role in _COMPUTING}
    for one in _steps(twins(base, files), _NAME):  # where it has a file, that is another's
        known = folder_of(one.location.path) in folders
        yield replace(one, change="seldom") if known else one
    yield from _steps(siblings(own, _sources(files)), _SHAPE, "seldom")


def place_siblings(facts: Lookup, steps: Sequence[Step]) -> Iterator[Step]:
    """The files shaped like those of some places."""
    own = [step.location.path for step in steps]
    yield from _steps(siblings(own, _sources(facts.paths("cpp"))), _SHAPE, "seldom")
    yield from _steps(parts(own, facts.paths("cpp")), _PART)
    for path in own:
        beside = set(facts.paths("cpp", f"{path.rpartition('.')[0]}.%")) - {*own}
        yield from _steps((Sibling(one, path) for one in sorted(beside)), _BESIDE)


def shader_math(corpus: Corpus, steps: Sequence[Step]) -> Iterator[Step]:
    """The headers of scalar functions included by shaders."""
    for shader in [s.location.path for s in steps if s.location.path.endswith(".metal")]:
        for path in _MATH.findall(corpus.text(shader).decode("utf-8", "replace")):
            rule = f"{PurePosixPath(shader).name} takes functions from it"
            yield Step("helper", PurePosixPath(path).name, Location(path, 1), rule)


def shaders(source: Source, steps: Sequence[Step]) -> Iterator[Step]:
    """The Vulkan shaders that kernels and their helpers run by name; of a kernel that runs none
    itself the first ones of its file: an object that it makes runs them."""
    running = (one for one in steps if one.role in ("kernel", "helper"))
    for step in (one for one in running if _VULKAN in one.location.path):
        where = step.location
        lines = source.text(where.path).splitlines()
        own = shaders_run("\n".join(lines[where.line - 1 : where.end_line]))
        rest = shaders_run("\n".join(lines))[:_MOST_SHADERS] if step.role == "kernel" else ()
        for name in own or rest:
            if place := shader_at(source, where.path, name):
                rule = f"{step.symbol} runs it"
                yield Step("helper", PurePosixPath(place.path).name, place, rule)


def shaders_run(text: str) -> list[str]:
    """The Vulkan shaders that a text runs, by name."""
    return list(dict.fromkeys(_SHADER.findall(text)))


def shader_at(source: Source, kernel: str, name: str) -> Location | None:
    """Where the shader of a Vulkan kernel is: a file of its name, or a variant named in YAML."""
    folder = glsl_beside(kernel)
    if source.holds(f"{folder}/{name}.glsl"):
        return Location(f"{folder}/{name}.glsl", 1)
    for path in (f"{folder}/{one}" for one in source.listed(folder) if one.endswith(".yaml")):
        lines = enumerate(source.text(path).splitlines(), 1)
        found = ((n, _VARIANT.fullmatch(line)) for n, line in lines)
        if at := next((n for n, named in found if named and named[1] == name), 0):
            return Location(path, at)
    return None


def glsl_beside(kernel: str) -> str:
    """The folder of the shaders of a Vulkan kernel's file."""
    return f"{kernel.partition(_VULKAN)[0]}{_VULKAN}glsl"


def in_library(facts: Lookup, name: str, owner: str = "") -> Iterator[Step]:
    """Functions of a name in the C++ library, and the class that TORCH_MODULE makes a module of;
    with an owner, members of the class of that name alone."""
    public = name.partition(".")[0].rstrip("_")
    found = (*facts.named(public), *facts.named(f"{public}Impl"))
    of_owner = {f"{owner.lstrip('_')}{end}::{public}" for end in ("", "Impl")}
    for one in (known.definition for known in found):
        is_meant = not owner or "::".join(one.qualified.split("::")[-2:]) in of_owner
        if is_meant and one.location.path.startswith(_METHODS if owner else _LIBRARY):
            yield Step("cpp_api", one.qualified, one.location, "the same in the C++ library")


def called_by(facts: Lookup, calls: Sequence[PythonCall]) -> Iterator[Step]:
    """The Python functions that a class calls, with those of the C++ library:
    ``torch.nn.functional.fold`` for ``torch.nn.Fold``."""
    for one in calls[:_MOST_CALLS]:
        if one.location:
            yield Step("python", one.name, one.location, f"called at line {one.line}")
            yield from in_library(facts, one.name.rpartition(".")[2])


def of_vectors(facts: Lookup, name: str) -> Iterator[Step]:
    """The vectorized CPU functions of a name, one per file."""
    named = facts.named(name.partition(".")[0].strip("_"))
    found = {one.definition.location.path: one.definition for one in reversed(named)}
    for path in sorted(path for path in found if path.startswith(_VECTORS)):
        rule = "loops for the CPU may call it on vectors"
        yield Step("helper", found[path].qualified, found[path].location, rule)


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def vectors_called(facts: Lookup, places: Iterable[Location]) -> Iterator[Step]:
    """The headers with functions on vectors that loops for the CPU call, one step each:
    ``vec::map``. Folders below are each for one kind of processors, whose vectors hide it."""
    loops = (one for at in places if _LOOPS in at.path for one in definitions_at(facts, at))
    edges = (edge for one in loops for edge in facts.edges(one.id))
    known = (facts.by_id(e.target) for e in edges if isinstance(e.target, int))
    found = [one.definition for one in known if one]
    first = {one.location.path: one for one in reversed(found) if one.kind == "function"}
    for path in sorted(path for path in first if folder_of(path) == _VECTORS):
        yield Step("helper", first[path].qualified, first[path].location, "its loops call it")


def _steps(
    found: Iterable[Sibling], rule: str, change: Literal["may", "seldom"] = "may"
) -> Iterator[Step]:
    for one in islice(found, _MOST):
        symbol, where = PurePosixPath(one.path).name, Location(one.path, 1)
        yield Step("sibling", symbol, where, rule.format(one.of), change)


def _sources(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not path.endswith(HEADERS)]
