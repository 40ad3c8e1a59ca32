#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/cudnn/cudnn-wrapper.h>

namespace at::native {

namespace {

inline bool batch_norm_use_channels_last_kernels(const at::Tensor& self) {
  return self.is_contiguous(at::MemoryFormat::ChannelsLast) || self.ndimension() == 2;
}

} // namespace

// return type and name on two lines
std::tuple<Tensor, Tensor, Tensor>
batch_norm_cuda(const Tensor& self, const std::optional<Tensor>& weight_opt, const std::optional<Tensor>& bias_opt, const std::optional<Tensor>& running_mean_opt, const std::optional<Tensor>& running_var_opt, bool train, double momentum, double epsilon) { //! kernel native_batch_norm CUDA
  Tensor output = at::empty_like(self);
  cudnnBatchNormalizationForwardTraining(handle, mode); //! hop native_batch_norm library
  return std::make_tuple(output, output, output);
}

} // namespace at::native
