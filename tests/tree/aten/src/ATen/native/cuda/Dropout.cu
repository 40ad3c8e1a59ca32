#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cuda/CUDAGraphsUtils.cuh>

namespace at::native {

namespace {

template <
    typename scalar_t,
    typename accscalar_t,
    int ADims>
#if __CUDA_ARCH__ >= 350 || defined(USE_ROCM)
C10_LAUNCH_BOUNDS_2(256, 4)
#endif
__global__ void
fused_dropout_kernel(cuda::detail::TensorInfo<const scalar_t, uint32_t> a, accscalar_t p, PhiloxCudaState philox_args) { //! hop native_dropout launch
  auto [seed, offset] = at::cuda::philox::unpack(philox_args);
}

} // anonymous namespace

template <typename mask_t>
std::tuple<Tensor,Tensor>
dropout_cuda(CUDAGeneratorImpl* gen, const Tensor& self, double p){ //! hop native_dropout function
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, self.scalar_type(), "fused_dropout", [&] {
    fused_dropout_kernel<scalar_t, float, 1><<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(self_info, p, rng_engine_inputs);
  });
  return std::tuple<Tensor,Tensor>(self, self);
}

std::tuple<Tensor,Tensor>
native_dropout_cuda(const Tensor& self, double p, std::optional<bool> train){ //! kernel native_dropout CUDA
  // short-cut for train == false
  if (train.has_value() && !train.value()) {
    return std::make_tuple(self.clone(), at::ones_like(self));
  }
  return dropout_cuda<bool>(nullptr, self, p);
}

} // namespace at::native
