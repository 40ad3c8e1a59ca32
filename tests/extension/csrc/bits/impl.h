#pragma once
#include <ATen/ATen.h>

namespace {
template <int bits>
at::Tensor pack_bits(const at::Tensor& self) { // mark: pack_bits
  return self;
}
} // namespace
