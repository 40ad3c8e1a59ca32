#pragma once

namespace at::native {

namespace {

template <typename T, typename U, typename... ArgTypes>
C10_LAUNCH_BOUNDS_1(512)
__global__ void multi_tensor_apply_kernel( //! hop _foreach_add.List launch
    T tensorListMeta,
    U callable,
    ArgTypes... args) {
  // Hand the chunk information to the user-supplied functor to process however it likes.
  callable(512, tensorListMeta, args...);
}

template <int depth, typename T, typename... ArgTypes>
void multi_tensor_apply(std::vector<std::vector<at::Tensor>>& tensor_lists, T callable, ArgTypes... args) {
  TensorListMetadata<depth> tensorListMeta;
  multi_tensor_apply_kernel<<<1, 512, 0, at::cuda::getCurrentCUDAStream()>>>(tensorListMeta, callable, args...);
}

} // namespace
} // namespace at::native
