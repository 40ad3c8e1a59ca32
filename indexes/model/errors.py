"""Errors, one clear line each with the contract's exit code, and the progress of a build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from indexes.model.bounds import MESSAGE_CHARACTERS


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
