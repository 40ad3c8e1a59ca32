"""``torchnav why``: explains an error. For in-place writes: the node that saved the value, the
writes after that, the formulas. For others: the failed call, its tensors, the lines of PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any

import torch

from indexes.model.regex import regex
from indexes.queries.backward_engine import node_source
from indexes.queries.index import Index
from indexes.queries.pasted import message_of
from navigator.capture.rows.error import raised_in
from navigator.explanation import MODIFIED, Cause, Explanation, needing, no_line_note, said_by
from navigator.objects.graph import Graph, packed, program_frame, read_graph
from navigator.objects.members import REFUSALS
from navigator.objects.writes import Writes, storage_of

_IN_PLACE = regex(
    r"a leaf Variable that requires grad|view of a leaf Variable|is a view and (?:is|its base)"
    r"|modified inplace|A view was created in"
)
_RAW = "_raw_saved_"


def explain(
    error: BaseException, writes: Writes, names: Mapping[str, torch.Tensor], index: Index
) -> Explanation:
    """The cause of an error, from recorded writes and the live graph.

    Parameters:
        writes: The writes recorded while the program ran.
        names: The variables of the program by name.
    """
    raised, text = _raised_at(error.__traceback__), message_of(str(error))
    modified = MODIFIED.search(text)
    if modified is not None:
        found = tuple(_causes(writes, names, index))
        note = "" if found else f"what a node of torch {torch.__version__} saved was not found"
        return Explanation(text, raised, found, note=note)
    made = tuple(_made(error, writes, names)) if _IN_PLACE.search(text) else ()
    whole = f"{type(error).__name__}: {error}"
    raising = said_by(whole, index, raised_in(error.__traceback__))
    note = "" if any(one.kind != "operator" for one in raising) else no_line_note(whole, index)
    failed = writes.failed if writes.failed and writes.failed.error is error else None
    tensors = tuple(_described(failed.given, names)) if failed else ()
    call = failed.name if failed else ""
    return Explanation(text, raised, (), made, note, call, tensors, raising)


def _of_program(traceback: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The program's frames in a traceback with their lines, innermost last."""
    return [(frame, line) for frame, line in walk_tb(traceback) if program_frame(frame) is frame]


def _described(tensors: Iterable[torch.Tensor], names: Mapping[str, torch.Tensor]) -> Iterator[str]:
    """The tensors of a call, with the program's names for them."""
    named: dict[int, str] = {}
    for name, one in names.items():
        named.setdefault(id(one), name)
    for tensor in tensors:
        kind = str(tensor.dtype).removeprefix("torch.")
        layout = str(tensor.layout).removeprefix("torch.")
        plain = f"{tuple(tensor.shape)} {kind} on {tensor.device}"
        text = plain if layout == "strided" else f"{plain}, {layout}"
        yield f"{named[id(tensor)]}: {text}" if id(tensor) in named else text


def _raised_at(traceback: TracebackType | None) -> tuple[str, int] | None:
    """The program's innermost line in a traceback."""
    frames = _of_program(traceback)
    return (frames[-1][0].f_code.co_filename, frames[-1][1]) if frames else None


def _graphs(writes: Writes, names: Mapping[str, torch.Tensor]) -> Iterator[Graph]:
    """The graph of the last backward pass; if none was recorded, those of all variables."""
    for tensor in writes.roots or names.values():
        if tensor.grad_fn is not None:
            yield read_graph(tensor, names, writes.of)


def _causes(writes: Writes, names: Mapping[str, torch.Tensor], index: Index) -> Iterator[Cause]:
    """Every saved value that its node rejects; a value saved twice counts once."""
    for graph in _graphs(writes, names):
        for node in graph.nodes:
            source = node_source(index, node.name, len(node.edges))
            refused = [*_refused(graph.live[node.number])]
            for storage in dict.fromkeys(storage_of(tensor) for _, tensor, _ in refused):
                same = [one for one in refused if storage_of(one[1]) == storage]
                saved = tuple(name for name, _, _ in same)
                _, tensor, expected = same[0]
                written = tuple(writes.to(storage, expected))
                formulas = [one for _, one in source.formulas if one is not None]
                yield Cause(
                    node.name,
                    node.called_at,
                    node.code,
                    saved,
                    tuple(tensor.shape),
                    source.entry,
                    tuple(needing(formulas, saved)),
                    written,
                )


def _refused(node: Any) -> Iterator[tuple[str, torch.Tensor, int]]:
    """The saved tensors whose version has changed, with the expected version."""
    for attribute in dir(node):
        if attribute.startswith(_RAW):
            name = attribute.removeprefix("_raw_saved_")
            read = "saved_tensors" if name == "tensors" else f"_saved_{name}"
            several = packed(node, attribute)
            expected = _expected(node, read, several)
            if expected is not None:
                yield from ((name, one.data, expected) for one in several if _has_data(one))


def _expected(node: Any, attribute: str, saved: Sequence[Any]) -> int | None:
    """The version at saving, if torch rejects the present value."""
    if any(getattr(one, "unpack_hook", True) is not None for one in saved):
        return None  # unpacking would run a hook, which torch before 2.8 can't report
    try:
        getattr(node, attribute)
    except REFUSALS as error:
        refused = MODIFIED.search(str(error))
        return int(refused[2]) if refused else None
    return None


def _has_data(saved: Any) -> bool:
    return isinstance(getattr(saved, "data", None), torch.Tensor)


def _made(
    error: BaseException, writes: Writes, names: Mapping[str, torch.Tensor]
) -> Iterator[tuple[str, tuple[str, int]]]:
    """Where the tensors on the failing line were made."""
    for name, tensor in _near(error, names).items():
        for what, one in ((name, tensor), (f"the base of {name}", tensor._base)):
            line = writes.of.get(one.grad_fn) if one is not None else None
            if line is not None:
                yield what, line


def _near(error: BaseException, names: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The variables of the program's innermost frame."""
    frames = _of_program(error.__traceback__)
    found = frames[-1][0].f_locals if frames else {}
    return {name: one for name, one in found.items() if isinstance(one, torch.Tensor)} or {**names}
