// Read by tests/indexes/linking/edges.
#include <ATen/native/Edges.h>
namespace at::native {
namespace { void here(const Tensor& x) {} }
static void other(int64_t a, int64_t b = 0) {}
static void other(const Tensor& a) {}
struct Runner {
  Runner(const Tensor& x) : x_(x) {}
  Tensor run() { return x_; }
  Tensor x_;
};
template <typename F> void apply_to(F f, const Tensor& x) { f(x); }
struct Twice { void operator()(const Tensor& x) const { here(x); } };

Tensor edges_of_names(const Tensor& self, int64_t n) {
  detail::helper(n);
  other(self);
  other(n, 2);
  using namespace mps;
  run_graph(self);
  return Runner(self).run();
}

Tensor edges_of_operators(const Tensor& self, const Tensor& other_, int64_t dim) {
  auto product = self.mul(other_);
  if (self.is_floating_point()) {
    return at::native_dropout(product, /*p=*/0.5, /*train=*/true);
  }
  return product.mul(other_);
}

Tensor edges_of_signs(const Tensor& x, const Tensor& y, int64_t n) {
  return x - y * n;
}

Tensor& edges_of_outputs(const Tensor& self, const Tensor& other_, Tensor& out) {
  at::add_outf(self, other_, 1, out);
  return at::add_out(out, self, other_);
}

Tensor edges_of_objects(const Tensor& self) {
  apply_to(Twice(), self);
  sort_common(SmallSort{});
  HELP(self);
  TORCH_CHECK(false, "detail::helper(self)");
  return self;
}
struct Quant { virtual Tensor quant(const Tensor& x) = 0; int bits() { return 8; } };
struct Quant8 : Quant { Tensor quant(const Tensor& x) override { here(x); return x; } };
struct Quant4 : Quant { Tensor quant(const Tensor& x) override { return x; } };
struct Weights { Tensor weigh_cell(const Tensor& x) const { here(x); return x; } };
struct Wrapped { Tensor weigh_cell(const Tensor& x) const { return weights.weigh_cell(x); } };
template <typename params_t> struct EdgesOfCell {
  Tensor edges_of_cells(const Tensor& x, const params_t& params) { return params.weigh_cell(x); }
};
Tensor edges_of_overriders(const Tensor& self) { return best_for(self)->quant(self); }
namespace transforms { struct Stack { int depth(int d) { return d; } }; }
using Stack = std::vector<int>;
int edges_of_vectors(Stack* stack) { return stack->depth(0); }
double edges_of_the_global_scope(double x) { return ::sqrt(x); }
Tensor edges_of_chains(const Tensor& x) { return loaded(x).mul(x).native_dropout(0.5, true); }
struct Counter { int sub(int n) { return n; } };
template <typename T> int edges_of_the_unknown(T& counter) { return counter.sub(1); }
struct Often : Twice {};
void edges_of_called_objects(const Tensor& x, const Twice& f) { Often often{}; often(x); f(x); }
Tensor edges_of_lists(const Tensor& x, const Tensor& mask) { return x.index({mask, 1}); }
Tensor edges_without_lists(const Tensor& x, const Places& places) { return x.index(places); }
Tensor edges_of_signs_behind_calls(const Tensor& x, const Tensor& y, const Place& place) {
  place.mul(y) + 1;
  x.mul(y) == y->place();
  return x.mul(y) * y;
}
void edges_of_local_aliases(const Tensor& x) {
  namespace local = at::native::mps;
  local::run_graph(x);
  local::runMPSGraph(x);
}
bool edges_of_optionals(const std::optional<Tensor>& x) { return x == c10::nullopt; }
template <typename T> struct Dist {
  static T map(T x) { here(x); return x; }
  static T backward(T x) { return x; }
};
template <typename F> void each(const Tensor& x) { apply_to([](auto y) { F::map(y); }, x); }
template <typename F> void each_of(const Tensor& x) { each<F>(x); }
template <typename F> void each_backward(const Tensor& x) { F::backward(x); }
void edges_of_given_types(const Tensor& x) {
  using Spelled = Dist<double>;
  each_of<Spelled>(x);
}
static int many(Type0 x) { return 0; }
static int many(Type1 x) { return 1; }
static int many(Type2 x) { return 2; }
static int many(Type3 x) { return 3; }
static int many(Type4 x) { return 4; }
static int many(Type5 x) { return 5; }
static int many(Type6 x) { return 6; }
static int many(Type7 x) { return 7; }
static int many(Type8 x) { return 8; }
static int many(Type9 x) { return 9; }
static int many(Type10 x) { return 10; }
static int many(Type11 x) { return 11; }
static int many(Type12 x) { return 12; }
static int many(Type13 x) { return 13; }
static int many(Type14 x) { return 14; }
static int many(Type15 x) { return 15; }
static int many(Type16 x) { return 16; }
static int many(Type17 x) { return 17; }
static int many(Type18 x) { return 18; }
static int many(Type19 x) { return 19; }
static int many(Type20 x) { return 20; }
static int many(Type21 x) { return 21; }
static int many(Type22 x) { return 22; }
static int many(Type23 x) { return 23; }
static int many(Type24 x) { return 24; }
static int many(Type25 x) { return 25; }
static int many(Type26 x) { return 26; }
static int many(Type27 x) { return 27; }
static int many(Type28 x) { return 28; }
static int many(Type29 x) { return 29; }
int edges_of_many(int x) { return many(make(x)); }
} // namespace at::native
namespace cutlass::epilogue {
struct Rescale { void operator()(int x) { helper(x); } };
} // namespace cutlass::epilogue
namespace at::native {
void edges_into_a_library() {
  cutlass::epilogue::Rescale rescale(1);
  cutlass::epilogue::Linear linear(1);
}
} // namespace at::native
namespace at::native {
Tensor edges_of_generated_namespaces(DispatchKeySet ks, const Tensor& self, const Tensor& other_) {
  auto sum = at::redispatch::add(ks, self, other_);
  return at::symint::mul<c10::SymInt>(sum, other_);
}
int edges_of_headers(int n) { return edge_ceil(n); }
Tensor edges_of_templates(const Tensor& self, double x) {
  at::relu(x);
  return at::relu(self);
}
}
