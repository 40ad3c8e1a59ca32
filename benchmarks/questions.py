"""What somebody would have asked before a commit that is already made.

The class of a commit follows from its diff and title, the first that fits:

- It adds entries to native_functions.yaml, or definitions of operators of a library: a new
  operator, which is measured elsewhere.
- ``docs``: its title speaks of docs, and its sources are documents or Python.
- ``error check``: its title speaks of errors or checks, and it adds a line that raises one.
- ``derivative``: it changes formulas of derivatives.yaml or the functions that they call.
- ``python``: it changes decompositions, refs, metas, or before there were any torch/functional.py
  and torch/nn/functional.py.
- ``new kernel``: it adds a line of a dispatch table or a registration of a kernel.
- ``kernel fix``: its sources are all below aten/, with kernels among them: what changes vectors or
  dispatch alone is a fix of no operator.

Left out are sweeps over more than eight sources or names, porting from TH, of which later trees
have none, and what was picked for a release: that is on the main branch too.

Asked is by the words that the commit's message says (``benchmarks.subjects``). A commit whose
message says no subject is left out and counted, whatever its diff would answer. An error check
that changes words that people see is asked by these words, and by the names that its message says.
The word after ``--for`` is the class's own; of a new kernel it is the back end that gains most
kernels where the message speaks of it (``CUDA``, ``quant``), else the operator is asked for alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from typing import NamedTuple

from benchmarks.commits import Commit, FileDiff, diff, git
from benchmarks.subjects import YAML, message, subjects

CLASSES = ("kernel fix", "derivative", "new kernel", "python", "docs", "error check")
_MOST = 8
"""Above that a commit sweeps over many operators: sources, and names."""
_DERIVATIVES = "tools/autograd/derivatives.yaml"
_FORMULAS = ("FunctionsManual", "autograd/templates/Functions.")
_PYTHON = (
    "torch/_decomp/",
    "torch/_meta_registrations.py",
    "torch/_prims/",
    "torch/_refs/",
    "torch/functional.py",
    "torch/nn/functional.py",
)
_CHECKED = ("aten/", "torch/functional.py", "torch/nn/functional.py", "torch/_", "tools/autograd/")
_KERNELS = ("aten/src/ATen/native/", "functorch/", "aten/src/ATen/functorch/", "aten/src/ATen/B")
"""Where kernels and batching rules are registered: BatchingRegistrations.cpp is the last."""
_DOCS = re.compile(r"(?i)\b(docs?|documentation|docstrings?|typos?)\b")
_ERROR = re.compile(r"(?i)\b(checks?|errors?|assert\w*|exceptions?|messages?|raises?|throws?)\b")
_RAISES = re.compile(r"TORCH_CHECK|AT_CHECK|AT_ERROR|_error\(|\braise \w+")
_LEFT_OUT = re.compile(r"\bTHC?\b|(?i:\bport|migrat|\bmove .* to aten\b)|^\[?v?1\.\d")
_DISPATCH = re.compile(r"^\s{4,}([A-Z]\w+(?:, ?[A-Z]\w+)*): \w+")
_REGISTRATION = re.compile(r"\bm\.impl\w*\(|VMAP_SUPPORT|OP_DECOMPOSE")
_REGISTERED_FOR = re.compile(r"TORCH_LIBRARY_IMPL\(\w+, *(\w+)")
_DEFINED = re.compile(r"\bm\.def\(|- func: ")
_IN_PYTHON = {
    "meta": re.compile(r"^@register_meta|^@torch\.library\.impl\(meta_lib"),
    "decomposition": re.compile(r"^@register_decomposition\("),
    "ref": re.compile(r"^def [a-z]|^\w+ = _make_elementwise_"),
}
"""What begins a function of Python for an operator, in the files of each kind."""
_FILES_OF = {"meta": "torch/_meta_reg", "decomposition": "torch/_decomp/", "ref": "torch/_refs/"}
_TEXT = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
"""A whole string: what stands between two of them is none."""
_SAYS = 12
"""Letters of a part of a message that says something."""


@dataclass(frozen=True, slots=True)
class Case:
    """A commit as a question."""

    commit: Commit
    kind: str
    subjects: tuple[str, ...]
    """What is typed: names of operators, of Python or of functions in C++, or the text of an error;
    empty where the commit's message says none."""
    wanted: str
    """The word after ``--for``; empty where an existing thing is changed."""

    @property
    def asked(self) -> str:
        """The arguments of ``contribute``."""
        return f"{' '.join(self.subjects)}{f' --for {self.wanted}' if self.wanted else ''}"


class Drawn(NamedTuple):
    """The questions of a seed."""

    cases: Sequence[Case]
    """The oldest first."""
    left_out: Counter[str]
    """By class, the commits among those looked at whose message says no subject."""


def questions(
    root: Path, found: Sequence[Commit], each: int, seed: int, classes: Sequence[str] = CLASSES
) -> Drawn:
    """``each`` commits of every class, drawn by seed."""
    order = list(found)
    random.Random(seed).shuffle(order)
    drawn: dict[str, list[Case]] = {kind: [] for kind in classes}
    left_out: Counter[str] = Counter()
    for commit in order:
        if all(len(cases) >= each for cases in drawn.values()):
            break
        case = question(root, commit, classes)
        if case and len(drawn[case.kind]) < each:
            left_out[case.kind] += not case.subjects
            drawn[case.kind].extend([case] if case.subjects else [])
    cases = [case for some in drawn.values() for case in some]
    cases.sort(key=lambda case: found.index(case.commit), reverse=True)
    return Drawn(cases, left_out)


