#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Copy.h>

namespace at::native {

static Tensor & copy_impl(Tensor & self, const Tensor & src, bool non_blocking) { //! hop copy_ function
  if (self.is_same(src)) {
    return self;
  }
  auto iter = TensorIteratorConfig().add_output(self).add_const_input(src).build();
  copy_stub(iter.device_type(), iter, non_blocking);
  return self;
}

Tensor copy_meta(const Tensor& self, const Tensor& src, bool non_blocking) { //! kernel copy Meta
  // Must directly use self(), so we can dispatch properly is self is a subclass
  auto r = clone_preserve_strides(self);
  return r;
}

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) { //! kernel copy CompositeExplicitAutogradNonFunctional
  at::Tensor r = clone_preserve_strides(self);
  r.copy_(src, non_blocking);
  return r;
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) { //! kernel copy_ CompositeExplicitAutograd
  auto maybe_outnames = namedinference::compute_broadcast_outnames(self, src);
  {
    NoNamesGuard guard;
    copy_impl(self, src, non_blocking);
  }
  return self;
}

DEFINE_DISPATCH(copy_stub); //! defines copy_stub

} // namespace at::native
