// Read by tests/indexes/linking/edges.
namespace EDGE_NAMESPACE { void fused(float* x) {} }
