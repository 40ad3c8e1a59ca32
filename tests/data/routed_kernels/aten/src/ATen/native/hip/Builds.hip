
namespace at::native {
__global__ void rocm_kernel(float* out) {}
void attend_alike(const Tensor& self) { rocm_kernel<<<1, 1>>>(self.data_ptr<float>()); }
void attend(const Tensor& self) { rocm_kernel<<<1, 1>>>(self.data_ptr<float>()); }
}
