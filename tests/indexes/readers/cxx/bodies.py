"""Reads a body and gives the calls in it."""

from __future__ import annotations

from indexes.model.files import Call
from indexes.readers.cxx.facts import read_cpp

PARAMETERS = (
    "const Tensor& self, TensorList xs, const Scalar& alpha, int64_t dim, double p, bool flag,"
    " IntArrayRef size, const std::optional<Tensor>& weight, TensorIterator& iter,"
    " std::optional<Generator> gen, c10::string_view mode, const TensorOptions& options"
)


def calls(body: str, around: str = "", path: str = "aten/src/ATen/native/a.cpp") -> list[Call]:
    """What the body of ``run`` uses, when that stands behind the text ``around``."""
    text = f"{around}\nTensor run({PARAMETERS}) {{\n{body}\n}}\n"
    facts, problems = read_cpp(text.encode(), path)
    assert problems == ()
    (run,) = [one for one in facts.definitions if one.name == "run"]
    return run.calls


def called(body: str, name: str, around: str = "") -> Call:
    (found,) = [one for one in calls(body, around) if one.name == name]
    return found
