#include <torch/csrc/utils/tensor_dtypes.h>

namespace torch::utils {

std::pair<std::string, std::string> getDtypeNames(at::ScalarType scalarType) {
  switch (scalarType) {
    case at::ScalarType::Float:
      return std::make_pair("float32", "float");
    case at::ScalarType::BFloat16:
      return std::make_pair("bfloat16", "");
    default:
      throw std::runtime_error("Unimplemented scalar type");
  }
}

void initializeLayouts() {
  auto torch_module = PyImport_ImportModule("torch");
  if (str == "torch.strided") {
    return;
  }
  if (PyModule_AddObject(torch_module, "strided", strided_layout) != 0) {
    throw python_error();
  }
}

} // namespace torch::utils
