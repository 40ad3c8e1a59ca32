"""The layout of pages: head, navigation, file names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from indexes.model.vocabulary import SourceInfo
from navigator.text.clean import html_text

LISTS = {
    "index": "operators",
    "python": "Python names",
    "nodes": "grad_fn",
    "files": "kernel files",
    "keys": "dispatch keys",
    "errors": "error texts",
}
"""Titles of the list pages, by file."""

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="{root}style.css"></head><body>
<header><nav aria-label="lists">{lists}</nav></header><main>
"""
_VERSIONS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>PyTorch's operators - torchnav</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="{newest}/style.css"></head><body><main>
<h1>PyTorch's operators, by version</h1><ul>{links}</ul></main></body></html>
"""
_FOOT = """</main><footer>PyTorch {version}{commit}, indexed by torchnav;
<a href="{root}../index.html">other versions</a></footer>
<script src="{root}search.js"></script></body></html>
"""


def page(source: SourceInfo, title: str, body: Iterable[str], depth: int = 0) -> str:
    """A whole page. ``depth``: the number of folders below the lists."""
    root = "../" * depth
    lists = " ".join(f'<a href="{root}{name}.html">{words}</a>' for name, words in LISTS.items())
    head = _HEAD.format(title=f"{html_text(title)} - torchnav", root=root, lists=lists)
    commit = f" at {html_text(source.commit[:12])}" if source.commit else ""
    foot = _FOOT.format(version=html_text(source.version), commit=commit, root=root)
    return "".join((head, f"<h1>{html_text(title)}</h1>\n", *body, foot))


def linked_source(source: SourceInfo) -> SourceInfo:
    """The source with an abbreviated commit, since full hashes make pages a tenth larger."""
    return replace(source, commit=source.commit and source.commit[:12])


def versions_page(versions: Sequence[str]) -> str:
    """The index of the sites of several versions, newest first."""
    links = (
        f'<li><a href="{html_text(one)}/index.html">{html_text(one)}</a></li>' for one in versions
    )
    return _VERSIONS.format(links="".join(links), newest=html_text(versions[0]))


def address(op: str) -> str:
    """The address of an operator's page, ``op/add.Tensor.html``, the same in every version."""
    name = re.sub(r"[^\w.]+", "-", op.removeprefix("aten::"))
    return f"op/{name}.html"


def folder_of(version: str) -> str:
    """The folder of a version, whose name comes from a file of the tree."""
    return re.sub(r"[^\w.+]+", "-", version).lstrip(".") or "unknown"
