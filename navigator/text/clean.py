"""The gate for text: everything that is printed or rendered passes it.

Names, paths and messages from source files, traces and git are not trusted. Control characters,
changes of text direction and invisible characters are made visible, and text is escaped for HTML
and Markdown.
"""

from __future__ import annotations

import html
import re
from urllib.parse import quote

# Control characters, soft hyphens, direction marks, zero-width characters, line separators,
# surrogates and tags.
_UNSAFE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
_UNSAFE_CHARACTER = re.compile(f"[{_UNSAFE}]")
_UNSAFE_OR_SPACING = re.compile(rf"[{_UNSAFE}\t\n]")
_SPACES = re.compile(r"\s+")
_IN_ADDRESS = ":/#?=&%~+,@"
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|]")


def printable(text: str) -> str:
    """``text`` with its lines and tabs; characters that could act on a terminal are escaped."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE_CHARACTER.sub(_escape, text)


def clean(text: str) -> str:
    """``text`` on one line, and printable."""
    if text.isascii() and text.isprintable():
        return text
    return printable(_SPACES.sub(" ", text) if "\n" in text or "\t" in text else text)


def pictured(text: str) -> str:
    """``text`` for a screen of cells: each unprintable character is replaced by a printable one."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE_OR_SPACING.sub(_picture, text)


def html_text(text: str) -> str:
    """``text`` escaped for HTML, including attributes."""
    return html.escape(printable(text), quote=True)


def markdown_text(text: str) -> str:
    """``text`` escaped for a line of Markdown."""
    return _MARKUP.sub(r"\\\g<0>", clean(text))


def markdown_code(text: str) -> str:
    """``text`` as a code span of Markdown."""
    return f"`{clean(text).replace('`', chr(39))}`"


def markdown_cell(text: str) -> str:
    """``text`` as a code span in a table."""
    return markdown_code(text).replace("|", "\\|")


def markdown_link(text: str, address: str | None) -> str:
    """A link with ``text``; just the text without an address."""
    words = markdown_code(text)
    return f"[{words}]({quote(address, safe=_IN_ADDRESS)})" if address else words


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"
