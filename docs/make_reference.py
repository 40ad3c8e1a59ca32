"""Writes docs/reference.md and the man page docs/torchnav.1 from the code: commands, keys,
settings, variables, exit codes.

python docs/make_reference.py           # writes them
python docs/make_reference.py --check   # exit code 1 where they are not up to date
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
from textual.dom import DOMNode

import navigator.tui
from navigator import __version__
from navigator.cli.main import COMMANDS, EXIT_CODES, torchnav
from navigator.sources import SETTINGS
from navigator.tui.keys import keys_of

DOCS = Path(__file__).resolve().parent
VARIABLES = {
    "TORCHNAV_CHECKOUT": "The source tree, as `--tree`.",
    "TORCHNAV_CACHE": "Where indexes, clones and the log are kept, as `--cache`.",
    "TORCHNAV_PAGER, PAGER": "The pager for long answers; `cat` or nothing for none."
    " Default: `less -FRX`.",
    "NO_COLOR, FORCE_COLOR": "Colours off, or on in a pipe too; `--color` comes before them.",
    "VISUAL, EDITOR": "The editor that the screen opens, unless the config file names one.",
    "VIRTUAL_ENV, CONDA_PREFIX": "The environment whose torch is meant, unless `--python` names"
    " one.",
    "XDG_CONFIG_HOME, XDG_CACHE_HOME": "Where the config file and the cache are, on Linux.",
}


def commands() -> Iterator[tuple[str, click.Command]]:
    """Each command with its name, those of groups too: ``export trace``."""
    for name in COMMANDS:
        yield from _with_members(name, torchnav, name)


def _with_members(title: str, group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    yield title, command
    if isinstance(command, click.Group):
        for member in command.list_commands(click.Context(command)):
            yield from _with_members(f"{title} {member}", command, member)


COMMON = {option.name for option in torchnav.params} | {"json"}


def own_options(command: click.Command) -> list[click.Option]:
    """The options of a command that not every command has."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    return [one for one in options if one.name not in COMMON and not one.hidden]


def common_options() -> list[click.Option]:
    """The options that every command has, and ``--json``."""
    op = dict(commands())["op"]
    options = [one for one in op.params if isinstance(one, click.Option)]
    return [one for one in options if one.name in COMMON]


def usage(title: str, command: click.Command) -> str:
    """``torchnav at [OPTIONS] FILE:LINE``."""
    context = click.Context(command)
    return " ".join(["torchnav", title, *command.collect_usage_pieces(context)])


def spelling(option: click.Option) -> str:
    """``--limit N``."""
    names = ", ".join((*option.opts, *option.secondary_opts))
    if option.is_flag or option.count or option.flag_value is False:
        return names
    return f"{names} {option.metavar or _VALUES.get(option.type.name, 'TEXT')}"


_VALUES = {"integer range": "N", "integer": "N", "float range": "X", "choice": "WORD"}


def said(option: click.Option) -> str:
    """What an option does, its words where it is one of a few, its default where click shows it."""
    text = option.help or ""
    if isinstance(option.type, click.Choice):
        text += f" One of {', '.join(map(str, option.type.choices))}."
    if option.show_default:
        text += f" Default: {option.default}."
    return text


def paragraphs(command: click.Command) -> list[str]:
    """The help of a command as paragraphs of one line each."""
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return [" ".join(part.split()) for part in text.split("\n\n")]


def keys() -> list[tuple[str, str, str]]:
    """Each key of the screens: its id, the keys, what they do."""
    found = {}
    for module in pkgutil.walk_packages(navigator.tui.__path__, "navigator.tui."):
        for one in vars(import_module(module.name)).values():
            if inspect.isclass(one) and issubclass(one, DOMNode):
                for key in keys_of(one, {}):
                    found[key.id, key.words] = key
    return [(one.id, " ".join(one.keys), one.words) for _, one in sorted(found.items())]


# --------------------------------------------------------------------------- Markdown


def cell(text: str) -> str:
    """Text in a table of Markdown."""
    return text.replace("|", "\\|")


def code(text: str) -> str:
    """A code span in a table; a backquote in it needs two around it."""
    span = f"`` {text} ``" if "`" in text else f"`{text}`"
    return cell(span)


