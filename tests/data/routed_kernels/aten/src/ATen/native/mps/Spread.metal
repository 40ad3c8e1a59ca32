
template <typename T>
kernel void spread_set(device T* out [[buffer(0)]]) { out[0] = 1; }
template <typename T>
kernel void spread_add(device T* out [[buffer(0)]]) { out[0] += 1; }
kernel void turn_left_scalar(device float* out [[buffer(0)]]) {}
kernel void turn_left_tensor(device float* out [[buffer(0)]]) {}
template [[host_name("spread_set_float")]] kernel void spread_set<float>(device float* out);
template [[host_name("spread_add_float")]] kernel void spread_add<float>(device float* out);
