// Read by tests/indexes/linking/edges.
float edges_of_other_shaders(float x) { return edge_shader(x); }
