#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Copy.h>
#include <ATen/native/cpu/CatKernel.h>

namespace at::meta {
inline void cat_check_no_zero_dim(const MaterializedITensorListRef& tensors) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.dim() > 0, "zero-dimensional tensor cannot be concatenated");
  }
}

TORCH_PRECOMPUTE_META_FUNC(cat)(const ITensorListRef& tensors, int64_t dim) { //! meta cat.out
  // previously, size [0] tensors were the only possible empty tensors
  auto materialized = tensors.materialize();
  cat_check_no_zero_dim(materialized);
  set_output_raw_strided(0, {}, {}, materialized[0].get().options());
  return TORCH_PRECOMPUTE_STRUCT(cat)().set_dim(dim).set_valid(0);
}
} // namespace at::meta

namespace at::native {

DEFINE_DISPATCH(cat_serial_stub); //! defines cat_serial_stub

TORCH_IMPL_FUNC(cat_out_cpu) //! kernel cat.out CPU
(const ITensorListRef& tensors,
 int64_t dim,
 int64_t valid,
 bool all_contiguous,
 bool all_same_dtype,
 bool all_same_sizes_and_stride,
 MemoryFormat memory_format,
 const Tensor& result) {
  auto materialized = tensors.materialize();
  bool serial_dtype = at::isFloatingType(result.scalar_type());
  if (all_contiguous && all_same_dtype && serial_dtype) {
    cat_serial_stub(kCPU, result, materialized, dim);
    return;
  }
  for (const Tensor& tensor : materialized) {
    auto iter = TensorIteratorConfig().add_output(result).add_const_input(tensor).build();
    copy_stub(iter.device_type(), iter, false);
  }
}

Tensor cat(TensorList tensors, Dimname dim) { //! not-kernel cat
  return at::cat(tensors, dimname_to_position(tensors[0], dim));
}

static Tensor cat_sparse_impl(const MaterializedITensorListRef& tensors, int64_t dim) {
  return tensors[0];
}

Tensor cat_sparse(const ITensorListRef& tensors, int64_t dim) { //! kernel cat SparseCPU,SparseCUDA
  auto materialized = tensors.materialize();
  return cat_sparse_impl(materialized, dim);
}

static inline Tensor alias_with_sizes_and_strides(const Tensor& self, IntArrayRef sizes) {
  return at::detail::make_tensor<TensorImpl>(c10::TensorImpl::VIEW, Storage(self.storage()), self.key_set(), self.dtype());
}

static inline Tensor view_impl(const Tensor& self, IntArrayRef size) { //! hop view function
  at::DimVector inferred_size = at::infer_size_dv(size, self.numel());
  return alias_with_sizes_and_strides(self, inferred_size);
}

Tensor view(const Tensor& self, //! kernel view ZeroTensor,Meta,CPU,CUDA,QuantizedCPU,QuantizedCUDA,MPS
            at::IntArrayRef size) {
  return view_impl(self, size);
}

Tensor detach(const Tensor& self) { //! kernel detach CompositeExplicitAutograd,NestedTensorCPU,NestedTensorCUDA
  return native::alias(self);
}

Tensor narrow_copy_dense_cpu( //! kernel narrow_copy CPU
    const Tensor& self,
    int64_t dim,
    int64_t start,
    int64_t length) {
  auto output = at::empty_like(self);
  return narrow_copy_dense_cpu_out(self, dim, start, length, output);
}

Tensor narrow_copy_sparse(const Tensor& self, int64_t dim, int64_t start, int64_t length) { //! kernel narrow_copy SparseCPU,SparseCUDA
  return self;
}

Tensor& narrow_copy_dense_cpu_out( //! kernel narrow_copy.out CPU
  const Tensor& self, int64_t dim, int64_t start, int64_t length, Tensor& output
) {
  char* dst_bytes = static_cast<char*>(output.data_ptr());
  return output;
}

Tensor narrow_symint(const Tensor& self, int64_t dim, SymInt start, SymInt length) { //! kernel narrow CompositeImplicitAutograd
  return at::slice_symint(self, dim, start, start + length, 1);
}

// The overload whose start is a tensor.
Tensor narrow_symint(const Tensor& self, int64_t dim, const Tensor& start, SymInt length) { //! not-kernel narrow_symint
  return at::narrow_symint(self, dim, start.item<int64_t>(), std::move(length));
}

} // namespace at::native
