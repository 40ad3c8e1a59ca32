#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

HIDDEN_NAMESPACE_BEGIN(my, stable) // mark: namespaces opened

Tensor pack_cpu(const Tensor& self, int64_t bits) { // mark: pack_cpu
  return self;
}

HIDDEN_NAMESPACE_END(my, stable) // mark: namespaces closed

STABLE_TORCH_LIBRARY(mystable, m) { // mark: stable library
  m.def("pack(Tensor self, int bits) -> Tensor"); // mark: pack schema
}

STABLE_TORCH_LIBRARY_FRAGMENT(mystable, m) { // mark: stable fragment
  m.def("unpack(Tensor self) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(mystable, CPU, m) { // mark: stable kernels
  m.impl("pack", TORCH_BOX(&my::stable::pack_cpu)); // mark: pack registered
}
