#include "impl.h"
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(mylib, m) {
  m.def("pack_bits(Tensor self) -> Tensor");
  m.impl("pack_bits", torch::dispatch(c10::DispatchKey::CPU, &pack_bits<4>));
}
