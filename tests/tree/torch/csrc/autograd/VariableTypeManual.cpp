#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/library.h>

using namespace at;
using namespace torch::autograd::generated;

namespace torch {
namespace autograd::VariableType {
namespace {

const Tensor& resize_( //! not-kernel resize_
    c10::DispatchKeySet ks,
    const Tensor& self,
    SymIntArrayRef size,
    std::optional<MemoryFormat> optional_memory_format) {
  auto& self_ = unpack(self, "self", 0);
  return self;
}

Tensor& copy_( //! not-kernel copy_
    c10::DispatchKeySet ks,
    Tensor& self,
    const Tensor& src,
    bool non_blocking) {
  std::shared_ptr<CopyBackwards> grad_fn;
  return self;
}

Tensor detach(c10::DispatchKeySet ks, const Tensor& self) { //! not-kernel detach
  return self;
}

TORCH_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl(
      "resize_",
      torch::dispatch(DispatchKey::Autograd, TORCH_FN(VariableType::resize_)));
  m.impl(
      "detach",
      torch::dispatch(DispatchKey::Autograd, TORCH_FN(VariableType::detach)));
  m.impl(
      "copy_",
      torch::dispatch(
          DispatchKey::Autograd, TORCH_FN(VariableType::copy_)));
}

} // namespace
} // namespace autograd::VariableType

namespace ADInplaceOrView {

static Tensor& copy_(c10::DispatchKeySet ks, Tensor& self, const Tensor& src, bool non_blocking) { //! not-kernel copy_
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    at::redispatch::copy_(ks & c10::after_ADInplaceOrView_keyset, self, src, non_blocking);
  }
  torch::autograd::increment_version(self);
  return self;
}

namespace {
TORCH_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  m.impl(
      "copy_",
      torch::dispatch(
          DispatchKey::ADInplaceOrView, TORCH_FN(ADInplaceOrView::copy_)));
}
} // namespace
} // namespace ADInplaceOrView
} // namespace torch
