
#include <ATen/native/library_impl.h>
#define PACKED(BITS) \
  m.impl("packed_" #BITS, torch::dispatch(c10::DispatchKey::CPU, &packed_cpu<BITS>));
namespace {
Tensor deep_cpu(const Tensor& self) {
  auto copy = self.to(at::kFloat);
  if (one(copy)) { if (two(copy)) { if (three(copy)) { if (four(copy)) {
    at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
  } } } }
  return copy;
}
Tensor lacks_cuda(const Tensor& self) {
  if (one(self)) { at::only_cpu(self); }
  return self;
}
}
TORCH_LIBRARY(routed, m) {
  m.def("packed_4(Tensor self) -> Tensor");
  m.def("deep(Tensor self) -> Tensor");
  m.def("lacks(Tensor self) -> Tensor");
  PACKED(4)
}
TORCH_LIBRARY_IMPL(routed, CPU, m) { m.impl("deep", deep_cpu); }
TORCH_LIBRARY_IMPL(routed, CUDA, m) { m.impl("lacks", lacks_cuda); }
