"""Checks what torchnav finds on this machine and what adds the rest; with ``--report``, a bug
report in Markdown without secrets."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Literal

from indexes.build.builder import index_path
from indexes.build.yaml_files import read_yaml_files
from indexes.model.errors import SourceError
from indexes.source.clones import clones
from indexes.source.files import read_text
from indexes.source.git import git_version
from indexes.source.source import Source, cache_folder, config_path
from indexes.source.torch_install import installed_torch, target_python
from navigator import __version__
from navigator.cli.log import log_file
from navigator.text.clean import printable

State = Literal["ok", "note", "missing"]

_EDITORS = ("nvim", "vim", "hx", "emacs", "code", "zed", "subl", "nano", "vi")
_CLIPBOARDS = ("wl-copy", "xclip", "xsel", "pbcopy", "clip.exe")
_PROBLEMS = 20
_PACKAGES = (
    "textual",
    "tree-sitter",
    "tree-sitter-cpp",
    "tree-sitter-c",
    "tree-sitter-python",
    "PyYAML",
    "codeowners",
    "GitPython",
    "msgspec",
    "platformdirs",
    "pydemumble",
)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. ``note`` means: works, but worth knowing."""

    name: str
    state: State
    found: str
    command: str = ""
    """The command that adds or changes it, or empty."""


def examine(
    tree: str | None = None, cache: Path | None = None, extensions: Iterable[tuple[str, str]] = ()
) -> tuple[Check, ...]:
    """Every check, in display order. Builds no index and imports no torch."""
    folder = cache or cache_folder()
    return (
        Check("torchnav", "ok", f"{__version__}, Python {sys.version.split()[0]}"),
        *_source(tree, folder, extensions),
        _python(),
        _torch(),
        *_clones(folder),
        _cache(folder),
        _log(folder),
        _git(),
        *_packages(),
        _terminal(),
        _editor(),
        _clipboard(),
    )


def usable(checks: tuple[Check, ...]) -> bool:
    """Whether torchnav can answer questions."""
    return not any(check.name == "source" and check.state == "missing" for check in checks)


def _source(
    tree: str | None, cache: Path, extensions: Iterable[tuple[str, str]]
) -> Iterator[Check]:
    try:
        source = Source.find(tree, cache, extensions)
    except SourceError as error:
        yield Check("source", "missing", str(error), "torchnav clone")
        return
    info = source.info
    commit = f" at {info.commit[:12]}" if info.commit else ""
    edited = ", with uncommitted edits" if info.dirty else ""
    yield Check("source", "ok", f"PyTorch {info.version} ({info.kind}){commit}{edited}")
    yield Check("tree", "ok", info.root)
    for name, top in info.roots:
        yield Check("extension", "ok", f"@{name}: {top}")
    for lack in info.missing:
        what, _, command = lack.rpartition(": ")
        yield Check("not in source", "note", what, command)
    yield from _yaml(source)
    yield _index(index_path(source, cache))


def _yaml(source: Source) -> Iterator[Check]:
    """Errors in the YAML files that every answer rests on, by torchgen's rules."""
    try:
        problems = read_yaml_files(source).problems
    except SourceError as error:
        yield Check("YAML", "missing", str(error))
        return
    for problem in problems[:_PROBLEMS]:
        yield Check("YAML", "note", f"{problem.place}: {problem.message}")
    if len(problems) > _PROBLEMS:
        more = f"{len(problems) - _PROBLEMS:,} more problems"
        yield Check("YAML", "note", more, "torchnav index --json")


def _index(path: Path) -> Check:
    try:
        size = path.stat().st_size
    except OSError:
        return Check("index", "note", "not built yet", "torchnav index")
    return Check("index", "ok", f"{path} ({size / 1e6:.1f} MB)")


def _python() -> Check:
    target = target_python()
    return Check("python", "ok", f"{target.path} ({target.reason})")


def _torch() -> Check:
    torch = installed_torch()
    if torch is None:
        what = "not installed there: programs cannot be traced"
        return Check("torch", "missing", what, "pip install torch, or --python PATH")
    commit = f", built from {torch.commit[:12]}" if torch.commit else ""
    return Check("torch", "ok", f"{torch.version}{commit}")


def _clones(cache: Path) -> Iterator[Check]:
    torch = installed_torch()
    found = clones(cache)
    for one in found:
        yield Check("clone", "ok", f"{one.ref} at {one.commit[:12]} in {one.root}")
    if torch and torch.commit and torch.commit not in {one.commit for one in found}:
        what = f"no clone of the installed torch's commit {torch.commit[:12]}"
        yield Check("clone", "note", what, "torchnav clone")


