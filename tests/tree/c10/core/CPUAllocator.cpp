#include <c10/core/CPUAllocator.h>

C10_DEFINE_bool(
    caffe2_report_cpu_memory_usage,
    false,
    "If set, print out detailed memory usage")

namespace c10 {

bool reports() {
  return FLAGS_caffe2_report_cpu_memory_usage || std::getenv("PYTORCH_NO_CPU_MEMORY_REPORT");
}

#if defined(USE_MKLDNN)
void parse(std::string_view item) {
  if (item == "max_pool_size") {
    // "no_such_size" is said here alone
  }
}
#endif

} // namespace c10
