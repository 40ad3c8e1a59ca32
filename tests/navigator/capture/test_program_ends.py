"""However a program ends, or what it records into does: the trace up to the end is kept."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from tests.navigator.trace.programs import names, run


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("import os; os._exit(5)", 5),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", -signal.SIGTERM),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
    ],
)
def test_the_trace_is_kept_however_the_program_ends(tmp_path: Path, end: str, status: int) -> None:
    done = run(tmp_path, f"import time\nimport torch\ntorch.ones(3).mul(2)\n{end}\n")
    assert done.returncode == status
    trace = read_trace(tmp_path / "trace.json")
    assert trace.meta.complete
    assert {"ones", "mul.Tensor"} <= names(trace)


INTERRUPTED = """\
import signal, torch
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
x, count = torch.ones(3), 0
for turn in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + turn * 0.0001)
        while True:
            x.neg()
            count += 1
    except KeyboardInterrupt:
        pass
print(count)
"""


def test_an_interrupt_while_a_window_closes_loses_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, INTERRUPTED, options=("--window", "0.0001"))
    assert (done.returncode, done.stderr) == (0, "")
    ran = sum(op.full_name == "neg" for op in read_trace(tmp_path / "trace.json").ops())
    assert int(done.stdout) <= ran <= int(done.stdout) + 60


TWICE = """\
import atexit, signal, torch
x = torch.ones(3)
for _ in range(3000):
    x = x.neg()
signal.signal(signal.SIGALRM, signal.default_int_handler)
atexit.register(signal.setitimer, signal.ITIMER_REAL, 0.002)
raise KeyboardInterrupt
"""


def test_a_second_interrupt_ends_the_saving(tmp_path: Path) -> None:
    """What is in the file by then stays, and one line tells that there is no more."""
    done = run(tmp_path, TWICE, options=("--summary",))
    assert done.returncode == -signal.SIGINT
    *program, cut, summary = done.stderr.splitlines()
    assert program[-1] == "KeyboardInterrupt"
    assert "capture" not in "".join(program)
    told = "interrupted while the recording was saved: its last operators may be missing"
    assert cut == f"torchnav: {told}"
    assert " operators, " in summary
    assert [one.name for one in tmp_path.glob("trace*")] == ["trace.json"]
    trace = read_trace(tmp_path / "trace.json")
    assert told in trace.meta.problems
    assert not trace.meta.complete
    rows = sum(op.kind == "op" for op in trace.ops())
    assert 400 <= rows <= 3001  # the first window is written at once


def test_a_full_disk_stops_the_recording_and_not_the_program(tmp_path: Path) -> None:
    (tmp_path / "trace.json").symlink_to("/dev/full")
    done = run(tmp_path, "print('before')\nimport torch\nprint(torch.ones(2).sum())\n")
    assert done.stdout == "before\ntensor(2.)\n"
    assert done.returncode == 0
    assert done.stderr == (
        "torchnav: recording stopped: No space left on device; the trace ends after 0 operators\n"
    )


LIMITED = """\
import resource, sys, torch
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
x = torch.ones(3)
for _ in range(3000):
    x = x.neg()
print("done", float(x[0]))
sys.exit(7)
"""


@pytest.mark.parametrize("limit", [100_000, 20_000, 0])
def test_a_limit_on_files_stops_the_recording_and_not_the_program(
    tmp_path: Path, limit: int
) -> None:
    """The trace or the file that torch hands a window over in reaches it first."""
    done = run(tmp_path, LIMITED, str(limit), options=("--window", "0.003"))
    assert (done.returncode, done.stdout) == (7, "done 1.0\n")
    told = re.fullmatch(
        r"torchnav: recording stopped: (File too large|torch could not save its profile in \S+);"
        r" the trace ends after (\d+) operators?\n",
        done.stderr,
    )
    assert told, done.stderr
    trace = read_trace(tmp_path / "trace.json")
    assert not trace.meta.complete
    assert trace.meta.problems
    assert sum(op.kind == "op" for op in trace.ops()) == int(told[2]) < 3000


LONG = LIMITED.replace("    x = x.neg()", "    x = x.neg()\n    time.sleep(_ % 500 == 499)")


def test_a_limit_stops_the_compiled_recorder_too(tmp_path: Path, library: str) -> None:
    """What was written before it is kept."""
    program = LONG.replace("import resource", "import resource, time")
    done = run(tmp_path, program, "30000", options=("--native", library))
    assert (done.returncode, done.stdout) == (7, "done 1.0\n")
    assert done.stderr.startswith("torchnav: recording stopped: File too large; the trace ends")
    assert 0 < len(read_trace(tmp_path / "trace.json")) < 3000


CLOSES = """\
import os, torch
os.closerange({first}, {end})
mine = [os.open(f"mine{{n}}", os.O_CREAT | os.O_WRONLY) for n in range(8)]
torch.ones(3).neg()
if {first}:
    print(mine)
"""


@pytest.mark.parametrize("first", [0, 3])
def test_a_program_may_close_all_files(tmp_path: Path, first: int) -> None:
    """Then nothing is written to those that it opens under the same numbers."""
    done = run(tmp_path, CLOSES.format(first=first, end=1024))
    assert done.returncode == 0
    assert all((tmp_path / f"mine{n}").read_bytes() == b"" for n in range(8))
    last = "the program closed the trace file; the trace ends after 0 operators\n"
    assert done.stderr == (f"torchnav: recording stopped: {last}" if first else "")


def test_the_files_of_a_program_have_the_numbers_that_they_have_without_us(tmp_path: Path) -> None:
    """And what it closes in good order is not ours."""
    program = CLOSES.format(first=3, end=256)
    plain, recorded = run(tmp_path, program, record=False), run(tmp_path, program)
    assert plain.stdout.startswith("[3, 4, 5")
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr)
    assert "neg" in names(read_trace(tmp_path / "trace.json"))


HANGS = """\
import ctypes, os, signal
import torch
print(signal.getsignal(signal.SIGTERM), signal.signal(signal.SIGHUP, signal.SIG_IGN))
torch.ones(3).neg()
told, tell = os.pipe()
child = os.fork()
if not child:
    mutex, lock = ctypes.create_string_buffer(64), ctypes.PyDLL(None).pthread_mutex_lock
    lock(mutex)
    os.write(tell, b"hangs")
    lock(mutex)
os.read(told, 5)
os.kill(child, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_signals_are_unhandled_for_the_program_and_end_a_forked_child(tmp_path: Path) -> None:
    """Also one that waits in C and never comes back to Python."""
    plain, recorded = run(tmp_path, HANGS, record=False), run(tmp_path, HANGS)
    assert plain.stdout.endswith(f"{-signal.SIGTERM}\n")
    assert recorded.stdout == plain.stdout
    assert recorded.returncode == plain.returncode == 0


ENDS = """\
import atexit, os, sys
import torch
x = torch.ones(3) + 1
for end in ("pass", "sys.exit(3)", "raise ValueError('mine')"):
    child = os.fork()
    if not child:
        atexit.register(lambda: print("at exit"))
        print("child", float((x * 2).sum()))
        exec(end)
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_forked_child_that_ends_by_itself_does_not_hang(tmp_path: Path) -> None:
    done = run(tmp_path, ENDS)
    child = "child 12.0\nat exit\n"
    assert done.stdout == f"{child}0\n{child}3\n{child}1\n"
    assert done.stderr.count("ValueError: mine") == 1
    assert read_trace(tmp_path / "trace.json").meta.complete
