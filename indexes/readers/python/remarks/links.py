"""Names and files that docstrings and pages of the documentation link."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from indexes.model.files import RemarkFact
from indexes.model.regex import regex
from indexes.readers.python.blocks import Spans

_ROLE = regex(
    r":(?:py:)?(func|class|meth|mod|exc|data|attr):`(?:[^`<]*<)?[~!.]*(torch\.[\w.]+?)(?:\(\))?>?`"
)
_FILE = regex(r"github\.com/pytorch/pytorch/(?:blob|tree)/(?:main|master)/([\w./+-]*\w)")
_RELATIVE = regex(r"\[[^\]\n]*\]\((?![a-z]+:|[/#<{$])([^()\s#]+\.\w+)(?:#[^()\s]*)?\)")
_CODE = regex(r"```[\s\S]*?```|`[^`\n]*`")
_TESTING = "torch/testing/_internal/"


def read_roles(text: str, path: str) -> Iterator[RemarkFact]:
    """The whole names of torch that roles link: ``:class:`~torch.nn.Linear```."""
    line, counted = 1, 0
    for found in _ROLE.finditer(text) if _TESTING not in path else ():
        line += text.count("\n", counted, found.start())
        counted = found.start()
        yield RemarkFact("role", found[2], line, found[1])


def read_file_links(text: str, path: str) -> Iterator[RemarkFact]:
    """The links to files and folders of PyTorch, by their paths in the tree."""
    line, counted = 1, 0
    for target, at in _file_links(text, path):
        line, counted = line + text.count("\n", counted, at), at
        yield RemarkFact("file link", target, line)


def _file_links(text: str, path: str) -> Iterator[tuple[str, int]]:
    """(path in the tree, offset) of the links to files: by GitHub's address on the main branch,
    or from a Markdown page to what stands beside it."""
    if "pytorch/pytorch/" in text:
        for found in _FILE.finditer(text):
            if not text.startswith(("{", "<", "*"), found.end()):
                yield found[1], found.start()
    if path.endswith(".md"):
        code = Spans([one.span() for one in _CODE.finditer(text)])
        for found in _RELATIVE.finditer(text):
            if not code.end_at(found.start()):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1]))
                if not target.startswith(".."):
                    yield target, found.start()
