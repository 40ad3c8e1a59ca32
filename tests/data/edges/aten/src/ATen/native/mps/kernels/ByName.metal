// Read by tests/indexes/linking/edges.
template <typename T> kernel void rise(device T* out [[buffer(0)]]) {}
template <typename T> kernel void fall(device T* out [[buffer(0)]]) {}
template <typename T> kernel void leap(device T* out [[buffer(0)]]) {}
template [[host_name("rise_inner_float")]] kernel void rise<float>(device float* out);
template [[host_name("leap_inner_float")]] kernel void leap<float>(device float* out);
template [[host_name("fall_inner_float")]] kernel void fall<float>(device float* out);
