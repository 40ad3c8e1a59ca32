#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/SparseCsrTensorImpl.h>

namespace at::native {

namespace {

void _validate_sparse_compressed_tensor_args_worker(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values) {
  TORCH_CHECK(values.is_contiguous(), "expected values to be contiguous");
}

} // namespace

static Tensor _sparse_compressed_tensor_unsafe_template(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values, IntArrayRef size) { //! hop _sparse_csr_tensor_unsafe function
  return values;
}

// Dense back ends and layouts come as arguments of the macro.
#define SPARSE_COMPRESSED_TENSOR_UNSAFE(KIND, REQUIRED_LAYOUT)       \
  Tensor _sparse_##KIND##_tensor_unsafe(                             \
      const Tensor& compressed_indices,                              \
      const Tensor& plain_indices,                                   \
      const Tensor& values,                                          \
      IntArrayRef size,                                              \
      std::optional<ScalarType> dtype,                               \
      std::optional<Layout> layout,                                  \
      std::optional<Device> device,                                  \
      std::optional<bool> pin_memory) {                              \
    return _sparse_compressed_tensor_unsafe_template(                \
        compressed_indices, plain_indices, values, size);            \
  }

SPARSE_COMPRESSED_TENSOR_UNSAFE(csr, kSparseCsr); //! kernel _sparse_csr_tensor_unsafe CompositeImplicitAutograd by SPARSE_COMPRESSED_TENSOR_UNSAFE
SPARSE_COMPRESSED_TENSOR_UNSAFE(csc, kSparseCsc);

// Two functions of one name at once: with the size, and without.
#define SPARSE_COMPRESSED_TENSOR(KIND, REQUIRED_LAYOUT)              \
  Tensor sparse_##KIND##_tensor(                                     \
      const Tensor& compressed_indices,                              \
      const Tensor& plain_indices,                                   \
      const Tensor& values,                                          \
      IntArrayRef size,                                              \
      std::optional<ScalarType> dtype,                               \
      std::optional<Layout> layout,                                  \
      std::optional<Device> device,                                  \
      std::optional<bool> pin_memory) {                              \
    return at::native::_sparse_compressed_tensor_unsafe_template(    \
        compressed_indices, plain_indices, values, size);            \
  }                                                                  \
  Tensor sparse_##KIND##_tensor(                                     \
      const Tensor& compressed_indices,                              \
      const Tensor& plain_indices,                                   \
      const Tensor& values,                                          \
      std::optional<ScalarType> dtype,                               \
      std::optional<Layout> layout,                                  \
      std::optional<Device> device,                                  \
      std::optional<bool> pin_memory) {                              \
    return values;                                                   \
  }

SPARSE_COMPRESSED_TENSOR(csr, kSparseCsr) //! kernel sparse_csr_tensor.crow_col_value_size CompositeImplicitAutograd by SPARSE_COMPRESSED_TENSOR
SPARSE_COMPRESSED_TENSOR(csc, kSparseCsc)

} // namespace at::native
