#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/cuda/EmbeddingBackwardKernel.cuh>

namespace at::native {

namespace {
template <typename scalar_t, typename index_t>
__global__ void embedding_backward_feature_kernel //! hop embedding_dense_backward launch
  (const index_t* indices,
   const scalar_t* __restrict__ grad,
   int n)
{
  extern __shared__ char buf[];
}
} // anonymous namespace

Tensor embedding_dense_backward_cuda(const Tensor & grad_, const Tensor & indices_, //! kernel embedding_dense_backward CUDA
                               int64_t num_weights, int64_t padding_idx,
                               bool scale_grad_by_freq) {
  auto grad_weight = at::zeros({num_weights, grad_.size(-1)}, grad_.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, grad_.scalar_type(), "embedding_backward", [&] {
    AT_DISPATCH_INDEX_TYPES(indices_.scalar_type(), "embedding_backward", [&] () {
      embedding_backward_feature_kernel<scalar_t, index_t>
        <<<1, 32, 0, stream>>>
        (indices_.const_data_ptr<index_t>(), grad_.const_data_ptr<scalar_t>(), 1);
    });
  });
  return grad_weight;
}

}
