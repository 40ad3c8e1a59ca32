
namespace at::native {
__global__ void cuda_kernel(float* out) {}
static void started(const Tensor& self) { cuda_kernel<<<1, 1>>>(self.data_ptr<float>()); }
Tensor of_either_build_cuda(const Tensor& self) {
  if (on_rocm()) { attend(self); } else { started(self); }
  return self;
}
Tensor of_rocm_cuda(const Tensor& self) { attend_alike(self); return self; }
}
