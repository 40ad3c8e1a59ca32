#include <pybind11/pybind11.h>

void c10d_init(PyObject* module) {
  auto store =
      py::class_<::c10d::Store>(module, "Store")
          .def(py::init<>())
          .def(
              "compare_set",
              [](::c10d::Store& store) { return store.compareSet(); });
  module.def("no_member_either", [] {});
}
