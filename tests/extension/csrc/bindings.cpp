#include <torch/extension.h>

torch::Tensor fast_scale(torch::Tensor self, double factor) { // mark: fast_scale
  return self * factor;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { // mark: module
  m.def("scale_fast", &fast_scale, "Scales."); // mark: scale_fast bound
}
