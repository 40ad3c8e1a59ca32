#include <ATen/Context.h>

namespace at {

bool Context::allowTF32CuDNN() const {
  return allow_tf32_cudnn;
}

bool fast(Context& ctx) {
  return ctx.allowTF32CuDNN();
}

} // namespace at
