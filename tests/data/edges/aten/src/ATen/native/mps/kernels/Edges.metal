// Read by tests/indexes/linking/edges.
float edge_shader(float x) { return ::metal::mul(x, x); }
float edges_of_shaders(float x) { return edge_shader(mul(x, x)); }
