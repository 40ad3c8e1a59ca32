"""Kernels that are not ATen's: which library, compiler or runtime they belong to.

Closed libraries are recognised by scope and spelling of their kernels, and by types of parameters
(``cublasGemvParams``). Only the libraries' own conventions can tell; everything that a tree defines
is resolved there first.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from indexes.linking.device_names.parser import ANONYMOUS, KernelName, Part, Type, nested
from indexes.model.regex import regex

Kind = Literal["closed", "headers", "open", "third-party", "generated"]

ATEN = frozenset("at c10 torch caffe2 c10d".split())
"""Root namespaces of PyTorch itself."""

RUNTIME = "CUDA or HIP runtime"

_KINDS: dict[str, Kind] = {
    **dict.fromkeys("cuBLAS cuDNN cuFFT cuSPARSE cuSOLVER cuRAND TensorRT".split(), "closed"),
    RUNTIME: "closed",
    **dict.fromkeys(("CUB", "Thrust", "CUTLASS", "rocPRIM", "Composable Kernel"), "headers"),
    **dict.fromkeys("NCCL NVSHMEM MAGMA FlashAttention Gloo MIOpen Tensile".split(), "open"),
    **dict.fromkeys("rocBLAS rocSOLVER rocSPARSE rocFFT rocRAND AOTriton".split(), "open"),
    **dict.fromkeys(("memory-efficient attention", "torch-xpu-ops"), "open"),
    **dict.fromkeys(("Inductor", "ATen jiterator", "nvFuser", "Triton"), "generated"),
}
"""Kinds of libraries; all others are third-party."""

_HOMES = {
    "FlashAttention": "third_party/flash-attention",
    "memory-efficient attention": "aten/src/ATen/native/transformers/cuda/mem_eff_attention",
}
"""Where a checkout has the source of built-in libraries."""

_ROOTS = {
    "CUB": "cub at_cuda_detail",
    "Thrust": "thrust",
    "CUTLASS": "cutlass cute",
    "cuDNN": "cudnn",
    "cuBLAS": "cublas cublasLt epilogue gemvx",
    "cuSPARSE": "cusparse cusparseLt",
    "cuSOLVER": "cusolver cusolver_int",
    "cuFFT": "DSE",
    "cuRAND": "curand",
    "NVSHMEM": "nvshmem",
    "FlashAttention": "pytorch_flash",
    "memory-efficient attention": "PyTorchMemEffAttention",
    "rocPRIM": "hipcub rocprim",
    "Composable Kernel": "ck ck_tile",
    "rocBLAS": "rocblas",
    "rocSOLVER": "rocsolver",
    "rocSPARSE": "rocsparse",
    "rocRAND": "rocrand_impl",
    "nvFuser": "nvfuser CudaCodeGen",
    "FlashAttention package": "flash",
    "FlashInfer": "flashinfer",
    "FBGEMM": "fbgemm fbgemm_gpu fbgemm_utils nbit",
    "TransformerEngine": "transformer_engine",
    "TensorRT-LLM": "tensorrt_llm trt_llm",
    "vLLM": "vllm",
    "SGLang": "sglang sgl_hopper",
    "Marlin": "marlin MARLIN_NAMESPACE_NAME marlin_moe_wna16 gptq_marlin",
    "DeepGEMM": "deep_gemm",
    "DeepEP": "deep_ep",
    "torchvision": "vision",
    "torchaudio": "torchaudio",
    "TorchRec": "torchrec",
    "xFormers": "xformers",
    "NATTEN": "natten",
    "AITER": "aiter",
    "NVIDIA apex": "apex",
    "fast layer norm (apex, TransformerEngine, flash-attention)": "layer_norm",
    "TensorFlow": "tensorflow",
    "ONNX Runtime": "onnxruntime",
    "TensorRT": "nvinfer1",
    "PaddlePaddle": "phi",
    "MXNet": "mxnet",
    "Faiss": "faiss",
    "Gloo": "gloo",
    "RAPIDS": "cuml raft cudf",
}
"""Root namespaces of each library."""
_SCOPES = {root: library for library, roots in _ROOTS.items() for root in roots.split()}

_PREFIXES = {"cublas": "cuBLAS", "cudnn": "cuDNN", "cusparse": "cuSPARSE", "cusolver": "cuSOLVER"}
"""Prefixes of all names of NVIDIA's libraries: of kernels, of types."""
_TYPES = (
    *_PREFIXES.items(),
    *(("real_complex_args_t", "cuFFT"), ("loadstore_modifier_t", "cuFFT")),
    *(("ncclDev", "NCCL"), ("ncclWork", "NCCL"), ("transformer_engine", "TransformerEngine")),
)
"""Prefixes of type names that only one library's kernels use."""

