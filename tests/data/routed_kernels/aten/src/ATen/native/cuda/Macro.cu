
namespace at::native {
__global__ void few_rows(float* x, int n) {}
__global__ void many_rows(float* x, int n) {}
#define FEW(N) few_rows<<<1, 32>>>(x, N)
#define MANY(N) many_rows<<<1, 32>>>(x, N)
Tensor by_macro_cuda(const Tensor& self) {
  auto x = self.data_ptr<float>();
  if (rows <= 16) {
    FEW(1);
  } else {
    switch (columns) {
      case 1:
        MANY(1);
        break;
      case 2:
        MANY(2);
        break;
    }
  }
  return self;
}
}
