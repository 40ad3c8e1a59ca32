"""What is set for cuDNN."""

import os
import warnings

import torch

LIB_ENV_VAR = "TORCH_CUDNN_LIB"


def is_acceptable(tensor, version, names):
    """Whether "a docstring" may be said by somebody is not asked."""
    if not torch._C._get_cudnn_enabled():
        return False
    torch._check(
        version == "any" or version > 7,
        lambda: f"cuDNN version {version} is older than {names[0]!r} allows",  #! says cuDNN version 5 is older than 'v8' allows
    )
    if os.environ.get("TORCH_CUDNN_V8_API_DISABLED", "0") == "1":
        warnings.warn(
            "the v8 API of cuDNN is off: {} kernels".format(len(names))  #! says the v8 API of cuDNN is off: 3 kernels
            + " are not used"
        )
    if tensor.dtype not in names:
        message = (
            "cuDNN has no kernels of type %s, "  #! says cuDNN has no kernels of type Half, take one of Float or Double
            "take one of " % tensor.dtype
        )
        raise TypeError(message + " or ".join(names))
    raise ValueError("cuDNN was not found, "  # of what was compiled in
                     f"it is {'off' if version else 'lost'}{{}} on this machine")  #! says cuDNN was not found, it is off{} on this machine


class CudnnModule(PropModule):
    allow_tf32 = ContextProp(torch._C._get_cudnn_allow_tf32, torch._C._set_cudnn_allow_tf32)


sys.modules[__name__] = CudnnModule(sys.modules[__name__], __name__)
allow_tf32: bool
