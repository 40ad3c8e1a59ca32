#include <ATen/core/Tensor.h>
#include <modular/modularCuda.h>

#pragma clang diagnostic ignored "-Wmissing-prototypes"

namespace at::native {

// The parameter list itself is pasted together.
#define BARRET_PARAMS_0
#define BARRET_PARAMS_1 , const Tensor& barret_mu

#define BARRET_ARGS_0
#define BARRET_ARGS_1 , barret_mu.data_ptr<uint64_t>()

#define GENERATE_INTERFACE(NAME, HAS_BARRET)            \
  Tensor NAME##_mod_cuda(                               \
      const Tensor& a,                                  \
      const Tensor& b,                                  \
      const Tensor& mod BARRET_PARAMS_##HAS_BARRET,     \
      int64_t cur_limbs) {                              \
    Tensor c = at::empty_like(a);                       \
    modularCuda::v##NAME##_template(                    \
        mod.data_ptr<uint64_t>() BARRET_ARGS_##HAS_BARRET, cur_limbs); \
    return c;                                           \
  }                                                     \
                                                        \
  Tensor& NAME##_mod_cuda_(                             \
      Tensor& self,                                     \
      const Tensor& other,                              \
      const Tensor& mod BARRET_PARAMS_##HAS_BARRET,     \
      int64_t cur_limbs) {                              \
    return self;                                        \
  }

GENERATE_INTERFACE(add, 0) //! kernel add_mod,add_mod_ CUDA by GENERATE_INTERFACE
GENERATE_INTERFACE(mul, 1) //! kernel mul_mod CUDA by GENERATE_INTERFACE

#undef GENERATE_INTERFACE

} // namespace at::native
