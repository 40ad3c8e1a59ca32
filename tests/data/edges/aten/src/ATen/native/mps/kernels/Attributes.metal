// Read by tests/indexes/linking/edges.
#include <ATen/native/mps/kernels/Merge.h>
struct wave_functor { float operator()(float x) { return x; } };
struct TotalOp {
  static float identity() { return 0; }
  static float combine(float a) { return a; }
};
template <typename T, typename F> [[kernel]] void each_one(device T* out [[buffer(0)]]) {}
template <typename T, typename OP>
[[max_total_threads_per_threadgroup(1024)]] kernel void total(device T* out [[buffer(0)]]) {
  out[0] = OP::combine(OP::identity());
}
[[kernel, max_total_threads_per_threadgroup(WM* WN * 32)]] void limited(
    device float* out [[buffer(0)]]) {}
template <typename T> kernel void scan(device T* out [[buffer(0)]]) {}
template <typename T> kernel void bump(device T* out [[buffer(0)]]) {}
#define EDGE_KERNEL(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>
EDGE_KERNEL("total_float", total, float, TotalOp<float>);
template [[host_name("wave_dense_float")]] [[kernel]] void each_one<float, wave_functor>(
    device float* out);
template [[host_name("scan_float")]] kernel void scan<float>(device float* out);
template [[host_name("bump_float")]] kernel void bump<float>(device float* out);
