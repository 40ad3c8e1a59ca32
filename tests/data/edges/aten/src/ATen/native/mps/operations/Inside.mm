// Read by tests/indexes/linking/edges.
static MetalShaderLibrary lib(R"METAL(
kernel void inside_a_string(device float* out [[buffer(0)]]) {}
)METAL");
void edges_into_a_string() { lib.getPipelineStateForFunc("inside_a_string"); }
