// Read by tests/indexes/linking/edges.
#include <ATen/native/mps/ByName_metallib.h>
namespace at::native::mps {
static void run_by_name(const Tensor& x, const std::string& name) {
  lib.getPipelineStateForFunc(fmt::format("{}_inner_{}", name, typeOf(x)));
}
void scan_by_name(const Tensor& x, const std::string& name) { run_by_name(x, name); }
void scan_all(const Tensor& x) { run_by_name(x, "rise"); }
} // namespace at::native::mps
