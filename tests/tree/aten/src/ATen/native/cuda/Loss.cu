#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Dispatch.h>

// A wrapper of this file alone, and gone before its end.
#define AT_DISPATCH_NLL_LOSS_INDEX_TYPES(TYPE, NAME, ...)                   \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                            \
  AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Byte, index_t, __VA_ARGS__) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))

namespace at::native {

namespace {

template <typename scalar_t, typename index_t>
__global__ void nll_loss_forward_no_reduce_cuda_kernel( //! hop nll_loss_forward launch
    int64_t batch_size,
    scalar_t* output) {
  CUDA_KERNEL_LOOP(index, batch_size) {
    output[index] = 0;
  }
}

void nll_loss_forward_out_cuda_template(const Tensor& output, const Tensor& input_, const Tensor& target_) { //! hop nll_loss_forward function
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, input_.scalar_type(), "nll_loss_forward_no_reduce_cuda_kernel", [&] {
        AT_DISPATCH_NLL_LOSS_INDEX_TYPES(target_.scalar_type(), "index", [&] {
          nll_loss_forward_no_reduce_cuda_kernel<scalar_t, index_t>
              <<<at::cuda::detail::GET_BLOCKS(1), 512, 0, at::cuda::getCurrentCUDAStream()>>>(
                  1, output.mutable_data_ptr<scalar_t>());
        });
      });
}

#undef AT_DISPATCH_NLL_LOSS_INDEX_TYPES

} // namespace

TORCH_IMPL_FUNC(nll_loss_forward_out_cuda) //! kernel nll_loss_forward.output CUDA
(const Tensor& self,
 const Tensor& target,
 const OptionalTensorRef weight_opt,
 int64_t reduction,
 int64_t ignore_index,
 const Tensor& output,
 const Tensor& total_weight) {
  nll_loss_forward_out_cuda_template(output, self, target);
}

} // namespace at::native
