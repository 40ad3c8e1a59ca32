"""A row of C++ belongs to the module that its object holds: by assignment, callers, definition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from indexes.queries.index import Index
from indexes.queries.python_names import find
from indexes.queries.python_names.modules import Modules
from indexes.queries.python_names.rows import Rows
from indexes.queries.python_names.slots import slot_function
from tests.growth import least_seconds, takes_less
from tests.indexing import grown

MILLS = """
static PyModuleDef _mills = {PyModuleDef_HEAD_INIT, "torch._C._mills", "", -1, nullptr};
static PyModuleDef _wheels = {PyModuleDef_HEAD_INIT, "torch._C._mills._wheels", "", -1, nullptr};
void initMills(PyObject* torch) {
  PyObject* mills = PyModule_Create(&_mills);
  PyObject* wheels = PyModule_Create(&_wheels);
  auto m = py::handle(wheels).cast<py::module>();
  m.def("turn_wheel", &turn);
  py::class_<Cog>(m, "Cog").def("_teeth", &Cog::teeth);
  py::bind_vector<std::vector<int>>(m, "CogList");
}
void initGrain(PyObject* module) {
  auto m = py::handle(module).cast<py::module>();
  m.def("grind_grain", &grind);
  slot_type<Sack>::bind(m, "SackDict");
  log_type(m, "LogDict");
  add_type<Flour>(module, FlourType, "FlourType", flour_properties);
  m.def("find_mill", [](py::object given) {
    Mill m = mill_of(given);
    return m;
  });
  m.def("sell_mill", &sell);
  auto meal = std::vector<Entry>{{"rye", 1}};
}
template <typename T>
struct slot_type {
  static void bind(const py::module& m, const char* name) {
    py::class_<slot_type<T>>(m, name).def("size", &T::size);
  }
};
template <typename T>
void add_type(PyObject* module, PyTypeObject& type, const char* name, PyGetSetDef* properties) {
  PyModule_AddObject(module, name, (PyObject*)&type);
}
void log_type(const py::module& m, const char* name) { log(name); }
void initChaff(py::object given) {
  given.def("blow_chaff", &blow);
}
#define WEIGHS(name) \\
  .def("_weigh", &name)
static PyMethodDef methods[] = {{"_mills_init", mills_init, METH_NOARGS, nullptr}};
PyMethodDef* mill_functions() { return methods; }
static PyMethodDef unclaimed[] = {{"sift_flour", sift, METH_NOARGS, nullptr}};
void initSails(PyObject* self) {
  auto torch = THPObjectPtr(PyImport_ImportModule("torch.multiprocessing"));
  auto sails = py::handle(torch).cast<py::module>();
  sails.def("_set_sails", &set);
}
"""
TORCH = """
static std::vector<PyMethodDef> all;
static PyModuleDef torchmodule = {PyModuleDef_HEAD_INIT, "torch._C", nullptr, -1, all.data()};
PyObject* initMillModule() {
  addPyMethodDefs(all, mills::mill_functions());
  PyObject* module = PyModule_Create(&torchmodule);
  mills::initMills(module);
  mills::initGrain(module);
  return module;
}
"""
MILL = "import torch\nclass Mill:\n    __grind__ = torch._C.grind_grain\n"
FILES = {"torch/csrc/mills.cpp": MILLS, "torch/csrc/mill_module.cpp": TORCH, "torch/mill.py": MILL}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with grown(tmp_path_factory, FILES) as index:
        yield index


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("torch._C._mills._wheels.turn_wheel", '"turn_wheel"'),
        ("torch._C._mills._wheels.Cog", '"Cog"'),
        ("torch._C._mills._wheels.CogList", '"CogList"'),
        ("torch._C.grind_grain", '"grind_grain"'),
        ("torch._C.SackDict", '"SackDict"'),  # its name is given to a template
        ("torch._C.FlourType", '"FlourType"'),
        ("torch._C.sell_mill", '"sell_mill"'),  # the lambda before it has another m
        ("torch._C._mills_init", '"_mills_init"'),
    ],
)
def test_the_module_is_decided(name: str, text: str, index: Index) -> None:
    found = find(name, index)
    assert found
    assert found.location
    line = MILLS.split(text, maxsplit=1)[0].count("\n") + 1
    assert (found.location.line, found.confidence) == (line, "exact")


@pytest.mark.parametrize(
    "name",
    [
        "torch._C._mills.turn_wheel",
        "torch._C._mills.Cog",
        "torch._C._mills.grind_grain",
        "torch._C._mills._mills_init",
        "torch._C.turn_wheel",
        "torch._C.LogDict",  # given to a function that binds nothing
        "torch._C._set_sails",
        "torch._C.rye",  # of no table of methods
    ],
)
def test_another_module_that_the_file_names_has_no_such_name(name: str, index: Index) -> None:
    assert find(name, index) is None


def test_another_name_for_something_of_cxx_is_given_by_its_line_first(index: Index) -> None:
    found = find("torch.mill.Mill.__grind__", index)
    assert found
    assert [one.location.path for one in found.places] == ["torch/mill.py", "torch/csrc/mills.cpp"]


@pytest.mark.parametrize(
    "name",
    ["torch._C._mills.blow_chaff", "torch._C.sift_flour", "torch._C._mills._wheels.Cog._weigh"],
)
def test_what_nothing_decides_is_no_exact_answer(name: str, index: Index) -> None:
    found = find(name, index)
    assert found
    assert found.confidence == "by rule"
    assert "no line says for which class or module" in found.note


@pytest.mark.parametrize(
    "opening",
    [
        b"py::class_<",
        b"class_<T>(m,",
        b"PyTypeObject a = {",
        b'PyTypeObject a = {"q.B" ',
        b";// ",
        b"f(m);f(PyObject* m) {",
        b"m = m;\n",
        b"class_",
    ],
)
def test_time_grows_with_the_length_of_a_file(opening: bytes) -> None:
    few, many = (partial(_ask, opening * count) for count in (4_000, 16_000))
    assert takes_less(many, 10 * max(least_seconds(few), 0.02))


def _ask(data: bytes) -> None:
    rows = Rows(data)
    modules = Modules(lambda _: data, lambda _: ["a.cpp"], lambda _, table: rows.module_with(table))
    rows.is_member(len(data), "B")
    list(rows.bases("B"))
    slot_function(data, "B", "__repr__")
    modules.held("a.cpp", b"m", len(data))
    modules.with_table("a.cpp", b"a")
