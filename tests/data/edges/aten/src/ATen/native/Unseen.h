// Read by tests/indexes/linking/edges: no file includes it.
#pragma once
namespace at::native { inline int edge_ceil(int n) { return n + 1; } }
