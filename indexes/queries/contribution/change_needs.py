"""What a change requires, by its files: a build or none, for which devices, and the build target of
a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.source.source import Source

_COMPILED = regex(
    r".*\.(cpp|cc|c|h|hpp|cuh|cu|hip|mm|m|metal|inl|S|glsl|cmake|bzl|in|yaml)|(.*/)?CMakeLists\.txt"
)
_GENERATOR = regex(r"(torchgen|tools/(codegen|autograd|pyi|jit))/(?!test/).*\.py|setup\.py")
_UNCOMPILED = regex(r"\..*|(docs|scripts|benchmarks|test/(?!cpp)|tools/(?!autograd|jit|pyi)).*")
_DOCS = regex(r"docs/(?!cpp/).*|(.*/)?_\w*docs\.py")
_CPP_DOCS = regex(r"docs/cpp/.*")
_PYTHON = regex(r".*\.pyi?")
_CUDA = regex(r".*\.(cu|cuh)|(.*/)?(cuda|cudnn|cublas|nccl|cutlass)/.*")
_MPS = regex(r".*\.(mm|metal)|(.*/)?mps/.*")
_CPP_TEST = regex(r"(test/cpp|aten/src/ATen/test|c10/test)/.*|c10/\w+/test/.*")
_FLAGS = {
    "USE_CUDA": _CUDA,
    "USE_DISTRIBUTED": regex(r".*(distributed|c10d).*"),
    "USE_FBGEMM": regex(r".*(quantized|fbgemm).*", re.IGNORECASE),
    "USE_QNNPACK": regex(r".*(quantized|qnnpack).*", re.IGNORECASE),
    "USE_XNNPACK": regex(r".*(quantized|xnnpack).*", re.IGNORECASE),
    "BUILD_TEST": _CPP_TEST,
}
"""Patterns of files by build flag; other ``USE_NAME`` flags match NAME in the path."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of a change's files."""

    paths: tuple[str, ...]
    docstrings: bool = False
    """Whether docstrings change."""

    @property
    def compiled(self) -> tuple[str, ...]:
        """The files whose change requires a build."""
        return tuple(one for one in self.paths if is_compiled(one))

    @property
    def python(self) -> bool:
        return any(map(_PYTHON.fullmatch, self.paths))

    @property
    def docs(self) -> bool:
        return self.docstrings or any(map(_DOCS.fullmatch, self.paths))

    @property
    def cpp_docs(self) -> bool:
        return any(map(_CPP_DOCS.fullmatch, self.paths))

    @property
    def cpp(self) -> bool:
        return any(not _PYTHON.fullmatch(one) for one in self.compiled)

    @property
    def mps(self) -> bool:
        return any(map(_MPS.fullmatch, self.compiled))

    @property
    def cuda(self) -> bool:
        return any(map(_CUDA.fullmatch, self.compiled))

    def asks_for(self, flag: str) -> bool:
        """Whether a file is in the part of the build that a flag such as ``USE_CUDA`` switches."""
        name = flag.partition("_")[2].replace("_", "")
        pattern = _FLAGS.get(flag) or re.compile(f".*{re.escape(name)}.*", re.IGNORECASE)
        return any(map(pattern.fullmatch, self.compiled))


def is_compiled(path: str) -> bool:
    if _GENERATOR.fullmatch(path):
        return True
    return bool(_COMPILED.fullmatch(path)) and not _UNCOMPILED.fullmatch(path)


_SHARED = regex(r".*\.(h|hpp|cuh|inl|yaml|py|in|bzl|cmake)|(.*/)?CMakeLists\.txt|.*/templates/.*")


class Target(NamedTuple):
    """A build target."""

    name: str
    location: Location
    """The line of a CMakeLists.txt that declares it."""
    is_program: bool = False


_DECLARED = regex(r"^\s*\w*add_(library|executable)\(\s*(\w+)", re.MULTILINE)
_ASSIGNED = regex(r"\s*(\w+)\s*=\s")
_LISTS = ("build_variables.bzl", "tools/build_variables.bzl")
_DEVICE_OF = {"cudnn": "cuda", "miopen": "hip"}
_OTHERS = regex(r"nvrtc|global_deps|protos")


class Targets:
    """The CMake targets of one tree."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._declared = cache(self._declared_in)

    def of(self, paths: Iterable[str]) -> tuple[Target, ...]:
        """The targets to build after a change of these files; none if more is rebuilt, as for
        headers and generators."""
        paths = tuple(paths)
        if any(map(_SHARED.fullmatch, paths)):
            return ()
        return tuple(dict.fromkeys(one for one in map(self._of, paths) if one))

    def _of(self, path: str) -> Target | None:
        if path.startswith("torch/csrc/"):
            return self._of_list(path)
        if path.startswith("aten/src/ATen/") and not _CPP_TEST.fullmatch(path):
            return self._of_device(path)
        folder = path.rpartition("/")[0]
        while folder and folder not in ("caffe2", "torch"):
            if found := self._declared(f"{folder}/CMakeLists.txt"):
                name = path.rpartition("/")[2].partition(".")[0]
                return found.get(name) or next(iter(found.values()))
            folder = folder.rpartition("/")[0]
        return None

    def _of_device(self, path: str) -> Target | None:
        """ATen's library for the device of the file's folder."""
        folders = [_DEVICE_OF.get(one, one) for one in path.split("/")[3:-1]]
        if path.endswith(".cu") and "cuda" not in folders:
            folders = ["cuda"]
        known = self._declared("caffe2/CMakeLists.txt")
        whole = ("_".join(["torch", *folders[at:]]) for at in range(len(folders)))
        names = (*whole, *(f"torch_{one}" for one in reversed(folders)), "torch_cpu")
        return next((known[one] for one in names if one in known), None)

    def _of_list(self, path: str) -> Target | None:
        """The library of torch/csrc by build_variables.bzl."""
        name = self._lists.get(path, "")
        if not name:
            return None
        if "python" in name:
            return self._declared("torch/CMakeLists.txt").get("torch_python")
        device = next((one for one in ("cuda", "xpu") if one in name), "cpu")
        return self._declared("caffe2/CMakeLists.txt").get(f"torch_{device}")

    @cached_property
    def _lists(self) -> dict[str, str]:
        """The list of build_variables.bzl with each source."""
        found: dict[str, str] = {}
        name = ""
        for line in next(filter(None, map(self._source.text, _LISTS)), "").splitlines():
            assigned = _ASSIGNED.match(line)
            name = assigned[1] if assigned else name
            found.update(dict.fromkeys(re.findall(r'"([\w/.+-]+)"', line), name))
        return found

    def _declared_in(self, path: str) -> dict[str, Target]:
        text = self._source.text(path)
        found: dict[str, Target] = {}
        for one in _DECLARED.finditer(text):
            where = Location(path, text.count("\n", 0, one.start(2)) + 1)
            if not _OTHERS.search(one[2]):
                found.setdefault(one[2], Target(one[2], where, one[1] == "executable"))
        return found
