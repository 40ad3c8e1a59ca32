// Read by tests/indexes/linking/edges.
namespace at::native {
static MPSShape* shape_of(const Tensor& x) { return nil; }
void edges_of_messages(const Tensor& x) {
  [graph placeholderWithShape:shape_of(x) dataType:at::native::shape_of(x) axis:(NSInteger)(0)];
}
static Way edge_pick(const Tensor& x, int64_t n) { return x.defined() ? Way::Fast : Way::Slow; }
static int64_t edge_size(const Tensor& x) { return 1; }
template <typename T> struct EdgeCell { Tensor operator()(const Tensor& x) { return x.relu(); } };
Tensor edges_of_an_object_alone(const Tensor& x) { return EdgeCell<int>{}(x); }
int64_t edges_of_an_object_and_no_tensor(int64_t n) { return EdgeCell<int>{}(n); }
void edges_of_a_name_among_several(const Tensor& x) {
  std::vector<int64_t> mkl_before(1), mkl_behind(2);
}
void edges_of_names_of_parts(const Tensor& x) { bool one = x.edge_names()[0] != 3; }
void edges_of_elements(const Tensor& x) { x.mul(x)[0].relu(); }
#define EDGE_SWITCH(X) switch (edge_pick(X, 1)) { case Way::Fast: break; }
void edges_of_a_switch_in_a_macro(const Tensor& x) { EDGE_SWITCH(x) }
void edges_of_choosers(const Tensor& x) {
  int64_t size = edge_size(x);
  Way way = edge_pick(x, size);
  switch (way) {
    case Way::Fast: break;
  }
  switch (edge_pick(x, 2)) {
    case Way::Slow: break;
  }
}
} // namespace at::native
