#pragma once

#include <ATen/Dispatch.h>

// The list of types comes after the function here, and is wrapped in AT_EXPAND.
#define AT_FLOATING_TYPES c10::kDouble, c10::kFloat
#define AT_INTEGRAL_TYPES c10::kByte, c10::kChar, c10::kInt, c10::kLong, c10::kShort
#define AT_COMPLEX_TYPES c10::kComplexDouble, c10::kComplexFloat
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)
#define AT_ALL_TYPES_AND_COMPLEX AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_COMPLEX_TYPES)
#define AT_EXPAND(X) X

#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_AP_VAR(AT_WRAP(BODY), TYPE, __VA_ARGS__))
