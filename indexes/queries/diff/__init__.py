"""Comparison of two versions of the source: operators, schemas, dispatch, formulas, kernels."""
