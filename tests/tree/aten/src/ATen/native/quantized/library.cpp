#include <torch/library.h>

TORCH_LIBRARY(quantized, m) { //! library quantized
  m.set_python_module("caffe2.torch.fb.model_transform.splitting.split_dispatcher");
  m.def(TORCH_SELECTIVE_SCHEMA("quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc"), {at::Tag::pt2_compliant_tag}); //! operator quantized::add
  m.def(TORCH_SELECTIVE_SCHEMA("quantized::add_relu(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc")); //! operator quantized::add_relu
  m.def(TORCH_SELECTIVE_SCHEMA("quantized::layer_norm(Tensor input, int[] normalized_shape) -> Tensor")); //! operator quantized::layer_norm
}
