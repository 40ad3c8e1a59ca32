#pragma once

#define TORCH_CUDABLAS_CHECK(EXPR)                          \
  do {                                                      \
    cublasStatus_t __err = EXPR;                            \
    TORCH_CHECK(__err == CUBLAS_STATUS_SUCCESS,             \
                "CUDA error: ",                             \
                at::cuda::blas::_cublasGetErrorEnum(__err), \
                " when calling `" #EXPR "`");               \
  } while (0)
