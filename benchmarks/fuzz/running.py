"""Runs a target in a separate process, and keeps inputs that break it."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.fuzz.mutations import Mutator
from benchmarks.fuzz.targets import Run, Target, one_line, targets

SLOW_S = 5.0
"""CPU seconds after which an execution counts as a hang."""
MEMORY = 1_500_000_000
"""Maximum memory in bytes."""
_STUCK_S = 60.0
"""Seconds without progress after which a process is stuck where signals don't reach it."""
_IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
_OUR = ("/indexes/", "/navigator/")


class Hang(BaseException):
    """Raised in an execution that takes too long."""


@dataclass(slots=True)
class Find:
    """An input that broke a target."""

    what: str
    """The error, and our line that raised it."""
    number: int
    data: bytes


@dataclass(slots=True)
class Result:
    """The results of a target."""

    target: str
    executions: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    peak: int = 0
    """Bytes."""
    finds: list[Find] = field(default_factory=list)


def run_target(name: str, seed: int, executions: int, seconds: float) -> Result:
    """Runs a target until a number of executions or seconds is reached."""
    whole = Result(name)
    deadline, first = time.monotonic() + seconds, 0
    while first < executions and time.monotonic() < deadline:
        one = _in_process(name, seed, first, executions, deadline - time.monotonic())
        whole.executions += one.executions
        whole.seconds += one.seconds
        whole.slowest_s = max(whole.slowest_s, one.slowest_s)
        whole.peak = max(whole.peak, one.peak)
        known = {find.what for find in whole.finds}
        whole.finds += [find for find in one.finds if find.what not in known]
        first += one.executions
        if not any(find.what.startswith("died") for find in one.finds):
            break
    return whole


def _in_process(name: str, seed: int, first: int, end: int, seconds: float) -> Result:
    """One process; if it dies, its input is a finding."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    at = context.Value("q", first, lock=False)
    child = context.Process(target=_work, args=(name, seed, first, end, seconds, at, there))
    child.start()
    there.close()
    answer = _waited(here, child, at)
    child.join()
    if answer is not None:
        return answer
    data = Mutator(targets()[name].seeds(), seed).made(at.value)
    died = Find(f"died with {child.exitcode}", at.value, data)
    return Result(name, at.value + 1 - first, seconds, finds=[died])


def _waited(
    here: Connection, child: multiprocessing.context.SpawnProcess, at: Any
) -> Result | None:
    last, since = -1, time.monotonic()
    while not here.poll(1.0):
        now = at.value
        if now != last:
            last, since = now, time.monotonic()
        if not child.is_alive():
            break
        if time.monotonic() - since > _STUCK_S:
            child.kill()
            return None
    try:
        found: Result = here.recv()
        return found
    except EOFError:
        return None


def _work(
    name: str, seed: int, first: int, end: int, seconds: float, at: Any, there: Connection
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGVTALRM, _hang)
    target = targets()[name]
    mutator, result = Mutator(target.seeds(), seed), Result(name)
    with tempfile.TemporaryDirectory(prefix="torchnav-fuzz", dir=_IN_MEMORY) as folder:
        run = target.start(Path(folder))
        started = time.monotonic()
        for number in range(first, end):
            at.value = number
            _once(target, run, number, mutator.made(number), result)
            if time.monotonic() - started > seconds:
                break
        result.seconds = time.monotonic() - started
    result.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if result.peak > MEMORY:
        result.finds.append(Find(f"memory of {result.peak >> 20} MB", -1, b""))
    there.send(result)


def _hang(_signal: int, _frame: object) -> None:
    raise Hang


def _once(target: Target, run: Run, number: int, data: bytes, result: Result) -> None:
    what = ""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
    try:
        run(data)
    except target.own as error:
        what = "" if one_line(error) or target.own == (ValueError,) else "an error of several lines"
    except Hang as error:
        what = f"hangs {_place(error)}"
    except Exception as error:  # noqa: BLE001  that is what is looked for
        what = f"{type(error).__name__} {_place(error)}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    result.executions += 1
    result.slowest_s = max(result.slowest_s, time.process_time() - begun)
    if what and all(find.what != what for find in result.finds):
        result.finds.append(Find(what, number, _smaller(target, run, data, what)))


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if any(part in one.filename for part in _OUR)] or [*frames]
    return f"in {Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else ""


def _smaller(target: Target, run: Run, data: bytes, what: str) -> bytes:
    """The input reduced to what the finding needs, by removing spans."""
    if what.startswith("hangs") or len(data) > 20_000:
        return data
    kept, until = data, time.monotonic() + 10
    size = len(kept) // 2
    while size and time.monotonic() < until:
        at = 0
        while at < len(kept) and time.monotonic() < until:
            less = kept[:at] + kept[at + size :]
            if _breaks(target, run, less, what):
                kept = less
            else:
                at += size
        size //= 2
    return kept


def _breaks(target: Target, run: Run, data: bytes, what: str) -> bool:
    try:
        run(data)
    except target.own as error:
        return what == "an error of several lines" and not one_line(error)
    except Exception as error:  # noqa: BLE001  as above
        return what == f"{type(error).__name__} {_place(error)}"
    return False
