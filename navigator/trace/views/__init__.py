"""Views of a trace: tables for the command line and the screen's tabs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from navigator.trace.groups import GROUPS
from navigator.trace.views.collectives import collectives_view
from navigator.trace.views.compiled import compiled_view
from navigator.trace.views.critical import critical_view
from navigator.trace.views.flops import flops_view
from navigator.trace.views.idle import idle_view
from navigator.trace.views.memory import MEMORY_BY, memory_view, peak_view
from navigator.trace.views.steps import steps_view
from navigator.trace.views.times import time_view
from navigator.trace.views.view import Column, Links, Planner, Row, View, no_links, view_lines

__all__ = ["VIEWS", "Column", "Links", "Planner", "Row", "View", "no_links", "view_lines"]

VIEWS: Mapping[str, Planner] = {
    **{by: partial(time_view, by=by) for by in GROUPS},
    "steps": steps_view,
    "flops": flops_view,
    "idle": idle_view,
    "critical": critical_view,
    "memory": partial(memory_view, by=MEMORY_BY[0]),
    **{f"memory-{by}": partial(memory_view, by=by) for by in MEMORY_BY[1:]},
    "memory-peak": peak_view,
    "collectives": collectives_view,
    "compiled": compiled_view,
}
"""The views by name, in display order."""
