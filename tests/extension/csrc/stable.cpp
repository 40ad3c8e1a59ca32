#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

Tensor pack_cpu(const Tensor& self, int64_t bits) { // mark: pack_cpu
  return self;
}

STABLE_TORCH_LIBRARY(mystable, m) { // mark: stable library
  m.def("pack(Tensor self, int bits) -> Tensor"); // mark: pack schema
}

STABLE_TORCH_LIBRARY_FRAGMENT(mystable, m) { // mark: stable fragment
  m.def("unpack(Tensor self) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(mystable, CPU, m) { // mark: stable kernels
  m.impl("pack", TORCH_BOX(&pack_cpu)); // mark: pack registered
}
