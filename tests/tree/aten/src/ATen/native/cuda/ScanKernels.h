#pragma once

namespace at {
class TensorBase;

namespace native {

void launch_cumsum_cuda_kernel(const TensorBase& result, const TensorBase& self, int64_t dim);

} // namespace native
} // namespace at
