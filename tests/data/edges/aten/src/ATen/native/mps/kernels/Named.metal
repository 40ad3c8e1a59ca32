// Read by tests/indexes/linking/edges.
struct ramp_functor { float operator()(float x) { return x; } };
template <typename T, typename F>
kernel void each_of(device T* out [[buffer(0)]]) {}
template <typename T> kernel void ramp_up(device T* out [[buffer(0)]]) {}
kernel void pivots(device float* out [[buffer(0)]]) {}
template <typename T> kernel void cubic(device T* out [[buffer(0)]]) {}
template <typename T> kernel void linear(device T* out [[buffer(0)]]) {}
template <typename T> kernel void cubic_back(device T* out [[buffer(0)]]) {}
template [[host_name("sample_cubic_back_float")]] kernel void cubic_back<float>(device float* out);
#define NAMED(NAME, TYPE) \
  template [[host_name(#NAME "_dense_" #TYPE)]] kernel void ::each_of<TYPE, NAME##_functor>( \
      device TYPE* out)
NAMED(ramp, float);
NAMED(ramp, half);
template <typename T> kernel void cubic_wide(device T* out [[buffer(0)]]) {}
struct PadZeros { static int pad(int at) { return 0; } };
struct PadBorder { static int pad(int at) { return at; } };
template <typename P, typename T>
kernel void stretch(device T* out [[buffer(0)]]) { out[P::pad(0)] = 0; }
template [[host_name("stretch_zeros_float")]] kernel void stretch<PadZeros, float>(
    device float* out);
template [[host_name("stretch_border_float")]] kernel void stretch<PadBorder, float>(
    device float* out);
void kernel turned(device float* out [[buffer(0)]]) {}
template [[host_name("turned_float")]] void kernel turned(device float* out);
template [[host_name("sample_cubic_wide_float")]] kernel void cubic_wide<float>(device float* out);
template [[host_name("sample_cubic_float")]] kernel void cubic<float>(device float* out);
template [[host_name("sample_linear_float")]] kernel void linear<float>(device float* out);
