"""Thirty kinds of programs, run plainly and recorded: they must behave the same.

    python -m benchmarks.programs [--only fork,threads] [--native]

Compares stdout, stderr without our last lines, and the exit status; with ``--native``, also with
the compiled recorder, if built.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_TIMEOUT_S = 120
_START = "import os, sys, time, signal, threading\nimport torch\nx = torch.ones(3) + 1\n"
_FORKED = "child = os.fork()\nif child == 0:\n    {}\nprint(os.waitpid(child, 0)[1])\n"
PROGRAMS = {
    "plain": "print(float((x * 2).sum()))",
    "fork": _FORKED.format("print('child', flush=True); os._exit(3)"),
    "fork and go on": _FORKED.format("print(float((x * 3).sum()), flush=True); sys.exit(4)"),
    "daemon": "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint('done')",
    "threads": "t = [threading.Thread(target=lambda: x @ x) for _ in range(8)]\n"
    "[one.start() for one in t]\n[one.join() for one in t]\nprint(threading.active_count())",
    "signal handler": "signal.signal(signal.SIGUSR1, lambda *_: print('got it'))\n"
    "os.kill(os.getpid(), signal.SIGUSR1)\nprint('after')",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(9)",
    "SIGSEGV": "sys.stdout.flush()\nos.kill(os.getpid(), signal.SIGSEGV)\ntime.sleep(9)",
    "abort": "os.abort()",
    "os._exit": "print('here', flush=True)\nos._exit(7)",
    "closed files": "os.closerange(3, 256)\nprint(float(x.sum()))",
    "own profiler": "import cProfile\np = cProfile.Profile()\np.enable()\nx.neg()\np.disable()\n"
    "print(any('neg' in str(k) for k in [e.code for e in p.getstats()]))",
    "torch profiler": "from torch.profiler import profile\nwith profile() as p:\n    x.cos()\n"
    "print(sorted({e.key for e in p.key_averages()}))",
    "settrace": "seen = []\ndef watch(f, e, a):\n    if f.f_code.co_name == 'g': seen.append(e)\n"
    "    return watch\ndef g():\n    return x + 1\nsys.settrace(watch)\ng()\nsys.settrace(None)\n"
    "print(seen)",
    "monitoring": "m = getattr(sys, 'monitoring', None)\nif m:\n    m.use_tool_id(3, 'mine')\n"
    "    m.register_callback(3, m.events.PY_START, lambda *a: None)\n    m.set_events(3, 1)\n"
    "    m.set_events(3, 0)\n    m.free_tool_id(3)\nprint('ok')",
    "atexit": "import atexit\natexit.register(lambda: print('end', float(x.sum())))",
    "excepthook": "sys.excepthook = lambda *a: print('hook', a[0].__name__)\nraise ValueError('a')",
    "multiprocessing fork": "import multiprocessing as m\np = m.get_context('fork').Process("
    "target=print, args=('child',))\np.start()\np.join()\nprint(p.exitcode)",
    "multiprocessing spawn": "import multiprocessing as m\nif __name__ == '__main__':\n"
    "    p = m.get_context('spawn').Process(target=len, args=('child',))\n    p.start()\n"
    "    p.join()\n    print(p.exitcode)",
    "subprocess": "import subprocess\nprint(subprocess.run([sys.executable, '-c', 'print(1)'],"
    " capture_output=True, text=True))",
    "stdin": "print(sys.stdin.read().upper())",
    "large output": "print('x' * 3_000_000)",
    "unicode": "größe = x\nprint('größe', '\\u65e5\\u672c', float(größe.sum()))",
    "chdir": "os.chdir('/')\nprint(os.getcwd())",
    "argv": "print(sys.argv, __name__, __file__, sys.path[0] == os.path.dirname(__file__) or '')",
    "runpy": "import runpy\nif __name__ == '__main__':\n"
    "    print(runpy.run_path(__file__, run_name='other')['x'])",
    "asyncio": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n"
    "    return float(x.sum())\nprint(asyncio.run(f()))",
    "generators": "def g():\n    with torch.no_grad():\n        for _ in range(3): yield x * 2\n"
    "print([float(o.sum()) for o in g()], torch.is_grad_enabled())",
    "error in a thread": "def f(): raise KeyError('in thread')\nt = threading.Thread(target=f, "
    "name='T')\nt.start()\nt.join()\nprint('after')",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "SystemExit with text": "sys.exit('a text')",
    "deep recursion": "def f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n"
    "    print(e)",
}
_OURS = re.compile(r"^(?:torchnav: .*|  torchnav open .*)\n", re.MULTILINE)


def same(text: str) -> str:
    """A program's output without addresses, times and our messages."""
    return re.sub(r"0x[0-9a-f]+|pid=\d+|USDT:[\d: -]+", "", _OURS.sub("", text))


def run(folder: Path, program: str, options: tuple[str, ...] | None) -> tuple[int, str, str]:
    """Exit status, stdout and stderr; recorded if there are options."""
    file = folder / "program.py"
    file.write_text(_START + program + "\n")
    recorder = [str(ROOT / "navigator/capture"), "-o", str(folder / "trace.json"), *(options or ())]
    command = [sys.executable, *(recorder if options is not None else ()), str(file), "a", "-b"]
    done = subprocess.run(
        command,
        cwd=folder,
        input="typed\n",
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    return done.returncode, same(done.stdout), same(done.stderr)


def differences(names: list[str], recorders: list[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Each kind of program with its differences, or empty."""
    with tempfile.TemporaryDirectory(prefix="torchnav-programs") as folder:
        for name in names:
            plain = run(Path(folder), PROGRAMS[name], None)
            wrong = []
            for options in recorders:
                recorded = _recorded(Path(folder), name, options)
                parts = zip(("status", "stdout", "stderr"), plain, recorded, strict=True)
                wrong += [f"{what}: {a!r} {b!r}"[:300] for what, a, b in parts if a != b]
            yield name, "; ".join(wrong)


def _recorded(folder: Path, name: str, options: tuple[str, ...]) -> tuple[int, str, str]:
    try:
        return run(folder, PROGRAMS[name], options)
    except subprocess.TimeoutExpired:
        return (-1, "", f"hangs for {_TIMEOUT_S} s")


def main() -> int:
    """The command line; returns 1 if a program behaves differently."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(PROGRAMS), help="kinds, with commas")
    parser.add_argument("--native", metavar="LIBRARY", help="the compiled recorder")
    options = parser.parse_args()
    recorders: list[tuple[str, ...]] = [()]
    if options.native:
        recorders.append(("--native", options.native))
    wrong = 0
    print("| program | as without us |\n|---|---|")
    for name, found in differences(options.only.split(","), recorders):
        wrong += bool(found)
        print(f"| {name} | {found or 'yes'} |", flush=True)
    print(
        f"{len(options.only.split(',')) - wrong} of {len(options.only.split(','))} behave the same"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
