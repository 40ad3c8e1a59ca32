#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/TensorAdvancedIndexing.h>

namespace at::meta {

TORCH_PRECOMPUTE_META_FUNC2(index, Tensor) //! meta index.Tensor_out
(const Tensor& self, at::IOptTensorListRef indices) {
  auto materialized = indices.materialize();
  return TORCH_PRECOMPUTE_STRUCT2(index, Tensor)()
      .set_sizes(self.sizes())
      .set_strides(self.strides());
}

} // namespace at::meta

namespace at::native {

DEFINE_DISPATCH(index_stub); //! defines index_stub
DEFINE_DISPATCH(index_put_stub); //! defines index_put_stub
DEFINE_DISPATCH(index_put_with_sort_stub); //! defines index_put_with_sort_stub
REGISTER_NO_CPU_DISPATCH(index_put_with_sort_stub) //! registers index_put_with_sort_stub CPU nullptr

TORCH_IMPL_FUNC(index_out) //! kernel index.Tensor_out CPU,CUDA,MPS
(const Tensor& self, DimVector sizes, DimVector strides, const Tensor& result) {
  index_stub(device_type(), *this, sizes, strides);
}

Tensor & index_put_(Tensor & self, const torch::List<std::optional<Tensor>>& indices, const Tensor & value, const bool accumulate) { //! kernel index_put_ CompositeExplicitAutograd
  if (self.is_cuda() && accumulate) {
    index_put_with_sort_stub(self.device().type(), self, indices, value, accumulate, false);
    return self;
  }
  auto iter = make_index_put_iterator(self, value);
  index_put_stub(iter.device_type(), iter, self.sizes(), self.strides(), accumulate);
  return self;
}

Tensor index_put(const Tensor & self, const c10::List<::std::optional<at::Tensor>>& indices, const Tensor & value, bool accumulate) { //! kernel index_put CompositeExplicitAutograd
  return self.clone(at::MemoryFormat::Preserve).index_put_(indices, value, accumulate);
}

static Tensor& index_select_out_cpu_(const Tensor& self, int64_t dim, const Tensor& index, Tensor& result) { //! hop index_select function
  AT_DISPATCH_V2(
      self.scalar_type(),
      "index_select",
      AT_WRAP([&] { at::parallel_for(0, 1, 1, [&](int64_t start, int64_t end) {}); }),
      AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), kHalf, kBool, kBFloat16);
  return result;
}

Tensor index_select_cpu_(const Tensor & self, int64_t dim, const Tensor & index) { //! kernel index_select CPU
  Tensor result = at::empty({0}, self.options());
  return at::native::index_select_out_cpu_(self, dim, index, result);
}

Tensor index_select_quantized_cpu_(const Tensor & self, int64_t dim, const Tensor & index) { //! kernel index_select QuantizedCPU
  TORCH_CHECK(self.qscheme() == kPerTensorAffine, "Only per_tensor quantized quantized tensors are supported by index_select.");
  return self;
}

// A declaration of what another file defines.
Tensor index_select_sparse_cpu(const Tensor& self, int64_t dim, const Tensor& index);

Tensor index_select_sparse_cpu( //! kernel index_select SparseCPU
    const Tensor& self, int64_t dim, const Tensor& index) {
  const auto get_selected_indices_small_nnz_large_size = [&]() -> std::tuple<Tensor, Tensor> {
    return std::make_tuple(self._indices(), self._values());
  };
  return self;
}

Tensor& nonzero_out_cpu(const Tensor& self, Tensor& result) { //! kernel nonzero.out CPU
  AT_DISPATCH_V2(self.scalar_type(), "nonzero_cpu", AT_WRAP([&] {
    at::parallel_for(0, self.numel(), 1, [&](int64_t begin, int64_t end) {});
  }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), kBool, kBFloat16, kHalf);
  return result;
}

Tensor nonzero_cpu(const Tensor& self) { //! kernel nonzero CPU
  auto result = at::empty({0}, self.options().dtype(kLong));
  nonzero_out_cpu(self, result);
  return result;
}

} // namespace at::native
