"""The stage that reads TensorImpl.h and engine.cpp."""

from __future__ import annotations

from indexes.model.answers import EngineFunction, Member
from indexes.model.vocabulary import Problem
from indexes.readers.cxx.engine import read_engine
from indexes.readers.cxx.tensor_impl import read_members, with_accessors
from indexes.source.source import Source
from indexes.store.index_file import Store
from indexes.store.tables import dump

_TENSOR_IMPL = ("TensorImpl.h", "c10/core/TensorImpl.cpp")
_ENGINE = "engine.cpp"
_ENGINE_HEADERS = ("engine.h", "torch/csrc/autograd/graph_task.h")
DOCUMENT_FILES = (*_TENSOR_IMPL, _ENGINE, *_ENGINE_HEADERS)
STAGE = "documents"


def read_documents(store: Store, source: Source) -> None:
    """Stores the members of TensorImpl and the functions of the engine."""
    members, problems = _members(source)
    functions, more = _engine(source)
    store.set_problems(STAGE, [*problems, *more])
    documents = (("tensorimpl", dump(members)), ("engine", dump(functions)))
    store.db.executemany("INSERT OR REPLACE INTO documents VALUES(?,?)", documents)


def _members(source: Source) -> tuple[tuple[Member, ...], tuple[Problem, ...]]:
    header, body = map(source.locate, _TENSOR_IMPL)
    if header is None:
        return (), ()
    members, problems = read_members(source.read(header), header)
    return (with_accessors(members, source.read(body), body) if body else members), problems


def _engine(source: Source) -> tuple[list[EngineFunction], list[Problem]]:
    """The functions of engine.cpp, or the declarations in an installed torch's headers."""
    names = (_ENGINE,) if source.locate(_ENGINE) else _ENGINE_HEADERS
    functions: list[EngineFunction] = []
    problems: list[Problem] = []
    for path in filter(None, map(source.locate, names)):
        found, failed = read_engine(source.read(path), path)
        functions += found
        problems += failed
    return functions, problems
