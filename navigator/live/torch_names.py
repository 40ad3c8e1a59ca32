"""Asks the installed torch, in a process of its own, where its public names are defined."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from indexes.queries.audit.python import LiveNames
from navigator.live.asking import ask

_DUMP = Path(__file__).with_name("names_dump.py")


def live_names(documented: Iterable[str]) -> LiveNames:
    """Runs Python with torch once, for a minute or two, for its public names and those given.
    Raises SourceError, in one line, when that fails."""
    data = ask(sys.executable, str(_DUMP), words=json.dumps(sorted(documented)))
    names, methods = ({n: tuple(p) for n, p in data[key].items()} for key in ("names", "methods"))
    return LiveNames(data["version"], names, methods, data["unlisted"])
