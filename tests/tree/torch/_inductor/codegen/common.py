"""What the pointwise operators are called in each language that Inductor writes."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass
class OverridesData:
    name: str
    cpp: Callable[..., str]
    triton: Callable[..., str] | None = None
    type_promotion_kind: int = 0


pointwise_overrides_data: dict[str, OverridesData] = dict(
    isinf=OverridesData(
        type_promotion_kind=1,
        cpp=lambda x: f"std::isinf({x})",
        name="isinf",
    ),
    round_up=OverridesData(
        cpp=lambda x: f"std::ceil({x})",
        triton=lambda x: f"libdevice.ceil({x})",
        name="ceil",
    ),
)
