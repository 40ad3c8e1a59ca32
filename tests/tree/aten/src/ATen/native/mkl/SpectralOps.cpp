#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Config.h>

#if AT_MKL_ENABLED() || AT_POCKETFFT_ENABLED()
namespace at::native {
static void _fft_fill_with_conjugate_symmetry_slice(int64_t numel) {
}
} // namespace at::native
#endif

#if AT_POCKETFFT_ENABLED()
#include <pocketfft_hdronly.h>

namespace at::native {

namespace {
using namespace pocketfft;
}

Tensor _fft_c2c_mkl(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) { //! kernel _fft_c2c CPU
  auto out = at::empty(self.sizes(), self.options());
  pocketfft::c2c(self.sizes(), forward);
  return out;
}

}

#elif AT_MKL_ENABLED()
#include <ATen/native/mkl/DftiUtils.h>

namespace at {
namespace native {

Tensor _fft_c2c_mkl(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) { //! kernel _fft_c2c CPU
  auto out = at::empty(self.sizes(), self.options());
  std::vector<MKL_LONG> mkl_istrides(1, 1);
  MKL_DFTI_CHECK(DftiComputeForward(nullptr));
  return out;
}

}} // namespace at::native

#else

namespace at::native {

Tensor _fft_c2c_mkl(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) { //! kernel _fft_c2c CPU
  TORCH_CHECK(false, "fft: ATen not compiled with FFT support");
}

} // namespace at::native
#endif
