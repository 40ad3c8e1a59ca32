"""Names that test functions get from their parameters, as far as the source tells them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from indexes.model.regex import regex
from indexes.readers.python.opinfo_tests import Parametrized

_STARTS = regex(r"[A-Za-z_][\w.]*")
_WRITTEN_OUT = ("range", "torch", "itertools.product", "product", "True", "False")
"""What these give are numbers, dtypes, or tuples of what is written in their brackets."""
_COMPREHENSION = regex(r"\bfor\b[^\]]*\bin\b")


def varied_names(
    one: Parametrized, opinfos: Iterable[str], modules: Iterable[str], lists: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Names of its tests that end like those of OpInfos; None when only a run can tell them.

    ``modules`` are the names of ModuleInfos as tests have them, ``lists`` the texts that
    variables of the file are assigned."""
    if one.decorator == "modules":
        return tuple(f"{one.name}_{module}" for module in modules) or None
    values = _written(one.values, lists) if one.decorator == "parametrize" else one.values
    if values is None:
        return None
    between = f"{one.argument}_" if one.argument else ""
    return tuple(f"{one.name}_{between}{name}" for name in opinfos if _has(values, name))


def _has(values: str, opinfo: str) -> bool:
    quote = "" if "name_fn" in values else "[\"']"
    return bool(re.search(rf"(?<![A-Za-z0-9_]){quote}{re.escape(opinfo)}{quote}(?!\w)", values))


def _written(arguments: str, lists: Mapping[str, str]) -> str | None:
    """The values of a ``@parametrize`` as written; None for those that are computed."""
    values = arguments.partition('",')[2] or arguments.partition("',")[2]
    head = _STARTS.match(values.strip())
    if head and head[0] in lists:
        values = lists[head[0]] + values
        head = _STARTS.match(lists[head[0]].strip())
    if head and not head[0].startswith(_WRITTEN_OUT):
        return None
    computed = _COMPREHENSION.search(values) and "range(" not in values
    return None if computed else values
