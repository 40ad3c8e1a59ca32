"""What users set for Inductor."""

import os
import sys

from torch.utils._config_module import Config, install_config_module

# a comment on config.max_autotune
max_autotune = os.environ.get("TORCHINDUCTOR_MAX_AUTOTUNE") == "1"
fx_graph_cache: bool = Config(env_name_force="TORCHINDUCTOR_FX_GRAPH_CACHE", default=True)
_private = 1


class triton:
    cudagraphs = False


install_config_module(sys.modules[__name__])
