"""What a new kernel needs in the language of its device: Metal, or GLSL for Vulkan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import inserted, margin
from indexes.queries.changes.model import ChangeStep
from indexes.queries.changes.new_kernel import CODE, NewKernel, has_word
from indexes.queries.contribution.kin import glsl_beside, shader_at, shaders_run

_SHADER = regex(r"#include <ATen/native/mps/(\w+)_metallib\.h>")
_SPECIAL = "c10/metal/special_math.h"
_LONGEST = 14
"""Most lines of shader code shown."""


def steps(new: NewKernel) -> Iterator[ChangeStep]:
    """The functions that the device runs."""
    yield from _metal(new)
    yield from _vulkan(new)


def _vulkan(new: NewKernel) -> Iterator[ChangeStep]:
    """The shader that the kernel runs by name, as the model's does."""
    kernel = new.model.kernel.location
    for name in shaders_run("\n".join(new.tree.lines_of(kernel))):
        like = shader_at(new.tree.source, kernel.path, name)
        ours = name.replace(new.near.base, new.base) if new.near.base in name else new.base
        there = shader_at(new.tree.source, kernel.path, ours)
        if there and ours != name:
            what = f"let the kernel run the shader {ours}, which is there, or adapt it"
            yield ChangeStep("edit", there, what, like=like)
        elif like and ours != name:
            yield _new_shader(new, like, name, ours)


def _new_shader(new: NewKernel, like: Location, name: str, ours: str) -> ChangeStep:
    """A file of its own, or a variant beside the model's."""
    what = f"write the shader {ours}, which the kernel runs; the model's is {name}"
    if like.path.endswith(".glsl"):
        place = Location(f"{glsl_beside(like.path)}/{ours}.glsl", 0)
        return ChangeStep("add", place, what, like=like)
    first, *rest = new.tree.lines(like.path, like.line)
    within = [line.startswith(f"{margin(first)} ") for line in rest]
    end = like.line + (within.index(False) if False in within else len(rest))
    block = [first, *rest[: end - like.line]]
    lines = [line.replace(name, ours) for line in block]
    place = Location(like.path, end)
    return ChangeStep("add", place, what, inserted(new.tree, place, lines), like=like)


def _metal(new: NewKernel) -> Iterator[ChangeStep]:
    """The device-language file that is compiled with the model's."""
    words = {new.near.base, re.sub(r"(?:_out)?(?:_mps)?_?kernel.*$", "", new.model.kernel.name)}
    folder = new.model.path.rpartition("/")[0].rpartition("/")[0]
    for name in dict.fromkeys(_SHADER.findall(new.tree.text(new.model.path))):
        path = f"{folder}/kernels/{name}.metal"
        lines = new.tree.lines(path)
        found = [at for at, t in enumerate(lines, 1) if any(has_word(t, w) for w in words)]
        if found:
            code = tuple(_blocks(lines, found)[:CODE])
            what = f"write the Metal function of {new.base}; this is that of {new.near.base}"
            why = f"{new.model.path} runs functions of this library"
            place = Location(path, found[-1])
            yield ChangeStep("add", place, what, code, why, Location(path, found[0]))
            yield from _special_math(new, "\n".join(code))
        elif lines:
            what = "see whether it needs a function of its own in Metal: they are here"
            yield ChangeStep("read", Location(path, 1), what, (), f"{new.model.path} runs them")


def _special_math(new: NewKernel, code: str) -> Iterator[ChangeStep]:
    """The header of scalar functions, if the model's function comes from there."""
    used = set(re.findall(r"c10::metal::(\w+)\(", code))
    lines = enumerate(new.tree.lines(_SPECIAL), 1)
    at = next((n for n, text in lines if any(f"{one}(" in text for one in used)), 0)
    if at:
        what = f"write the scalar function of {new.base}, unless Metal has it"
        why, place = f"that of {new.near.base} is here", Location(_SPECIAL, at)
        yield ChangeStep("add", place, what, (), why, place)


def _blocks(lines: Sequence[str], found: Sequence[int]) -> list[str]:
    shown = {}
    for at in found:
        shown[at] = lines[at - 1]
        if lines[at - 1].rstrip().endswith("{"):
            for below in range(at, min(at + _LONGEST, len(lines))):
                shown[below + 1] = lines[below]
                if lines[below].startswith("}"):
                    break
    return [shown[at] for at in sorted(shown)]
