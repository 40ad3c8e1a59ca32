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
