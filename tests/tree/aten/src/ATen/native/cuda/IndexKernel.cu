#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/TensorAdvancedIndexing.h>

namespace at::native {

// The kernel is a parameter of the launcher: which function runs is in no name.
template <typename func_t>
static void launch_kernel(int64_t N, const func_t& f, void (*impl_fptr)(int64_t, func_t)) {
  impl_fptr<<<1, 32>>>(N, f);
}

template <typename func_t>
__global__ void index_elementwise_kernel(int64_t N, func_t f) {
  f(N);
}

template <typename scalar_t>
void index_kernel_impl(TensorIteratorBase& iter, IntArrayRef index_size, IntArrayRef index_stride) { //! hop index.Tensor function
  launch_kernel(iter.numel(), [] GPU_LAMBDA(int64_t n) {}, index_elementwise_kernel);
}

static void index_kernel( //! implements index_stub CUDA
    TensorIteratorBase& iter,
    const IntArrayRef index_size,
    const IntArrayRef index_stride) {
  AT_DISPATCH_V2(iter.dtype(), "index_cuda", AT_WRAP([&] {
    using dtype = OpaqueType<sizeof(scalar_t)>;
    index_kernel_impl<dtype>(iter, index_size, index_stride);
  }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), kComplexHalf, kHalf, kBool, kBFloat16);
}

void index_put_with_sort_kernel(Tensor & self, const c10::List<std::optional<Tensor>>& indices, const Tensor & value, bool accumulate, bool unsafe) { //! implements index_put_with_sort_stub CUDA
  thrust::stable_sort_by_key(policy, ct{}, ct{}, ct{});
}

REGISTER_DISPATCH(index_stub, &index_kernel) //! registers index_stub CUDA index_kernel
REGISTER_CUDA_DISPATCH(index_put_with_sort_stub, &index_put_with_sort_kernel) //! registers index_put_with_sort_stub CUDA index_put_with_sort_kernel

} // namespace at::native
