#include <torch/csrc/python_headers.h>

static PyObject* THPModule_allowTF32CuDNN(PyObject* _unused, PyObject* noargs) {
  if (at::globalContext().allowTF32CuDNN())
    Py_RETURN_TRUE;
  else
    Py_RETURN_FALSE;
}

static PyMethodDef TorchMethods[] = {
    {"_get_cudnn_allow_tf32", THPModule_allowTF32CuDNN, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

static int checked_size(int size) {
  return size;
}
int THPModule_size(int size) {
  return checked_size(size);
}
