"""The lists of the site: operators, Python names, nodes, kernel files, dispatch keys, errors."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from indexes.model.lines import grouped
from indexes.model.vocabulary import SourceInfo
from indexes.queries.index import Index
from indexes.queries.messages import Messages
from navigator.site.layout import address, linked_source
from navigator.text.clean import html_text
from navigator.text.html import row, short_link

Named = Mapping[str, Iterable[str]]
"""Operators by a name that leads to them."""


def operators(names: Iterable[str]) -> Iterator[str]:
    """Every operator; overloads share a line."""
    by_base = grouped((name.partition(".")[0], name) for name in names)
    yield from named({base: by_base[base] for base in sorted(by_base, key=_public_first)})


def _public_first(name: str) -> tuple[bool, str]:
    return name.startswith("_") or "::" in name, name.lower()


def named(found: Named) -> Iterator[str]:
    """Names with links to their operators."""
    yield "<table>"
    for name, ops in found.items():
        links = (f'<a href="{address(op)}">{html_text(op)}</a>' for op in ops)
        yield row(html_text(name), ", ".join(links))
    yield "</table>"


def by_node(index: Index) -> Named:
    """Operators by the Node of their gradient."""
    sets = ((one.grad_fn, entry.op) for entry in index.derivative_rows() for one in entry.sets)
    return _by_name((node, op) for node, op in sets if node)


def by_file(index: Index) -> Named:
    """Operators by the file of their kernels."""
    return _by_name(
        (definition.location.path, kernel.op)
        for kernel in index.kernel_rows()
        for definition in kernel.definitions
    )


def by_key(index: Index) -> Named:
    """Operators by the dispatch keys of their kernels."""
    rows = grouped((kernel.key, kernel.op) for kernel in index.kernel_rows())
    found = {key: dict.fromkeys(ops) for key, ops in rows.items()}
    return dict(sorted(found.items(), key=lambda one: -len(one[1])))


def by_python(index: Index, ops: Iterable[str]) -> Named:
    """Operators by the public Python names that lead to them."""
    return _by_name((one.name, op) for op in ops for one in index.surroundings(op).python)


def _by_name(pairs: Iterable[tuple[str, str]]) -> Named:
    """The operators of each name, each once, in the order of names."""
    return {name: dict.fromkeys(ops) for name, ops in sorted(grouped(pairs).items())}


def errors(index: Index) -> dict[str, list[str]]:
    """Lists of the tree's error messages by first letter, with their lines."""
    source = linked_source(index.info)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in sorted(Messages(index.facts.store).errors(), key=lambda one: one.text.lower()):
        first = one.text[:1].lower()
        letter = first if first in string.ascii_lowercase and first else "other"
        where = short_link(source, one.location)
        found[letter].append(row(html_text(one.text), html_text(one.kind), where))
    return dict(sorted(found.items()))


def letters(found: Mapping[str, list[str]]) -> Iterator[str]:
    """Links to the lists of errors."""
    yield "<p>Error texts by their first letter; {} stands for a value.</p>"
    yield '<nav aria-label="letters">'
    yield " ".join(f'<a href="errors/{one}.html">{one} ({len(found[one]):,})</a>' for one in found)
    yield "</nav>"


def source_words(source: SourceInfo) -> str:
    """The version and kind of the tree."""
    return f"<p>PyTorch {html_text(source.version)}, {html_text(source.kind)}.</p>"
