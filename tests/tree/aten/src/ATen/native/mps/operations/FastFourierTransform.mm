#include <ATen/native/mps/OperationUtils.h>

#if !defined(__MAC_14_0) && (!defined(MAC_OS_X_VERSION_14_0) || (MAC_OS_X_VERSION_MIN_REQUIRED < MAC_OS_X_VERSION_14_0))
@implementation FakeMPSGraphFFTDescriptor
+ (nullable instancetype)descriptor {
  // Redispatch the constructor to the actual implementation
  id desc = NSClassFromString(@"MPSGraphFFTDescriptor");
  return (FakeMPSGraphFFTDescriptor*)[desc descriptor];
}

- (nonnull id)copyWithZone:(nullable NSZone*)zone {
  return self;
}
@end
#endif

@interface MPSGraphFFT : NSObject
@property(readwrite, nonatomic) BOOL inverse;
- (int)count:(int)x with:(NSArray<NSNumber*>*)y;
@end

namespace at::native {
namespace {
NSArray<NSNumber*>* IntArrayToNSArray(IntArrayRef arr) {
  auto rc = [NSMutableArray<NSNumber*> arrayWithCapacity:arr.size()];
  return rc;
}
} // anonymous namespace

Tensor _fft_c2c_mps(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) { //! kernel _fft_c2c MPS
  auto options = IntArrayToNSArray(dim);
  return self;
}

} // namespace at::native
