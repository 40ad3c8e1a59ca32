// Read by tests/indexes/linking/edges.
#pragma once
namespace at::native {
namespace detail { inline void helper(int64_t n) {} inline void helper(const Tensor& x) {} }
template <typename sorter_t> void sort_common(sorter_t sorter) { sorter.template sort<4>(1); }
struct SmallSort { template <int A> void sort(int64_t n) { detail::helper(n); } };
#define HELP(X) detail::helper(X)
}
namespace at {
#define FORALL_SIGNS(_) _(*, x.mul(y)) _(-, x.sub(y))
#define DEFINE_SIGN(op, body)                                   \
  inline Tensor operator op(const Tensor& x, const Tensor& y) { \
    return body;                                                \
  }                                                             \
  inline Tensor operator op(const Tensor& x, const Scalar& y) { \
    return body;                                                \
  }
FORALL_SIGNS(DEFINE_SIGN)
struct Tensor {
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor operator()(int64_t n) { return relu(); }
  Tensor index(std::initializer_list<TensorIndex> indices) const { return *this; }
};
}
namespace at::native::mps { inline void run_graph(const Tensor& x) {} }
namespace complex_math { template <typename T> complex<T> sqrt(const complex<T>& x) { return x; } }
using complex_math::sqrt;
namespace at {
template <typename T> inline T relu(T x) { return x > 0 ? x : 0; }
inline int edge_ceil(int n) { return n; }
Tensor operator-(const Scalar& x, const Tensor& y) { return y.neg(); }
Tensor operator*(const Scalar& x, const Tensor& y) { return y.neg(); }
}