_FACTORED = "|".join(
    """getrf getf2 getrs potrf potf2 potrs potri geqrf geqr2 geqp3 gelqf gebrd gesvd gesvdj gesdd
    syevd syevj sytrd sytrf sytrs heevd heevj hetrd orgqr ormqr ormql ormtr ungqr unmqr unmtr larfg
    larft larf larfb laswp lacpy laset lascl lange lansy lanhe stedc steqr trtri""".split()
)
"""LAPACK's routines, without the letter of their type."""
_LAPACK = f"{_FACTORED}|" + "|".join(
    """getri trsm trsv trmm trmv gemm gemv symv hemv symm hemm syrk herk syr2k her2k scal swap
    geru ger amax iamax transpose displace computecolumn axpycp set_pointer""".split()
)

_SPELLINGS = {
    RUNTIME: "__amd_rocclr_",
    "NCCL": "nccl[A-Z_] rccl msccl",
    "NVSHMEM": "nvshmem",
    "Inductor": "triton_(?:poi|red|per|tem|for|mix|unk|split_scan|mm|flex)_ triton__ cpp_fused_",
    "Triton": "triton_",
    "memory-efficient attention": "fmha_cutlass[FB]_",
    "Tensile": "(?:Custom_)?Cijk_ Kernel_Cijk",
    "MIOpen": """mi?open MIOpen Miopen naive_conv_ igemm_ batched_transpose_ SubTensorOp
        Op[1-5]dTensor OpTensor sp3Asm gridwise_ gcnAsm transpose_NCHW transpose_CNHW
        wrw_reduction""",
    "rocBLAS": "rocblas_ gemvt_",
    "rocSOLVER": "rocsolver_",
    "rocSPARSE": "rocsparse_ csrmvn_",
    "rocFFT": "rocfft_ fft_rtc_ fft_fwd_len fft_back_len transpose_kernel2_scheme",
    "FlashAttention package": "flash_(?:fwd|bwd)_",
    "AOTriton": "attn_fwd$ attn_bwd$ bwd_kernel_d[kq] bwd_preprocess bwd_kernel_fuse",
    "cuDNN": r""".*cudnn (?:im|ex)plicit_convolve_ precomputed_convolve_ [dw]grad2?d?_
        fft[123]d_[rc]2[rc] winograd generateWinograd bn_(?:fw|bw)_ batchnorm_
        pooling_(?:fw|bw)_ (?:nchw|nhwc|ncdhw|ndhwc)To im2col4d_ LSTM_ GRU_ RNN_
        RNN(?:In|Out)put persistRNN_ conv2d_grouped_direct convolveNd_ convertTensor_kernel
        flip_filter compute_gemm_pointers op_?[tT]ensor[345]?_ add_?[tT]ensor_
        softmax_(?:fw|bw)_ activation_(?:fw|bw)_ dropout_[fb]p scalePackedTensor
        transpose_readWrite kern_precompute computeOffsetsKernel
        .*(?:xmma|cutlass).*(?:fprop|dgrad|wgrad)""",
    "cuFFT": r"""(?:regular|vector|prime|real|composite|multi|bluestein)_\w*fft
        [sd]p(?:Radix|Vector) postprocess(?:C2C|DSE) preprocessC2R mgpu_distribute_""",
    "cuSPARSE": "cusparse csrmm csrmv coomv csr2csc csrsv csrsm coo2csr convert_(?:Coo|Csr)To",
    "cuSOLVER": rf"""cusolver getrf[23]_ (?:{_FACTORED})\d?_ (?:batched_)?svd_ gesvdb?j_ potrfBatch_
        geqrSolve_ gebal_ ipiv_(?:lower|\d\d_to)_ offA_stage batch_(?:FnrmA|eye)_
        hermitianize_matrix_ xx\w*_set_info_ker pegasus_""",
    "cuBLAS": r"""cublas nvjet_ (?:maxwell|volta|turing|ampere|hopper|blackwell)_\w*gemm
        fermi\w*gemm [sdcz]gemm_(?:largek|sm|\d) sm\d+_xmma_ cutlass_?\d cutlass\dx_
        gemv(?:2[TN]|NSP|x|Nsp) gemmSN_
        gemmk1_ gemm_kernel\dx gemm_sm\d batch_gemm_kernel splitKreduce reduce_1Block
        \w+_kernel_val$ rot\w*_kernel_ref syhemv[lu]_ symv_(?:lo|up)_direct trs[vm]_l[nt]_
        dtrsv_init kernel_trsm_ getri_ transpose(?:Warp|Block)_kernel magma_lds128_
        magma_[sdcz]gemmEx""",
    "MAGMA": rf"""magma kernel_[sdcz]set_pointer i?[sdcz](?:{_LAPACK}) gemv[nct]_kernel_batched
        (?:trsm|gemm|herk|syrk|trmm|hemm|symm|gemv)_template setup_pivinfo stepinit_ipiv
        adjust_ipiv idisplace_pointers triple_[sdcz]gemm""",
    "cuRAND": """generate_seed_ gen_sequenced gen_quasi gen_mtgp cpy_mtgp MT19937_kernel mt19937_
        curand""",
    "nvFuser": "nvfuser_ CudaCodeGen",
    "NVIDIA apex": """multi_tensor_apply_kernel$ cuApplyLayerNorm cuApplyRMSNorm
        cuCompute(?:Grad|Part) scaled_(?:upper_triang_)?masked_softmax_warp""",
    "bitsandbytes": """k(?:Quantize|Dequantize)Blockwise kgemm_4bit kOptimizer
        kPreconditionOptimizer kPercentileClipping kInt8VectorQuant kdequant_mm
        kDoubleRowColQuant""",
    "FBGEMM": """(?:split|dense|ssd)_embedding_ bounds_check_indices permute_[12]D_ lxu_cache
        lru_cache_ linearize_(?:cache|index) _block_bucketize group_index_select_or_add""",
    "TensorRT-LLM": r"fmha_v2_ bmm_(?:E|Bfloat16|Fp16)\w*_(?:E|Bfloat|Fp)",
    "TensorRT": "__myl_ trt_ genericReformat",
    "ATen jiterator": r"\w+_vectorized\d+_kernel$",
}
"""Spellings of kernels at global scope, by library: prefixes of identifiers, first match wins.
Words are regular expressions."""

