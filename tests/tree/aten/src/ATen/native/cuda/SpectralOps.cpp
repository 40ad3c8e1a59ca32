#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/cuda/CuFFTUtils.h>

namespace at::native {

using namespace at::native::detail;

static Tensor& _exec_fft(Tensor& out, Tensor self, IntArrayRef out_sizes, IntArrayRef dim, bool forward) { //! hop _fft_c2c function
  CUFFT_CHECK(cufftXtExec(plan, self.data_ptr(), out.data_ptr(), forward ? CUFFT_FORWARD : CUFFT_INVERSE));
  return out;
}

// n-dimensional complex to complex FFT
Tensor _fft_c2c_cufft(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward) { //! kernel _fft_c2c CUDA
  if (dim.empty()) {
    return self.clone();
  }
  auto output = at::empty(self.sizes(), self.options());
  return _exec_fft(output, self, self.sizes(), dim, forward);
}

} // at::native
