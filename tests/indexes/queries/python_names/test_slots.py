"""Special methods that types of C++ have by their slots."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.python_names import find
from indexes.queries.python_names.slots import slot_function
from tests.indexing import append, opened

TYPE = """
static PyObject* Shape_item(PyObject* self, PyObject* key) { return nullptr; }
static PyObject* Shape_repr(PyObject* self) { return nullptr; }
static int Shape_init(PyObject* self, PyObject* a, PyObject* k) { return 0; }

static PyMappingMethods Shape_as_mapping = {
    nullptr,  // no length, though { this says so
    Shape_item,
};

PyTypeObject ShapeType = {
    PyVarObject_HEAD_INIT(nullptr, 0) "torch._C.Shape", /* tp_name */
    sizeof(int), /* tp_basicsize */
    0, 0, 0, nullptr, nullptr, nullptr, /* tp_as_async */
    (reprfunc)Shape_repr, /* tp_repr */
    nullptr, /* tp_as_number */
    nullptr, /* tp_as_sequence */
    &Shape_as_mapping, /* tp_as_mapping */
};

void ready() { ShapeType.tp_init = (initproc)Shape_init; }
"""


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("__repr__", "Shape_repr"),
        ("__getitem__", "Shape_item"),
        ("__len__", ""),
        ("__delitem__", ""),
        ("__init__", "Shape_init"),
        ("__new__", ""),
        ("numel", ""),
    ],
)
def test_the_slot_of_a_special_method(name: str, function: str) -> None:
    assert slot_function(TYPE.encode(), "Shape", name) == function
    assert slot_function(TYPE.encode(), "OtherShape", name) == ""


def test_a_special_method_leads_to_its_function(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "torch/csrc/Shape.cpp").write_text(TYPE)
    append(tree_copy, {"torch/_C/__init__.pyi.in": "\nclass Shape: ...\n"})
    with opened(tree_copy, cache) as index:
        found = find("torch._C.Shape.__getitem__", index)
    assert found
    assert found.location
    assert (found.location.path, found.location.line) == ("torch/csrc/Shape.cpp", 2)
