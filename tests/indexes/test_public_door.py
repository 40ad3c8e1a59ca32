"""``indexes`` gives its two classes by name, and loads neither before it is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

import indexes
from indexes.queries.index import Index
from indexes.source.source import Source


def test_both_classes_are_at_the_door() -> None:
    assert indexes.Index is Index
    assert indexes.Source is Source
    with pytest.raises(AttributeError, match="Indices"):
        indexes.Indices  # noqa: B018


def test_importing_the_door_loads_nothing_behind_it() -> None:
    code = "import indexes, sys; print([m for m in sys.modules if m.startswith('indexes.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_questions_say_what_they_mean() -> None:
    unsaid = [
        name
        for name, method in vars(Index).items()
        if not name.startswith("_") and not (getattr(method, "__doc__", "") or "").strip()
    ]
    assert not unsaid
