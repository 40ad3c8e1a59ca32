"""Errors that reach a user: one clear line each, with the exit code of the contract."""

from __future__ import annotations


class TorchnavError(Exception):
    """A failure with a one-line message for the user. Exit code 1 unless a subclass says so."""

    exit_code = 1


class NotFound(TorchnavError):
    """The question was understood and the answer is: nothing by that name."""

    def __init__(self, message: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.suggestions = suggestions


class UsageError(TorchnavError):
    """The question itself is wrong."""

    exit_code = 2


class SourceError(TorchnavError):
    """No usable source tree or index: missing, half there, or unreadable."""

    exit_code = 3


class Cancelled(TorchnavError):
    """The user stopped it."""

    exit_code = 130