_SPELLED = tuple((name, re.compile("|".join(words.split()))) for name, words in _SPELLINGS.items())

_INDUCTOR = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "tem": "template",
    "for": "foreach",
    "mix": "mixed-order reduction",
}
_JITERATED = regex(r"(reduction_)?(\w+?)(_vectorized\d+)?_kernel$")
_MEMORY = regex(r"(?:\[CUDA )?(?:Unified Memory )?(mem(?:cpy|set))\b", re.IGNORECASE)
_COPY = regex(r"(?:Copy(?:Host|Device)To(?:Host|Device)|hip(?:Memcpy|Memset)|__amd_rocclr_copy)")
_FILL = regex(r"(?:__amd_rocclr_fill|FillBuffer|hipMemset)")


class Known(NamedTuple):
    """A library, and the part of the name that shows it."""

    library: str
    rule: str


def runtime_operation(name: str) -> str | None:
    """``memcpy`` or ``memset`` for the runtime's copies and fills."""
    text = name.strip()
    if found := _MEMORY.match(text):
        return found.group(1).lower()
    if _FILL.match(text):
        return "memset"
    return "memcpy" if _COPY.match(text) else None


def library_of(kernel: KernelName) -> Known | None:
    """The library of a kernel; None for ATen's and unknown ones."""
    parts = [part for part in kernel.parts if part.name != ANONYMOUS]
    if not parts or parts[0].name in ATEN:
        return _within_aten(parts)
    scope = library_of_scope(parts[0].name) if len(parts) > 1 else None
    if scope == "CUTLASS":
        return _cutlass(kernel)
    if scope:
        return Known(scope, f"the scope {parts[0].name} is {scope}'s")
    return _by_type(kernel) or _spelled(parts)


