// Read by tests/indexes/linking/edges.
#include <ATen/native/mps/Named_metallib.h>
namespace at::native {
static void run_named(const Tensor& x, const std::string& name) {
  lib.getPipelineStateForFunc(fmt::format("sample_{}_{}", name, typeOf(x)));
}
void edges_of_named_kernels(const Tensor& x) { lib.exec_unary_kernel(x, "ramp"); }
void edges_of_whole_names(const Tensor& x) { lib.getPipelineStateForFunc("pivots"); }
void edges_of_names_put_in(const Tensor& x) { run_named(x, "cubic"); }
void edges_of_longer_names_put_in(const Tensor& x) { run_named(x, "cubic_wide"); }
static void run_back(const Tensor& x, const std::string& name) {
  lib.getPipelineStateForFunc(fmt::format("sample_{}_back_{}", name, typeOf(x)));
}
void edges_of_the_same_name_put_elsewhere(const Tensor& x) { run_back(x, "cubic"); }
void edges_of_padded_names(const Tensor& x, const std::string& pad) {
  lib.getPipelineStateForFunc(fmt::format("stretch_{}_{}", pad, typeOf(x)));
}
struct Backing { virtual void serve(const Tensor& x) { fail(); } void plain(int n) {} };
struct NearBacking : Backing { void serve(const Tensor& x) override { x.abs(); } };
struct FarBacking : Backing {
  void serve(const Tensor& x);
  void plain(int n) {}
};
void FarBacking::serve(const Tensor& x) { x.neg(); }
struct Holder { c10::intrusive_ptr<Backing> backing(int key) const { return held_; } };
const Holder& the_holder() { return holder; }
Tensor made_of(const Tensor& x, int n) { return x; }
Tensor ordered(const Tensor& x, int64_t dim, bool descending) { return x; }
template <typename It> void between(It first, It last) {}
void counted(int64_t many) {}
void edges_of_iterators(const std::vector<std::string>& names, at::IntArrayRef sizes) {
  ordered(sizes.begin(), sizes.end(), true);
  between(names.begin(), names.end());
  add(names.begin(), names.end());
  counted(sizes.end() - sizes.begin());
}
void edges_of_results(const Tensor& x) {
  the_holder().backing(0)->serve(x);
  auto held = the_holder().backing(1);
  held->plain(1);
  made_of(x, 1).sub(1);
}
Tensor edges_of_numbers(const Tensor& x) {
  auto y = 1 - x;
  return 1.5 * at::sub(x, y);
}
void edges_of_void_kernels(const Tensor& x) { lib.exec_unary_kernel(x, "turned"); }
void edges_of_blits(id<MTLBlitCommandEncoder> encoder) {
  [encoder copyFromBuffer:from toBuffer:to size:1];
}
} // namespace at::native
