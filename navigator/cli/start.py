"""Where ``torchnav`` starts: an answer that is kept is given at once, all else is the command
line's. Nothing is imported for the former that it does not need."""

from __future__ import annotations

import gc
import os
import sys

from indexes.queries.kept import Kept, program_state
from indexes.source.roots import cache_path, index_file, index_key, tree_around
from indexes.source.seen import Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TextIO

    from navigator.cli.asking import Settings

_COMMANDS = frozenset("op find at uses table kernel tensorimpl engine index".split())
_FLAGS = frozenset(("--json", "--all", "--full"))
_OPTIONS = frozenset(("--overload", "--key", "--limit", "--tree", "--cache"))
"""With these, and no others, an answer depends on nothing but the tree and the program."""


class Question:
    """A command line whose answer may be kept, and where it would be."""

    def __init__(self, command: str, words: list[str], index: str) -> None:
        self.command = command
        self.words = words
        self.index = index


def question(arguments: Sequence[str]) -> Question | None:
    """What is asked, if its answer rests on nothing but a tree that is named or stood in."""
    options: dict[str, str] = {}
    plain: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in _OPTIONS:
            options[name] = value if equals else next(words, "")
        elif not word.startswith("-"):
            plain.append(word)
        elif word not in _FLAGS:
            return None
    if not plain or plain[0] not in _COMMANDS:
        return None
    if plain[0] == "index" and "--json" in arguments:  # it says how long it took
        return None
    return _about(plain[0], list(arguments), options)


def _about(command: str, arguments: list[str], options: dict[str, str]) -> Question | None:
    here = os.getcwd()
    named = options.get("--tree") or os.environ.get("TORCHNAV_CHECKOUT")
    tree = tree_around(os.path.realpath(os.path.expanduser(named)) if named else here)
    if tree is None:
        return None
    cache = options.get("--cache") or cache_path()
    index = index_file(index_key(*tree), os.path.abspath(cache))
    return Question(command, [here, named or "", *arguments], index)


def run() -> NoReturn:
    """``main`` as a process of its own, which then ends at once: to take apart what it holds,
    object by object, takes as long after a build as an answer. Threads are waited for."""
    gc.disable()  # modules and short answers leave next to nothing behind
    try:
        status = main()
    except KeyboardInterrupt:  # before there is a command to tell of it
        status = 130
    sys.stdout.flush()
    sys.stderr.flush()
    threads = sys.modules.get("threading")
    if threads is None or threads.active_count() == 1:
        os._exit(status)
    sys.exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line; returns its exit code. ``arguments`` default to ``sys.argv``."""
    given = sys.argv[1:] if arguments is None else arguments
    asked = None if "_TORCHNAV_COMPLETE" in os.environ else question(given)
    if asked is None:
        return _answer(given)
    seen = Seen.load(asked.index)
    if seen and not Kept.holds(asked.index, asked.words):
        seen.look_ahead(_program)
        if seen.looks_ahead:
            return _answer_and_keep(given, asked, seen)
    program = _program()
    found = Kept(asked.index, seen.name, program).get(asked.words) if seen else None
    if seen and found is None:
        seen.look_ahead()
    if found is None or not seen or seen.moved():
        return _answer_and_keep(given, asked, seen, program)
    return _write(*found)


def _program() -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    return program_state([here, os.path.join(os.path.dirname(here), "indexes")])


def _answer(arguments: Sequence[str]) -> int:
    """Answers whatever else is asked, for as long as it takes."""
    gc.enable()
    if "_TORCHNAV_COMPLETE" in os.environ:
        from navigator.cli.main import main

        return main(arguments)
    from navigator.cli.asking import Settings

    return _run(arguments, Settings())


def _write(status: int, output: bytes, beside: bytes) -> int:
    """The bytes of an answer, whatever the encoding of the terminal; its exit code."""
    try:
        _write_bytes(sys.stderr, beside)
        _write_bytes(sys.stdout, output)
    except BrokenPipeError:  # the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status


def _write_bytes(stream: TextIO, data: bytes) -> None:
    if hasattr(stream, "buffer"):
        stream.buffer.write(data)
    else:
        stream.write(data.decode())
    stream.flush()


class _Heard:
    """A stream that remembers what was written to it, and may hold it back."""

    def __init__(self, stream: TextIO, holds: bool) -> None:
        self.stream = stream
        self._holds = holds
        self._text: list[str] = []

    def write(self, text: str) -> int:
        self._text.append(text)
        return len(text) if self._holds else self.stream.write(text)

    def written(self) -> bytes:
        return "".join(self._text).encode("utf-8", "backslashreplace")

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


def _answer_and_keep(
    arguments: Sequence[str], asked: Question, seen: Seen | None, program: str = ""
) -> int:
    """Answers, and keeps the answer with what is said beside it if it is one that will be the
    same again: found, in an unchanged tree. The program's state, where it is not given, is noted
    by who looks at the tree."""
    from navigator.cli.asking import Settings, fix_output

    fix_output()
    if seen and seen.looks_ahead and asked.command != "index":
        settings = Settings(seen=seen, hopes=True)
        hoped = _hoped(arguments, settings, seen)
        if hoped is None:
            return _answer_and_keep(arguments, asked, seen, program)
        status, output, beside = hoped
        settings.state = seen.name if settings.hoped else settings.state
        told = _write(status, output, beside)
    else:
        settings = Settings(seen=seen)
        status, output, beside = _heard(arguments, settings)
        told = status
    program = program or (seen.noted if seen else "")
    if status == 0 and settings.state and program:
        try:
            Kept(asked.index, settings.state, program).put(asked.words, status, output, beside)
        except OSError:
            pass  # a cache that is only read
    return told


def _hoped(
    arguments: Sequence[str], settings: Settings, seen: Seen
) -> tuple[int, bytes, bytes] | None:
    """The answer of the index as it was left; None where the tree is not as it was, which an
    answer may also have stumbled over."""
    try:
        heard = _heard(arguments, settings)
    except Exception:
        if settings.hoped and seen.moved():
            return None
        raise
    return None if settings.hoped and seen.moved() else heard


def _heard(arguments: Sequence[str], settings: Settings) -> tuple[int, bytes, bytes]:
    """Answers: the exit code, and what was written to stdout and stderr, or is to be."""
    out, beside = _Heard(sys.stdout, settings.hopes), _Heard(sys.stderr, settings.hopes)
    collects = gc.isenabled()
    gc.disable()  # a tenth of the time of an answer
    sys.stdout, sys.stderr = out, beside
    try:
        status = _run(arguments, settings)
    finally:
        sys.stdout, sys.stderr = out.stream, beside.stream
        if collects:
            gc.freeze()
            gc.unfreeze()  # what there is counts as old: nothing goes through it at once
            gc.enable()
    return status, out.written(), beside.written()


def _run(arguments: Sequence[str], settings: Settings) -> int:
    from navigator.cli.direct import direct

    if run := direct(arguments, settings):
        return run()
    from navigator.cli.main import main

    return main(arguments, settings)
