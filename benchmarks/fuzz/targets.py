"""The fuzzed readers with their seeds and contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from indexes.model.errors import TorchnavError

TESTS = Path(__file__).parents[2] / "tests"
TREE = TESTS / "tree"
DATA = TESTS / "data"
_SEED_BYTES = 1000
"""Maximum size of a seed taken from a file: small inputs run more often."""

Run = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of bytes."""

    name: str
    seeds: Callable[[], list[bytes]]
    start: Callable[[Path], Run]
    """Given a folder, returns the function to run with each input."""
    own: tuple[type[Exception], ...] = (TorchnavError,)
    """The errors that it may raise, one line each; others are findings."""


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
    """Pieces of the small tree's files with an ending."""
    return lambda: pieces(
        sorted(path for path in top.rglob("*") if path.name.endswith(endings) and path.is_file())
    )


def one_line(error: Exception) -> bool:
    """Whether one of our errors is a single line."""
    return bool(str(error)) and "\n" not in str(error)


def targets() -> dict[str, Target]:
    """All targets by name."""
    from benchmarks.fuzz import asking, sources, traces

    listed = (*sources.TARGETS, *traces.TARGETS, *asking.TARGETS)
    return {one.name: one for one in listed}
