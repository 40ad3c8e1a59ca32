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

namespace torch::utils {

void check_cast(at::ScalarType from, at::ScalarType to) {
  TORCH_CHECK(at::canCast(from, to), //! says result dtype Float can't be cast to the output dtype Long
      "result dtype ", from, " can't be cast to the output dtype ", to);
  TORCH_CHECK(from == to, "the scalar dtype ", from, " was found, not ", to); //! says the scalar dtype Float was found, not Long
}

} // namespace torch::utils
