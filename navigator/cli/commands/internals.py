"""``torchnav tensorimpl`` and ``engine``: TensorImpl.h and engine.cpp explained."""

from __future__ import annotations

import click

from indexes.model.answers import EngineFunction
from indexes.model.errors import NotFound
from indexes.queries.backward_engine import EngineStep, calls_elsewhere, way_of_node
from indexes.queries.index import Index
from indexes.serialize.answers import (
    Object,
    engine_function_json,
    envelope,
    member_json,
    shape,
    to_json,
    to_object,
)
from navigator.cli.session import Settings, pass_settings, places_option
from navigator.text.answers import engine_lines, member_lines, source_lines
from navigator.text.clean import clean


@click.command()
@places_option
@pass_settings
def tensorimpl(settings: Settings) -> None:
    """Show each data member of TensorImpl, with its type, comment, line and accessors."""
    index = settings.index()
    members = index.tensorimpl()
    if not members:
        raise NotFound("cannot read c10/core/TensorImpl.h in this tree")
    settings.answer(
        lambda: envelope(index.info, members=[member_json(member) for member in members]),
        lambda: [*member_lines(members), *source_lines(index.info)],
    )


@click.command()
@click.argument("node", required=False, default="")
@places_option
@pass_settings
def engine(settings: Settings, node: str) -> None:
    """Show the functions of the autograd engine, what each calls, and when they run.

    With NODE (`AddmmBackward0`), shows how the engine runs that node, call by call.
    """
    index = settings.index()
    if node:
        _node_path(settings, index, node)
        return
    functions = index.engine()
    if not functions:
        raise NotFound(
            "this source has no torch/csrc/autograd/engine.cpp: add it with `torchnav clone`"
        )
    settings.answer(
        lambda: envelope(index.info, functions=[_function_json(index, one) for one in functions]),
        lambda: [
            *engine_lines((function, _outside_calls(index, function)) for function in functions),
            *source_lines(index.info),
        ],
    )


def _outside_calls(index: Index, function: EngineFunction) -> list[tuple[str, int]]:
    """Calls into other files of autograd, with their lines."""
    return [(one.name, line) for line, one in calls_elsewhere(index.facts, function)]


def _function_json(index: Index, function: EngineFunction) -> Object:
    calls = calls_elsewhere(index.facts, function)
    leads_to = [{"at": line, **to_object(one, "name path line")} for line, one in calls]
    return {**engine_function_json(function), "leads_to": leads_to}


def _node_path(settings: Settings, index: Index, node: str) -> None:
    steps = way_of_node(index, node)
    if not steps:
        raise NotFound(
            "this source has no torch/csrc/autograd/engine.cpp: add it with `torchnav clone`"
        )
    if not any(step.depth > 1 for step in steps):
        raise NotFound(f"no Node named {node}")
    settings.answer(
        lambda: envelope(index.info, steps=[to_json(one) for one in steps]),
        lambda: [*map(_step_line, steps), *source_lines(index.info)],
    )


def _step_line(step: EngineStep) -> str:
    where = f"  {step.location}" if step.location else ""
    return clean(f"{step.at.line:>6}  {'  ' * step.depth}{step.name}{where}")


shape(EngineStep, "depth name at=at.line path line end_line")
