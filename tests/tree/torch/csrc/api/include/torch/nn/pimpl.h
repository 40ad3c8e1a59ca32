#pragma once

namespace torch::nn {
template <typename Contained>
class ModuleHolder {};
} // namespace torch::nn

#define TORCH_MODULE_IMPL(Name, ImplType)                  \
  class Name : public torch::nn::ModuleHolder<ImplType> { \
  }

#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
