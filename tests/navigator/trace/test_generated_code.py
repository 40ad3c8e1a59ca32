"""Kernels of modules that Inductor generates, by the comments of different versions."""

from __future__ import annotations

import pytest

from navigator.trace.readers.compile_log import graph_name, kernels_of_code

TRITON = """\
# AOT ID: ['3_backward']
import torch
async_compile = AsyncCompile()

# kernel path: /tmp/ab/cab.py
# Topologically Sorted Source Nodes: [gelu], Original ATen: [aten.gelu]
# Source node to ATen node mapping:
#   gelu => erf, mul
# Graph fragment:
#   %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%a, 0.5))
#   %erf : [num_users=1] = call_function[target=torch.ops.aten.erf.default](args = (%mul,))
triton_poi_fused_gelu_0 = async_compile.triton('triton_poi_fused_gelu_0', '''
def triton_poi_fused_gelu_0(in_ptr0, out_ptr0, xnumel):
    tmp0 = tl.load(in_ptr0)
''', device_str='cuda')


# Graph fragment:
#   %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%erf,))
triton_per_fused_sum_1 = async_compile.triton('triton_per_fused_sum_1', '''
''', device_str='cuda')
cpp_fused_add_2 = async_compile.cpp_pybinding(['float*'], '''
''')

def call(args):
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((4, 8), (8, 1), torch.float32)
HANDLE triton_poi_fused_gelu_0:1
        triton_poi_fused_gelu_0.run(arg0, buf0, 32, stream=stream0)
        buf1 = empty_strided_cuda((4, 8), (8, 1), torch.float32)
        # Topologically Sorted Source Nodes: [mm], Original ATen: [aten.mm]
HANDLE extern_kernels.mm:2
        extern_kernels.mm(buf0, arg1, out=buf1)
HANDLE triton_per_fused_sum_1:3
        triton_per_fused_sum_1.run(buf1, buf2, 1, 32, stream=stream0)
HANDLE triton_poi_fused_gelu_0:4
        triton_poi_fused_gelu_0.run(buf1, buf3, 32, stream=stream0)
HANDLE cpp_fused_add_2:5
        cpp_fused_add_2(buf4)
"""
HANDLES = "        # [Provenance debug handles]"


@pytest.mark.parametrize("handle", [HANDLES, "        # no handle of"])
def test_each_call_has_the_nodes_of_its_definition(handle: str) -> None:
    lines = TRITON.replace("HANDLE", handle).splitlines()
    assert graph_name(lines) == "3_backward"
    kernels = kernels_of_code(lines)
    assert {name: kernel.nodes for name, kernel in kernels.items()} == {
        "triton_poi_fused_gelu_0:1": ("mul", "erf"),
        "extern_kernels.mm:2": None,
        "triton_per_fused_sum_1:3": ("sum_1",),
        "triton_poi_fused_gelu_0:4": None,  # the same kernel for other nodes
        "cpp_fused_add_2:5": None,
    }
    assert [one.feeds for one in kernels.values()] == [
        "extern_kernels.mm:2",  # by buf0
        "triton_per_fused_sum_1:3",  # by buf1
        "",
        "",
        "",
    ]
    assert [one.name for one in kernels.values()][1:3] == [
        "extern_kernels.mm",
        "triton_per_fused_sum_1",
    ]
