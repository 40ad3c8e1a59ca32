#include <ATen/ATen.h>
#include <torch/library.h>

namespace mylib {

at::Tensor scale_cpu(const at::Tensor& self, double factor) { // mark: scale_cpu
  return at::mul(self, factor);
}

at::Tensor scale_private(const at::Tensor& self, double factor) { // mark: scale_private
  return self;
}

at::Tensor relu_private(const at::Tensor& self) { // mark: relu_private
  return self;
}

TORCH_LIBRARY(mylib, m) {
  m.def("scale(Tensor self, float factor) -> Tensor"); // mark: scale schema
}

TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", TORCH_FN(scale_cpu));
}

TORCH_LIBRARY_IMPL(mylib, PrivateUse1, m) {
  m.impl("scale", TORCH_FN(scale_private));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("relu", TORCH_FN(relu_private)); // mark: relu registered
}

} // namespace mylib