def question(root: Path, commit: Commit, classes: Sequence[str] = CLASSES) -> Case | None:
    """What somebody would have asked before the commit, with no subject where its message says
    none; None where it is of no such class."""
    if _LEFT_OUT.search(commit.title) or len(commit.sources) > _MOST:
        return None
    try:
        files = diff(root, commit)
    except CalledProcessError:  # a partial clone lacks large files
        return None
    kind = _class(commit, files)
    if kind not in classes:
        return None
    names = subjects(root, commit, files, in_python=kind in ("docs", "python"))
    if len(names) > _MOST:
        return None
    if kind == "error check" and (text := _gone_text(commit, files)):
        names = (text, *names)
    return Case(commit, kind, names, _wanted(root, commit, kind, files))


# ------------------------------------------------------------------------------- its class


def _class(commit: Commit, files: Sequence[FileDiff]) -> str:
    sources = [one for one in files if one.path in commit.sources]
    if any(_count(_DEFINED, one.added) > _count(_DEFINED, one.removed) for one in sources):
        return ""
    added, paths = [line for one in sources for line in one.added], commit.sources
    documents = all(path.startswith("docs/") or path.endswith(".py") for path in paths)
    if documents and _DOCS.search(commit.title):
        return "docs"
    if _ERROR.search(commit.title) and any(map(_RAISES.search, added)):
        return "error check" if all(path.startswith(_CHECKED) for path in paths) else ""
    if any(map(_is_of_formulas, sources)):
        return "derivative"
    if any(path.startswith(_PYTHON) for path in paths):
        return "python"
    if any(map(_registers, sources)):
        return "new kernel"
    kernels = (path for path in paths if path.startswith(_KERNELS) and path != YAML)
    return "kernel fix" if all(p.startswith("aten/") for p in paths) and any(kernels) else ""


def _count(pattern: re.Pattern[str], lines: Iterable[str]) -> int:
    return sum(pattern.search(line) is not None for line in lines)


def _is_of_formulas(file: FileDiff) -> bool:
    """Whether it changes formulas: not only the names or types of arguments in derivatives.yaml."""
    if file.path == _DERIVATIVES:
        return any(line.startswith("  ") for line in (*file.added, *file.removed))
    return any(mark in file.path for mark in _FORMULAS)


def _registers(file: FileDiff) -> bool:
    if file.path == YAML:
        return any(map(_DISPATCH.match, file.added))
    own = file.path.startswith(_KERNELS)
    return own and _count(_REGISTRATION, file.added) > _count(_REGISTRATION, file.removed)


def _wanted(root: Path, commit: Commit, kind: str, files: Sequence[FileDiff]) -> str:
    if kind == "docs":
        return "docs"
    if kind == "error check":
        return "error-message"
    if kind == "derivative":
        return "derivative"
    if kind == "python":
        return _registered_in_python(commit.title.lower(), files)
    key = _key(root, commit, files) if kind == "new kernel" else ""
    return key if _speaks_of(key, " ".join(message(root, commit))) else ""


def _speaks_of(key: str, text: str) -> bool:
    """Whether a text has one of the words that a back end's key is made of (``quant`` of
    QuantizedCPU), or the whole of an alias key."""
    if key == "batch-rule":
        return re.search(r"(?i)batch(?:ed|ing)\b|vmap|functorch", text) is not None
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", key)
    words = [key] if key.startswith("Composite") else [part[:5] for part in parts]
    return any(word.lower() in text.lower() for word in words)


def _registered_in_python(title: str, files: Sequence[FileDiff]) -> str:
    """What a commit registers more of in Python than before, or in place of other things where its
    title says so; empty where it changes what is there."""
    more = {
        kind: sum(
            _count(mark, one.added) - (kind not in title and _count(mark, one.removed))
            for one in files
            if one.path.startswith(_FILES_OF[kind])
        )
        for kind, mark in _IN_PYTHON.items()
    }
    most = max(more, key=more.__getitem__)
    return most if more[most] > 0 else ""


def _key(root: Path, commit: Commit, files: Sequence[FileDiff]) -> str:
    """The dispatch key that gains most kernels, by the YAML file or by the block of a library."""
    if any("atching" in one.path or "BatchRules" in one.path for one in files):
        return "batch-rule"
    yaml = [one for one in files if one.path == YAML]
    added = _keys([line for one in yaml for line in one.added])
    gained = added - _keys([line for one in yaml for line in one.removed]) or added
    if gained:  # the last of several, or what goes from one operator to another
        return max(reversed(gained), key=gained.__getitem__)
    registering = [one for one in files if _registers(one) and one.path != YAML]
    blocks = (_blocks(root, commit, one) for one in registering)
    return next((key for some in blocks for key in some), "")


def _keys(lines: Sequence[str]) -> Counter[str]:
    """The dispatch keys in lines of a dispatch table, in their order."""
    matches = [match for line in lines if (match := _DISPATCH.match(line))]
    return Counter(key.strip() for match in matches for key in match[1].split(","))


def _blocks(root: Path, commit: Commit, file: FileDiff) -> Iterator[str]:
    """The keys of the TORCH_LIBRARY_IMPL blocks of a file after a commit."""
    for match in _REGISTERED_FOR.finditer(git(root, "show", f"{commit.name}:{file.path}")):
        yield match[1]


def _gone_text(commit: Commit, files: Sequence[FileDiff]) -> str:
    """The longest part of a message that a commit says in other words; empty where it only adds
    checks."""
    sources = [one for one in files if one.path in commit.sources]
    now = "\n".join(line for one in sources for line in one.added)
    gone = [text for one in sources for line in one.removed for text in _TEXT.findall(line)]
    said = (text for text in gone if len(text) >= _SAYS and " " in text and text not in now)
    return max(said, key=len, default="")
