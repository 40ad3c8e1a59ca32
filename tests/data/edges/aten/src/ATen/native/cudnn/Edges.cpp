// Read by tests/indexes/linking/edges.
namespace at::native {
void edges_of_front_ends(const Tensor& x) { auto plan = cached(x); plan->execute(x); }
void edges_of_typed_front_ends(const Tensor& x) {
  const fe::graph::Graph& graph = *cached(x);
  graph.execute(x);
}
} // namespace at::native
