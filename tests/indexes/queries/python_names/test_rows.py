"""Rows of tables and pybind11 calls belong to the class or module that their file gives them to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.queries.index import Index
from indexes.queries.python_names import find
from tests.indexing import grown

SHELVES = """
void initShelves(PyObject* module) {
  auto shelf = py::class_<Shelf, std::shared_ptr<Shelf>>(module, "Shelf")
      .def("lift", &Shelf::lift);
  py::class_<Crate> crate(
      module, "Crate", "holds");
  crate.def("pack", &Crate::pack);
  ////////////////////////////////////////////////////////////////
  shelf.def("drop", &Shelf::drop);
  py::class_<WallShelf>(module, "WallShelf", shelf).def("hang", &WallShelf::hang);
  py::class_<Box, Crate>(module, "Box");
  module.def("count_shelves", &count);
  auto deep = module.def_submodule("_deep");
  deep.def("count_deep", &count);
  py::class_<Cellar> cellar(deep, "Cellar");
  py::enum_<Wood>(deep, "Wood").value("OAK", Wood::OAK).export_values();
}
"""
INFO = """
static const std::initializer_list<PyGetSetDef> low_properties = {
    {"lowest", (getter)low_lowest, nullptr, nullptr, nullptr}};
PyTypeObject LowType = {
    PyVarObject_HEAD_INIT(nullptr, 0) "torch.lowinfo", /* tp_name */
    const_cast<PyGetSetDef*>(std::data(low_properties)), /* tp_getset */
};
static struct PyGetSetDef high_properties[] = {
    {"highest", (getter)high_highest, nullptr, nullptr, nullptr}};
PyTypeObject HighType = {
    PyVarObject_HEAD_INIT(nullptr, 0) "torch.highinfo", /* tp_name */
    high_properties, /* tp_getset */
};
static PyMethodDef plain[] = {
    {"count_plain", count_plain, METH_NOARGS, nullptr}};
static PyMethodDef guarding[] = {
    {"guard_plain", guard_plain, METH_NOARGS, nullptr}};
static PyModuleDef guards = {PyModuleDef_HEAD_INIT, "torch._C._walls.guards", "", -1, guarding};
"""
STUB = "\n" + "".join(
    f"class {name}: ...\n" for name in ("Shelf", "Crate", "WallShelf", "Box", "DispatchKey")
)
PACKAGE = "\nfrom torch._C._walls.guards import guard_plain as guarded\n"
FILES = {
    "torch/csrc/shelves.cpp": SHELVES,
    "torch/csrc/info.cpp": INFO,
    "torch/_C/__init__.pyi.in": STUB,
    "torch/__init__.py": PACKAGE,
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with grown(tmp_path_factory, FILES) as index:
        yield index


@pytest.mark.parametrize(
    ("name", "path", "line"),
    [
        ("torch.Shelf.lift", "shelves", 4),
        ("torch.Shelf.drop", "shelves", 9),
        ("torch.Crate.pack", "shelves", 7),
        ("torch.WallShelf.hang", "shelves", 10),
        ("torch.WallShelf.lift", "shelves", 4),  # of the object that is its base
        ("torch.Box.pack", "shelves", 7),  # of the class among its template arguments
        ("torch.count_shelves", "shelves", 12),
        ("torch._C._deep.count_deep", "shelves", 14),
        ("torch._C._deep.Cellar", "shelves", 15),
        ("torch._C._deep.OAK", "shelves", 16),
        ("torch.lowinfo.lowest", "info", 3),
        ("torch.highinfo.highest", "info", 9),
        ("torch.count_plain", "info", 15),
        ("torch.guarded", "info", 17),
        ("torch._C._walls.guards.guard_plain", "info", 17),
    ],
)
def test_a_row_is_of_what_its_file_gives_it_to(
    name: str, path: str, line: int, index: Index
) -> None:
    found = find(name, index)
    assert found
    assert found.location
    assert (found.location.path, found.location.line) == (f"torch/csrc/{path}.cpp", line)


@pytest.mark.parametrize(
    "name",
    [
        "torch.Shelf.pack",
        "torch.Shelf.hang",
        "torch.Shelf.count_shelves",
        "torch.Crate.lift",
        "torch.highinfo.lowest",
        "torch.guard_plain",
        "torch.count_deep",
        "torch._C._walls.nothing",
    ],
)
def test_a_row_of_another_class_or_module_is_no_answer(name: str, index: Index) -> None:
    assert find(name, index) is None
    assert index.resolve(name).kind == "none"


@pytest.mark.parametrize(
    "name", ["torch._C.DispatchKey.CPU", "torch.DispatchKey.CPU", "DispatchKey::CPU"]
)
def test_a_dispatch_key_under_its_python_names(name: str, index: Index) -> None:
    found = index.resolve(name)
    (hit,) = found.hits
    assert (hit.kind, hit.name, hit.location.path) == ("key", "CPU", "c10/core/DispatchKey.h")


def test_a_name_that_is_no_dispatch_key(index: Index) -> None:
    assert index.resolve("torch._C.DispatchKey.Nothing").kind == "none"
