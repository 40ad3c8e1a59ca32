
namespace at::native {
static auto& lib = MetalShaderLibrary::getBundledLibrary();
Tensor shared_gamma_mps(const Tensor& self) {
  lib.exec_unary_kernel(self, "shared_gamma");
  return self;
}
Tensor smooth_gamma_mps(const Tensor& self) {
  lib.getPipelineStateForFunc("count_rows");
  lib.getPipelineStateForFunc("forward_gamma_of_smooth");
  return self;
}
}
