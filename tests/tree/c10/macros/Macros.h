#pragma once

#define C10_STRINGIZE(x) #x
#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_HOST_DEVICE __host__ __device__
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning) \
  _Pragma("clang diagnostic push") _Pragma(C10_STRINGIZE(clang diagnostic ignored warning))
#define C10_DIAGNOSTIC_POP() _Pragma("clang diagnostic pop")

// Names of c10 are names of at too, in every file: this header is included everywhere.
namespace c10 {}
namespace at {
using namespace c10;
}
