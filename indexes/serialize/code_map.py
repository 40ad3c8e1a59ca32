"""The map of a tree as JSON, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.model.code_map import CallMap, CallStep, FolderMap, MapEntry, Words
from indexes.serialize.answers import Object, envelope, shape, to_object

shape(Words, "text path line")
shape(MapEntry, "kind path counts references words door")
shape(CallStep, "stage name path line folder why")


def folder_json(answer: FolderMap) -> Object:
    """The answer of ``torchnav map FOLDER``."""
    keys = "counts words entries doors"
    return envelope(answer.source, folder=answer.path, **to_object(answer, keys))


def call_json(answer: CallMap) -> Object:
    """The answer of ``torchnav map --call NAME``."""
    return envelope(answer.source, **to_object(answer, "op device steps unknown"))
