#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

Tensor embedding_symint(const Tensor & weight, const Tensor & indices, //! kernel embedding CompositeExplicitAutograd
                 c10::SymInt padding_idx, bool scale_grad_by_freq, bool sparse) {
  TORCH_CHECK(weight.dim() == 2,  "'weight' must be 2-D");
  // TODO: use tensor.index() after improving perf
  if (indices.dim() == 1) {
    return weight.index_select(0, indices); //! hop embedding
  }
  return weight.index_select(0, indices.reshape(-1)).view_symint(indices.sym_sizes());
}

Tensor embedding_dense_backward_cpu( //! kernel embedding_dense_backward CPU
    const Tensor & grad_, const Tensor & indices, int64_t num_weights,
    int64_t padding_idx, bool scale_grad_by_freq) {
  auto grad_weight = at::zeros({num_weights, grad_.size(-1)}, grad_.options());
  AT_DISPATCH_INDEX_TYPES(indices.scalar_type(), "embedding_dense_backward_cpu", [&] () {
    at::parallel_for(0, num_weights, 1000, [&](index_t start, index_t end) {});
  });
  return grad_weight;
}

static void zero_scale_cpu(const Tensor & scale) {
  AT_DISPATCH_SWITCH(scale.scalar_type(), "zero_scale_cpu", AT_DISPATCH_CASE(at::kHalf, [&] {})); //! dtypes Half
}

} // namespace at::native
