#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

namespace at::meta {
TORCH_META_FUNC(nll_loss_forward) //! meta nll_loss_forward.output
(const Tensor& self,
 const Tensor& target,
 OptionalTensorRef weight_opt,
 int64_t reduction,
 int64_t ignore_index) {
  set_output_raw_strided(0, {}, {}, self.options());
  set_output_raw_strided(1, {}, {}, self.options());
}
} // namespace at::meta

namespace at::native {

namespace {

template <typename scalar_t, typename target_t>
static void nll_loss_out_frame( //! hop nll_loss_forward function
    const Tensor& output,
    const Tensor& input,
    const Tensor& target) {
  at::parallel_for(0, input.size(0), 0, [&](int64_t start, int64_t end) {});
}

void nll_loss_forward_out_cpu_template( //! hop nll_loss_forward function
    const Tensor& output,
    const Tensor& input,
    const Tensor& target) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      ScalarType::BFloat16, ScalarType::Half, input.scalar_type(), "nll_loss_out_frame", [&] {
        if (target.scalar_type() == kByte) {
          nll_loss_out_frame<scalar_t, uint8_t>(output, input, target);
        } else {
          nll_loss_out_frame<scalar_t, int64_t>(output, input, target);
        }
      });
}

} // namespace

TORCH_IMPL_FUNC(nll_loss_forward_out_cpu) //! kernel nll_loss_forward.output CPU
(const Tensor& self,
 const Tensor& target,
 const OptionalTensorRef weight_opt,
 int64_t reduction,
 int64_t ignore_index,
 const Tensor& output,
 const Tensor& total_weight) {
  nll_loss_forward_out_cpu_template(output, self, target);
}

static Tensor nll_loss_symint(const Tensor& self, const Tensor& target) { //! not-kernel nll_loss_symint
  return self;
}

Tensor nll_loss_symint(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight_opt, int64_t reduction, c10::SymInt ignore_index) { //! kernel nll_loss CompositeImplicitAutograd
  return std::get<0>(at::nll_loss_forward_symint(self, target, *weight_opt, reduction, std::move(ignore_index)));
}

Tensor nll_loss_nd_symint( //! kernel nll_loss_nd CompositeImplicitAutograd
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    c10::SymInt ignore_index) {
  if (self.dim() < 3) {
    return at::nll_loss_symint(self, target, weight, reduction, std::move(ignore_index));
  }
  return self;
}

} // namespace at::native
