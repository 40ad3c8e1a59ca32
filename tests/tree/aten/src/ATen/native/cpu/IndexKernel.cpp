#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/TensorAdvancedIndexing.h>

namespace at::native {
namespace {

using namespace vec;

void index_kernel(TensorIteratorBase& iter, IntArrayRef index_size, IntArrayRef index_stride) { //! implements index_stub CPU
  AT_DISPATCH_V2(iter.dtype(), "index_cpu", AT_WRAP([&] {
    cpu_index_kernel<scalar_t>(iter, index_size, index_stride, [](char* dst, char* src, int64_t offset) {
      *(scalar_t*)dst = *(scalar_t*)(src + offset);
    });
  }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), kComplexHalf, kHalf, kBool, kBFloat16);
}

void index_put_kernel(TensorIterator& iter, IntArrayRef index_size, IntArrayRef index_stride, bool accumulate) { //! implements index_put_stub CPU
  // NOTE: duplicate indices are only supported if accumulate is true.
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, iter.dtype(), "index_put", [&] {});
}

} // anonymous namespace

REGISTER_DISPATCH(index_stub, &index_kernel) //! registers index_stub CPU index_kernel
REGISTER_DISPATCH(index_put_stub, &index_put_kernel) //! registers index_put_stub CPU index_put_kernel

} // namespace at::native
