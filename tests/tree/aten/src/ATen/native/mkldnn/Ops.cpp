#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>

#if !AT_MKLDNN_ENABLED()

namespace at {
namespace native {

Tensor& mkldnn_add_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& result) { //! kernel add.out MkldnnCPU
  TORCH_CHECK(false, "mkldnn_add_out: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_add(const Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add.Tensor MkldnnCPU
  TORCH_CHECK(false, "mkldnn_add: ATen not compiled with MKLDNN support");
}
Tensor& mkldnn_add_(Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add_.Tensor MkldnnCPU
  TORCH_CHECK(false, "mkldnn_add_: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_mul(const Tensor& self, const Tensor& other) { //! kernel mul.Tensor MkldnnCPU
  TORCH_CHECK(false, "mkldnn_mul: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_gelu(const Tensor& input, std::string_view approximate) { //! kernel gelu MkldnnCPU
  TORCH_CHECK(false, "mkldnn_gelu: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_relu(const Tensor& input) { //! kernel relu MkldnnCPU
  TORCH_CHECK(false, "mkldnn_relu: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_sigmoid(const Tensor& self) { //! kernel sigmoid MkldnnCPU
  TORCH_CHECK(false, "mkldnn_sigmoid: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_softmax(const Tensor& self, const int64_t dim, const bool half_to_float) { //! kernel _softmax MkldnnCPU
  TORCH_CHECK(false, "mkldnn_softmax: ATen not compiled with MKLDNN support");
}
Tensor mkldnn_view(const Tensor& self, IntArrayRef size) { //! kernel view MkldnnCPU
  TORCH_CHECK(false, "mkldnn_reshape: ATen not compiled with MKLDNN support");
}
Tensor& copy_mkldnn_(Tensor& self, const Tensor& src, bool non_blocking) { //! kernel copy_ MkldnnCPU
  TORCH_CHECK(false, "copy_mkldnn_: ATen not compiled with MKLDNN support");
}

} // namespace native
} // namespace at

#else // AT_MKLDNN_ENABLED

#include <ATen/native/mkldnn/MKLDNNCommon.h>

namespace at::native {

Tensor& mkldnn_add_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& result) { //! kernel add.out MkldnnCPU
  ideep::sum::compute({}, {}, result);
  return result;
}
Tensor mkldnn_add(const Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add.Tensor MkldnnCPU
  return native::mkldnn_add_out(self, other, alpha, empty_mkldnn());
}
Tensor& mkldnn_add_(Tensor& self, const Tensor& other, const Scalar& alpha) { //! kernel add_.Tensor MkldnnCPU
  return native::mkldnn_add_out(self, other, alpha, self);
}
Tensor mkldnn_mul(const Tensor& self, const Tensor& other) { //! kernel mul.Tensor MkldnnCPU
  ideep::binary::compute(self, other, dnnl::algorithm::binary_mul);
  return self;
}
Tensor mkldnn_gelu(const Tensor& input, std::string_view approximate) { //! kernel gelu MkldnnCPU
  ideep::eltwise_forward::compute(input);
  return input;
}
Tensor mkldnn_relu(const Tensor& input) { //! kernel relu MkldnnCPU
  ideep::eltwise_forward::compute(input);
  return input;
}
Tensor mkldnn_sigmoid(const Tensor& self) { //! kernel sigmoid MkldnnCPU
  ideep::eltwise_forward::compute(self);
  return self;
}
Tensor mkldnn_softmax(const Tensor& self, const int64_t dim, const bool half_to_float) { //! kernel _softmax MkldnnCPU
  ideep::softmax_forward::compute(self);
  return self;
}
Tensor mkldnn_view(const Tensor& self, IntArrayRef size) { //! kernel view MkldnnCPU
  TORCH_CHECK(false, "Currently Mkldnn tensor does not support view. Change to use reshape instead");
}
Tensor& copy_mkldnn_(Tensor& self, const Tensor& src, bool non_blocking) { //! kernel copy_ MkldnnCPU
  ideep::direct_copy::compute(src, self);
  return self;
}

} // namespace at::native

#endif // AT_MKLDNN_ENABLED
