#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/DistributionTemplates.h>
#include <ATen/native/UnaryOps.h>

namespace at::native {

DEFINE_DISPATCH(bernoulli_scalar_stub); //! defines bernoulli_scalar_stub
DEFINE_DISPATCH(exponential_stub); //! defines exponential_stub

// ==================================================== Bernoulli ===================================================

// The stub is behind a functor, and the functor is a template argument.
template<typename RNG>
struct BernoulliStub {
  void operator()(Tensor& self, const Tensor& p_, std::optional<Generator> gen) {
    // overload for a tensor of probabilities
  }

  void operator()(Tensor& self, double p, std::optional<Generator> gen) {
    bernoulli_scalar_stub(self.device().type(), self, p, gen);
  }
};

Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> gen) { //! kernel bernoulli.p CompositeImplicitAutograd
  Tensor result = at::empty_like(self, LEGACY_CONTIGUOUS_MEMORY_FORMAT);
  result.bernoulli_(p, std::move(gen));
  return result;
}

// Two operators, one name: the second parameter decides.
Tensor& bernoulli_(Tensor& self, const Tensor& p_, std::optional<Generator> gen) { //! kernel bernoulli_.Tensor CPU,CUDA
  return at::native::templates::bernoulli_impl_<BernoulliStub, Generator>(self, p_.item<double>(), std::move(gen));
}

Tensor& bernoulli_(Tensor& self, double p, std::optional<Generator> gen) { //! kernel bernoulli_.float CPU,CUDA
  return at::native::templates::bernoulli_impl_<BernoulliStub, Generator>(self, p, std::move(gen));
}

// ==================================================== Exponential =================================================

template<typename RNG>
struct ExponentialStub {
  void operator()(TensorIteratorBase& iter, double lambda, std::optional<Generator> gen) {
    exponential_stub(iter.device_type(), iter, lambda, gen);
  }
};

Tensor& exponential_(Tensor& self, double lambda, ::std::optional<Generator> gen) { //! kernel exponential_ CPU,CUDA
  return at::native::templates::exponential_impl_<ExponentialStub, Generator>(self, lambda, std::move(gen));
}

}// namespace at::native
