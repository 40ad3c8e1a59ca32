"""Errors, one clear line each with the contract's exit code, and the progress of a build.

The limits on inputs, beyond which there is such an error with the place, stand below: far above
what users and PyTorch produce. docs/security.md lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def brief(text: str) -> str:
    """A text, shortened in the middle if it quotes too much."""
    half = MESSAGE_CHARACTERS // 2
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:half]} ... {text[-half:]}"


class TorchnavError(Exception):
    """A failure with a one-line message for the user. Exit code 1 unless a subclass says so."""

    exit_code = 1

    def __init__(
        self, message: str, suggestions: tuple[str, ...] = (), namesakes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(brief(" ".join(message.splitlines())))
        self.suggestions = suggestions
        """Near names."""
        self.namesakes = namesakes
        """C++ names that end like the one that was not found, each with its place."""


class NotFound(TorchnavError):
    """A valid question with the answer: nothing of that name."""


class UsageError(TorchnavError):
    """An invalid question."""

    exit_code = 2


class SourceError(TorchnavError):
    """No usable source tree or index: missing, half there, or unreadable."""

    exit_code = 3


class OtherIndex(SourceError):
    """An index file that another version of torchnav made."""


class DamagedIndex(SourceError):
    """An index file that our code could not have written. It is removed, or rebuilt."""


class Cancelled(TorchnavError):
    """The user stopped it."""

    exit_code = 130


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a build; ``total`` 0 for unknown."""

    stage: str
    done: int
    total: int


@dataclass(slots=True)
class Report:
    """What a build did, in counts."""

    files: int = 0
    read: int = 0
    """Files whose content was read and parsed anew."""
    removed: int = 0
    cold: bool = False
    damaged: str = ""
    """What was wrong with the old index, which was rebuilt."""
    stale: str = ""
    """Why a usable index could not be brought up to date."""


ProgressCallback = Callable[[Progress], None]
CancelCallback = Callable[[], bool]


# ------------------------------------------------------------------------- limits on inputs

FILE_BYTES = 64 << 20
"""Of a file that is read into memory."""
EVENT_BYTES = 64 << 20
"""Of one event of a trace, and of what precedes the first one."""
EXPANSION, EXPANDED_BYTES = 200, 64 << 20
"""A packed file that expands to more bytes than the second, and as many times its size as the
first, is no trace: real ones expand ten to forty times."""
PACKINGS = 4
"""Nested archives."""
TOML_LINE = 100_000
"""Characters of a line of TOML: parsing is quadratic in the parts of a key."""
CXX_NESTING = 64
"""Nested ``#if``, or namespaces and classes; deeper ones are not read."""
CXX_BRACKETS = 256
"""Nested brackets of a call, as compilers limit them by default."""
CXX_BODY_NESTING = 4096
"""Nested brackets of a body; its readers are quadratic in them."""
CXX_EXPANSIONS = 4096
"""Expansions by one use of a macro, each of which may double the text."""
YAML_NESTING = 99
"""Brackets or columns; the C parser's stack may not bear more."""
YAML_PARTS = 200_000
"""Keys and values of a file, of a kilobyte each: four times as many as PyTorch has."""
SHARED_INDEX_BYTES = 2_000_000_000
"""Of the database in a shared index."""
TABLE_BYTES = 128 << 20
"""Of a table of Nsight Compute."""
LOG_BYTES = 256 << 20
"""Of a log of ``TORCH_TRACE``."""
TRACE_ROWS = 5_000_000
"""Of a trace; further ones are not read."""
TRACE_EVENTS = 20_000_000
"""Of a Chrome trace, most of which may be no rows; further ones are not read."""
TRACE_NESTING = 1000
"""Nested rows; deeper ones are left out."""
SNAPSHOT_BYTES = 1_200_000_000
"""Of memory for unpickling a memory snapshot."""
NAME_CHARACTERS = 16_384
"""Of a name or pasted text in a query, by SQLite's limit."""
PATH_FOLDERS = 100
"""Nested folders down to a file."""
MESSAGE_CHARACTERS = 1000
"""Of an error that is shown, which may quote long texts."""
MANGLED_CHARACTERS = 4096
"""Of a mangled name, since demanglers recurse over it."""
