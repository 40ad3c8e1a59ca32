"""What a commit's message says that it is about: the words that somebody would have asked by.

Read is the title, with its first line of the body where it was cut there (``...``); the first
paragraph of the body only where the title names nothing. A word of them is an operator asked for
if the parent's native_functions.yaml has it and the diff changes what is its own: its entry, a
function or a test called after it, a registration or definition of it, or a file called after it;
the last does not suffice in the body, whose plain words ("all") files may have in their names.
Of a word that is written as a name (``torch.min``, ``conv[12]d``, ``max_pool``, with backticks, in
a list with others) it suffices that the changed lines have it too; a pattern (``empty*``) is none.
Words side by side that make the name of one operator are that one (``batch norm``), and case says
nothing (``SVD``). The first word, of plain letters, is a verb. In-place and out variants are asked
by the operator's own name.

No operator asked for is

- a means: what follows "use", "via", "instead of" and the like, unless a function or an entry of
  its own changes;
- an argument: what stands in the parentheses of a call, beside "argument", "flag" and the like, or
  is an argument's name in the signature of another operator that the title names.

Of docs and Python the classes and functions of Python that the title names (``triplet margin
loss``, ``_ConvNd.reset_parameters``) and whose lines change come first, then the changed files that
it names. A word that is an operator only by a file's name is rather the page that has the name, or
a public function of torch beside it in the title. Where no operator is named, a function of several
words in C++ counts that the title names and a changed source defines. A message without any of
these says no subject: what its author knew is not to be had, and what the diff changes is the
answer, not the question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from subprocess import CalledProcessError

from benchmarks.commits import Commit, FileDiff, git

YAML = "aten/src/ATen/native/native_functions.yaml"
_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+\w*")
"""A word of a file's name."""
_MARKED = re.compile(
    r"\b(?:torch|Tensor|tensor|aten|F|functional|linalg|special|fft)\.([a-z_]\w*)"
    r"|(?<=[`:])([a-z_]\w*)|(?<![\w.])([a-z]\w*)(?=\()|\b([a-z]+(?:_\w*|\d\w*))"
)
"""Words that are written as a name; what stands in plain quotes is a value, as ``'max'``."""
_SPACED = re.compile(r"\b([a-z]+)\.([a-z_]\w*)")
"""An operator of a namespace, as Python writes it: ``linalg.norm``."""
_LISTED = re.compile(r"\w+(?:(?:,? and |, ?|/)\w+)+")
_TAG = re.compile(r"\[([a-z]\w*)\]")
"""What a title says first that it is about: ``[segment_reduce]``."""
_RANGE = re.compile(r"(\w*)(?:\[(\w+)\]|\{([\w, /|]+)\})(\w*)")
"""Several names in one: ``pool[23]d``, ``{min, max}``."""
_ARGUMENTS = re.compile(r"(?<=\w)\([^()]*\)")
_PATTERN = re.compile(r"[\w.]*\w\*[\w.]*|\*\w[\w.]*")
"""Several names at once: ``empty*``, ``*_like``."""
_BESIDE = r"(?:arg(?:ument)?s?|param(?:eter)?s?|k(?:ey)?wargs?|keywords?|options?|flags?|modes?)"
_ARGUMENT = re.compile(rf"(?i)\b{_BESIDE} [`'\"]?(\w+)|\b(\w+)[`'\"]? {_BESIDE}\b")
_MEANS = re.compile(
    r"(?i)\b(?:us(?:e|es|ed|ing)|via|like|calling|through|(?:instead|in favou?r|in terms) of"
    r"|replac\w+ \S+ (?:with|by)|based on|on top of|rather than|similar to)"
    r"(?: the)? [`'\"]?(?:\w+(?:\.|::))*(\w+)"
)
_USED = re.compile(r"(?<=[.'\"`: _])[a-z_]\w*(?=\()|(?<=[.'\"`])[a-z_]\w*|(?<=:: )[a-z_]\w*")
"""Called, or marked as a name."""
_DEFINES = re.compile(
    r"(?:\bdef |impl\(\"|register_\w+\(\[?(?:torch\.ops\.)?aten\.|OpInfo\([\"'](?:\w+\.)?"
    r"|(?:FUNC|SUPPORT|DECOMPOSE)\w*\()(\w+)"
)
_HEADED = re.compile(r"\s*(?:class |def |(?:\w+ = )?_?add_docstr\w*\((?:[\w.]*\.|[\"'])?)(\w+)")
"""What a heading is of: a class, a function, or the name that a docstring is added to."""
_FUNCTION = re.compile(r"([a-z_]\w*)\(")
_METHOD = re.compile(r"\b(_*[A-Z]\w+)\.([a-z_]\w*)")
"""A method with its class."""
_FUNCTIONAL = ("torch/functional.py", "torch/nn/functional.py")
_PUBLIC = re.compile(r"(?m)^def ([a-z]\w{3,})\(")
_TAIL = re.compile(r"(_(cpu|cuda|kernel|impl|out|backward|template|stub|sparse|quantized|mps))+_?$")
_BLOCK = re.compile(r"(?m)^- (?:name|func): (\w+)")


