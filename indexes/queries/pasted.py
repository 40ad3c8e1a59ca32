"""Pasted errors: extracts the message from the traceback around it."""

from __future__ import annotations

from itertools import groupby, islice, zip_longest
from re import Match, Pattern
from typing import NamedTuple

from indexes.model.lines import LINE
from indexes.model.regex import MULTILINE, regex
from indexes.readers.messages import plain

_RAISED = regex(
    r"^(?:.*what\(\):\s*|(?:E[ \t]+|\[rank\d+\]:?[ \t]*)*)"
    r"((?:[A-Za-z_]\w*\.)*[A-Z_]\w*(?:Error|Exception|Warning)|(?:[a-z_]\w*\.)+[A-Z]\w*):[ \t]*"
    r"|^.*what\(\):[ \t]*",
    MULTILINE,
)
"""Prefixes of messages by Python and the C++ runtime. A class begins with a capital: NCCL's
``ncclRemoteError: `` is a part of a message."""
_LOGGED = (
    rf"(?:\[?[CDEFIVW](?:\d{{3,4}} [\d:.]+)?(?: \d+)? ([\w./-]+):({LINE})\] ?"
    r"(?:\[\d+/\d+(?:_\d+)?\] ?)?(?:\[__\w+\] ?)?(?:Warning: ?)?)?"
    r"(?:\[\d{4}-\d\d-\d\d [\d:,.]+\] (?:\[\d+/\d+\] )?[\w.]+: \[[A-Z]+\] )?"
)
"""Prefixes of c10's and Python's loggers: ``[W501 21:01:27.1 reducer.cpp:12] Warning: ``, ``W0501
21:01:27.1 140 torch/_dynamo/eval_frame.py:12] [0/8] ``, and before PyTorch 2.2 ``[2023-11-20
15:52:39,304] [0/0] torch._dynamo.guards: [INFO] ``."""
_STAMP = r"(?:(?:[A-Z][a-z]{2} [ \d]\d |\d{4}-\d\d-\d\d[T ])\d\d:\d\d:\d\d\S* )?"
"""The time that syslog and services for tests print: ``Apr 14 21:00:09 ``."""
_MARGIN = regex(rf"{_STAMP}(?:E  +|\[rank\d+\]:? ?)?{_LOGGED}")
_NEXT = "\x1d"
"""A line between two records of a log."""
_AFTER = regex(
    r"\n[ \t]*Exception raised from |\nC\+\+ CapturedTraceback|\s\(Triggered internally at |"
    r"\nFrom user code:|\nSet TORCH|\n\nDuring handling|\n\nThe above exception|\n\n\S+:\d+: |"
    rf"\n(?:Traceback \(most recent call last\)|{_NEXT})|"
    r"\nCUDA kernel errors might be asynchronous|\nCompile with `TORCH_USE_CUDA_DSA`"
)
"""Text behind a message by c10::Error, warnings and compilers, and what begins another one."""
PLACE = regex(
    r"(?:File (?:\"(?:[^\"\n]* )?)?|\bat +|^)"
    r"((?:[A-Za-z]:)?[\w./\\~-]+\.(?:py|cpp|cc|cu|cuh|h|hpp|mm))"
    rf"(?:(?:\", line |:)({LINE})(?:,?:? in (?:\w+\.)*(\w+))?|\(({LINE})\): ([\w<>]+)"
    r"| in (\w+)(?=\())",
    MULTILINE,
)
"""A frame as Python, pytest, both generations of IPython and profilers print it; a place of C++."""
NOT_IMPLEMENTED = regex(r"\"([^\"\s]+)\" not implemented\b")
"""The message of ATen/Dispatch.h for an unsupported dtype, or its beginning."""
_ASSERTED = regex(
    rf"^(.*?) ?INTERNAL ASSERT FAILED at (?:\"([^\"]+)\"|([^\s\"]+)):({LINE})"
    r"(?:, please report a bug to PyTorch\.)? *(.*)"
)
"""c10's message for a failed assertion, which had no quotes before PyTorch 1.6."""
FAILED = regex(r"\bAssertion `([^`\n]+?)[`'] failed\b")
"""The message of C's and CUDA's ``assert``."""
KERNEL = regex(r"\b(?!operator\b)(\w+)(?:<.*>)?(?:\(.*\))?: block: \[")
"""CUDA's name of the kernel with a failed assertion."""
_RAISED_FROM = regex(rf"^Exception raised from .* at (\S+):({LINE})", MULTILINE)
"""The line that c10::Error adds with ``TORCH_SHOW_CPP_STACKTRACES``."""
_RAISING = regex(rf"^[ \t]*Exception raised from (\S+) at (\S+):({LINE})", MULTILINE)
_TABLE = regex(r"^\w+: (?:fallthrough )?registered at [^\n]*\n?", MULTILINE)
"""The lines of the dispatch table in the dispatcher's messages, one for each key."""
_CALLED = regex(r"\bat::_ops::(\w+)::(?:call|redispatch)\(")
"""Operators in the C++ stack behind it."""
ON_STACK = "on the C++ stack"
"""How answers call such operators."""
WHEN_CALLING = regex(r"\bwhen calling `?(\w+)")
"""The call in messages of cuBLAS, cuSPARSE and cuSOLVER checks."""
Places = tuple[tuple[str, int, str], ...]
"""Files and lines, with the function if named."""
_FRAME = regex(
    rf"^ *File \"([^\"\n]+)\", line ({LINE})[^\n]*\n((?:(?! *File \")[ \t]+[^\n]*\n|\n)*)\Z",
    MULTILINE,
)
"""The last frame of Python's traceback, with the code that it shows, up to the exception."""
_COLOURS = regex(r"\x1b\[[\d;]*m")


