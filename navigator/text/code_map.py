"""The map of a tree as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from indexes.model.code_map import CallMap, FolderMap, MapEntry, Words
from navigator.text.answers import wrap
from navigator.text.clean import clean


def folder_lines(answer: FolderMap, limit: int) -> Iterator[str]:
    """A folder: description, entry points, and contents with at most ``limit`` files."""
    yield clean(answer.path or "the root of the tree")
    yield from wrap(counts_words(answer.counts), "  ")
    for words in answer.words:
        yield from _words_lines(words, "  ")
    if answer.doors:
        yield "entry points: the files that others refer to most"
        for entry in answer.doors:
            yield from _entry_lines(entry, entry.path.removeprefix(f"{answer.path}/"))
    folders = [entry for entry in answer.entries if entry.kind == "folder"]
    files = [entry for entry in answer.entries if entry.kind == "file"]
    if folders:
        yield "folders"
        for entry in folders:
            yield from _entry_lines(entry, f"{entry.path.rpartition('/')[2]}/")
    if files:
        yield "files"
        for entry in files[:limit]:
            yield from _entry_lines(entry, entry.path.rpartition("/")[2])
        if len(files) > limit:
            yield f"  {len(files) - limit:,} more: --limit {len(files)}"


def counts_words(counts: Mapping[str, int]) -> str:
    """``1,619 files, 297 kernels``."""
    return ", ".join(f"{n:,} {_named(what, n)}" for what, n in counts.items()) or "nothing indexed"


def _named(what: str, count: int) -> str:
    if count != 1:
        return what
    return what.removesuffix("es") if what.endswith("switches") else what.removesuffix("s")


def _entry_lines(entry: MapEntry, name: str) -> Iterator[str]:
    yield clean(f"  {name}")
    counts = {k: v for k, v in entry.counts.items() if entry.kind == "folder" or k != "files"}
    references = {"references": entry.references} if entry.references else {}
    if counts or references:
        yield from wrap(counts_words({**counts, **references}), "      ")
    if entry.words:
        yield from _words_lines(entry.words, "      ")


def _words_lines(words: Words, indent: str) -> Iterator[str]:
    yield from wrap(f"{words.text} ({words.location})", indent)


def call_lines(answer: CallMap) -> Iterator[str]:
    """The path of a call through folders."""
    name = answer.op if "::" in answer.op else f"aten::{answer.op}"
    yield clean(f"{name} on {answer.device}: the path of a plain call through the tree")
    folder = None
    for number, step in enumerate(answer.steps, 1):
        if step.folder != folder:
            folder = step.folder
            yield clean(f"{folder or '(no line in this tree)'}/")
        file = step.location.path.rpartition("/")[2] if step.location else ""
        line = f":{step.location.line}" if step.location and step.location.line else ""
        yield clean(f"  {number}. {step.name}  {file}{line}".rstrip())
        yield from wrap(f"{step.stage}: {step.why}", "       ")
    if answer.unknown:
        yield from wrap(f"unknown: {answer.unknown}", "")
