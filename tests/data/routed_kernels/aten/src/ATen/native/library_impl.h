
namespace {
template <int bits>
Tensor packed_cpu(const Tensor& self) {
  at::parallel_for(0, bits, 1, [&](int64_t a, int64_t b) {});
  return self;
}
}
