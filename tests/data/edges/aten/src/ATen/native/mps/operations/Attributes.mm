// Read by tests/indexes/linking/edges.
#include <ATen/native/mps/Attributes_metallib.h>
namespace at::native {
#define EDGE_UNARY(NAME) \
  void edges_of_macro_##NAME(TensorIteratorBase& iter) { lib.exec_unary_kernel(iter, #NAME); }
EDGE_UNARY(wave)
void edges_of_attributes(const Tensor& x, const std::string& mode) {
  if (mode == "bump") { mode.size(); }
  lib.getPipelineStateForFunc("total_" + mode);
}
void edges_of_included_kernels(const Tensor& x) { lib.getPipelineStateForFunc("merge_" + type); }
void edges_of_limits(const Tensor& x) { lib.getPipelineStateForFunc("limited"); }
void edges_of_empty_names(const Tensor& x, const std::string& suffix) {
  lib.getPipelineStateForFunc(fmt::format("scan{}_{}", suffix, typeOf(x)));
}
} // namespace at::native
