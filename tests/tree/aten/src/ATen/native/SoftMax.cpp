#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/cpu/SoftmaxKernel.h>

namespace at::meta {
TORCH_META_FUNC(_softmax) //! meta _softmax.out
(const Tensor& input, const int64_t dim, const bool half_to_float) {
  int64_t dim_ = maybe_wrap_dim(dim, input.dim());
  set_output_raw_strided(0, input.sizes(), {}, input.options());
}
} // namespace at::meta

namespace at::native {
namespace {

template <typename scalar_t, bool LogSoftMax>
void host_softmax_backward(const Tensor& gI, const Tensor& grad, const Tensor& output, int64_t dim) {
  parallel_for(0, 1, 1, [&](int64_t begin, int64_t end) {});
}

} // namespace

TORCH_IMPL_FUNC(softmax_cpu_out) //! kernel _softmax.out CPU
(const Tensor& input,
 const int64_t dim,
 const bool half_to_float,
 const Tensor& output) {
  TORCH_CHECK(!half_to_float, "softmax with half to float conversion is not supported on CPU");

  if (input.numel() == 0) {
    return;
  }
  auto input_ = input.contiguous();
  int64_t dim_ = maybe_wrap_dim(dim, input_.dim());
  // a choice made at run time, between two stubs
  if (input_.ndimension() > 0 && dim_ == input_.ndimension() - 1) {
    softmax_lastdim_kernel(kCPU, output, input_); //! hop _softmax
  } else {
    softmax_kernel(kCPU, output, input_, dim_); //! hop _softmax
  }
}

Tensor softmax_backward_cpu(const Tensor& grad_, const Tensor& output_, int64_t dim_, ScalarType input_dtype) { //! kernel _softmax_backward_data CPU
  Tensor grad_input = at::empty_like(grad_);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::BFloat16, at::ScalarType::Half, grad_.scalar_type(), "softmax_backward", [&] {
    host_softmax_backward<scalar_t, false>(grad_input, grad_, output_, dim_);
  });
  return grad_input;
}

Tensor softmax(const Tensor& input_, const int64_t dim_, std::optional<ScalarType> dtype) { //! kernel softmax.int CompositeImplicitAutograd
  auto result = [&]() {
    NoNamesGuard guard;
    if (input_.is_cuda() && input_.scalar_type() == ScalarType::Half && dtype == ScalarType::Float) {
      return at::_softmax(input_, dim_, true);
    } else {
      Tensor converted = dtype.has_value() ? input_.toType(dtype.value()) : input_;
      return at::_softmax(converted, dim_, false);
    }
  }();
  namedinference::propagate_names(result, input_);
  return result;
}

Tensor softmax(const Tensor& self, Dimname dim, std::optional<ScalarType> dtype) { //! not-kernel softmax
  return at::softmax(self, dimname_to_position(self, dim), dtype);
}

DEFINE_DISPATCH(softmax_lastdim_kernel); //! defines softmax_lastdim_kernel
DEFINE_DISPATCH(softmax_kernel); //! defines softmax_kernel

} // namespace at::native
