#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/TensorAdvancedIndexing.h>

// A vendor's branch: no semicolon after the assertion.
#if defined(USE_VENDOR) && !defined(USE_CUDA)
#include <vendor/Indexing.h>
#else
#ifdef VENDOR_STRICT
static_assert(0)
#endif
#endif

namespace at::native {

namespace {
template <typename T, typename IndicesType, typename IndexType, int DstDim>
C10_LAUNCH_BOUNDS_1(512)
__global__ void indexSelectSmallIndex(cuda::detail::TensorInfo<T, IndexType> dst, //! hop index_select launch
                                      cuda::detail::TensorInfo<const T, IndexType> src) {
  CUDA_KERNEL_ASSERT(src.numel() > 0 && "index out of range");
}

template <typename T>
Tensor& index_select_out_cuda_impl(Tensor& out, const Tensor& self, uint64_t dim, const Tensor& index) { //! hop index_select function
#define SMALL_INDEX(TENSOR_TYPE, INDICES_TYPE, TYPE, DST_DIM)  \
  indexSelectSmallIndex<TENSOR_TYPE, INDICES_TYPE, TYPE, DST_DIM> \
    <<<smallIndexGrid, smallIndexBlock, 0, stream>>>(outInfo, selfInfo); \
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  SMALL_INDEX(T, int64_t, unsigned int, 1);
#undef SMALL_INDEX
  return out;
}
} // anonymous namespace

Tensor index_select_cuda(const Tensor& self, int64_t dim, const Tensor& index) { //! kernel index_select CUDA,QuantizedCUDA
  Tensor out = at::empty({0}, self.options());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "index_select_cuda", [&] { index_select_out_cuda_impl<scalar_t>(out, self, dim, index); });
  return out;
}

Tensor index_select_sparse_cuda(const Tensor& self_, int64_t dim, const Tensor& index) { //! kernel index_select SparseCUDA
  return self_;
}

} // namespace at::native