def subjects(
    root: Path, commit: Commit, files: Sequence[FileDiff], *, in_python: bool
) -> tuple[str, ...]:
    """The names that the message says the commit is about; none where it says none."""
    title, paragraph = message(root, commit)
    headings = [line for one in files for line in _headings(root, commit, one)]
    if in_python and (named := _python_names(title, headings) or _files_named(title, commit)):
        return tuple(sorted(named))
    words = _Words(root, commit, files, headings)
    found = words.named(title) or words.named(paragraph, only_own=True)
    if found and not any(map(words.is_changed, found)):  # a file has their names among others
        among = _pages_named if in_python else _public_named
        found = among(root, title, commit, words.operators) or found
    said = _PATTERN.sub(" ", f"{title}\n{paragraph}")
    entries = [one for one in words.entries if re.search(rf"\b{one}_?\b", said)]
    if found or entries:
        return tuple(dict.fromkeys([*found, *entries]))
    return _function_named(root, title, commit)


def message(root: Path, commit: Commit) -> tuple[str, str]:
    """The title, whole, and the first paragraph of the body that says something."""
    body = git(root, "show", "-s", "--format=%b", commit.name)
    title = re.sub(r" ?\(#\d+\)$", "", commit.title)
    if title.endswith(("...", "…")) and body.startswith(("...", "…")):
        rest, _, body = body.partition("\n")
        title = title.rstrip(".…") + rest.lstrip(".…")
    plain = re.sub(r"(?m)^(Summary:|Pull Request resolved:.*|Fixes .*|#+ .*)", "", body)
    plain = re.split(r"(?m)^(?:Test Plan|Reviewed By|Differential|ghstack|<details>)", plain)[0]
    return title, next((one for one in re.split(r"\n\s*\n", plain) if one.strip()), "")


