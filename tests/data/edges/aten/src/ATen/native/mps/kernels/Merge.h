// Read by tests/indexes/linking/edges.
template <typename T> kernel void merge(device T* out [[buffer(0)]]) {}
template [[host_name("merge_float")]] kernel void merge<float>(device float* out);
