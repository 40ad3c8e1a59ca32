#pragma once
#include <sycl/sycl.hpp>

template <typename ker_t, int dim>
static inline void sycl_kernel_submit(::sycl::range<dim> range, ::sycl::queue q, ker_t ker) {
  q.submit([&](::sycl::handler& cgh) { cgh.parallel_for<ker_t>(range, ker); });
}
