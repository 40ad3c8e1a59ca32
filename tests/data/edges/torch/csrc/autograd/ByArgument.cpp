namespace c10 {
void name_of_dtype(ScalarType x) { other_name(x); }
void name_of_number(int64_t x) { other_name(x); }
}
namespace at { bool is_odd_tensor(const Tensor& x) { return x.is_odd(); } }
namespace elsewhere { void name_elsewhere(at::ScalarType x) { other_name(x); } }
namespace apart {
void edges_of_arguments(const at::Tensor& x, at::ScalarType dtype, int64_t n) {
  name_of_dtype(dtype);
  is_odd_tensor(x);
  name_of_number(n);
  name_elsewhere(dtype);
}
}
