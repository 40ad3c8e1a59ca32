"""Two versions of the source compared: operators, schemas, dispatch, formulas, kernels."""
