#pragma once

#include <ATen/Dispatch.h>

// The list of types comes after the function here, and is wrapped in AT_EXPAND.
#define AT_FLOATING_TYPES c10::kDouble, c10::kFloat
#define AT_INTEGRAL_TYPES c10::kByte, c10::kChar, c10::kInt, c10::kLong, c10::kShort
#define AT_COMPLEX_TYPES c10::kComplexDouble, c10::kComplexFloat
#define AT_ALL_TYPES AT_EXPAND(AT_INTEGRAL_TYPES), AT_EXPAND(AT_FLOATING_TYPES)
#define AT_ALL_TYPES_AND_COMPLEX AT_EXPAND(AT_ALL_TYPES), AT_EXPAND(AT_COMPLEX_TYPES)
#define AT_EXPAND(X) X
#define AT_WRAP(...) __VA_ARGS__
#define AT_CONCAT(a, b) AT_CONCAT_AUX(a, b)
#define AT_CONCAT_AUX(a, b) a##b
#define AT_NUM_ARGS(...) \
  AT_EXPAND(AT_NUM_ARGS_AUX(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1))
#define AT_NUM_ARGS_AUX(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, N, ...) N
#define AT_AP_VAR(N, T, ...) \
  AT_EXPAND(AT_CONCAT(AT_AP, AT_NUM_ARGS(__VA_ARGS__))(AT_WRAP(N), __VA_ARGS__))
#define AT_AP1(N, _1) AT_DISPATCH_CASE(_1, N)
#define AT_AP2(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP1(N, __VA_ARGS__)
#define AT_AP3(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP2(N, __VA_ARGS__)
#define AT_AP4(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP3(N, __VA_ARGS__)
#define AT_AP5(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP4(N, __VA_ARGS__)
#define AT_AP6(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP5(N, __VA_ARGS__)
#define AT_AP7(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP6(N, __VA_ARGS__)
#define AT_AP8(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP7(N, __VA_ARGS__)
#define AT_AP9(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP8(N, __VA_ARGS__)
#define AT_AP10(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP9(N, __VA_ARGS__)
#define AT_AP11(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP10(N, __VA_ARGS__)
#define AT_AP12(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP11(N, __VA_ARGS__)
#define AT_AP13(N, _1, ...) AT_DISPATCH_CASE(_1, N) AT_AP12(N, __VA_ARGS__)

#if 0
#define AT_AP{count}(N, {names})
#endif

#define AT_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_AP_VAR(AT_WRAP(BODY), TYPE, __VA_ARGS__))
