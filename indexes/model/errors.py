"""What reaches a user besides answers: errors, one clear line each with the exit code of the
contract, and how far a build is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from indexes.model.bounds import MESSAGE_CHARACTERS


def brief(text: str) -> str:
    """A text that may quote others, without the middle of one that nobody would read."""
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
    """The question was understood and the answer is: nothing by that name."""


class UsageError(TorchnavError):
    """The question itself is wrong."""

    exit_code = 2


class SourceError(TorchnavError):
    """No usable source tree or index: missing, half there, or unreadable."""

    exit_code = 3


class OtherIndex(SourceError):
    """An index file that another version of torchnav made."""


class DamagedIndex(SourceError):
    """An index file that our own code could not have written. It is removed, or made anew."""


class Cancelled(TorchnavError):
    """The user stopped it."""

    exit_code = 130


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is. ``total`` 0 means not known."""

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
    """What was wrong with the index that was there, which was made anew."""
    stale: str = ""
    """Why the index could not be brought up to date, when it was usable all the same."""


ProgressCallback = Callable[[Progress], None]
CancelCallback = Callable[[], bool]