class _Words:
    """The operators of the parent, and which of them a diff is about."""

    def __init__(
        self, root: Path, commit: Commit, files: Sequence[FileDiff], headings: Sequence[str]
    ) -> None:
        blob = git(root, "rev-parse", f"{commit.name}~1:{YAML}").strip()
        self._arguments = _signatures(root, blob)
        self.entries = [
            one
            for name in _entries(root, commit, files)
            if (one := self._base(name)) in self._arguments
        ]
        lines = [line for one in files for line in (*one.added, *one.removed)]
        words = {word for line in (*lines, *headings) for word in _USED.findall(line)}
        changed = {word for line in headings for word in _FUNCTION.findall(line)}
        changed |= {match[1] for line in headings if (match := _HEADED.match(line))}
        self._changed = {*map(self._base, changed), *self.entries}
        own = {word for line in lines for word in _DEFINES.findall(line)}
        tests = {word.removeprefix("test_") for word in own | changed if word.startswith("test_")}
        self._own = self._changed | {*map(self._base, own)} | tests
        self._there = words | {*map(self._base, words)} | self._own
        self._paths = commit.paths

    @property
    def operators(self) -> Collection[str]:
        return self._arguments.keys()

    def named(self, text: str, *, only_own: bool = False) -> Sequence[str]:
        """The operators that a text names. Its first word, of plain letters, is a verb."""
        tags = [tag for tag in _TAG.findall(text) if tag in self._arguments and self._is_own(tag)]
        if tags:
            return tags
        plain = self._plain(text)
        words = (self._base(word.lower()) for word in _NAME.findall(plain) if len(word) > 1)
        said = [word for word in dict.fromkeys(words) if word in self._arguments]
        marked = {self._base("".join(groups)) for groups in _MARKED.findall(plain)}
        for some in _LISTED.findall(plain):
            marked |= self._listed(some)
        found = [w for w in said if (w in self._own if only_own else self._is_own(w))]
        if not only_own:
            found = [w for w in said if w in found or (w in marked and w in self._there)]
        no_subjects = self._no_subjects(text, plain, found)
        return [word for word in found if word not in no_subjects]

    def _no_subjects(self, text: str, plain: str, found: Sequence[str]) -> set[str]:
        """The means and the arguments."""
        means = {self._base(match[1]) for match in _MEANS.finditer(text)} - self._changed
        beside = {match[1] or match[2] for match in _ARGUMENT.finditer(plain)}
        others = {arg for name in found for arg in self._arguments[name] - {name}}
        return means | beside | (others - self._changed)

    def _plain(self, text: str) -> str:
        """The text with each name as torchgen writes it, and without the arguments of calls."""
        plain = re.sub(r"^(\[.*?\]\s*)+", "", text)
        plain = _RANGE.sub(lambda one: " ".join(_of_range(one)), re.sub(r"^[A-Za-z]+ ", "", plain))
        plain = re.sub(r"(\w+)Backward\d*", lambda node: node[1].lower(), plain)
        plain = _PATTERN.sub(" ", _ARGUMENTS.sub("()", plain))
        names = self._arguments

        def joined(match: re.Match[str]) -> str:
            one = "_".join(match.groups())
            return one if self._base(one) in names else match[0]

        return self._beside(_SPACED.sub(joined, plain))

    def _beside(self, plain: str) -> str:
        """The text with words side by side as one where they make the name of an operator."""
        words = plain.split(" ")
        found, at = [], 0
        while at < len(words):
            ends = (end for end in (4, 3, 2) if self._is_name(words[at : at + end], end))
            length = next(ends, 1)
            joined = "_".join(words[at : at + length])
            found.append(joined.lower() if length > 1 else joined)
            at += length
        return " ".join(found)

    def _is_name(self, words: Sequence[str], length: int) -> bool:
        name = "_".join(words).lower().rstrip(",.:;")
        return len(words) == length and name in self._arguments and self._is_own(name)

    def is_changed(self, word: str) -> bool:
        """Whether the diff changes what is its own, not only a file that has its name."""
        return word in self._own

    def _is_own(self, word: str) -> bool:
        return word in self._own or _is_in_path(word, self._paths)

    def _listed(self, text: str) -> set[str]:
        """The operators of a list with several."""
        found = {
            base for one in _NAME.findall(text) if (base := self._base(one)) in self._arguments
        }
        return found if len(found) > 1 else set()

    def _base(self, word: str) -> str:
        """The operator that a function's name is for, without the underscore of in-place."""
        name = word if word in self._arguments else _TAIL.sub("", word)
        plain = name.rstrip("_")
        return plain if plain in self._arguments else name


def _is_in_path(word: str, paths: Iterable[str]) -> bool:
    """Whether a file is called after a word: words of its name side by side are it."""
    plain = word.replace("_", "").lower()
    return any(plain in _runs(Path(path).stem) for path in paths)


@lru_cache(maxsize=2000)
def _runs(stem: str) -> frozenset[str]:
    parts = [part.lower() for part in _PART.findall(stem)]
    ends = range(1, len(parts) + 1)
    return frozenset("".join(parts[begin:end]) for end in ends for begin in range(end))


def _of_range(match: re.Match[str]) -> Iterator[str]:
    parts = list(match[2]) if match[2] else re.split(r"[, /|]+", match[3])
    return (f"{match[1]}{part}{match[4]}" for part in parts)


def _headings(root: Path, commit: Commit, file: FileDiff) -> list[str]:
    """The functions that the changed lines of a file belong to. Git takes any line without indent
    for a heading in Python, such as one of a docstring; entries of YAML are compared whole."""
    suffix = Path(file.path).suffix
    if suffix == ".yaml":
        return []
    if file.status != "M" or suffix != ".py":
        return [heading for _, heading in file.hunks]
    lines = _text(root, f"{commit.name}~1:{file.path}").splitlines()
    above = [reversed(lines[:number]) for number, _ in file.hunks]
    return [next((one for one in some if _HEADED.match(one)), "") for some in above]


