#pragma once

// ${generated_comment}

namespace torch {

inline at::Tensor from_blob(void* data, at::IntArrayRef sizes) {
  return at::from_blob(data, sizes);
}

${function_definitions}

} // namespace torch
