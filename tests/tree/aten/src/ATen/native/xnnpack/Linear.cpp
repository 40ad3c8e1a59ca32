#ifdef USE_XNNPACK

namespace at::native::xnnpack {

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) { //! not-kernel linear
  return input;
}

} // namespace at::native::xnnpack

#endif /* USE_XNNPACK */
