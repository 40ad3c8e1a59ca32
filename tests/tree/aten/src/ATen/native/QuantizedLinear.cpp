#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#ifdef USE_FBGEMM
#include <fbgemm/Fbgemm.h>
#endif // USE_FBGEMM

namespace caffe2 {
CAFFE_KNOWN_TYPE(c10::intrusive_ptr<LinearPackedParamsBase>)
} // namespace caffe2

namespace at::native {

#ifdef USE_FBGEMM

Tensor fbgemm_pack_gemm_matrix_fp16(const Tensor& weight) { //! kernel fbgemm_pack_gemm_matrix_fp16 CompositeImplicitAutograd
  TORCH_INTERNAL_ASSERT(weight.is_floating_point());
  const int64_t K = weight.size(1);
  auto ptr = std::make_unique<fbgemm::PackedGemmMatrixFP16>(fbgemm::matrix_op_t::Transpose, K, 1);
  return cpp_custom_type_hack::create(std::move(ptr), weight.options());
}

static bool saturate(float* first, int64_t count) {
  if (count > 0) {
#else // USE_FBGEMM

Tensor fbgemm_pack_gemm_matrix_fp16(const Tensor& weight) { //! kernel fbgemm_pack_gemm_matrix_fp16 CompositeImplicitAutograd
  // Throw an error here: the library is not in this build. The braces of the two
  // branches differ, and only together do they close.
  TORCH_CHECK(false, "This PyTorch installation was not built with FBGEMM operators");
}

static bool saturate(float* first, int64_t count) {
  {
#endif // USE_FBGEMM
    return count > 0;
  }
}

} // namespace at::native
