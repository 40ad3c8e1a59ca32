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

Asked is by the words that a person has:

- The operators of the parent's native_functions.yaml that the title names, if the diff has them
  too: those that are written as a name (``torch.min``, ``conv[12]d``, ``max_pool``), that stand in
  a list with others (``lt, le``), or whose own functions, entries or files change.
- Those whose entries the diff changes in a YAML file: a change of six is asked by six names.
- Without any the one that more than half of the headings of changed functions name.
- Of docs and Python first the classes and functions of Python that the title names and whose lines
  change, then the changed files that it names.
- An error check that changes words that people see is asked by these words, and by the operators
  that its title names; one that names none by the function in C++ that it names, or by the place
  that it changes most, whose file is then not counted; a commit of this file alone is left out.

In-place and out variants are asked by the operator's own name.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import CalledProcessError

from benchmarks.commits import Commit, FileDiff, diff, git

CLASSES = ("kernel fix", "derivative", "new kernel", "python", "docs", "error check")
_MOST = 8
"""Above that a commit sweeps over many operators: sources, and names."""
_YAML = "aten/src/ATen/native/native_functions.yaml"
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
_REGISTRATION = re.compile(r"\bm\.impl\(|VMAP_SUPPORT|OP_DECOMPOSE")
_REGISTERED_FOR = re.compile(r"TORCH_LIBRARY_IMPL\(\w+, *(\w+)")
_DEFINED = re.compile(r"\bm\.def\(|- func: ")
_ENTRY = re.compile(r"- (?:name|func): (\w+)")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_MARKED = re.compile(
    r"\b(?:torch|Tensor|F|functional|linalg|special|fft)\.([a-z_]\w*)|(?<=[`'\":])([a-z_]\w*)"
    r"|(?<![\w.])([a-z]\w*)(?=\()|\b([a-z]+(?:_\w*|\d\w*))"
)
"""Words that are written as a name."""
_SPACED = re.compile(r"\b([a-z]+)\.([a-z_]\w*)")
"""An operator of a namespace, as Python writes it: ``linalg.norm``."""
_LISTED = re.compile(r"\w+(?:(?:,? and |, ?|/)\w+)+")
_TAG = re.compile(r"\[([a-z]\w*)\]")
"""What a title says first that it is about: ``[segment_reduce]``."""
_RANGE = re.compile(r"(\w*)(?:\[(\w+)\]|\{([\w, /|]+)\})(\w*)")
"""Several names in one: ``pool[23]d``, ``{min, max}``."""
_USED = re.compile(r"(?<=[.'\"`: _])[a-z_]\w*(?=\()|(?<=[.'\"`])[a-z_]\w*|(?<=:: )[a-z_]\w*")
"""Called, or marked as a name."""
_HEADED = re.compile(r"\s*(?:class |def |(?:\w+ = )?_?add_docstr\w*\((?:[\w.]*\.|[\"'])?)(\w+)")
"""What a heading is of: a class, a function, or the name that a docstring is added to."""
_FUNCTION = re.compile(r"([a-z_]\w*)\(")
_TAIL = re.compile(r"(_(cpu|cuda|kernel|impl|out|backward|template|stub|sparse|quantized|mps))+_?$")
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
    """What is typed: names of operators, the text of a message, or a place."""
    wanted: str
    """The word after ``--for``; empty where an existing thing is changed."""

    @property
    def asked(self) -> str:
        """The arguments of ``contribute``."""
        return f"{' '.join(self.subjects)}{f' --for {self.wanted}' if self.wanted else ''}"


def questions(
    root: Path, found: Sequence[Commit], each: int, seed: int, classes: Sequence[str] = CLASSES
) -> list[Case]:
    """``each`` commits of every class, drawn by seed, the oldest first."""
    order = list(found)
    random.Random(seed).shuffle(order)
    drawn: dict[str, list[Case]] = {kind: [] for kind in classes}
    for commit in order:
        if all(len(cases) >= each for cases in drawn.values()):
            break
        case = question(root, commit, classes)
        if case and len(drawn[case.kind]) < each:
            drawn[case.kind].append(case)
    cases = [case for some in drawn.values() for case in some]
    return sorted(cases, key=lambda case: found.index(case.commit), reverse=True)


