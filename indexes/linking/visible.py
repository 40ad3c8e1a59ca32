"""Which definitions are visible to a name in a body, and which functions belong to libraries."""

from __future__ import annotations

from functools import cache

from indexes.linking.facts import Call, Facts, Known, StubUse
from indexes.model.files import in_extension
from indexes.model.idioms import VENDOR_NAMESPACES
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition

_HEADERS = (".h", ".cuh", ".hpp", ".inl")
_TRANSPARENT = frozenset(("(anonymous)", "CPU_CAPABILITY", "DEFAULT", "__impl"))
_DEVICE_FOLDERS = (
    ("CUDA", ("/cuda/", "/cudnn/", "/hip/", "/miopen/")),
    ("MPS", ("/mps/", "/metal/")),
    ("XPU", ("/xpu/", "/sycl/")),
    ("Vulkan", ("/vulkan/",)),
    ("CPU", ("/cpu/", "/mkldnn/", "/mkl/")),
)
_DEVICE_SUFFIXES = {"cu": "CUDA", "cuh": "CUDA", "mm": "MPS", "metal": "MPS", "hip": "CUDA"}


@cache
def plain_scope(scope: str) -> str:
    """A scope without anonymous and inline namespaces."""
    if not scope:
        return ""
    return "::".join(part for part in scope.split("::") if not _is_transparent(part))


def _is_transparent(part: str) -> bool:
    return part in _TRANSPARENT or (part.startswith("AVX") and part.isidentifier())


def is_header(path: str) -> bool:
    """Whether a file is a header."""
    return path.endswith(_HEADERS)


@cache
def path_device(path: str) -> str:
    """The device that a file is compiled for, by folder or extension; "" for any."""
    suffix = path[path.rfind(".") + 1 :]
    if suffix in _DEVICE_SUFFIXES:
        return _DEVICE_SUFFIXES[suffix]
    for device, folders in _DEVICE_FOLDERS:
        if any(folder in path for folder in folders):
            return device
    return ""


def encloses(outer: str, inner: str) -> bool:
    """Whether names of ``outer`` are visible unqualified in ``inner``."""
    return not outer or inner == outer or inner.startswith(f"{outer}::")


def _named_by(qualifier: str, scope: str, caller: str) -> bool:
    """Whether ``qualifier::x`` written in ``caller`` can mean ``scope::x``."""
    wanted = plain_scope(qualifier.lstrip(":"))
    if qualifier.startswith("::"):
        return scope == wanted
    if not wanted or not (scope == wanted or scope.endswith(f"::{wanted}")):
        return False
    outer = scope[: -len(wanted)].rstrip(":")
    return encloses(outer, caller)


def nearest_macro(same: list[Known], call: Call) -> list[Known]:
    """The last definition of a macro above its use."""
    if len(same) < 2 or same[0].definition.kind != "macro":
        return same
    above = [k for k in same if k.definition.location.line <= call.line]
    return [max(above or same, key=lambda k: k.definition.location.line)]


def in_scope(call: Call, known: Known, here: str) -> bool:
    """Whether a call in scope ``here`` can name the definition."""
    return _is_seen(call.qualifier, known.definition.scope, here)


def _is_seen(qualifier: str, scope: str, here: str) -> bool:
    plain = plain_scope(scope)
    return _named_by(qualifier, plain, here) if qualifier else encloses(plain, here)


def can_mean(qualifier: str, found: Definition, scope: str, path: str) -> bool:
    """Whether ``qualifier::name`` in a scope of a file can name a function."""
    place = found.location.path
    if not _is_linkable(found.scope, place, path):
        return False
    return _is_seen(qualifier, found.scope, plain_scope(scope))


def linkable(known: Known, path: str) -> bool:
    """Whether a function is visible outside its file."""
    return _is_linkable(known.definition.scope, known.definition.location.path, path)


def _is_linkable(scope: str, place: str, path: str) -> bool:
    if in_extension(place) and not in_extension(path):
        return False  # PyTorch is built without its extensions
    if is_header(place) and not path.startswith(_private_to(place)):
        return False
    if place == path or place.endswith(_HEADERS):
        return True
    if place.endswith(".metal"):
        return False  # each is a library of shaders of its own
    return "(anonymous)" not in scope and "CPU_CAPABILITY" not in scope


def _private_to(place: str) -> str:
    """The folder whose files alone see a header: that of a library inside the library, as qnnpack,
    whose ``include`` is public and whose ``src`` is not."""
    folder, inner, _ = place.rpartition("/src/")
    return f"{folder}/" if inner and "/src/" in folder else ""


def visible_stub(call: Call, caller: Known, facts: Facts) -> list[StubUse]:
    """The lines about the stub in the nearest enclosing namespace."""
    here = plain_scope(caller.definition.scope)
    fitting = [u for u in facts.stub_uses(call.name) if _stub_fits(u, call, here)]
    nearest = max(map(stub_scope, fitting), key=len, default="")
    return [u for u in fitting if stub_scope(u) == nearest]


def stub_name(scope: str, stub: str) -> str:
    """A stub with its namespace, as edges name it."""
    return f"{scope}::{stub.rpartition('::')[2]}"


def stub_scope(use: StubUse) -> str:
    """The namespace of the stub that a line is about."""
    qualifier = use.stub.rpartition("::")[0]
    scope = plain_scope(use.scope)
    if not qualifier or scope.endswith(qualifier):
        return scope
    return f"{scope}::{qualifier}" if scope else qualifier


