"""Work in a fork: its result, or the same made here when the fork comes to nothing."""

from __future__ import annotations

import os

import pytest

from indexes.source import forked
from indexes.source.forked import Task

_SELF = os.getpid()


@pytest.fixture(autouse=True)
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own process may have threads, which wait for messages and hold no lock."""
    monkeypatch.setattr(forked, "possible", lambda: True)


def _elsewhere() -> bool:
    return os.getpid() != _SELF


def _dies() -> bool:
    if _elsewhere():
        os._exit(3)
    return False


def test_a_task_is_done_elsewhere_and_is_ready_before_its_result_is_asked_for() -> None:
    task = Task(_elsewhere)
    while not task.is_ready():
        pass
    assert task.result() is True


def test_a_task_is_done_here_where_no_fork_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "possible", lambda: False)
    task = Task(_elsewhere)
    assert not task.is_ready()
    assert task.result() is False
    task.drop()


def test_a_task_whose_fork_dies_is_done_here() -> None:
    assert Task(_dies).result() is False


def test_a_task_that_nobody_asks_leaves_neither_process_nor_pipe() -> None:
    opened = len(os.listdir("/dev/fd"))
    task = Task(lambda: "x" * 10_000_000)  # more than a pipe holds: it waits to be read
    assert task._fork
    task.drop()
    assert len(os.listdir("/dev/fd")) == opened
    with pytest.raises(ChildProcessError):  # it has been waited for
        os.waitpid(task._fork._pid, os.WNOHANG)
