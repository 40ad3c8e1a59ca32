// Read by tests/indexes/linking/edges.
namespace at::native {
void edges_of_vendors_results(const Tensor& x) {
  auto primitive = dnnl::matmul(x);
  primitive.execute(ideep::stream::default_stream(), x);
}
}
