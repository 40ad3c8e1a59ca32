"""A new operator's plan, with its draft validated by the torchgen of the tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from indexes.model.errors import SourceError
from indexes.queries.contribution.new_operator import Check, NewOperator, Planner
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.torch_install import target_python
from navigator.live.python_process import ask

_SCRIPT = Path(__file__).with_name("torchgen_check.py")
_NONE = "this tree has no torchgen; that of the installed torch"
_TIMEOUT = 60.0
"""Seconds."""


def plan_operator(index: Index, schema: str, formulas: Sequence[str] = ()) -> NewOperator:
    """The plan for a schema, with the fullest draft that the tree's torchgen accepts."""
    plan = Planner(index).plan(schema, formulas)
    return checked(plan, index.source) if plan.drafts else plan


def checked(plan: NewOperator, source: Source) -> NewOperator:
    """The plan with torchgen's verdict on its drafts."""
    context = "\n".join(plan.beside)
    texts = [f"{context}\n\n{plan.text_of(draft)}\n" for draft in plan.drafts]
    verdict = _torchgen_verdict(source, texts)
    taken = [at for at, refusal in enumerate(verdict["refused"]) if not refusal]
    if taken and taken[0]:
        first = plan.drafts[taken[0]]
        plan = replace(plan, drafts=(first, *(one for one in plan.drafts if one != first)))
    return replace(plan, checks=(plan.checks[0], _check(plan, verdict), *plan.checks[1:]))


def _torchgen_verdict(source: Source, texts: Sequence[str]) -> dict[str, Any]:
    tags = source.locate("tags.yaml")
    words = {
        "root": source.top,
        "texts": list(texts),
        "tags": source.full_path(tags) if tags else None,
    }
    try:
        python = target_python().path
        return dict(ask(python, str(_SCRIPT), words=json.dumps(words), timeout=_TIMEOUT))
    except SourceError as error:
        return {"refused": [], "absent": str(error), "torchgen": ""}


def _check(plan: NewOperator, verdict: dict[str, Any]) -> Check:
    if verdict["absent"] or not verdict["refused"]:
        why = f"torchgen did not run ({verdict['absent']}): checked by torchnav's own rules alone"
        return Check("torchgen", True, why)
    if all(verdict["refused"]):
        refusal = verdict["refused"][0]
        if verdict["torchgen"]:
            return Check("torchgen", False, f"it rejects the draft: {refusal}")
        return Check("torchgen", True, f"{_NONE} rejects the draft by rules of its own: {refusal}")
    count = len(plan.drafts[0])
    entries = f"the draft of {count} entries" if count > 1 else "the draft"
    fuller = verdict["refused"][0]
    note = f"; it rejects a fuller one: {fuller}" if fuller else ""
    whose = f"{verdict['torchgen']} of this tree" if verdict["torchgen"] else _NONE
    return Check("torchgen", True, f"{whose} accepts {entries}{note}")
