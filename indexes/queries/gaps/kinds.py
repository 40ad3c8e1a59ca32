"""Every kind of gap in display order: easy ones first, then by how little of the tree they need.

A module finds one or several related kinds, listed as its ``KINDS``. A new kind is a module with
``KINDS`` and its name below.
"""

from __future__ import annotations

from indexes.queries.gaps import (
    autograd,
    batching,
    checks,
    decompositions,
    docs,
    dtypes,
    duplicates,
    messages,
    notes,
    opinfo,
    structured,
)
from indexes.queries.gaps.documentation import coverage, docstrings, links
from indexes.queries.gaps.expectations import inputs, opinfo_rows, owners, recorded
from indexes.queries.gaps.kernels import missing
from indexes.queries.gaps.model import Kind
from indexes.queries.gaps.python import deprecated, references, typing

_FINDERS = (
    docs,
    docstrings,
    links,
    coverage,
    messages,
    checks,
    deprecated,
    typing,
    owners,
    notes,
    missing,
    dtypes,
    batching,
    autograd,
    decompositions,
    references,
    opinfo,
    inputs,
    opinfo_rows,
    structured,
    duplicates,
    recorded,
)

KINDS: tuple[Kind, ...] = tuple(kind for finder in _FINDERS for kind in finder.KINDS)
ALL = tuple(kind.name for kind in KINDS)
"""Their names, including ``apart`` ones."""
