#include <ATen/core/dispatch/Dispatcher.h>

namespace c10 {

Dispatcher::Dispatcher() : size_(0) {}

impl::OperatorEntry::OperatorEntry() : size_(0) {}

} // namespace c10
