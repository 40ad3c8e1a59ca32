#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/mps/OperationUtils.h>

namespace at::native {
namespace mps {

typedef MPSGraphTensor* (^BinaryOpBlock)(BinaryOpCachedGraph*, MPSGraphTensor*, MPSGraphTensor*);
#define BinaryOpFn(graph, primary, secondary) \
  MPSGraphTensor*(mps::BinaryOpCachedGraph * graph, MPSGraphTensor * primary, MPSGraphTensor * secondary)

static void binaryOpTensor(const Tensor& self, const Tensor& other, const Tensor& output_, std::string op_name, BinaryOpBlock binaryBlock) { //! hop mul.out function
  @autoreleasepool {
    auto key = [NSString stringWithFormat:@"%s", op_name.c_str()];
    runMPSGraph(getCurrentMPSStream(), cachedGraph->graph(), feeds, outputPlaceholder);
  }
}

// A namesake of the kernel, one namespace further in.
void add_out_mps(const Tensor& self, const Tensor& other) { //! not-kernel add_out_mps
}

} // namespace mps

#define CREATE_MPS_STRUCTURED_BINARY_OP_FUNC(func_out, func_stub, other_type)                     \
  TORCH_IMPL_FUNC(func_out)(const Tensor& self, const other_type& other, const Tensor& output) {  \
    mps::binaryOp##other_type(                                                                    \
        self, other, output, #func_stub, ^BinaryOpFn(cachedGraph, primaryCastTensor, secondaryCastTensor) { \
          MPSGraph* mpsGraph = cachedGraph->graph();                                              \
          return [mpsGraph func_stub##WithPrimaryTensor:primaryCastTensor                         \
                                        secondaryTensor:secondaryCastTensor                       \
                                                   name:nil];                                     \
        });                                                                                       \
  }

CREATE_MPS_STRUCTURED_BINARY_OP_FUNC(mul_out_mps, multiplication, Tensor); //! kernel mul.out MPS by CREATE_MPS_STRUCTURED_BINARY_OP_FUNC
CREATE_MPS_STRUCTURED_BINARY_OP_FUNC(eq_tensor_out_mps, equal, Tensor); //! kernel eq.Tensor_out MPS by CREATE_MPS_STRUCTURED_BINARY_OP_FUNC

TORCH_IMPL_FUNC(add_out_mps)(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& output) { //! kernel add.out MPS
  mps::add_sub_lerp_template(self, other, alpha, output, "add");
}

TORCH_IMPL_FUNC(sub_out_mps)(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& output) { //! kernel sub.out MPS
  mps::add_sub_lerp_template(self, other, alpha, output, "sub");
}

} // namespace at::native
