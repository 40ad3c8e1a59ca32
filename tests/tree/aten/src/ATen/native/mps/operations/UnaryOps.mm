#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/mps/OperationUtils.h>

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = mps::MetalShaderLibrary::getBundledLibrary();
#else
// Metal source, compiled at run time.
static MetalShaderLibrary lib(R"METAL(
#include <metal_stdlib>
kernel void sin_out_mps(device float* x [[buffer(0)]]) { x[0] = sin(x[0]); }
)METAL");
#endif

namespace at::native {

namespace mps {

typedef MPSGraphTensor* (^UnaryOpBlock)(MPSGraph*, MPSGraphTensor*);
#define UnaryOpFn(graph, input) MPSGraphTensor*(MPSGraph * graph, MPSGraphTensor * input)

static void unary_op(const Tensor& self, const Tensor& output_, std::string op_name, UnaryOpBlock unaryBlock) { //! hop sin.out function
  @autoreleasepool {
    runMPSGraph(getCurrentMPSStream(), cachedGraph->graph(), feeds, outputPlaceholder);
  }
}

} // namespace mps

#define CREATE_MPS_STRUCTURED_UNARY_TORCH_IMPL_FUNC(func_out, func_stub)                        \
  TORCH_IMPL_FUNC(func_out)(const Tensor& self, const Tensor& output) {                         \
    mps::unary_op(self, output, #func_out, ^MPSGraphTensor*(MPSGraph * mpsGraph, MPSGraphTensor * inputTensor) { \
      return [mpsGraph func_stub##WithTensor:inputTensor name:nil];                             \
    });                                                                                         \
  }

CREATE_MPS_STRUCTURED_UNARY_TORCH_IMPL_FUNC(sin_out_mps, sin) //! kernel sin.out MPS by CREATE_MPS_STRUCTURED_UNARY_TORCH_IMPL_FUNC

TORCH_IMPL_FUNC(ceil_out_mps)(const Tensor& self, const Tensor& output) { //! kernel ceil.out MPS
  mps::unary_op(self, output, "ceil_out_mps", ^MPSGraphTensor*(MPSGraph* mpsGraph, MPSGraphTensor* inputTensor) {
    return [mpsGraph ceilWithTensor:inputTensor name:nil];
  });
}

TORCH_IMPL_FUNC(cumsum_out_mps) //! kernel cumsum.out MPS
(const Tensor& self,
 int64_t dim,
 std::optional<ScalarType> dtype,
 const Tensor& result) {
  mps::unary_op(self, result, "cumsum_out_mp" + std::to_string(dim), ^MPSGraphTensor*(MPSGraph* mpsGraph, MPSGraphTensor* inputTensor) {
    return [mpsGraph cumulativeSumWithTensor:inputTensor axis:dim name:nil];
  });
}

Tensor relu_mps(const Tensor& self) { //! kernel relu MPS
  Tensor output = at::empty_like(self);
  mps::unary_op(self, output, "relu", nil);
  return output;
}

Tensor& relu_mps_(Tensor& self) { //! kernel relu_ MPS
  return self;
}

TORCH_IMPL_FUNC(softmax_mps_out) //! kernel _softmax.out MPS
(const Tensor& input_, const int64_t dim, const bool half_to_float, const Tensor& output) {
  MPSGraphTensor* softmaxTensor = [mpsGraph softMaxWithTensor:inputTensor axis:dim name:nil];
}

TORCH_IMPL_FUNC(sum_out_mps) //! kernel sum.IntList_out MPS
(const Tensor& input_t,
 OptionalIntArrayRef opt_dim,
 bool keepdim,
 std::optional<ScalarType> dtype,
 const Tensor& output_t) {
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_mps(const Tensor& input, //! kernel native_layer_norm MPS
                                                  IntArrayRef normalized_shape,
                                                  const std::optional<Tensor>& weight_opt,
                                                  const std::optional<Tensor>& bias_opt,
                                                  double eps) {
  return std::make_tuple(input, input, input);
}

TORCH_IMPL_FUNC(addmm_out_mps) //! kernel addmm.out MPS
(const Tensor& self,
 const Tensor& mat1,
 const Tensor& mat2,
 const Scalar& beta,
 const Scalar& alpha,
 const Tensor& result) {
  getCurrentMPSStream();
}

Tensor _mps_linear(const Tensor& input, const Tensor& weight_arg, const std::optional<Tensor>& bias_opt) { //! kernel linear MPS
  return input;
}

Tensor& bernoulli_mps_(Tensor& self, double p, std::optional<Generator> gen) { //! kernel bernoulli_.float MPS
  return self;
}

Tensor& bernoulli_mps_(Tensor& self, const Tensor& p_, std::optional<Generator> gen) { //! kernel bernoulli_.Tensor MPS
  return self;
}

Tensor index_select_mps(const Tensor& self, int64_t dim, const Tensor& index) { //! kernel index_select MPS
  return self;
}

} // namespace at::native
