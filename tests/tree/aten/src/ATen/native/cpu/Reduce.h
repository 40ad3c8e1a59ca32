#pragma once

#include <ATen/native/cpu/Loops.h>

namespace at::native { inline namespace CPU_CAPABILITY {

template <typename func_t, typename vec_func_t>
void binary_kernel_reduce_vec(TensorIteratorBase& iter, func_t op, vec_func_t vop, double ident = 0) {
  iter.output_base().fill_(ident);
  iter.parallel_reduce([&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {});
}

}} // namespace at::native::CPU_CAPABILITY
