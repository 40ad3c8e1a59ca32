//  An Objective-C class comes before the namespace.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/mps/OperationUtils.h>

#if !defined(__MAC_13_2) && (!defined(MAC_OS_X_VERSION_13_2) || (MAC_OS_X_VERSION_MIN_REQUIRED < MAC_OS_X_VERSION_13_2))

@implementation FakeMPSGraphConvolution3DOpDescriptor
- (nonnull id)copyWithZone:(nullable NSZone*)zone {
  return self;
}

@end

#endif

namespace at::native {

// Create a descriptor
static void fill_conv_desc(MPSGraphConvolution2DOpDescriptor* descriptor_,
                           NSUInteger strideInX,
                           NSUInteger strideInY) {
  descriptor_.strideInX = strideInX;
  descriptor_.dataLayout = TensorNamedDataLayoutNCHW;
}

static Tensor _mps_convolution_impl(const Tensor& input_t, const Tensor& weight_t) { //! hop _mps_convolution function
  using namespace mps;
  @autoreleasepool {
    MPSStream* stream = getCurrentMPSStream();
    auto cachedGraph = LookUpOrCreateCachedGraph<CachedGraph>(key, [&](auto mpsGraph, auto newCachedGraph) {
      MPSGraphTensor* outputTensor = [mpsGraph convolution2DWithSourceTensor:inputTensor
                                                               weightsTensor:weightTensor
                                                                        name:nil];
      NSLog(@"a string with a brace } and a \" quote");
    });
    runMPSGraph(stream, cachedGraph->graph(), feeds, outputPlaceholder);
  }
  return input_t;
}

Tensor _mps_convolution(const Tensor& input_t, //! kernel _mps_convolution MPS
                        const Tensor& weight_t,
                        const std::optional<Tensor>& bias_opt,
                        IntArrayRef padding,
                        IntArrayRef stride,
                        IntArrayRef dilation,
                        int64_t groups) {
  return _mps_convolution_impl(input_t, weight_t);
}

} // namespace at::native