def _entries(root: Path, commit: Commit, files: Sequence[FileDiff]) -> Iterator[str]:
    """The names whose entries are other ones after the commit, in YAML files."""
    for file in files:
        if file.path.endswith(".yaml"):
            before = _blocks(_text(root, f"{commit.name}~1:{file.path}"))
            now = _blocks(_text(root, f"{commit.name}:{file.path}"))
            both = dict.fromkeys([*now, *before])
            yield from (name for name in both if before.get(name) != now.get(name))


def _blocks(text: str) -> dict[str, str]:
    """The entries of a YAML file by name, all overloads together, without comments."""
    plain = re.sub(r"(?m)^\s*#.*\n|\n(?=\n)", "", text)
    parts = _BLOCK.split(plain)[1:]
    found: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        found[name] = found.get(name, "") + body
    return found


def _python_names(title: str, headings: Sequence[str]) -> set[str]:
    """The classes and functions of changed lines that a title names."""
    changed = {match[1] for line in headings if (match := _HEADED.match(line))}
    words = " ".join(re.findall(r"\w+", title.lower()))
    spoken = {name: " ".join(_PART.findall(name)).lower() for name in changed}
    said = {name for name, text in spoken.items() if " " in text and f" {text} " in f" {words} "}
    named = changed & set(re.findall(r"\w{3,}", title))
    classes = {method: one for one, method in _METHOD.findall(title)}
    asked = {
        f"{classes[name]}.{name}" if name in classes else name
        for name in named - {*classes.values()}
    }
    return asked | {one for one in said if one[0].isupper()}


def _files_named(title: str, commit: Commit) -> set[str]:
    """The changed Python files that a title names: ``functional.py``, ``torch.nn.functional``."""
    words = re.findall(r"[\w./]*[./]\w+", title)
    ends = tuple(f"/{word.removesuffix('.py').replace('.', '/')}.py" for word in words)
    return {path for path in commit.sources if ends and f"/{path}".endswith(ends)}


def _pages_named(_: Path, title: str, commit: Commit, __: Collection[str]) -> list[str]:
    """The changed pages whose names are words of a title."""
    said = set(re.findall(r"\w+", title))
    return [path for path in commit.sources if path[:5] == "docs/" and Path(path).stem in said]


def _public_named(root: Path, title: str, commit: Commit, operators: Collection[str]) -> list[str]:
    """The public functions of torch that a title names and that are no operators."""
    said = set(re.findall(r"\w+", title)).difference(operators)
    texts = (_text(root, f"{commit.name}~1:{path}") for path in _FUNCTIONAL)
    return sorted(said.intersection(name for text in texts for name in _PUBLIC.findall(text)))


def _function_named(root: Path, title: str, commit: Commit) -> tuple[str, ...]:
    """The function of several words that the title names and that a changed source defines, with
    the class after which its file is called."""
    words = re.findall(r"\b[a-z]+_\w+", title)
    for path in commit.sources:
        text, stem = _text(root, f"{commit.name}~1:{path}"), Path(path).stem
        own = f"{stem}::" if re.search(rf"\b(?:class|struct)\b.* {stem}\b", text) else ""
        for word in words:
            if re.search(rf"[ :]{word}\([^;{{]*{{", text):
                return (f"{own}{word}",)
    return ()


@lru_cache(maxsize=2000)
def _signatures(root: Path, blob: str) -> Mapping[str, frozenset[str]]:
    """The names of arguments of each operator."""
    text = git(root, "cat-file", "blob", blob)
    found: dict[str, frozenset[str]] = {}
    for name, arguments in re.findall(r"(?m)^- func: (\w+)(?:\.\w+)?\((.*)\) ->", text):
        found[name] = found.get(name, frozenset()) | {*re.findall(r"(\w+)(?=[,=]|$)", arguments)}
    return found


def _text(root: Path, name: str) -> str:
    try:
        return git(root, "show", name)
    except CalledProcessError:  # the commit adds or removes the file
        return ""
