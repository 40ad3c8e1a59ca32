#pragma once

#include <c10/core/ScalarType.h>

#define AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, ...) \
  case enum_type: {                                           \
    using HINT = c10::impl::ScalarTypeToCPPTypeT<enum_type>;  \
    return __VA_ARGS__();                                     \
  }

#define AT_DISPATCH_CASE(enum_type, ...) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, scalar_t, __VA_ARGS__)

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) \
  [&] {                                     \
    switch (TYPE) {                         \
      __VA_ARGS__                           \
      default:                              \
        TORCH_CHECK(false, NAME);           \
    }                                       \
  }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)            \
  AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))

#define AT_DISPATCH_FLOATING_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(                                                              \
      TYPE,                                                                        \
      NAME,                                                                        \
      AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)                                 \
          AT_DISPATCH_CASE(SCALARTYPE1, __VA_ARGS__)                               \
              AT_DISPATCH_CASE(SCALARTYPE2, __VA_ARGS__))

#define AT_DISPATCH_CASE_ALL_TYPES(...)                 \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__)   \
  AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__)   \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)

#define AT_DISPATCH_ALL_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(                                                         \
      TYPE,                                                                   \
      NAME,                                                                   \
      AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)                                 \
          AT_DISPATCH_CASE(SCALARTYPE1, __VA_ARGS__)                          \
              AT_DISPATCH_CASE(SCALARTYPE2, __VA_ARGS__))

#define AT_DISPATCH_CASE_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE(at::ScalarType::ComplexDouble, __VA_ARGS__)

#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)          \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__)

#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))

#define AT_DISPATCH_INTEGRAL_TYPES_AND(T1, TYPE, NAME, ...)                    \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(T1, __VA_ARGS__))

#define AT_DISPATCH_ALL_TYPES_AND(T1, TYPE, NAME, ...)                    \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(T1, __VA_ARGS__))

#define AT_DISPATCH_ALL_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...)           \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(T1, __VA_ARGS__)                                   \
      AT_DISPATCH_CASE(T2, __VA_ARGS__)                                   \
      AT_DISPATCH_CASE(T3, __VA_ARGS__))

#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...)                \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))

#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...)  \
  AT_DISPATCH_SWITCH(TYPE, NAME,                             \
      AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)    \
      AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__))

#define AT_DISPATCH_COMPLEX_TYPES_AND(T1, TYPE, NAME, ...)                    \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__) \
      AT_DISPATCH_CASE(T1, __VA_ARGS__))

#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(T1, T2, TYPE, NAME, ...)               \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) \
      AT_DISPATCH_CASE(T1, __VA_ARGS__)                                               \
      AT_DISPATCH_CASE(T2, __VA_ARGS__))

#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(T1, T2, T3, TYPE, NAME, ...)           \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) \
      AT_DISPATCH_CASE(T1, __VA_ARGS__)                                               \
      AT_DISPATCH_CASE(T2, __VA_ARGS__)                                               \
      AT_DISPATCH_CASE(T3, __VA_ARGS__))

#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                           \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                           \
      AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Int, index_t, __VA_ARGS__)           \
      AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))

#define AT_DISPATCH_QINT_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE(at::kQInt8, __VA_ARGS__))
