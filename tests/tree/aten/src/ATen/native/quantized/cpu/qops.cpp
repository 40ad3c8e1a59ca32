#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/quantized/cpu/QuantizedOps.h>
#include <torch/library.h>

namespace at::native {

DEFINE_DISPATCH(qrelu_stub); //! defines qrelu_stub
DEFINE_DISPATCH(qadd_relu_stub); //! defines qadd_relu_stub
DEFINE_DISPATCH(qadd_stub); //! defines qadd_stub
// Defined, and registered nowhere.
DEFINE_DISPATCH(qdropout_stub); //! defines qdropout_stub

#ifdef USE_PYTORCH_QNNPACK
static Tensor qnnpack_relu(Tensor input) { //! hop relu function
  qnnp_create_clamp_nc_u8(1);
  return input;
}
#endif

// at::native functions for the native_functions.yaml
Tensor relu_quantized_cpu(const Tensor& qx) { //! kernel relu QuantizedCPU
  #ifdef USE_PYTORCH_QNNPACK
  if (at::globalContext().qEngine() == at::QEngine::QNNPACK && qx.scalar_type() == kQUInt8) {
    return qnnpack_relu(qx);
  }
  #endif
  Tensor qy;
  qrelu_stub(qx.device().type(), qx, qy);
  return qy;
}

Tensor gelu_quantized_cpu(const Tensor& qx, std::string_view approximate) { //! kernel gelu QuantizedCPU
  return qx;
}

static int64_t length_of(const std::vector<int64_t>& shape) {
  return shape.size();
}

static Tensor layer_norm_impl(Tensor input, const std::string& shape) { //! runs quantized::layer_norm QuantizedCPU
  return layer_norm_impl(input, shape.size());
}

static Tensor layer_norm_impl(Tensor input, int64_t length) { //! runs quantized::layer_norm QuantizedCPU
  return input;
}

static Tensor quantized_cat_impl(const ITensorListRef& qxs, int64_t dim) { //! hop cat function
  return at::native::dequantize_tensors(qxs);
}

Tensor cat_quantized_cpu(const ITensorListRef& qxs, int64_t dim) { //! kernel cat QuantizedCPU
  return quantized_cat_impl(qxs, dim);
}

Tensor& cat_out_quantized_cpu(const ITensorListRef& qxs, int64_t dim, Tensor& out) { //! kernel cat.out QuantizedCPU
  out.copy_(quantized_cat_impl(qxs, dim));
  return out;
}

namespace {

template <bool ReLUFused>
Tensor _add_out(Tensor& out, const Tensor& self, const Tensor& other) {
  if constexpr (ReLUFused) {
    qadd_relu_stub(self.device().type(), out, self, other);
  } else {
    qadd_stub(self.device().type(), out, self, other);
  }
  return out;
}

template <bool ReLUFused = false>
Tensor qadd(Tensor qa, Tensor qb, double scale, int64_t zero_point) { //! runs quantized::add,quantized::add_relu QuantizedCPU
  auto qc = at::_empty_affine_quantized(qa.sizes(), scale, zero_point);
  return _add_out<ReLUFused>(qc, qa, qb);
}

template <int kSpatialDim, bool kReluFused>
class QConvInt8 final {
 public:
  static Tensor run(Tensor act) {
    return act;
  }
};

TORCH_LIBRARY_IMPL(quantized, QuantizedCPU, m) {
  m.impl(TORCH_SELECTIVE_NAME("quantized::conv2d.new"), TORCH_FN(QConvInt8<2, false>::run));
  m.impl(TORCH_SELECTIVE_NAME("quantized::conv3d.new"), QConvInt8<3, false>::run);
  m.impl(TORCH_SELECTIVE_NAME("quantized::add"),                 TORCH_FN(qadd</*ReLUFused=*/false>));
  m.impl(TORCH_SELECTIVE_NAME("quantized::add_relu"),            TORCH_FN(qadd</*ReLUFused=*/true>));
  // a lambda, which returns a call of one of two overloads
  m.impl(TORCH_SELECTIVE_NAME("quantized::layer_norm"), [](
    Tensor input,
    std::vector<int64_t> normalized_shape) {
      return layer_norm_impl(input, length_of(normalized_shape));
  });
}

} // namespace

}  // namespace at::native
