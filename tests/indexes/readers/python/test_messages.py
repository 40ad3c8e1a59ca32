"""Messages of Python files: which literals make one, and who says it."""

from __future__ import annotations

import pytest

from indexes.readers.messages import ENVIRONMENT, HOLE, MAYBE
from indexes.readers.python.messages import read_messages


def told(text: str) -> list[tuple[int, int, str, str]]:
    shown = str.maketrans({HOLE: "|", MAYBE: "?"})
    return [
        (one.line, one.end_line, one.kind, one.text.translate(shown))
        for one in read_messages(text.encode())
    ]


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("raise ValueError(f'one of {x:>3} is {y!r}')", "raise ValueError", "one of | is"),
        ('raise E("one of " + x + " is two")', "raise E", "one of | is two"),
        ('raise E("one of %s are %d" % (a, b))', "raise E", "one of | are"),
        ('raise E("one of {} are {}".format(a, b))', "raise E", "one of | are"),
        ('raise E("one of" if x else "none of it")', "raise E", "?one of|?none of it"),
        ('raise a.b.E("ünder all of it")', "raise a.b.E", "ünder all of it"),
        ('torch._check(a == "b", lambda: f"one {x} of it")', "torch._check", "one | of it"),
        ('warnings.warn("one of two", UserWarning)', "warnings.warn", "one of two"),
        ("msg = f\"one of {x['key']} it\"", "msg =", "one of | it"),
        ('assert x, "one of two"', "assert", "one of two"),
        (
            """raise E(f"all {'one of' if f(x, {1: 2}) else 'two'} of {y!r:>{w}}s")""",
            "raise E",
            "all |?one of|?two| of",
        ),
        ("raise E(f'{{one}} of it')", "raise E", "{one} of it"),
    ],
)
def test_the_literals_of_an_expression_are_one_message(code: str, kind: str, text: str) -> None:
    assert told(f"def f(x):\n    {code}\n    y = 'z'\n") == [(2, 2, kind, text)]


def test_a_message_is_at_its_call_and_ends_with_its_last_literal() -> None:
    code = 'raise E(\n    "one of "  # a remark\n    f"{x} and "\n    "two"\n)\nf("other one", 1)\n'
    assert told(code) == [(1, 4, "raise E", "one of | and two"), (6, 6, "f", "other one")]


def test_docstrings_and_comments_tell_nothing() -> None:
    code = '"""Of a module."""\n# raise E("of no use")\ndef f():\n    """Does one of two."""\n'
    assert told(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "add_docstr_all('halve', r'one of two')",
        "torch._C._add_docstr(f, 'one of two')",
        "Halve.__doc__ = f'one of {two}'",
        "_halve_doc = 'one of two'",
    ],
)
def test_documentation_is_no_message(code: str) -> None:
    assert told(f"\n{code}\n") == []


@pytest.mark.parametrize(
    "code",
    [
        "if 'one of two' in text:\n    pass\n",
        "elif 'one of two' == text:\n    pass\n",
        "assert 'one of two' in str(e)\n",
        "assert ('one of two' not in text)\n",
        "x = 'one of two' != text\n",
    ],
)
def test_what_a_text_is_compared_with_is_told_to_nobody(code: str) -> None:
    assert told(code) == []


def test_environment_variables() -> None:
    code = 'os.environ.get("TORCH_LOGS")\nx = Config(env_name_force="TORCH_X")\nos.getenv("RANK")\n'
    assert [(one[0], *one[2:]) for one in told(code)] == [
        (1, ENVIRONMENT, "TORCH_LOGS"),
        (2, ENVIRONMENT, "TORCH_X"),
        (3, ENVIRONMENT, "RANK"),
    ]


def test_a_literal_in_three_quotes_is_a_message_where_it_is_given_to_something() -> None:
    documented = 'def f():\n    """Does one of two."""\n'
    code = f'{documented}    raise E(\n        f"""\\\none of {{x}}\nand two"""\n    )\n'
    assert told(code) == [(3, 6, "raise E", "one of | and two")]
    code = f'{documented}    raise E(\n        "one of it"\n    )\n'
    assert told(code) == [(3, 4, "raise E", "one of it")]
