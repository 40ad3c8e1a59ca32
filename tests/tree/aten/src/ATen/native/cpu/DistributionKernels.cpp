#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cpu/DistributionTemplates.h>

namespace at::native {
namespace {

// Disable MKL in favour of the generic one: two definitions, one registration.
static void bernoulli_scalar_kernel_default(const TensorBase &self, double p, std::optional<Generator> gen) {
  templates::cpu::bernoulli_kernel(self, p, gen);
}

#if !AT_MKL_ENABLED()
void bernoulli_scalar_kernel(Tensor &self, const double p, std::optional<Generator> gen) { //! implements bernoulli_scalar_stub CPU
  bernoulli_scalar_kernel_default(self, p, gen);
}
#else
void bernoulli_scalar_kernel(Tensor &self, const double p, std::optional<Generator> gen) { //! implements bernoulli_scalar_stub CPU
  viRngBernoulli(VSL_RNG_METHOD_BERNOULLI_ICDF, nullptr, 1, nullptr, p);
}
#endif

static void exponential_kernel(TensorIteratorBase& iter, const double lambda, std::optional<Generator> gen) { //! implements exponential_stub CPU
  templates::cpu::exponential_kernel(iter, lambda, gen);
}

} // namespace (anonymous)

REGISTER_DISPATCH(bernoulli_scalar_stub, &bernoulli_scalar_kernel) //! registers bernoulli_scalar_stub CPU bernoulli_scalar_kernel
REGISTER_DISPATCH(exponential_stub, &exponential_kernel) //! registers exponential_stub CPU exponential_kernel

} // namespace at::native
