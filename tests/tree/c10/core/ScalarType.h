#pragma once

#include <cstdint>

namespace c10 {

// A list macro: it knows the rows, its users say what to make of each.
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_) \
  _(uint8_t, Byte) /* 0 */                     \
  _(int64_t, Long) /* 4 */                     \
  _(float, Float) /* 6 */                      \
  _(double, Double) /* 7 */

//! lists Byte,Long,Float,Double,Half,ComplexDouble,Bool,Int,ComplexHalf,QInt8,BFloat16
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(_) \
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_)                 \
  _(at::Half, Half)                                      \
  _(c10::complex<double>, ComplexDouble)                 \
  _(bool, Bool)                                          \
  _(int, Int)                                            \
  _(c10::complex<at::Half>, ComplexHalf)                 \
  _(c10::qint8, QInt8)                                   \
  _(at::BFloat16, BFloat16)

#define AT_FORALL_SCALAR_TYPES_AND(SCALARTYPE, _) \
  _(float, Float)                                 \
  _(double, Double)                               \
  _(decltype(impl::Probe<SCALARTYPE>::t), SCALARTYPE)

enum class ScalarType : int8_t {
#define DEFINE_ENUM(_1, n) n,
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(DEFINE_ENUM)
#undef DEFINE_ENUM
      Undefined,
  NumOptions
};

} // namespace c10
