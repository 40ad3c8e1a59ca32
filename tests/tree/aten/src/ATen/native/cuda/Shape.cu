#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::native {

constexpr int CAT_ARRAY_BATCH_SIZE = 128;

namespace {

template <typename T, typename IndexType, int Dims, int batch_size, int stride_size>
#ifdef USE_ROCM
C10_LAUNCH_BOUNDS_1(512)
#endif
__global__ void CatArrayBatchedCopy( //! hop cat.out launch
    T* output,
    const int concatDim,
    IndexType dimStride) {
  IndexType tid = blockIdx.x * blockDim.x + threadIdx.x;
}

template <typename scalar_t, int batch_size, int stride_size>
void parallel_cat(const Tensor &out, const MaterializedITensorListRef& inputs, int64_t dimension) { //! hop cat.out function
#define HANDLE_CASE(DIMS) \
    CatArrayBatchedCopy<scalar_t, unsigned int, DIMS, batch_size, stride_size><<<\
        catGrid, applyBlock, 0, stream.stream()>>>(out.mutable_data_ptr<scalar_t>(), dimension, 1);
  switch (out.dim()) {
    case 1:
      HANDLE_CASE(1);
      break;
  }
#undef HANDLE_CASE
}

} // namespace

TORCH_IMPL_FUNC(cat_out_cuda) //! kernel cat.out CUDA
(const ITensorListRef& tensors,
 int64_t dim,
 int64_t valid,
 bool all_contiguous,
 bool all_same_dtype,
 bool all_same_sizes_and_stride,
 MemoryFormat memory_format,
 const Tensor& result) {
  auto materialized = tensors.materialize();
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, result.scalar_type(), "cat_cuda", [&]() {
    parallel_cat<scalar_t, CAT_ARRAY_BATCH_SIZE, 1>(result, materialized, dim);
  });
}

} // namespace at::native
