#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/ReduceOps.h>
#include <ATen/native/cuda/Reduce.cuh>

namespace at::native {

template <typename scalar_t, typename acc_t = scalar_t, typename out_t = scalar_t>
struct sum_functor {
  void operator()(TensorIterator& iter) {
    gpu_reduce_kernel<scalar_t, out_t>(
        iter, func_wrapper<out_t>([] GPU_LAMBDA(acc_t a, acc_t b) -> acc_t { return a + b; }));
  }
};

// The function is handed over as a template argument.
template <template <typename scalar_t, typename acc_t = scalar_t, typename out_t = scalar_t> typename OpFunctor, typename GeneralDispatcher>
static void reduce_dispatch(TensorIterator& iter, GeneralDispatcher op) {
  if (iter.dtype() == kHalf) {
    return OpFunctor<at::Half, float>{}(iter);
  }
  op(iter);
}

static void sum_kernel_cuda(TensorIterator& iter) { //! implements sum_stub CUDA
  auto general_dispatcher = [](TensorIterator& iter) {
    AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(kBool, kComplexHalf, iter.dtype(), "sum_cuda", [&]() {
      sum_functor<scalar_t>{}(iter);
    });
  };
  reduce_dispatch<sum_functor>(iter, general_dispatcher);
}

static void mean_kernel_cuda(TensorIterator& iter) { //! implements mean_stub CUDA
  gpu_reduce_kernel<float, float>(iter, MeanOps<float, float, int32_t, float>{1.0f});
}

REGISTER_DISPATCH(sum_stub, &sum_kernel_cuda) //! registers sum_stub CUDA sum_kernel_cuda
REGISTER_DISPATCH(mean_stub, &mean_kernel_cuda) //! registers mean_stub CUDA mean_kernel_cuda

} // namespace at::native
