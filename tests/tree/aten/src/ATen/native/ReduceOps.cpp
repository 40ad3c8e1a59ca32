#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/ReduceOps.h>

namespace at::meta {

static ScalarType infer_dtype_from_optional(const Tensor& self, const std::optional<ScalarType>& opt_dtype) {
  return opt_dtype.value_or(self.scalar_type());
}

static void meta_func_cum_ops(
    impl::MetaBase& meta,
    const char* name,
    const Tensor& self,
    int64_t dim,
    std::optional<ScalarType> dtype) {
  // Checking whether 'dim' is valid.
  maybe_wrap_dim(dim, self.dim());
  meta.set_output_raw_strided(0, self.sizes(), {}, self.options());
}

TORCH_META_FUNC(cumsum) //! meta cumsum.out
(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  meta_func_cum_ops(*this, "cumsum", self, dim, dtype);
}

TORCH_META_FUNC2(sum, dim_IntList) //! meta sum.IntList_out
(const Tensor& self, OptionalIntArrayRef opt_dim, bool keepdim, std::optional<ScalarType> opt_dtype) {
  auto out_dtype = infer_dtype_from_optional(self, opt_dtype);
  resize_reduction(*this, self, opt_dim, keepdim, out_dtype);
}

TORCH_META_FUNC2(mean, dim) //! meta mean.out
(const Tensor& self, OptionalIntArrayRef opt_dim, bool keepdim, std::optional<ScalarType> opt_dtype) {
  resize_reduction(*this, self, opt_dim, keepdim, infer_dtype_from_optional(self, opt_dtype));
}

} // namespace at::meta

namespace at::native {

DEFINE_DISPATCH(sum_stub); //! defines sum_stub
DEFINE_DISPATCH(mean_stub); //! defines mean_stub
DEFINE_DISPATCH(cumsum_stub); //! defines cumsum_stub

template <class Stub>
void impl_func_cum_ops(
    const Tensor& self,
    int64_t dim,
    const Tensor& result,
    Stub& stub) {
  if (self.dim() == 0) {
    result.fill_(self);
  } else {
    dim = maybe_wrap_dim(dim, self.dim());
    stub(self.device().type(), result, self.to(result.scalar_type()), dim);
  }
}

TORCH_IMPL_FUNC(cumsum_out) //! kernel cumsum.out CPU,CUDA
(const Tensor& self,
 int64_t dim,
 std::optional<ScalarType> dtype,
 const Tensor& result) {
  impl_func_cum_ops(self, dim, result, cumsum_stub); //! hop cumsum
}

// A plain function with the parameters of a named-tensor overload.
Tensor& cumsum_out(const Tensor& self, Dimname dim, std::optional<ScalarType> dtype, Tensor& result) { //! not-kernel cumsum_out
  return at::cumsum_out(result, self, dimname_to_position(self, dim), dtype);
}

TORCH_IMPL_FUNC(sum_out) //! kernel sum.IntList_out CPU,CUDA
(const Tensor& self,
 OptionalIntArrayRef opt_dim,
 bool keepdim,
 std::optional<ScalarType> opt_dtype,
 const Tensor& result) {
  auto iter = meta::make_reduction_from_out_ty(self, result, opt_dim, keepdim, result.scalar_type());
  if (iter.numel() == 0) {
    result.zero_();
  } else {
    sum_stub(iter.device_type(), iter);
  }
}

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) { //! kernel sum CompositeExplicitAutograd
  return at::sum(self, IntArrayRef{}, false, dtype);
}

Tensor sum(const Tensor& self, DimnameList dim, bool keepdim, std::optional<ScalarType> dtype) { //! not-kernel sum
  return at::sum(self, dimnames_to_positions(self, dim), keepdim, dtype);
}

// the plain overload of a structured symbol
Tensor& sum_out(const Tensor& self, DimnameList dim, //! not-kernel sum_out
                bool keepdim, std::optional<ScalarType> opt_dtype, Tensor& result) {
  return at::sum_out(result, self, dimnames_to_positions(self, dim), keepdim, opt_dtype);
}

Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) { //! kernel mean CompositeExplicitAutograd
  return at::mean(self, IntArrayRef{}, false, dtype);
}

TORCH_IMPL_FUNC(mean_out) //! kernel mean.out CPU,CUDA
(const Tensor& self,
 OptionalIntArrayRef opt_dim,
 bool keepdim,
 std::optional<ScalarType> opt_dtype,
 const Tensor& result) {
  ScalarType dtype = result.scalar_type();
  if (self.device().is_cpu()) {
    // there is no kernel for the stub on the CPU
    at::sum_out(const_cast<Tensor&>(result), self, opt_dim, keepdim, dtype).div_(self.numel());
  } else {
    auto iter = at::meta::make_reduction_from_out_ty(self, result, opt_dim, keepdim, dtype);
    mean_stub(iter.device_type(), iter);
  }
}

} // namespace at::native
