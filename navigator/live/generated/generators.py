"""Runs the generators of a build: torchgen, and those of autograd.

Runs in the Python that has torchgen: the standard library alone.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from navigator.live.generated.calls import Recorder, wrap
from navigator.live.generated.files import Files
from navigator.live.torchgen_check import PACKAGES, TreeFinder, package_in

_ATEN = "build/aten/src/ATen"
_AUTOGRAD = "torch/csrc/autograd/generated"
_WANTED = ("--per-operator-headers", "--mps", "--xpu")
"""What a build gives torchgen that has files for everything that the tree has."""


class Generators:
    """The generators of a tree, or of the installed torch where ``root`` is empty."""

    def __init__(self, root: str) -> None:
        package = package_in(root) if root else PACKAGES[0]
        if not package:
            raise ImportError("this tree has no torchgen")
        if root:
            sys.meta_path.insert(0, TreeFinder(root))
        self.gen = import_module(f"{package}.gen")
        self.package = package
        self.top = os.path.dirname(os.path.dirname(os.path.abspath(self.gen.__file__ or "")))
        if package.count("."):
            self.top = os.path.dirname(self.top)
        packaged = os.path.join(self.top, "torchgen", "packaged")
        self._aten = f"{root}/aten/src/ATen" if root else f"{packaged}/ATen"
        self._folder = f"{root}/tools/autograd" if root else f"{packaged}/autograd"
        name = "tools.autograd" if root else "torchgen.packaged.autograd"
        self.autograd = import_module(f"{name}.gen_autograd")

    def where(self, path: str) -> str:
        """A path as it is named in the tree."""
        full = os.path.abspath(path)
        inside = full.startswith(self.top + os.sep)
        return os.path.relpath(full, self.top).replace(os.sep, "/") if inside else path

    def run(self, part: str) -> tuple[Recorder, Files]:
        """What the generators of a part make and write; nothing is written to a disk."""
        model = import_module(f"{self.package}.model")
        recorder = Recorder(model.NativeFunction)
        files = Files(recorder, self.where)
        wrap(recorder, self.modules(), self.where)
        managers = {getattr(module, "FileManager", None) for module in list(sys.modules.values())}
        template = import_module(f"{self.package}.code_template").CodeTemplate
        files.install([one for one in managers if isinstance(one, type)], template)
        if part == "aten":
            self._aten_files()
        else:
            self._autograd_files()
        return recorder, files

    def modules(self) -> Iterator[ModuleType]:
        """The modules that make text: not torchgen's model, nor what names types."""
        for name, module in list(sys.modules.items()):
            folder, _, own = name.rpartition(".")
            ours = folder.startswith((self.package, self.autograd.__package__ or " "))
            if ours and (own.startswith("gen") or folder.endswith(".dest")):
                yield module

    def _aten_files(self) -> None:
        accepted = inspect.getsource(inspect.unwrap(self.gen.main))
        wanted = [one for one in _WANTED if f'"{one}"' in accepted]
        if '"--generate"' in accepted:
            wanted += ["--generate", "headers", "sources"]
        sys.argv = ["gen", "-s", self._aten, "-d", _ATEN, *wanted]
        self.gen.main()

    def _autograd_files(self) -> None:
        selector = import_module(f"{self.package}.selective_build.selector").SelectiveBuilder
        given: dict[str, Any] = {
            "native_functions_path": f"{self._aten}/native/native_functions.yaml",
            "tags_path": f"{self._aten}/native/tags.yaml",
            "out": _AUTOGRAD,
            "autograd_dir": self._folder,
            "operator_selector": selector.get_nop_selector(),
        }
        for name in ("gen_autograd", "gen_autograd_python"):
            function = getattr(self.autograd, name)
            takes = inspect.signature(function).parameters
            function(**{name: value for name, value in given.items() if name in takes})
