"""Asks the installed torch, in a process of its own, where its public names are defined."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from indexes.queries.audit.python import LiveNames
from indexes.source.torch_install import target_python
from navigator.live.asking import ask

_DUMP = Path(__file__).with_name("names_dump.py")


def live_names(documented: Iterable[str] = (), modules: Sequence[str] = ()) -> LiveNames:
    """Runs Python with torch once, for a minute or two, for its public names and those given.

    Parameters:
        documented: Further names.
        modules: Only the public names of these.

    Raises:
        SourceError: In one line, when that fails.
    """
    words = json.dumps(sorted(documented))
    data = ask(target_python().path, str(_DUMP), *modules, words=words)
    names, methods = ({n: tuple(p) for n, p in data[key].items()} for key in ("names", "methods"))
    return LiveNames(data["version"], names, methods, data["unlisted"])
