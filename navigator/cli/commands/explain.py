"""``torchnav explain``: the meaning of a YAML field, a macro or a note."""

from __future__ import annotations

from collections.abc import Iterator

import click

from indexes.queries.explaining.fields import Explanation, Passage
from indexes.queries.explaining.words import explain_words
from indexes.serialize.answers import envelope, shape
from navigator.cli.session import Settings, pass_settings, places_option
from navigator.text.clean import clean

shape(Passage, "path line end_line text")


@click.command()
@click.argument("field")
@places_option
@pass_settings
def explain(settings: Settings, field: str) -> None:
    """Explain a field of native_functions.yaml or derivatives.yaml, a macro or a note.

    FIELD can also be a tag, a name that formulas can use (`grad`, `wrap_opt_if`), the line of an
    entry (`native_functions.yaml:552`), a macro (`TORCH_IMPL_FUNC`), or one of PyTorch's notes
    (`Note [Alias Dispatch Keys]`, its title, or a line that refers to it). The text is quoted from
    the tree's own documents and comments.
    """
    answer = explain_words(settings.source(), settings.index, field)
    settings.answer(
        lambda: envelope(
            settings.source().info,
            field=answer.field,
            passages=answer.passages,
            absent=answer.absent,
            mentions=answer.mentions,
        ),
        lambda: _lines(answer),
    )


def _lines(answer: Explanation) -> Iterator[str]:
    yield clean(answer.field)
    for passage in answer.passages:
        yield ""
        yield clean(f"{passage.location} to line {passage.location.end_line}")
        for line in passage.text.split("\n"):
            yield clean(f"    {line}".rstrip())
    if answer.mentions:
        yield ""
        count = len(answer.mentions)
        yield f"referred to by {count} place{'s' * (count > 1)}"
        yield from (clean(f"    {one}") for one in answer.mentions)
    for path in answer.absent:
        yield ""
        yield f"not in this source: {path}"
