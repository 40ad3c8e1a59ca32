"""Random data in the formats that programs of others read, so that none of them is changed."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy

DataMaker = Callable[[Path], None]
"""Writes into the folder that a program runs in."""


def digits(train: int, test: int, at: str = "../data") -> DataMaker:
    """MNIST: so many images to train and to test with, as torchvision reads it."""

    def make(folder: Path) -> None:
        raw = folder / at / "MNIST" / "raw"
        raw.mkdir(parents=True)
        for name, count in (("train", train), ("t10k", test)):
            images = random.randbytes(count * 28 * 28)
            labels = bytes(number % 10 for number in range(count))
            head = struct.pack(">iiii", 0x803, count, 28, 28)
            (raw / f"{name}-images-idx3-ubyte").write_bytes(head + images)
            (raw / f"{name}-labels-idx1-ubyte").write_bytes(
                struct.pack(">ii", 0x801, count) + labels
            )

    return make


def words(folder: Path) -> None:
    """A text to train, to validate and to test with: twenty lines of words."""
    known = [f"word{number}" for number in range(50)]
    (folder / "words").mkdir()
    for name in ("train", "valid", "test"):
        lines = (" ".join(random.choices(known, k=30)) for _ in range(20))
        (folder / "words" / f"{name}.txt").write_text("\n".join(lines) + "\n")


def tokens(folder: Path) -> None:
    """Numbers of tokens, as nanoGPT's train.py maps them."""
    (folder / "data" / "random").mkdir(parents=True)
    for name in ("train", "val"):
        numbers = numpy.random.randint(0, 50257, 2000).astype(numpy.uint16)
        numbers.tofile(folder / "data" / "random" / f"{name}.bin")


def pictures(folder: Path) -> None:
    """Photographs of noise, where super_resolution looks for BSDS300: PIL goes by content, and
    PPM is what can be written by hand."""
    for name in ("train", "test"):
        at = folder / "dataset" / "BSDS300" / "images" / name
        at.mkdir(parents=True)
        for number in range(4):
            noise = b"P6 260 260 255\n" + random.randbytes(260 * 260 * 3)
            (at / f"{number}.png").write_bytes(noise)
