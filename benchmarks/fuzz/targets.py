"""What is fuzzed: each reader with its seeds and its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from indexes.model.errors import TorchnavError

TESTS = Path(__file__).parents[2] / "tests"
TREE = TESTS / "tree"
DATA = TESTS / "data"
_SEED_BYTES = 1000
"""Of a piece of a file that is a seed: small inputs are many inputs."""

Run = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads bytes."""

    name: str
    seeds: Callable[[], list[bytes]]
    start: Callable[[Path], Run]
    """Given a folder of its own, gives what is run with each input."""
    own: tuple[type[Exception], ...] = (TorchnavError,)
    """What it may raise: one line for the user. All else is a find."""


def pieces(paths: Iterable[Path], size: int = _SEED_BYTES, most: int = 2000) -> list[bytes]:
    """Pieces of files that begin at lines."""
    found: list[bytes] = []
    for path in paths:
        data = path.read_bytes()
        for start in range(0, min(len(data), 100 * size), size):
            at = data.rfind(b"\n", 0, start) + 1
            found.append(data[at : start + size])
    return found[:most]


def files(*endings: str, top: Path = TREE) -> Callable[[], list[bytes]]:
    """Pieces of the files of the small tree that end so."""
    return lambda: pieces(
        sorted(path for path in top.rglob("*") if path.name.endswith(endings) and path.is_file())
    )


def one_line(error: Exception) -> bool:
    """Whether an error of ours keeps its contract."""
    return bool(str(error)) and "\n" not in str(error)


def targets() -> dict[str, Target]:
    """All of them, by name."""
    from benchmarks.fuzz import asking, sources, traces

    listed = (*sources.TARGETS, *traces.TARGETS, *asking.TARGETS)
    return {one.name: one for one in listed}