def question(root: Path, commit: Commit, classes: Sequence[str] = CLASSES) -> Case | None:
    """What somebody would have asked before the commit; None where it is of no such class."""
    if _LEFT_OUT.search(commit.title) or len(commit.sources) > _MOST:
        return None
    files = diff(root, commit)
    kind = _class(commit, files)
    if kind not in classes:
        return None
    subjects = _subjects(root, commit, kind, files)
    if kind == "error check" and (text := _gone_text(commit, files)):
        subjects = (text, *(one for one in subjects if one in commit.title))
    if not subjects and kind == "error check":
        place = (_most_changed(commit, files),) if len(commit.sources) > 1 else ()
        function = _function_named(root, commit)
        return Case(commit, kind, function or place, "") if function or place else None
    wanted = _wanted(root, commit, kind, files)
    return Case(commit, kind, subjects, wanted) if 0 < len(subjects) <= _MOST else None


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
    kernels = (path for path in paths if path.startswith(_KERNELS) and path != _YAML)
    return "kernel fix" if all(p.startswith("aten/") for p in paths) and any(kernels) else ""


def _count(pattern: re.Pattern[str], lines: Iterable[str]) -> int:
    return sum(pattern.search(line) is not None for line in lines)


def _is_of_formulas(file: FileDiff) -> bool:
    """Whether it changes formulas: not only the names or types of arguments in derivatives.yaml."""
    if file.path == _DERIVATIVES:
        return any(line.startswith("  ") for line in (*file.added, *file.removed))
    return any(mark in file.path for mark in _FORMULAS)


def _registers(file: FileDiff) -> bool:
    if file.path == _YAML:
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
    return _key(root, commit, files) if kind == "new kernel" else ""


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
    yaml = [one for one in files if one.path == _YAML]
    keys = _keys([line for one in yaml for line in one.added])
    keys.subtract(_keys([line for one in yaml for line in one.removed]))
    if last_first := [key for key in reversed(keys) if keys[key] > 0]:
        return max(last_first, key=keys.__getitem__)
    registering = [one for one in files if _registers(one) and one.path != _YAML]
    blocks = (_blocks(root, commit, one) for one in registering)
    return next((key for some in blocks for key in some), "")


def _keys(lines: Sequence[str]) -> Counter[str]:
    """The dispatch keys in lines of a dispatch table, in their order."""
    matches = [match for line in lines if (match := _DISPATCH.match(line))]
    return Counter(key.strip() for match in matches for key in match[1].split(","))


def _blocks(root: Path, commit: Commit, file: FileDiff) -> Iterator[str]:
    """The keys of the TORCH_LIBRARY_IMPL blocks of a file after a commit."""
    for match in _REGISTERED_FOR.finditer(_text(root, f"{commit.name}:{file.path}")):
        yield match[1]


# ------------------------------------------------------------------------------- its names


def _subjects(root: Path, commit: Commit, kind: str, files: Sequence[FileDiff]) -> tuple[str, ...]:
    names = _operators(root, git(root, "rev-parse", f"{commit.name}~1:{_YAML}").strip())
    headings = [line for one in files for line in _headings(root, commit, one)]
    if kind in ("docs", "python"):
        named = _python_names(commit.title, headings) or _files_named(commit)
        if named:
            return tuple(sorted(named))
    lines = [line for one in files for line in (*one.added, *one.removed, *headings)]
    words = {word for line in lines for word in _USED.findall(line)}
    changed = [word for line in headings for word in _FUNCTION.findall(line)]
    said = Counter(base for word in changed if (base := _base(word, names)) in names)
    entries = [_base(name, names) for name in map(_entry_of, headings) if name in names]
    there = words | {_TAIL.sub("", one) for one in words}
    own = {*said, *entries, *(one for one in there if _is_in_path(one, commit.sources))}
    titled = _titled(commit.title, names, there | own, own)
    most = [one for one, count in said.most_common(1) if 2 * count > len(changed)]
    return tuple(dict.fromkeys([*titled, *entries] or most))


def _titled(title: str, names: frozenset[str], there: set[str], own: set[str]) -> Sequence[str]:
    """The operators that a title names: its first word, of plain letters, is a verb.

    ``there`` are the words of the diff, ``own`` those whose functions, entries or files change."""
    if tags := [tag for tag in _TAG.findall(title) if tag in names and tag in own]:
        return tags
    plain = re.sub(r"^(\[.*?\]\s*)+|\(#\d+\)$", "", title)
    plain = _RANGE.sub(lambda one: " ".join(_of_range(one)), re.sub(r"^[A-Za-z]+ ", "", plain))
    plain = re.sub(r"(\w+)Backward\d*", lambda node: node[1].lower(), plain)
    spaced = {f"{space}_{name}" for space, name in _SPACED.findall(plain)} & names
    plain = _SPACED.sub(
        lambda one: one[0].replace(".", "_" if "_".join(one.groups()) in spaced else "."), plain
    )
    bases = dict.fromkeys(_base(word, names) for word in _NAME.findall(plain) if len(word) > 1)
    found = [base for base in bases if base in names and base in there | spaced]
    marked = {_base("".join(groups), names) for groups in _MARKED.findall(plain)}
    listed = {_base(one, names) for some in _LISTED.findall(plain) for one in _listed(some, names)}
    return [base for base in found if base in marked | listed | own]


