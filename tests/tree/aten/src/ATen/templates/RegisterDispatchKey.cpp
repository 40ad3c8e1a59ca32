// required for old g++ to compile PRId64 macros
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

// ${generated_comment}

$extra_cuda_headers
$external_backend_headers
$dispatch_headers

namespace at {
namespace {
$dispatch_helpers
} // namespace
${dispatch_definitions}
} // namespace at
