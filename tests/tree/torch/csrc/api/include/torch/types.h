#pragma once

namespace torch {
using namespace at;
using Dtype = at::ScalarType;
} // namespace torch
