"""``torchnav explain``: the meaning of a YAML field or a macro."""

from __future__ import annotations

from collections.abc import Iterator

import click

from indexes.model.lines import placed
from indexes.queries.explaining import macros
from indexes.queries.explaining.fields import Explanation, Fields, Passage
from indexes.serialize.answers import envelope, shape
from indexes.source.source import Source
from navigator.cli.session import Settings, pass_settings, places_option
from navigator.text.clean import clean

shape(Passage, "path line end_line text")


@click.command()
@click.argument("field")
@places_option
@pass_settings
def explain(settings: Settings, field: str) -> None:
    """Explain a field of native_functions.yaml or derivatives.yaml, or a macro.

    FIELD can also be a tag, a name that formulas can use (`grad`, `wrap_opt_if`), the line of an
    entry (`native_functions.yaml:552`), or a macro (`TORCH_IMPL_FUNC`). The text is quoted from
    the tree's own documents and comments.
    """
    source = settings.source()
    answer = _macro(settings, field) if field.isupper() else _field(source, field)
    settings.answer(
        lambda: envelope(
            source.info, field=answer.field, passages=answer.passages, absent=answer.absent
        ),
        lambda: _lines(answer),
    )


def _field(source: Source, field: str) -> Explanation:
    path, line = placed(field) or ("", 0)
    found = source.locate(path.rpartition("/")[2]) if path else None
    return Fields(source).at(found, line) if found else Fields(source).explain(field)


def _macro(settings: Settings, name: str) -> Explanation:
    return macros.explain(settings.index(), settings.source(), name)


def _lines(answer: Explanation) -> Iterator[str]:
    yield clean(answer.field)
    for passage in answer.passages:
        yield ""
        yield clean(f"{passage.location} to line {passage.location.end_line}")
        for line in passage.text.split("\n"):
            yield clean(f"    {line}".rstrip())
    for path in answer.absent:
        yield ""
        yield f"not in this source: {path}"
