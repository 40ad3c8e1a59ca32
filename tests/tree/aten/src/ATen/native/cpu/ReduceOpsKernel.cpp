#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/ReduceOps.h>

namespace at::native { namespace {

template <typename scalar_t, typename func_t>
inline void cpu_cum_base_kernel(const Tensor& result, const Tensor& self, int64_t dim, const func_t& f, scalar_t init) {
  auto iter = TensorIteratorConfig().check_all_same_dtype(false).add_output(result).add_const_input(self).build();
  auto loop = [&](char** data, const int64_t* strides, int64_t n) {};
  iter.for_each(loop, at::internal::GRAIN_SIZE);
}

static void cumsum_cpu_kernel(const Tensor& result, const Tensor& self, int64_t dim) { //! implements cumsum_stub CPU
  auto wrap_dim = maybe_wrap_dim(dim, self.dim());
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(kBFloat16, kHalf, self.scalar_type(), "cumsum_out_cpu", [&] {
    cpu_cum_base_kernel<scalar_t>(result, self, wrap_dim, [&](scalar_t* result_data, auto result_dim_stride) {}, /*init=*/ 0);
  });
}

} // anonymous namespace

// mean implementation for CPU is in aten/src/ATen/native/ReduceOps.cpp
// but mean_stub must be defined for CPU as well
REGISTER_DISPATCH(mean_stub, nullptr) //! registers mean_stub CPU nullptr
REGISTER_DISPATCH(cumsum_stub, &cumsum_cpu_kernel) //! registers cumsum_stub CPU cumsum_cpu_kernel

}  // namespace at::native
