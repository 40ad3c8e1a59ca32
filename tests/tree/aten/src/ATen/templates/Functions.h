#pragma once

// ${generated_comment}

namespace at {

// A namesake in a template of torchgen.
inline bool is_floating_point(const Tensor& tensor) { //! not-kernel is_floating_point
  return tensor.is_floating_point();
}

${function_declarations}

}
