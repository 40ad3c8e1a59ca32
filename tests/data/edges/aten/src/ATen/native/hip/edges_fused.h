// Read by tests/indexes/linking/edges.
namespace build_fused { inline void fused(float* x) {} }
namespace at::native { inline void plain_fused(float* x) {} }
