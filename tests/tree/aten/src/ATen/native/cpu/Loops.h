#pragma once

// The loops that element-wise kernels of the CPU run.

#include <ATen/native/TensorIterator.h>

namespace at::native { inline namespace CPU_CAPABILITY {

using namespace vec;

template <typename func_t>
inline void basic_loop(char* C10_RESTRICT data[], const int64_t* strides_, int64_t i, int64_t n, func_t&& op) {
  for (; i < n; i++) {
    op(data, strides_);
  }
}

template <typename op_t, typename vop_t>
struct VectorizedLoop2d {
  op_t op;
  vop_t vop;

  VectorizedLoop2d(op_t op, vop_t vop) : op(std::move(op)), vop(std::move(vop)) {}

  void operator()(char** base, const int64_t* strides, int64_t size0, int64_t size1) {
    basic_loop(base, strides, 0, size0, op);
  }
};

template <typename func_t>
void cpu_kernel(TensorIteratorBase& iter, func_t&& op, int64_t grain_size = at::internal::GRAIN_SIZE) {
  using traits = function_traits<func_t>;
  // this could be extended to work with void return types
  TORCH_INTERNAL_ASSERT(iter.ninputs() == traits::arity);
  iter.for_each([&](char** data, const int64_t* strides, int64_t n) {
    basic_loop(data, strides, 0, n, op);
  }, grain_size);
  iter.cast_outputs();
}

template <bool check_dynamic_cast = true, typename func_t, typename vec_func_t>
void cpu_kernel_vec(TensorIteratorBase& iter, func_t&& op, vec_func_t&& vop, int64_t grain_size = at::internal::GRAIN_SIZE) {
  iter.for_each(VectorizedLoop2d<func_t, vec_func_t>(op, vop), grain_size);
  iter.cast_outputs();
}

template <typename func_t>
void cpu_serial_kernel(TensorIteratorBase& iter, func_t&& op) {
  iter.serial_for_each([&](char** data, const int64_t* strides, int64_t n) {
    basic_loop(data, strides, 0, n, op);
  }, {0, iter.numel()});
  iter.cast_outputs();
}

}} // namespace at::native::CPU_CAPABILITY
