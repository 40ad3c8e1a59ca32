#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
// ${generated_comment}

namespace at {
namespace native {

// This file contains a number of kernels for aten functions that are fully code-generated.

${CompositeViewCopyKernel_Definitions}

${GeneratedCompositeFunctional_Definitions}

${GeneratedCompositeOut_Definitions}

} // namespace native
} // namespace at
