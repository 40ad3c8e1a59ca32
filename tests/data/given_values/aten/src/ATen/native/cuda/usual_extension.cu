
namespace at::native {
__global__ void usual_extension_kernel(float* x) {}
void run_of_files(const Tensor& self) { usual_extension_kernel<<<1, 1>>>(x); }
}
