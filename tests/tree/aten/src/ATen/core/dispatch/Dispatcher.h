#pragma once

namespace c10 {

class Dispatcher final {
 public:
  Dispatcher();
};

namespace impl {
struct OperatorEntry {
  OperatorEntry();
};
} // namespace impl

} // namespace c10

namespace at {
using namespace c10;
} // namespace at

namespace c10 {
using IntArrayRef = ArrayRef<int64_t>;
} // namespace c10
