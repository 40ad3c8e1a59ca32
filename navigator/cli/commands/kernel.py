"""``torchnav kernel``: the source of a device kernel, by the name that a profiler prints."""

from __future__ import annotations

import sys

import click

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from indexes.serialize.answers import device_kernel_json
from navigator.cli.session import Settings, pass_settings, places_option
from navigator.text.answers import device_kernel_lines, source_lines


@click.command()
@click.argument("name")
@places_option
@pass_settings
def kernel(settings: Settings, name: str) -> None:
    """Show where a device kernel comes from: its launcher, its functor or lambda, or its library.

    NAME is a name that kineto, nsys, ncu or rocprof prints, mangled or not. With - as NAME, reads
    names from stdin, one per line, and prints one JSON object a line, in order.
    """
    index = settings.index()
    if name == "-":
        for line in sys.stdin:
            settings.write(device_kernel_json(index.kernel_name(line.rstrip("\r\n"))))
        return
    answer = index.kernel_name(name)
    settings.answer(
        lambda: device_kernel_json(answer),
        lambda: [*device_kernel_lines(answer), *source_lines(index.info)],
    )
    if not (answer.source or answer.launcher or answer.library or answer.candidates):
        raise NotFound(_meaning(index, name) or answer.reason or f"no source found for {name}")


def _meaning(index: Index, name: str) -> str:
    """What a name that is not a device kernel means; empty if unknown."""
    match = index.resolve(name)
    if match.kind == "none":
        return ""
    natives = (index.native(op) for op in match.overloads)
    places = [*(hit.location for hit in match.hits), *(one.location for one in natives if one)]
    kind = "a Python name" if match.kind == "python" else f"of kind {match.kind}"
    where = f", {places[0].path}:{places[0].line}" if places else ""
    return f"{match.text} is not a device kernel: it is {kind}{where}"