def _cache(folder: Path) -> Check:
    nearest = next((one for one in (folder, *folder.parents) if os.path.exists(one)), folder)
    if os.path.isdir(nearest) and os.access(nearest, os.W_OK):
        return Check("cache", "ok", str(folder))
    advice = "set TORCHNAV_CACHE or give --cache"
    return Check("cache", "missing", f"{folder} cannot be written", advice)


def _log(folder: Path) -> Check:
    path = log_file(folder)
    state = "" if os.path.exists(path) else " (empty: --verbose writes it)"
    return Check("log", "ok", f"{path}{state}")


def _git() -> Check:
    if version := git_version():
        return Check("git", "ok", version)
    return Check(
        "git", "missing", "not found: no clones, no history, edits go unnoticed", "install git"
    )


def _packages() -> Iterator[Check]:
    for name in _PACKAGES:
        try:
            yield Check(name, "ok", package_version(name))
        except PackageNotFoundError:
            yield Check(name, "missing", "not installed", f"pip install {name}")


def _terminal() -> Check:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Check("terminal", "note", "none here: commands work, the screen does not")
    size = shutil.get_terminal_size()
    term = os.environ.get("TERM", "")
    colours = _colours(term, os.environ.get("COLORTERM", ""))
    what = f"{size.columns}x{size.lines}, {colours}, TERM={term or 'not set'}"
    if size.columns < 80 or size.lines < 24:
        return Check("terminal", "note", f"{what}: small", "make it 80x24 or larger")
    if term in ("", "dumb"):
        return Check("terminal", "note", what, "set TERM, e.g. xterm-256color")
    return Check("terminal", "ok", what)


def _colours(term: str, colorterm: str) -> str:
    if colorterm in ("truecolor", "24bit"):
        return "16 million colours"
    return "256 colours" if "256" in term else "16 colours"


def _editor() -> Check:
    for variable in ("VISUAL", "EDITOR"):
        if named := os.environ.get(variable):
            program = named.split()[0]
            if shutil.which(program):
                return Check("editor", "ok", f"{named} (${variable})")
            what = f"${variable} names {program}, which is not found"
            return Check("editor", "missing", what, f"export {variable}=vim")
    if found := next((one for one in _EDITORS if shutil.which(one)), None):
        return Check("editor", "note", f"{found}: neither VISUAL nor EDITOR is set")
    return Check("editor", "missing", "none found", "export EDITOR=...")


def _clipboard() -> Check:
    if found := next((one for one in _CLIPBOARDS if shutil.which(one)), None):
        return Check("clipboard", "ok", f"{found}, and OSC 52")
    inside = " through tmux (needs `set -g set-clipboard on`)" if os.environ.get("TMUX") else ""
    return Check("clipboard", "note", f"OSC 52{inside}, if the terminal supports it")


_MOST_LINES = 40
_VARIABLES = re.compile(
    r"TORCHNAV_\w+|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|LANG|LC_ALL|PAGER|LESS|VISUAL|EDITOR|TMUX"
    r"|VIRTUAL_ENV|CONDA_PREFIX"
)
"""Environment variables that torchnav reads; no others are shown."""
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_SECRET = re.compile(r"(?i)(\S*(?:token|secret|passw|api_?key)\S*\s*[=:]\s*).*")


def report_lines(checks: Iterable[Check], cache: Path | None) -> Iterator[str]:
    """The contents of a bug report: the checks, the machine, the configuration, the log."""
    found = [f"{check.name:18} {check.found}" for check in checks]
    machine = f"{platform.system()} {platform.release()} {platform.machine()}"
    names = sorted(filter(_VARIABLES.fullmatch, os.environ))
    yield from _block("Setup", [*found, f"{'machine':18} {machine}"])
    yield from _block("Environment", [f"{name}={os.environ[name]}" for name in names])
    yield from _block("config.toml", _lines(config_path()))
    log = log_file(cache)
    yield from _block("The last lines of torchnav.log", _lines(log))
    yield from _block("crash.txt: the last crash of the screen", _lines(log.with_name("crash.txt")))


def _lines(path: Path) -> list[str]:
    """The last lines of a file; none if it can't be read."""
    try:
        return read_text(path).splitlines()[-_MOST_LINES:]
    except OSError:
        return []


def _block(title: str, lines: Iterable[str]) -> Iterator[str]:
    # No line may contain a fence.
    safe = [without_secrets(printable(line)).replace("```", "'''") for line in lines]
    yield from (f"### {title}", "", "```", *(safe or ["(none)"]), "```", "")


def without_secrets(text: str) -> str:
    """``text`` without the user name in paths, credentials in URLs, and values named as secrets."""
    home = os.path.expanduser("~")
    if len(home) > 1:
        text = text.replace(home, "~")
    return _SECRET.sub(r"\1***", _CREDENTIALS.sub("***@", text))