def _stub_fits(use: StubUse, call: Call, here: str) -> bool:
    scope = stub_scope(use)
    if call.qualifier:
        return _named_by(call.qualifier, scope, here)
    return encloses(scope, here)


_BLAS = (
    "[sdcz](?:rotm?g?|swap|scal|copy|axpy|dot[uc]?|nrm2|asum"
    "|(?:g[eb]|h[ebp]|s[ybp]|t[rbp])(?:[ms][vm]|r[2kuc]?k?))"
)
"""The routines of the BLAS standard."""
_LAPACK = "[sdcz](?=getr|potr|geqr|or[mg]|un[mg]|sy|he|ge|tr)[a-z]{4,6}"
_LIBRARIES = (
    ("cuBLAS", ("cublas",), regex(r"cublas(?:Lt)?[A-Z]\w*$")),
    ("cuDNN", ("cudnn",), regex(r"cudnn[A-Z]\w*$")),
    ("cuSPARSE", ("cusparse",), regex(r"cusparse[A-Z]\w*$")),
    ("cuSOLVER", ("cusolver",), regex(r"cusolver[A-Z]\w*$")),
    ("cuFFT", ("cufft",), regex(r"cufft[A-Z]\w*$")),
    ("MIOpen", ("miopen",), regex(r"miopen[A-Z]\w*$")),
    ("hipBLAS", ("hipblas", "rocblas"), regex(r"(?:hipblas|rocblas)\w+$")),
    ("MAGMA", ("magma_",), regex(r"magma_\w+$")),
    ("CUDA", ("cuLaunch",), regex(r"cuLaunch\w+$")),
    ("NCCL", ("nccl",), regex(r"nccl[A-Z]\w*$")),
    ("cuDSS", ("cudss",), regex(r"cudss[A-Z]\w*$")),
    ("XNNPACK", ("xnn_",), regex(r"xnn_\w+$")),
    ("NNPACK", ("nnp_",), regex(r"nnp_\w+$")),
    (
        "Metal",
        ("mtl_", "dispatchThread", "encodeToCommand", "copyFromBuffer", "fillBuffer"),
        regex(r"(?:mtl_\w+|dispatchThread(?:s|groups)|encodeToCommand\w+|copyFrom\w+|fillBuffer)$"),
    ),
    (
        "MKL",
        ("mkl_", "Dfti", "vml", "vms", "vmd", "vsl", "dss_", "pardiso"),
        regex(r"(?:mkl_\w+|(?:Dfti|vml|vms|vmd|vsl)[A-Z]\w*|(?:dss_|pardiso)\w+)$"),
    ),
    ("BLAS", tuple("sdcz"), regex(rf"(?:cblas_\w+|{_BLAS}_)$")),
    ("LAPACK", tuple("sdcz"), regex(rf"{_LAPACK}\d?(?:_rook|_rk|_aa)?_$")),
    ("pocketfft", ("pocketfft",), regex(r"pocketfft\w*$")),
)
"""The patterns of each library's names, by the prefix after which they are tried."""
_SYCL = frozenset(("parallel_for", "single_task"))
"""Methods of SYCL's queue and handler; PyTorch's own ``parallel_for`` is no method."""
APPLE = frozenset(("MPSGraph", "Metal"))
"""Libraries called by messages; PyTorch's own functions of those names wrap them."""


def library_of(call: Call) -> str:
    """The library of a function's name, by its vendor's prefix."""
    if call.kind == "name":
        return _given_library(call)
    if call.kind == "member" and call.name in _SYCL:
        return "SYCL"
    first = call.qualifier.lstrip(":").partition("::")[0]
    if named := VENDOR_NAMESPACES.get(first):
        return named
    by_name = library_named(call.name)
    if is_plain(call) or by_name in APPLE:  # PyTorch's own namespaces hold Apple's: mps::
        return by_name
    return _given_library(call)


def _given_library(call: Call) -> str:
    """The library of a function of a vendor's class, with the vendor's namespace possibly inside
    one of the build's: ``detail::cub::DeviceScan``."""
    *around, owner = call.qualifier.lstrip(":").split("::")
    is_function = owner[:1].isupper() and call.name[:1].isupper()
    vendors = (VENDOR_NAMESPACES.get(one) for one in around) if is_function else ()
    return next(filter(None, vendors), "")


def is_plain(call: Call) -> bool:
    """Whether the library follows from the name, not from a namespace of the vendor's."""
    return call.qualifier.lstrip(":").partition("::")[0] in ("at", "native", "")


@cache
def library_named(name: str) -> str:
    """The library with computing functions spelled like a name; empty if none."""
    if "MPSGraph" in name:
        return "MPSGraph"
    if "MetalShaderLibrary" in name:
        return "Metal"
    for library, beginnings, pattern in _LIBRARIES:
        if name.startswith(beginnings) and pattern.match(name):
            return library
    return ""


def vendored(path: str) -> str | None:
    """The library that a file of the tree is a copy of."""
    if "/mem_eff_attention/" in path:
        return "memory-efficient attention"
    top, _, inside = path.partition("/")
    name, _, rest = inside.partition("/")
    if top != "third_party" or not rest:
        return None
    named = {"flash-attention": "FlashAttention", "cutlass": "CUTLASS", "fbgemm": "FBGEMM"}
    return named.get(name, name)


def is_metal_kernel(parameters: str) -> bool:
    """Whether parameters are a Metal kernel's, bound to buffers or to a thread."""
    return "[[buffer(" in parameters or "[[thread" in parameters
