// Read by tests/indexes/linking/edges.
#include <vendorModular.h>
#include <vendor_gemm/torch_ops.h>
namespace at::native {
namespace {
template <typename T, int N> __global__ void edge_kernel(T* x) { x[0] = N; }
template <typename T> struct EdgeSum {
  void operator()(Tensor& x) { edge_kernel<T, 2><<<1, 1>>>(x); }
};
template <typename T> constexpr int width() { return 4; }
__global__ void kernel(float* x) {}
}
#define LAUNCH_EDGE(T, N) edge_kernel<T, N><<<1, N>>>(x)
void edges_of_launches(float* x) { edge_kernel<float, width<float>()><<<1, 32>>>(x); }
void edges_of_macros(float* x) { LAUNCH_EDGE(float, 2); }
void edges_of_pointers(float* x, bool wide) {
  auto kernel = edge_kernel<float, 1>;
  if (wide) { kernel = edge_kernel<float, 4>; }
  kernel<<<1, 32>>>(x);
}
void edges_of_braces(Tensor& x) {
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "sum", [&] { EdgeSum<scalar_t>{}(x); });
}
void edges_of_aliases(Tensor& x) {
  using Gemm = cutlass::gemm::device::Adapter<T>;
  Gemm gemm;
  gemm(x);
}
struct EdgeBuilder {
  EdgeBuilder(float* x, int n) { edge_kernel<float, 4><<<1, n>>>(x); }
};
void edges_of_constructors(float* x) { EdgeBuilder builder(x, 32); }
void edges_of_runs(Tensor& x) {
  using Gemm = cutlass::gemm::device::Adapter<T>;
  Gemm gemm;
  gemm.initialize(x);
  gemm.run(x);
}
Tensor edges_of_included(const Tensor& x) { return vendor_gemm::grouped(x, x); }
Tensor edges_of_not_included(const Tensor& x) { return other_gemm::grouped(x, x); }
void edges_of_data(const Tensor& x) {
  vendorModular::add(x.mutable_data_ptr<float>(), 3);
  vendorModular::prepare(3);
}
void edges_of_builds(float* x) { EDGE_NAMESPACE::fused(x); plain_fused(x); }
void plain_fused(float* x) {}
} // namespace at::native

namespace at::native {
template <typename T> struct EdgeStarted {
  T reduce(T a, T b) const { return a + b; }
  void unused(T a) const {}
};
template <typename T> struct EdgeGreatest : public EdgeStarted<T> {};
struct EdgeAssign { template <typename T> void operator()(T* to, T from) const { *to = from; } };
static EdgeAssign edge_assign;
template <bool flag> struct EdgeScatter {
  template <typename F> void operator()(Tensor& x, const F& f) { f(x, x); }
};
struct EdgeOver {
  template <typename F> void operator()(const Tensor& x, const Scalar& y, const F& f) { f(x, y); }
  template <typename F> void operator()(const Tensor& x, const Tensor& y, const F& f) { f(x, y); }
  void operator()(const Tensor& x, const Tensor& y, const EdgeGreatest<float>& f) { f(x, y); }
};
template <typename T, typename Ops> T edge_reduced(Tensor& x, const Ops& ops) { return ops.reduce(1, 2); }

void edges_of_declared_functors(Tensor& x) {
  EdgeSum<float> sum;
  EdgeAssign mine;
  edge_reduced<float>(x, sum);
}
void edges_of_file_functors(Tensor& x) {
  EdgeScatter<true>()(x, edge_assign);
}
void edges_of_overloaded_functors(Tensor& x, const Tensor& y) {
  EdgeOver()(x, y, edge_assign);
}
void edges_of_inherited_functors(Tensor& x) {
  using ops_t = EdgeGreatest<float>;
  edge_reduced<float>(x, EdgeGreatest<float>{});
  ops_t ops{};
  edge_reduced<float>(x, ops);
}
}
