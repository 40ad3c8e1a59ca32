#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using index_put_with_sort_fn = void(*)(Tensor &, const c10::List<std::optional<Tensor>> &, const Tensor &, bool accumulate, bool unsafe);
using index_put_fn = void(*)(TensorIterator &, IntArrayRef indexed_sizes, IntArrayRef indexed_strides, bool accumulate);
using index_fn = void(*)(TensorIteratorBase &, IntArrayRef indexed_sizes, IntArrayRef indexed_strides);

DECLARE_DISPATCH(index_fn, index_stub) //! declares index_stub
DECLARE_DISPATCH(index_put_fn, index_put_stub) //! declares index_put_stub
DECLARE_DISPATCH(index_put_with_sort_fn, index_put_with_sort_stub) //! declares index_put_with_sort_stub

} // namespace at::native
