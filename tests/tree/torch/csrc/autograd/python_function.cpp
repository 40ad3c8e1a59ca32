#include <torch/csrc/autograd/function.h>

static struct PyGetSetDef THPFunction_properties[] = {
    {"saved_inputs", (getter)THPFunction_saved, nullptr, nullptr, nullptr},
    {(char*)"needs_input_grad", &getMember<&THPFunction::needs>, nullptr},
    {nullptr}};

static PyMethodDef module_functions[] = {
    {"is_no_member", THPModule_isNoMember, METH_NOARGS, nullptr},
    {nullptr}};

PyTypeObject THPFunctionType = {
    PyVarObject_HEAD_INIT(nullptr, 0)
    "torch._C._FunctionBase", /* tp_name */
    THPFunction_properties, /* tp_getset */
};
