#include <ATen/Parallel.h>

namespace at {

int get_num_threads() { //! not-hop _softmax
#ifdef _OPENMP
  return omp_get_max_threads();
#elif AT_MKL_ENABLED()
  return mkl_get_max_threads();
#else
  return 1;
#endif
}

} // namespace at