def library_of_scope(root: str) -> str | None:
    """The library of a root namespace; ``cutlass__5x_cudnn`` is cuDNN's."""
    if root in _SCOPES:
        return _SCOPES[root]
    if re.match("[sd]p(?:Radix|Vector|Real)", root):
        return "cuFFT"
    return next((library for word, library in _TYPES[:2] if word in root), None)


def reason(library: str, name: str = "") -> str:
    """Why a kernel of ``library`` has no source to show."""
    kind = _KINDS.get(library, "third-party")
    if library == "Inductor":
        return f"generated by torch.compile's Inductor as {_fused(name)}"
    if library in _HOMES:
        return f"{library}: PyTorch builds it from {_HOMES[library]}, which is not indexed here"
    return {
        "closed": f"closed library: {library}",
        "headers": f"{library} is compiled into whatever uses it: the parent operator tells which",
        "open": f"{library} comes with PyTorch's binaries; its source is not in this tree",
        "third-party": f"third party: {library}, not part of PyTorch",
        "generated": f"generated and compiled at run time: {library}",
    }[kind]


def jiterated(name: str) -> tuple[str, bool] | None:
    """``sinc`` for ``sinc_vectorized4_kernel``, as ATen's runtime compiler names kernels; and
    whether the name can hardly be another's, unlike ``sinc_kernel``."""
    found = _JITERATED.match(name)
    return (found.group(2), bool(found.group(1) or found.group(3))) if found else None


def _within_aten(parts: list[Part]) -> Known | None:
    """CUB in ATen's namespaces, and kernels of out-of-tree backends."""
    names = [part.name for part in parts]
    if names[:3] == ["at", "native", "xpu"]:
        return Known("torch-xpu-ops", "the scope at::native::xpu is that backend's")
    return None


def _cutlass(kernel: KernelName) -> Known:
    """CUTLASS kernels: of cuBLAS and cuDNN as ``cutlass_80_...``, else by their types."""
    for found in nested(kernel.function.arguments):
        root = found.parts[0].name
        if root.startswith("cutlass_"):
            library = "cuDNN" if re.search("fprop|dgrad|wgrad", root) else "cuBLAS"
            return Known(library, f"a CUTLASS kernel under the name {library} gives its own")
        library = library_of_scope(root) or "CUTLASS"
        if _KINDS.get(library, "third-party") == "third-party":
            return Known(library, f"a CUTLASS kernel over types of {root}")
    return Known("CUTLASS", "the scope cutlass")


def _by_type(kernel: KernelName) -> Known | None:
    """By the prefix of the kernel's own name, else of the types that it takes."""
    for prefix, library in _PREFIXES.items():
        if kernel.function.name.startswith(prefix):
            return Known(library, f"{library} spells its kernels this way")
    for found in nested((*kernel.function.arguments, *_given(kernel))):
        part = found.parts[0]
        if "cudnn" in part.name:
            return Known("cuDNN", f"it takes cuDNN's type {part.name}")
        for prefix, library in _TYPES:
            cut = part.cut and len(part.name) > 8 and prefix.startswith(part.name)
            if cut or part.name.startswith(prefix):
                return Known(library, f"it takes {library}'s type {part.name}")
    return None


def _spelled(parts: list[Part]) -> Known | None:
    name = parts[-1].name
    if len(parts) > 1:
        library = library_of_scope(parts[1].name) if parts[0].name == "internal" else None
        return Known(library, f"the scope {parts[1].name}") if library else None
    if parts[0].cut:
        return None
    found = next((library for library, pattern in _SPELLED if pattern.match(name)), None)
    if found and not parts[0].arguments:  # its scope may be left out, as that of PyTorch's own
        found = found.removesuffix(" package")
    return Known(found, f"{found} spells its kernels this way") if found else None


def _given(kernel: KernelName) -> tuple[Type, ...]:
    known = kernel.parameters()
    return known.types if known else ()


def _fused(name: str) -> str:
    """Inductor's name explained: the language, the kind of kernel and the fused operators."""
    language, kind, *words = name.split("_")
    if language == "cpp":
        return f"C++ code: loops fused from {'_'.join(words[:-1])}"
    if not words or kind not in _INDUCTOR:
        return "Triton code"
    operators = "_".join(words[1:-1]) if words[0] == "fused" else ""
    fused = f" fused from {operators}" if operators else ""
    return f"Triton code: a {_INDUCTOR[kind]} kernel{fused}"
