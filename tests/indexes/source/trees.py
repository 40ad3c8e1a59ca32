"""The smallest tree that is one of PyTorch."""

from __future__ import annotations

from pathlib import Path

from tests.repositories import begin

YAML = "aten/src/ATen/native/native_functions.yaml"


def write(root: Path, path: str, text: str = "") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def make_tree(root: Path) -> Path:
    write(root, YAML, "- func: relu(Tensor self) -> Tensor\n")
    write(root, "version.txt", "2.7.0a0\n")
    write(root, "tools/autograd/derivatives.yaml")
    write(root, "aten/src/ATen/native/Activation.cpp", "Tensor relu(const Tensor& self) {}\n")
    return root


def make_repository(root: Path) -> str:
    make_tree(root)
    return begin(root)