def _listed(text: str, names: frozenset[str]) -> Sequence[str]:
    """The operators of a list with several."""
    found = [word for word in _NAME.findall(text) if _base(word, names) in names]
    return found if len(found) > 1 else ()


def _is_in_path(word: str, paths: Iterable[str]) -> bool:
    plain = word.replace("_", "").lower()
    return len(plain) > 2 and any(plain in path.rpartition("/")[2].lower() for path in paths)


def _of_range(match: re.Match[str]) -> Iterator[str]:
    parts = list(match[2]) if match[2] else re.split(r"[, /|]+", match[3])
    return (f"{match[1]}{part}{match[4]}" for part in parts)


def _base(word: str, names: frozenset[str]) -> str:
    """The operator that a function's name is for, without the underscore of in-place."""
    name = word if word in names else _TAIL.sub("", word)
    return name.rstrip("_") if name.rstrip("_") in names else name


def _headings(root: Path, commit: Commit, file: FileDiff) -> list[str]:
    """What the changed lines of a file belong to: functions, and entries of a YAML file. Git takes
    any line without indent for a heading in Python, such as one of a docstring."""
    heads = {".yaml": _ENTRY, ".py": _HEADED}.get(Path(file.path).suffix)
    if file.status != "M" or heads is None:
        return [heading for _, heading in file.hunks]
    lines = _text(root, f"{commit.name}~1:{file.path}").splitlines()
    above = [reversed(lines[:number]) for number, _ in file.hunks]
    return [next((one for one in some if heads.match(one)), "") for some in above]


def _entry_of(heading: str) -> str:
    match = _ENTRY.match(heading)
    return match[1] if match else ""


def _python_names(title: str, headings: Sequence[str]) -> set[str]:
    """The classes and functions of changed lines that a title names."""
    changed = {match[1] for line in headings if (match := _HEADED.match(line))}
    return changed & set(re.findall(r"\w{3,}", title))


def _files_named(commit: Commit) -> set[str]:
    """The changed Python files that a title names: ``functional.py``, ``torch.nn.functional``."""
    words = re.findall(r"[\w./]*[./]\w+", commit.title)
    ends = tuple(f"/{word.removesuffix('.py').replace('.', '/')}.py" for word in words)
    return {path for path in commit.sources if ends and f"/{path}".endswith(ends)}


def _gone_text(commit: Commit, files: Sequence[FileDiff]) -> str:
    """The longest part of a message that a commit says in other words; empty where it only adds
    checks."""
    sources = [one for one in files if one.path in commit.sources]
    now = "\n".join(line for one in sources for line in one.added)
    gone = [text for one in sources for line in one.removed for text in _TEXT.findall(line)]
    said = (text for text in gone if len(text) >= _SAYS and " " in text and text not in now)
    return max(said, key=len, default="")


def _most_changed(commit: Commit, files: Sequence[FileDiff]) -> str:
    """The first change of the source that changes most, before the commit."""
    sources = [one for one in files if one.path in commit.sources and one.hunks]
    most = max(sources, key=lambda one: len(one.added) + len(one.removed))
    return f"{most.path}:{max(1, most.hunks[0][0])}"


def _function_named(root: Path, commit: Commit) -> tuple[str, ...]:
    """The function of several words that the title names and that a changed source defines, with
    the class after which its file is called."""
    words = re.findall(r"\b[a-z]+_\w+", commit.title)
    for path in commit.sources:
        text, stem = _text(root, f"{commit.name}~1:{path}"), Path(path).stem
        own = f"{stem}::" if re.search(rf"\b(?:class|struct)\b.* {stem}\b", text) else ""
        for word in words:
            if re.search(rf"[ :]{word}\([^;{{]*{{", text):
                return (f"{own}{word}",)
    return ()


@lru_cache(maxsize=2000)
def _operators(root: Path, blob: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?m)^- func: (\w+)", git(root, "cat-file", "blob", blob)))


def _text(root: Path, name: str) -> str:
    try:
        return git(root, "show", name)
    except CalledProcessError:  # the commit removes the file
        return ""
