// Read by tests/indexes/linking/edges.
#include <cutlass/types.h>
#include <fast_attention.h>
#include <Submodule.cuh>
namespace at::native {
void edges_of_a_submodule(const Tensor& x) {
  Pair<int> pair(x);
  run_attention_<scalar_t, 64>(x);
  run_plain(x);
}
} // namespace at::native
