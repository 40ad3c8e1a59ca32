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
LAMPS = """
PyTypeObject LampType = {PyVarObject_HEAD_INIT(nullptr, 0) "torch._C.Lamp"};
PyTypeObject LightType = {PyVarObject_HEAD_INIT(nullptr, 0) "torch._C.Torchlight"};
void initLamps() { addPyMethodDefs(methods, lamp_shades()); }
void bind(py::module m) {
  py::class_<Bulb>(m, "_Bulb")
#define UNARY(n) .def(#n, [](const Bulb& a) { return a->n(); })
      UNARY(ceil);
      PAIRED(beside);
}
#define PAIRED(n)     \\
  .def(               \\
      #n, [](const Bulb& a) { return a->n(a); })
struct CPU {};
PyTypeObject FilamentType = {PyVarObject_HEAD_INIT(nullptr, 0) "torch._C.TensorBase"};
static PyMethodDef filaments[] = {{"_glow_now", glow_now, METH_NOARGS, nullptr}};
void initFilament() { FilamentType.tp_methods = filaments; }
auto level = getCvarString({"TORCH_LAMP_LEVEL"}, "OFF");
"""
SHADES = """
static PyMethodDef shades[] = {
    {(char*)"dim_shade", dim_shade, METH_NOARGS, nullptr}};
PyMethodDef* lamp_shades() {
  return shades;
}
"""
STUB = "\n" + "".join(
    f"class {name}: ...\n" for name in ("Shelf", "Crate", "WallShelf", "Box", "DispatchKey")
)
PACKAGE = "\nfrom torch._C._walls.guards import guard_plain as guarded\n"
FILES = {
    "torch/csrc/shelves.cpp": SHELVES,
    "torch/csrc/info.cpp": INFO,
    "torch/csrc/lamps.cpp": LAMPS,
    "torch/csrc/shades.cpp": SHADES,
    "torch/shop.py": "class Lamp:\n    pass\n\n\nclass Torchlight:\n    pass\n",
    "docs/source/shop.rst": ".. autoclass:: torch.shop.Lamp\n",
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
        ("torch._C.Lamp.dim_shade", "shades", 3),  # a table that a function gives to the type
        ("torch._C._Bulb.ceil", "lamps", 8),  # its name is an argument of a macro
        ("torch._C._Bulb.beside", "lamps", 9),  # of one in several lines
        ("torch._C.TensorBase._glow_now", "lamps", 16),
        ("torch._C._TensorBase._glow_now", "lamps", 16),  # its other name
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


def test_a_dispatch_key_of_either_class_named_so(index: Index) -> None:
    found = index.resolve("DispatchKey.CPU")
    assert (found.kind, found.hits[0].location.path) == ("key", "c10/core/DispatchKey.h")


def test_a_class_named_as_a_dispatch_key_is_told_beside_it(index: Index) -> None:
    assert [one.location.path for one in index.resolve("CPU").namesakes] == ["torch/csrc/lamps.cpp"]


def test_a_name_that_is_no_dispatch_key(index: Index) -> None:
    assert index.resolve("torch._C.DispatchKey.Nothing").kind == "none"


def test_a_class_that_no_page_names_comes_after_one_with_a_page(index: Index) -> None:
    lamp, light = find("Lamp", index), find("Torchlight", index)
    assert lamp
    assert light
    places = [one.location.path for one in (*lamp.places, *lamp.others)]
    assert places == ["torch/shop.py", "torch/csrc/lamps.cpp"]
    assert [one.location.path for one in light.places] == ["torch/csrc/lamps.cpp"]


def test_a_list_of_one_text_is_no_row_of_a_table(index: Index) -> None:
    found = index.resolve("TORCH_LAMP_LEVEL")
    assert (found.kind, found.hits[0].detail) == ("variable", "environment variable")
