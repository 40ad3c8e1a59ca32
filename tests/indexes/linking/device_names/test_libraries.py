"""Kernels that are not ATen's are named as what they are, and unknown ones as unknown."""

from __future__ import annotations

import pytest

from indexes.linking.device_names.demangle import readable
from indexes.linking.device_names.libraries import jiterated, library_of, reason, runtime_operation
from indexes.linking.device_names.parser import parse
from indexes.linking.visible import vendored


@pytest.mark.parametrize(
    ("name", "made_by"),
    [
        ("void at::native::reduce_kernel<512, 1, float>(float)", ""),
        ("void (anonymous namespace)::k<at::native::F>(int)", ""),
        ("void (anonymous namespace)::k<mine::F>(int)", ""),
        ("void c10d::symmetric_memory::barrier_kernel(int)", ""),
        ("ampere_sgemm_128x64_tn", "cuBLAS"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas", "cuBLAS"),
        ("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_kernel_cudnn", "cuDNN"),
        ("sm80_xmma_dgrad_implicit_gemm_indexed_tf32f32", "cuDNN"),
        ("volta_scudnn_128x64_relu_interior_nn_v1", "cuDNN"),
        ("void cask__5x_cudnn::computeOffsetsKernel<false>(int)", "cuDNN"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_relu_bf16>(int)", "cuBLAS"),
        ("void cutlass::Kernel2<cutlass_tensorop_s1688fprop_optimized_tf32_128x128>(int)", "cuDNN"),
        ("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int> >(int)", "CUTLASS"),
        ("void cutlass::Kernel<vllm::cutlass_2x_gemm<int> >(int)", "vLLM"),
        ("void cub::DeviceScanKernel<int>(int)", "CUB"),
        ("void thrust::cuda_cub::core::_kernel_agent<int>(int)", "Thrust"),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "NCCL"),
        ("dgetf2_native_kernel", "MAGMA"),
        ("void zpotf2_smlpin_anywidth_kernel(int, double2*, int, int, int*)", "MAGMA"),
        ("void gemm_template_batched_tn_kernel<float, 16, 16>(int)", "MAGMA"),
        ("void pytorch_flash::flash_fwd_kernel<int>(int)", "FlashAttention"),
        ("void flash::flash_fwd_kernel<int>(int)", "FlashAttention package"),
        ("flash_fwd_kernel", "FlashAttention"),  # without its scope it may be PyTorch's own
        ("fmha_cutlassF_bf16_aligned_64x64_rf_sm80(int)", "memory-efficient attention"),
        ("triton_per_fused_native_layer_norm_4", "Inductor"),
        ("void transformer_engine::scaled_softmax<float>(float*)", "TransformerEngine"),
        ("void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(int)", "FlashInfer"),
        ("void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)", "FBGEMM"),
        ("split_embedding_codegen_forward_unweighted_kernel", "FBGEMM"),
        ("void vision::ops::nms_kernel_impl<float>(int)", "torchvision"),
        ("kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*)", "bitsandbytes"),
        ("MIOpenBatchNormFwdTrainSpatial.kd", "MIOpen"),
        ("void ck::kernel_gemm_xdl_cshuffle_v3<int>(int)", "Composable Kernel"),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8_SN_1LDSB0.kd", "Tensile"),
        ("void rocprim::detail::radix_sort_kernel<int>(int)", "rocPRIM"),
        ("Memcpy HtoD (Pageable -> Device)", "memcpy"),
        ("Memset (Device)", "memset"),
        ("[CUDA memset]", "memset"),
        ("[CUDA Unified Memory memcpy DtoH]", "memcpy"),
        ("__amd_rocclr_fillBufferAligned", "memset"),
        ("_attention_fwd_inner", ""),
        ("void renderCUDA<3u>(uint2 const*)", ""),
        ("spmm_kernel", ""),
        ("memcpy_free_attention_kernel", ""),
    ],
)
def test_who_made_a_kernel_is_known_by_its_name(name: str, made_by: str) -> None:
    known = library_of(parse(readable(name).text))
    assert (runtime_operation(name) or (known.library if known else "")) == made_by


def test_what_tells_the_library() -> None:
    scope = library_of(parse("void cudnn::ops::f<int>(int)"))
    typed = library_of(parse("void gemv<float>(cublasGemvParams<float>)"))
    spelled = library_of(parse("ampere_sgemm_128x64_tn"))
    assert scope is not None and "the scope cudnn" in scope.rule  # noqa: PT018
    assert typed is not None and "cublasGemvParams" in typed.rule  # noqa: PT018
    assert spelled is not None and "cuBLAS spells" in spelled.rule  # noqa: PT018


def test_a_cut_identifier_is_not_told_by_its_spelling() -> None:
    assert library_of(parse("ampere_s...")) is None


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("cuBLAS", "closed library: cuBLAS"),
        ("CUB", "the parent operator tells"),
        ("MAGMA", "comes with PyTorch's binaries"),
        ("vLLM", "third party"),
        ("nvFuser", "at run time"),
    ],
)
def test_reasons(library: str, words: str) -> None:
    assert words in reason(library)


def test_inductor_s_names_tell_what_they_fuse() -> None:
    told = reason("Inductor", "triton_red_fused_add_native_layer_norm_3")
    assert told.endswith("a reduction kernel fused from add_native_layer_norm")
    assert reason("Inductor", "triton_tem_fused_mm_0").endswith("a template kernel fused from mm")
    assert reason("Inductor", "triton__0d1d2d").endswith("Triton code")


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("third_party/flash-attention/csrc/flash_attn/src/flash.h", "FlashAttention"),
        ("third_party/fbgemm/fbgemm_gpu/src/x.cu", "FBGEMM"),
        (
            "aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernels/cutlassF_f16_aligned.cu",
            "memory-efficient attention",
        ),
        ("aten/src/ATen/native/cuda/Copy.cu", None),
    ],
)
def test_copies_in_the_tree(path: str, library: str | None) -> None:
    assert vendored(path) == library


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sinc_vectorized4_kernel", ("sinc", True)),
        ("erfinv_kernel_vectorized4_kernel", ("erfinv_kernel", True)),
        ("reduction_prod_kernel", ("prod", True)),
        ("sinc_kernel", ("sinc", False)),
        ("sinc", None),
    ],
)
def test_how_the_jiterator_names_kernels(name: str, expected: tuple[str, bool] | None) -> None:
    assert jiterated(name) == expected


def test_what_is_no_runtime_operation() -> None:
    assert runtime_operation("memcpy_kernel") is None
    assert runtime_operation("void at::native::copy_kernel(int)") is None
