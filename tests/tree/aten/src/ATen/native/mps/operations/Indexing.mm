#include <ATen/native/TensorAdvancedIndexing.h>

namespace at::native {
namespace mps {

static void index_kernel_mps(TensorIteratorBase& iter, IntArrayRef index_size, IntArrayRef index_stride) { //! implements index_stub MPS
  @autoreleasepool {
    dispatchThreads(nil);
  }
}

static void abs_kernel_mps(TensorIteratorBase& iter) {
}
} // namespace mps

// A family of registrations by one macro.
#define REGISTER_MPS_UNARY_STUB(NAME)                                   \
  static void NAME##_kernel_mps_outer(TensorIteratorBase& iter) {       \
    mps::NAME##_kernel_mps(iter);                                       \
  }                                                                     \
  REGISTER_DISPATCH(NAME##_stub, NAME##_kernel_mps_outer)

//! registers abs_stub MPS abs_kernel_mps_outer; implements abs_stub MPS
REGISTER_MPS_UNARY_STUB(abs);
REGISTER_DISPATCH(index_stub, &mps::index_kernel_mps); //! registers index_stub MPS index_kernel_mps

} // namespace at::native
