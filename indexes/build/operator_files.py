"""Names of the files that an index reads besides the sources: what each of them decides."""

from __future__ import annotations

NATIVE = "native_functions.yaml"
DERIVATIVES = "derivatives.yaml"
DEPRECATED = "deprecated.yaml"
TAGS = "tags.yaml"
KERNEL_RULES = (
    "torchgen/model.py",
    "torchgen/native_function_generation.py",
    "torchgen/api/autograd.py",
)
"""What decides which kernels there are and what is differentiated."""
DOCUMENT_FILES = (
    "TensorImpl.h",
    "c10/core/TensorImpl.cpp",
    "engine.cpp",
    "engine.h",
    "torch/csrc/autograd/graph_task.h",
)
"""What the documents are made of: the members of TensorImpl, the functions of the engine."""
OPERATOR_FILES = (NATIVE, DERIVATIVES, DEPRECATED, TAGS, *KERNEL_RULES)
"""What the operators are made of."""
