
namespace at::native {
__global__ void wise_kernel(float* x) {}
__global__ void usual_kernel(float* x) {}
static void usual_inner(const Tensor& self) {
  usual_kernel<<<1, 1>>>(x);
}
static void usual_outer(const Tensor& self) {
  if (mask[0]) { usual_inner(self); }
}
static void usual_first(const Tensor& self) { usual_outer(self); }
static void usual_case(const Tensor& self) { usual_first(self); }
Tensor by_runtime_cuda(const Tensor& self) {
  cudaLaunchCooperativeKernel((const void*)wise_kernel, dim3(1), dim3(1), arguments, 0, stream);
  return self;
}
Tensor by_file_cuda(const Tensor& self) { run_of_files(self); return self; }
void run_of_files(const Tensor& self);
Tensor by_back_end_cuda(const Tensor& self) {
  switch (select(self)) {
    case Backend::Depthwise:
      wise_kernel<<<1, 1>>>(x);
      break;
    case Backend::Cudnn:
      usual_case(self);
      break;
  }
  return self;
}
}