class Frame(NamedTuple):
    """The frame in which an exception left Python, or which called the C++ that raised it."""

    path: str
    line: int
    code: str


class Pasted(NamedTuple):
    """A pasted error."""

    text: str
    """The message alone, on one line."""
    exception: str
    """``ValueError``, if named, with the module printed before it."""
    places: Places
    """Files and lines of the traceback, last one first."""
    raised_from: tuple[str, int] | None = None
    """The raising file and line of C++, in the version that ran."""
    frame: Frame | None = None
    """The last frame of the traceback, if nothing is left out behind it."""
    logged: str = ""
    """The file that logs a record that is no exception."""

    @property
    def raised(self) -> str:
        """The exception without its module."""
        return self.exception.rpartition(".")[2]

    @property
    def line(self) -> str:
        """The last line of a traceback, with the whole message on it."""
        return f"{self.raised}: {self.text}" if self.raised else self.text


def pasted(text: str) -> Pasted:
    """The message in a pasted text."""
    return all_pasted(text)[0]


def all_pasted(text: str) -> list[Pasted]:
    """The messages in a pasted text: of the last exception, then of those around it."""
    bare, logging = _without_margin(text)
    raised = list(_RAISED.finditer(bare))
    found = PLACE.findall(text)
    places = [
        (path.replace("\\", "/"), int(at or other or 0), name or named or called)
        for path, at, name, other, named, called in found
    ]
    places.reverse()
    places += [(path, line, "") for path, line in logging]
    ends = [*(one.start() for one in raised[1:]), len(bare)][: len(raised)]
    errors = [
        _one_pasted(bare[one.end() : end], one, tuple(places), _frame(bare[: one.start()]))
        for one, end in zip(raised, ends, strict=True)
    ]
    records = bare.split(f"\n{_NEXT}\n")[:_RECORDS]
    files = (path for (path, _), _ in groupby(logging))
    read = (
        _one_pasted(record, None, tuple(places))._replace(logged=path)
        for record, path in zip_longest(records, islice(files, len(records)), fillvalue="")
    )
    return errors[::-1] or list(read)


_RECORDS = 5
"""Most records of a log that are looked at."""


def without_margin(text: str) -> str:
    """A text without what loggers print before each line, and without colours."""
    return _without_margin(text)[0].replace(f"\n{_NEXT}\n", "\n")


def _without_margin(text: str) -> tuple[str, list[tuple[str, int]]]:
    """The text, with a line between two records, and the places that the records name."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    for line in _COLOURS.sub("", text).split("\n"):
        found = _MARGIN.match(line)
        if found and found[1]:
            place = found[1], int(found[2])
            lines += [_NEXT] if places and places[-1] != place else []
            places.append(place)
        lines.append(line[found.end() :] if found else line)
    return "\n".join(lines), places


def _frame(before: str) -> Frame | None:
    found = _FRAME.search(before)
    return Frame(found[1].replace("\\", "/"), int(found[2]), found[3]) if found else None


def _one_pasted(
    text: str, head: Match[str] | None, places: Places, frame: Frame | None = None
) -> Pasted:
    name = head[1] or "" if head else ""
    from_line = _RAISED_FROM.search(text)
    raised_from = (from_line[1], int(from_line[2])) if from_line else None
    return Pasted(plain(_AFTER.split(text)[0]), name, places, raised_from, frame)


def message_of(text: str) -> str:
    """A message without the C++ stack behind it."""
    return _AFTER.split(text)[0].strip()


def without_table(text: str) -> str:
    """A text without the dispatch tables in it, which can be longer than all else."""
    return _TABLE.sub("", text)


def raised_in(text: str) -> tuple[str, str, int] | None:
    """Function, file and line in the first line of a C++ stack."""
    found = _RAISING.search(without_margin(text))
    return (found[1], found[2], int(found[3])) if found else None


def operators_on_stack(text: str) -> list[str]:
    """The classes in ``at::_ops`` on the C++ stack behind a message, as ``add_Tensor``, outermost
    first."""
    return list(dict.fromkeys(reversed(_CALLED.findall(text))))


def has_message(text: str) -> bool:
    """Whether a text has more than a C++ stack."""
    found = _RAISING.search(bare := without_margin(text))
    return found is None or bare[: found.start()].strip() != ""


class Asserted(NamedTuple):
    """A failed assertion in c10's format."""

    condition: str
    path: str
    line: int
    said: str
    """What the assertion says besides."""


def asserted(text: str) -> Asserted | None:
    """The failed assertion in a text."""
    found = _ASSERTED.search(pasted(text).text)
    if found is None:
        return None
    return Asserted(found[1].strip(), found[2] or found[3], int(found[4]), found[5])


def part_of(text: str, form: Pattern[str]) -> str:
    """The part of a message in a format such as ``FAILED``; empty if it does not match."""
    found = form.search(text)
    return found[1] if found else ""
