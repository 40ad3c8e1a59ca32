"""Headers that the kernels of one subject share: those that their files include and few others do.
A loop that several kernels run stands there, and the stubs that they are called through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from indexes.queries.contribution.siblings import Sibling
from indexes.store.lookup import Lookup

_ROOT = "aten/src/"
_FOLDERS = f"{_ROOT}ATen/native/"
_MOST_USERS = 30
"""Files that include a header; one that more do belongs to no kernel."""
_MOST_SOURCES = 8
"""Files that include a header; what more do use for many things."""


def shared_headers(
    facts: Lookup, files: Iterable[str], known: Collection[str]
) -> Iterator[Sibling]:
    """The headers of kernels that some sources include, those that most of these do first, then
    those that fewest others do; without the files that are known already."""
    included, paths = facts.includes(), frozenset(facts.paths("cpp", f"{_FOLDERS}%"))
    users = Counter(name for names in included.values() for name, _ in names)
    own: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    for path in dict.fromkeys(files):
        for name, _ in included.get(path, ()):
            header = _path_of(name, path, paths)
            if header not in known and 0 < users[name] <= _MOST_USERS:
                own.setdefault(header, []).append(path)
                counts[header] = users[name]
    own.pop("", None)
    for header in sorted(own, key=lambda one: (-len(own[one]), counts[one])):
        yield Sibling(header, own[header][0])


def header_users(facts: Lookup, files: Iterable[str]) -> Iterator[Sibling]:
    """The sources that include one of some headers, if few do."""
    included = facts.includes()
    for header in files:
        name = header.removeprefix(_ROOT)
        users = [path for path, names in included.items() if any(n == name for n, _ in names)]
        if len(users) <= _MOST_SOURCES:
            yield from (Sibling(one, header) for one in users)


def _path_of(name: str, path: str, paths: Collection[str]) -> str:
    """The file among some that a line of another includes; empty for none."""
    beside = f"{path.rpartition('/')[0]}/{name}"
    return next((one for one in (_ROOT + name, beside) if one in paths), "")
