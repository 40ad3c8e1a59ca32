"""Members of C++ scopes without a definition in the index: namespaces, type aliases, static
members, enumerators and constants."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from indexes.linking.visible import is_header
from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import match_of

CORE = ("c10", "at")
"""The namespaces of the core libraries."""
_FILES = 5
"""Most files listed for a namespace."""


def find_alias(symbol: str, index: IndexedTree) -> NameMatch | None:
    """Type aliases, ``IntArrayRef`` and ``torch::autograd::variable_list``, core ones first; for a
    bare name those that headers declare in namespaces."""
    scope, _, name = symbol.rpartition("::")
    sql = (
        "SELECT DISTINCT a.target,a.scope,f.path,a.line FROM aliases a JOIN files f ON f.id=a.file"
        " WHERE a.name=? AND a.inside=0 ORDER BY f.path NOT LIKE '%.h',length(a.scope),f.path"
    )
    rows = index.facts.store.query(sql, (name,)) if name.isidentifier() else ()
    fitting = [row for row in rows if _is_scope(row[1], scope, index)]
    fitting = [row for row in fitting if scope or is_header(row[2])]
    core = [row for row in fitting if row[1] in CORE]
    hits = tuple(
        Hit("class", f"{inside}::{name}", Location(path, line), f"another name of {target}")
        for target, inside, path, line in (core if not scope and core else fitting)
    )
    sure: Confidence = "exact" if len({hit.name for hit in hits}) == 1 else "ambiguous"
    return match_of("symbol", symbol, hits, sure=sure)


def _is_scope(inside: str, scope: str, index: IndexedTree) -> bool:
    """Whether a scope is the written one, or any namespace if none was written."""
    if scope:
        return f"::{inside}".endswith(f"::{scope}")
    return bool(inside) and "anonymous" not in inside and not any(_classes(inside, index))


def _classes(qualified: str, index: IndexedTree) -> Iterator[Hit]:
    for known in index.facts.named(qualified.rpartition("::")[2]):
        one = known.definition
        if one.kind in ("class", "enum") and f"::{one.qualified}".endswith(f"::{qualified}"):
            yield Hit(one.kind, one.qualified, one.location)


def find_namespace(symbol: str, index: IndexedTree) -> NameMatch | None:
    """The files with most contents of a namespace, those named after it first."""
    inside = f"{symbol}::"
    sql = (
        "SELECT f.path,min(d.line),count(*),group_concat(DISTINCT d.name)"
        " FROM definitions d JOIN files f ON f.id=(d.id>>22)"
        " WHERE d.scope=? OR substr(d.scope,1,?)=? GROUP BY f.path"
    )
    rows = index.facts.store.query(sql, (symbol, len(inside), inside)) if "::" in symbol else ()
    if not rows:
        return None
    last = symbol.rpartition("::")[2]

    def rank(row: tuple[str, int, int, str]) -> tuple[bool, bool, int, str]:
        path, _, count, _ = row
        stem, _, ending = path.rpartition("/")[2].rpartition(".")
        return stem.lower() != last.lower(), ending != "h", -count, path

    hits = tuple(
        Hit("namespace", symbol, Location(path, line), _holds(count, names))
        for path, line, count, names in sorted(rows, key=rank)[:_FILES]
    )
    total, folders = sum(row[2] for row in rows), Counter[str]()
    for path, _, count, _ in rows:
        folders[path.rpartition("/")[0]] += count
    (folder, _), *_ = folders.most_common(1)
    files = f"{len(rows):,} file{'s' * (len(rows) > 1)}, most of them in {folder}"
    note = f"a namespace: {total:,} definitions in {files}"
    return NameMatch("symbol", symbol, hits=hits, note=note)


def _holds(count: int, names: str) -> str:
    """What a file defines in a namespace, classes first, which are capitalized."""
    shown = sorted(names.split(","), key=lambda name: not name[:1].isupper())[:_NAMES]
    more = ", ..." if count > len(shown) else ""
    return f"{count} of its definitions: {', '.join(shown)}{more}"


_NAMES = 4


def find_declared(symbol: str, index: IndexedTree) -> NameMatch | None:
    """Declarations in a class, an enumeration or a namespace's header:
    ``c10::DispatchKeySet::FULL``, ``c10::kCPU``."""
    scope, _, name = symbol.rpartition("::")
    if not scope or not name.removeprefix("~").isidentifier():
        return None
    looks = (look(scope, name, index) for look in (_in_classes, _in_headers, _joined))
    return match_of("symbol", symbol, next(filter(None, map(tuple, looks)), ()), sure="by rule")


def _declaring(name: str, is_listed: bool) -> re.Pattern[str]:
    """The pattern of a line that declares a name behind its type, or lists an enumerator."""
    statement, typed = r"(?:return|throw|delete|case|else|using|goto)\b", "" if is_listed else r"\w"
    before = rf"^(?![ \t]*{statement})[ \t]*{typed}[^\n/(=]*(?<![.>\w])"
    return re.compile(rf"{before}{name}[ \t]*(?:=(?!=)|[;,{{}}(\[]|\n)", re.MULTILINE)


def _in_classes(scope: str, name: str, index: IndexedTree) -> Iterator[Hit]:
    for one in _classes(scope, index):
        path, first, last = one.location.path, one.location.line, one.location.end_line
        text = "\n".join(index.read(path).split("\n")[first - 1 : last])
        if found := _declaring(name, one.kind == "enum" or name[0] == "~").search(text):
            yield _declaration(f"{one.name}::{name}", path, first, text, found)


_CONSTANT = regex(r"(?:\w+\s+)*(?:constexpr|const|static|extern|inline|thread_local)\b[^(]*\Z")
"""The start of a declaration at namespace scope, which is not indented."""


def _in_headers(scope: str, name: str, index: IndexedTree) -> Iterator[Hit]:
    sql = (
        "SELECT path FROM files WHERE path LIKE '%.h' AND id IN (SELECT id>>22 FROM definitions"
        " WHERE scope=?1 UNION SELECT file FROM aliases WHERE scope=?1) ORDER BY path"
    )
    declared = _declaring(name, False)
    for path in index.facts.store.column(sql, (scope,)):
        text = index.source.text(path)
        for found in declared.finditer(text) if name in text else ():
            spaces = re.findall(r"\bnamespace\s+([\w:]+)\s*\{", text[: found.start()])
            if _CONSTANT.match(found[0]) and spaces[-1:] == [scope]:
                yield _declaration(f"{scope}::{name}", path, 1, text, found)


def _joined(scope: str, name: str, index: IndexedTree) -> Iterator[Hit]:
    """Names that a macro concatenates from a list, ``k##name``: ``at::kFloat``."""
    sql = (
        "SELECT f.path,m.line,m.body,l.body,u.scope FROM macros m JOIN files f ON f.id=m.file"
        " JOIN uses u ON u.file=m.file AND u.arguments=m.name JOIN macros l ON l.name=u.name"
        " WHERE f.path LIKE '%.h' AND instr(m.body,'##')"
    )
    for path, line, body, rows, inside in index.facts.store.query(sql):
        begin = _JOINED.search(body) if inside in (CORE if scope in CORE else (scope,)) else None
        row = name.removeprefix(begin[1]) if begin else name
        if row != name and re.search(rf"\b{row}\b", rows):
            yield Hit("member", f"{inside}::{name}", Location(path, line), body)


_JOINED = regex(r"\b(\w+)##\w+\s*=(?!=)")


def _declaration(name: str, path: str, first: int, text: str, found: re.Match[str]) -> Hit:
    line = first + text.count("\n", 0, found.start())
    words = text[found.start() :].partition("\n")[0].strip()
    return Hit("member", name, Location(path, line), words)
