"""What no text from a source, a trace or git may do to a terminal, to HTML or to Markdown."""

from __future__ import annotations

import re
import unicodedata

import pytest

from navigator.text.clean import (
    clean,
    html_text,
    markdown_cell,
    markdown_code,
    markdown_link,
    markdown_text,
    pictured,
    printable,
)

UNSAFE = [
    "\x1b[31mred",
    "\x1b]52;c;AAAA\x07",
    "\x1b]8;;http://evil\x1b\\here",
    "\x9b1m",
    "\x9d52;c;AAAA\x9c",
    "\x7f\x08\r",
    "\u202etxt.exe\u2066\u2069",
    "\u061c\u200e\u200f",
    "so\xadft\u200bzero\u2060width\ufeff",
    "\u2028line\u2029",
    "\U000e0041\U000e007f",
    "\ud800",
]


@pytest.mark.parametrize("text", UNSAFE)
def test_nothing_that_acts_or_hides_passes(text: str) -> None:
    for gate in (printable, clean, pictured, html_text, markdown_text, markdown_code):
        kinds = {unicodedata.category(one) for one in gate(text)}
        assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_every_character_of_format_or_control_is_stopped() -> None:
    letters = map(chr, range(0x110000))
    wanted = [one for one in letters if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp")]
    assert all(clean(one) in (" ", repr(one)[1:-1]) or "\\" in clean(one) for one in wanted)
    assert [one for one in wanted if printable(one) == one] == ["\t", "\n"]


def test_lines_are_kept_or_joined() -> None:
    assert printable("a\n\tb") == "a\n\tb"
    assert clean("a\n\tb") == "a b"
    assert pictured("a\n\tb") == "a␊␉b"


def test_a_screen_s_text_keeps_its_width() -> None:
    assert all(len(pictured(text)) == len(text) for text in UNSAFE)


def test_html_is_escaped() -> None:
    shown = html_text("<script>'\"&\x1b")
    assert shown == "&lt;script&gt;&#x27;&quot;&amp;\\x1b"


def test_markdown_stays_text() -> None:
    assert "<script>" not in markdown_text("<script>alert(1)</script>")
    assert markdown_text("[a](b) `c` | #d") == r"\[a\](b) \`c\` \| \#d"
    assert markdown_text("a\n# title") == r"a \# title"
    assert markdown_code("a` <script> `b\nc") == "`a' <script> 'b c`"
    assert re.findall(r"(?<!\\)\|", markdown_cell("a|b")) == []
    assert markdown_link("a]b", "http://x/a)b c") == "[`a]b`](http://x/a%29b%20c)"
    assert markdown_link("a", None) == "`a`"
