#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/batch_norm.h>

namespace at::native {

DEFINE_DISPATCH(batch_norm_cpu_stub); //! defines batch_norm_cpu_stub

// The stub is two calls away from the kernel.
template <typename scalar_t, typename param_t>
static std::tuple<Tensor, Tensor, Tensor> batch_norm_cpu_transform_input_template(const Tensor& input, double eps, Tensor& output) { //! hop native_batch_norm function
  batch_norm_cpu_stub(kCPU, output, input, eps);
  return std::make_tuple(output, output, output);
}

static std::tuple<Tensor, Tensor, Tensor> _batch_norm_cpu(const Tensor& input, double eps, Tensor& output) { //! hop native_batch_norm function
  return AT_DISPATCH_FLOATING_TYPES_AND2(ScalarType::BFloat16, ScalarType::Half, input.scalar_type(), "batch_norm", [&] {
    return batch_norm_cpu_transform_input_template<scalar_t, scalar_t>(input, eps, output);
  });
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_cpu(const Tensor& self, const std::optional<Tensor>& weight_opt, const std::optional<Tensor>& bias_opt, const std::optional<Tensor>& running_mean_opt, const std::optional<Tensor>& running_var_opt, //! kernel native_batch_norm CPU
                                                  bool train, double momentum, double eps) {
  Tensor output = at::empty_like(self);
  return _batch_norm_cpu(self, eps, output);
}

} // namespace at::native
