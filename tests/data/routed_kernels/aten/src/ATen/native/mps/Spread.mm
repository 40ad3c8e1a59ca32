
#include <ATen/native/mps/Spread_metallib.h>
namespace at::native {
static void spread(const Tensor& self, const std::string& mode) {
  auto name = std::string("spread_") + mode + "_" + scalarToMetalTypeString(self);
  auto state = lib.getPipelineStateForFunc(name);
}
static void turn(const Tensor& self, const std::string& way) {
  lib.getPipelineStateForFunc(fmt::format("turn_{}_scalar", way));
  lib.getPipelineStateForFunc(fmt::format("turn_{}_tensor", way));
}
Tensor turned_mps(const Tensor& self) {
  turn(self, "left");
  return self;
}
Tensor spread_add_mps(const Tensor& self) {
  spread(self, "add");
  return self;
}
}
