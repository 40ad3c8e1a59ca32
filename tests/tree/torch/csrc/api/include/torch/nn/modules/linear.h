#pragma once

#include <torch/nn/pimpl.h>

namespace torch::nn {

class LinearImpl {
 public:
  void reset();
};

TORCH_MODULE(Linear);

} // namespace torch::nn
