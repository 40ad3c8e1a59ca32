#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/SparseTensorImpl.h>

namespace at::native {

using namespace at::sparse;

namespace {
static SparseTensor new_sparse(std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::detail::make_tensor<SparseTensorImpl>(DispatchKeySet(DispatchKey::SparseCPU), *dtype);
}
} // namespace

/** Public creation API that dispatch to methods above **/

/** Empty init **/
Tensor empty_sparse( //! kernel empty.memory_format SparseCPU,SparseCUDA
    IntArrayRef size,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory,
    std::optional<MemoryFormat> optional_memory_format) {
  return new_sparse(dtype, layout, device, pin_memory);
}

// See Note [ Sparse: different methods to add one tensor to another ]
SparseTensor& copy_sparse_wrapper_( //! kernel copy_ SparseCPU,SparseCUDA
    Tensor& self,
    const Tensor& src,
    bool non_blocking) {
  auto maybe_outnames = namedinference::compute_broadcast_outnames(self, src);
  return self;
}

} // namespace at::native
