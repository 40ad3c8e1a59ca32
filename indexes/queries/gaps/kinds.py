"""Every kind of gap, in the order in which they are shown."""

from __future__ import annotations

from indexes.queries.gaps import (
    autograd,
    batching,
    decompositions,
    devices,
    docs,
    dtypes,
    duplicates,
    messages,
    notes,
    opinfo,
    structured,
)
from indexes.queries.gaps.model import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "docs-signature",
        "easy",
        "docs that disagree with the schema",
        docs.find_signatures,
        docs.lacks,
    ),
    Kind("docs", "easy", "public names without a docstring", docs.find_missing, docs.lacks),
    Kind(
        "docs-page", "easy", "docstrings that no page lists", docs.find_unlisted, docs.lacks_pages
    ),
    Kind(
        "error-message",
        "easy",
        "checks of arguments without a message",
        messages.find,
        messages.lacks,
    ),
    Kind("todo", "easy", "TODO and FIXME in kernels", notes.find, notes.lacks),
    Kind("kernel", "medium", "kernels that a back end lacks", devices.find, devices.lacks),
    Kind("dtype", "medium", "dtypes that the CPU kernel lacks", dtypes.find, dtypes.lacks),
    Kind(
        "batch-rule", "medium", "operators that vmap runs in a loop", batching.find, batching.lacks
    ),
    Kind(
        "forward-mode",
        "medium",
        "derivatives without a forward-mode formula",
        autograd.find_forward,
        autograd.lacks,
    ),
    Kind(
        "derivative",
        "medium",
        "derivatives said to be not implemented",
        autograd.find_unimplemented,
        autograd.lacks,
    ),
    Kind(
        "decomposition",
        "medium",
        "operators without a decomposition",
        decompositions.find_decompositions,
        decompositions.lacks_expected,
    ),
    Kind(
        "meta",
        "medium",
        "operators without a Meta kernel",
        decompositions.find_meta,
        decompositions.lacks_meta,
    ),
    Kind(
        "lowering",
        "medium",
        "operators that Inductor does not lower",
        decompositions.find_lowerings,
        decompositions.lacks_lowerings,
        graded=True,
    ),
    Kind("opinfo", "medium", "documented operators without an OpInfo", opinfo.find, opinfo.lacks),
    Kind(
        "composite-stub",
        "hard",
        "stubs called under a composite key",
        structured.find_composite_stubs,
        structured.lacks,
    ),
    Kind(
        "structured",
        "hard",
        "kernels that could be structured",
        structured.find_structured,
        structured.lacks,
    ),
    Kind(
        "duplicate",
        "hard",
        "functions that are written out twice",
        duplicates.find,
        duplicates.lacks,
    ),
)
"""Easy ones first, and among them those that need the least of the tree to change."""
