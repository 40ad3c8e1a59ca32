#define TORCH_ASSERT_NO_OPERATORS
#include <ATen/native/UnaryOps.h>
#include <ATen/native/cuda/DistributionTemplates.h>

namespace at::native {

static void bernoulli_scalar_kernel(Tensor &self, const double p, std::optional<Generator> gen) { //! implements bernoulli_scalar_stub CUDA
  templates::cuda::bernoulli_kernel(self, p, gen);
}

static void exponential_kernel(TensorIteratorBase& iter, double lambda, std::optional<Generator> gen) { //! implements exponential_stub CUDA
  templates::cuda::exponential_kernel(iter, lambda, gen);
}

REGISTER_DISPATCH(bernoulli_scalar_stub, &bernoulli_scalar_kernel) //! registers bernoulli_scalar_stub CUDA bernoulli_scalar_kernel
REGISTER_DISPATCH(exponential_stub, &exponential_kernel) //! registers exponential_stub CUDA exponential_kernel

} // namespace at::native