def page() -> Iterator[str]:
    """docs/reference.md."""
    yield "# Reference"
    yield ""
    yield "Made from the code by `python docs/make_reference.py`; the [guide](guide.md) explains,"
    yield "[json.md](json.md) is the contract of `--json`."
    yield from ("", "- [Commands](#commands)", "- [Keys](#keys)", "- [Settings](#settings)")
    yield from ("- [Variables](#variables)", "- [Exit codes](#exit-codes)", "")
    yield from ("## Commands", "", "Every command has:", "", *_table(common_options()), "")
    for title, command in commands():
        yield from (f"### {title}", "", "    " + usage(title, command), "")
        for part in paragraphs(command):
            yield from (part, "")
        if options := own_options(command):
            yield from (*_table(options), "")
    yield from ("## Keys", "", "`?` on the screen shows the keys that work there. The config file")
    yield from ("sets a key by its id.", "", "| id | keys | |", "|---|---|---|")
    for name, pressed, words in keys():
        yield f"| {code(name)} | {code(pressed)} | {cell(words)} |"
    yield from (
        "",
        "## Settings",
        "",
        "`~/.config/torchnav/config.toml`, on Linux; `torchnav doctor",
    )
    yield from ("--report` shows it.", "", "| setting | |", "|---|---|")
    for name, words in SETTINGS.items():
        yield f"| {code(name)} | {cell(words)} |"
    yield from ("", "## Variables", "", "| variable | |", "|---|---|")
    for name, words in VARIABLES.items():
        yield f"| {code(name)} | {cell(words)} |"
    yield from ("", "## Exit codes", "", "| code | |", "|---|---|")
    for number, words in EXIT_CODES.items():
        yield f"| {number} | {words} |"


def _table(options: list[click.Option]) -> Iterator[str]:
    yield from ("| option | |", "|---|---|")
    for one in options:
        yield f"| {code(spelling(one))} | {cell(said(one))} |"


# --------------------------------------------------------------------------- man


def roff(text: str) -> str:
    """Text in a man page, in which no line begins with a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    return re.sub(r"(?m)^([.'])", r"\\&\1", escaped)


def man() -> Iterator[str]:
    """docs/torchnav.1."""
    yield f'.TH TORCHNAV 1 "" "torchnav {__version__}" "User Commands"'
    yield from (".nh", ".ad l")
    yield from (".SH NAME", "torchnav \\- where in PyTorch's source does this happen?")
    yield from (".SH SYNOPSIS", ".B torchnav", "[\\fIOPTIONS\\fR] [\\fICOMMAND\\fR [\\fIARGS\\fR]]")
    yield ".SH DESCRIPTION"
    for part in paragraphs(torchnav):
        yield from (roff(part), ".PP")
    yield ".SH OPTIONS"
    yield from _terms((spelling(one), said(one)) for one in common_options())
    yield ".SH COMMANDS"
    for title, command in commands():
        yield from (f".SS {roff(usage(title, command).removeprefix('torchnav '))}",)
        for part in paragraphs(command):
            yield from (roff(part), ".PP")
        yield from _terms((spelling(one), said(one)) for one in own_options(command))
    yield ".SH ENVIRONMENT"
    yield from _terms(iter(VARIABLES.items()))
    yield from (".SH FILES",)
    settings = [("~/.config/torchnav/config.toml", "Settings: " + ", ".join(SETTINGS) + ".")]
    yield from _terms(iter(settings))
    yield ".SH EXIT STATUS"
    yield from _terms((str(number), words) for number, words in EXIT_CODES.items())


def _terms(items: Iterator[tuple[str, str]]) -> Iterator[str]:
    for term, words in items:
        yield from (".TP", f"\\fB{roff(term)}\\fR", roff(words))


def main() -> int:
    made = {DOCS / "reference.md": page(), DOCS / "torchnav.1": man()}
    status = 0
    for path, lines in made.items():
        text = "\n".join(lines).rstrip() + "\n"
        if "--check" not in sys.argv[1:]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"docs/{path.name} is old; run: python docs/make_reference.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
