"""Which definition a name in a function body means, and which functions compute.

C++ lookup is followed as far as scopes decide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache

from indexes.linking.facts import Call, Facts, Known, StubUse
from indexes.model.regex import regex
from indexes.model.vocabulary import Role
from indexes.readers.cxx.bodies import LOOPS

_HEADERS = (".h", ".cuh", ".hpp", ".inl")
_TRANSPARENT = frozenset(("(anonymous)", "CPU_CAPABILITY", "DEFAULT", "__impl"))
_WORDS = regex(r"[A-Za-z_]\w{3,}")
_DEVICE_FOLDERS = (
    ("CUDA", ("/cuda/", "/cudnn/", "/hip/", "/miopen/")),
    ("MPS", ("/mps/", "/metal/")),
    ("XPU", ("/xpu/",)),
    ("Vulkan", ("/vulkan/",)),
    ("CPU", ("/cpu/", "/mkldnn/", "/mkl/")),
)
_DEVICE_SUFFIXES = {"cu": "CUDA", "cuh": "CUDA", "mm": "MPS", "metal": "MPS", "hip": "CUDA"}


@cache
def plain_scope(scope: str) -> str:
    """A scope without namespaces that names are found through: anonymous and inline ones."""
    if not scope:
        return ""
    return "::".join(part for part in scope.split("::") if not _is_transparent(part))


def _is_transparent(part: str) -> bool:
    return part in _TRANSPARENT or (part.startswith("AVX") and part.isidentifier())


def is_header(path: str) -> bool:
    """Whether a file is made to be included."""
    return path.endswith(_HEADERS)


@cache
def path_device(path: str) -> str:
    """The device whose build compiles a file, by folder or extension; "" for any."""
    suffix = path[path.rfind(".") + 1 :]
    if suffix in _DEVICE_SUFFIXES:
        return _DEVICE_SUFFIXES[suffix]
    for device, folders in _DEVICE_FOLDERS:
        if any(folder in path for folder in folders):
            return device
    return ""


def encloses(outer: str, inner: str) -> bool:
    """Whether names of ``outer`` are seen unqualified from ``inner``."""
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


def visible_functions(call: Call, caller: Known, facts: Facts) -> list[Known]:
    """The functions a call can mean, those of its own file alone when there are any."""
    here = plain_scope(caller.definition.scope)
    path = caller.definition.location.path
    reached = _in_reach(call, here, path, facts)
    if not reached:
        return []
    found = [k for k in reached if k.id != caller.id]
    same = [k for k in found if k.definition.location.path == path]
    return nearest_macro(same, call) or _same_device(found, path)


def _in_reach(call: Call, here: str, path: str, facts: Facts) -> list[Known]:
    """What a call made in the scope ``here`` of a file can mean; the same for each caller there,
    so kept as long as the facts are."""
    kept = facts.meant
    key = (call.name, call.qualifier, here, path)
    if key not in kept:
        qualifier = call.qualifier

        def fits(kind: str, scope: str, place: str) -> bool:
            if kind == "function":
                return _is_linkable(scope, place, path) and _is_seen(qualifier, scope, here)
            # A macro is meant in its own file alone.
            return kind == "macro" and place == path and _is_seen(qualifier, scope, here)

        kept[key] = list(facts.fitting(call.name, fits))
    return kept[key]


def nearest_macro(same: list[Known], call: Call) -> list[Known]:
    """Of several macros of one name in a file, the last one defined above the use."""
    if len(same) < 2 or same[0].definition.kind != "macro":
        return same
    above = [k for k in same if k.definition.location.line <= call.line]
    return [max(above or same, key=lambda k: k.definition.location.line)]


def visible_functors(call: Call, caller: Known, facts: Facts) -> list[tuple[Known, list[Known]]]:
    """Classes with an ``operator()`` that a call constructs or takes as a template argument."""
    if call.kind != "call":
        return []
    names = (call.name, *_WORDS.findall(call.template))
    named = (known for name in names for known in facts.named(name))
    found = []
    for known in named:
        if known.definition.kind == "class" and _class_seen(known, call, caller):
            inside = known.definition.location
            methods = facts.members(known.definition, "operator()")
            lines = range(inside.line, inside.end_line + 1)
            within = [m for m in methods if m.definition.location.line in lines]
            found += [(known, within)] if within else []
    return found


def _class_seen(known: Known, call: Call, caller: Known) -> bool:
    place, here = known.definition.location.path, plain_scope(caller.definition.scope)
    if place != caller.definition.location.path and not is_header(place):
        return False
    scope = plain_scope(known.definition.scope)
    if call.qualifier and known.definition.name == call.name:
        return _named_by(call.qualifier, scope, here)
    return encloses(scope, here)


def in_scope(call: Call, known: Known, here: str) -> bool:
    """Whether the name that a call writes in scope ``here`` can be that definition's."""
    return _is_seen(call.qualifier, known.definition.scope, here)


@lru_cache(8192)
def _is_seen(qualifier: str, scope: str, here: str) -> bool:
    plain = plain_scope(scope)
    return _named_by(qualifier, plain, here) if qualifier else encloses(plain, here)


def linkable(known: Known, path: str) -> bool:
    """Whether a function of another file can be meant: not one local to that file."""
    return _is_linkable(known.definition.scope, known.definition.location.path, path)


def _is_linkable(scope: str, place: str, path: str) -> bool:
    if place == path or place.endswith(_HEADERS):
        return True
    return "(anonymous)" not in scope and "CPU_CAPABILITY" not in scope


def _same_device(found: Sequence[Known], path: str) -> list[Known]:
    device = path_device(path)
    if not device:
        return list(found)
    return [k for k in found if path_device(k.definition.location.path) in ("", device)]


def visible_stub(call: Call, caller: Known, facts: Facts) -> list[StubUse]:
    """The lines about the stub that a name means: the nearest enclosing namespace's."""
    here = plain_scope(caller.definition.scope)
    fitting = [u for u in facts.stub_uses(call.name) if _stub_fits(u, call, here)]
    nearest = max(map(stub_scope, fitting), key=len, default="")
    return [u for u in fitting if stub_scope(u) == nearest]


def stub_scope(use: StubUse) -> str:
    """The namespace of the stub that a line is about, from where it stands and how it is named."""
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


LOOK_AHEAD = 6
"""Calls on the way to what computes: as many as are followed."""
_RUNS = ("loop", "launch")
_DATA = regex(r"[*&]|Tensor|Iter|List|Ref\b|vector|Storage|[A-Z]_\w*\(")
"""In the parameters of a function: tensors, pointers, iterators, or a macro that holds them.
Without any there is nothing to compute with: a thread count is set, an ability asked for."""

_BLAS = tuple(
    f"{t}{name}_"
    for t in "sdcz"
    for name in (
        "rotg rotmg rot rotm swap scal copy axpy dot dotu dotc nrm2 asum gemv gbmv hemv hbmv hpmv "
        "symv sbmv spmv trmv tbmv tpmv trsv tbsv tpsv ger geru gerc her hpr her2 hpr2 syr spr syr2 "
        "spr2 gemm symm hemm syrk herk syr2k her2k trmm trsm"
    ).split()
)
"""The routines that the BLAS standard names."""
_LAPACK = tuple(
    f"{t}{name}" for t in "sdcz" for name in "getr potr geqr orm org unm ung sy he ge tr".split()
)
_LIBRARIES = (
    ("cuBLAS", ("cublas",), regex(r"cublas(?:Lt)?[A-Z]\w*$")),
    ("cuDNN", ("cudnn",), regex(r"cudnn[A-Z]\w*$")),
    ("cuSPARSE", ("cusparse",), regex(r"cusparse[A-Z]\w*$")),
    ("cuSOLVER", ("cusolver",), regex(r"cusolver[A-Z]\w*$")),
    ("cuFFT", ("cufft",), regex(r"cufft[A-Z]\w*$")),
    ("MIOpen", ("miopen",), regex(r"miopen[A-Z]\w*$")),
    ("hipBLAS", ("hipblas", "rocblas"), regex(r"(?:hipblas|rocblas)\w+$")),
    ("MAGMA", ("magma_",), regex(r"magma_\w+$")),
    ("NCCL", ("nccl",), regex(r"nccl[A-Z]\w*$")),
    ("Metal", ("mtl_",), regex(r"mtl_\w+$")),
    (
        "MKL",
        ("mkl_", "Dfti", "vml", "vms", "vmd", "vsl", "dss_", "pardiso"),
        regex(r"(?:mkl_\w+|(?:Dfti|vml|vms|vmd|vsl)[A-Z]\w*|(?:dss_|pardiso)\w+)$"),
    ),
    ("BLAS", ("cblas_", *_BLAS), regex(r"(?:cblas_\w+|[a-z0-9]+_)$")),
    ("LAPACK", _LAPACK, regex(r"[sdcz][a-z]{4,6}\d?(?:_rook|_rk|_aa)?_$")),
    ("pocketfft", ("pocketfft",), regex(r"pocketfft\w*$")),
)
"""Of each library what its names begin with, and what they are: a regular expression is made
only when a name begins so."""
_QUALIFIED_LIBRARIES = {
    "ideep": "oneDNN",
    "dnnl": "oneDNN",
    "fbgemm": "FBGEMM",
    "cub": "CUB",
    "thrust": "Thrust",
    "cutlass": "CUTLASS",
    "pocketfft": "pocketfft",
    "cudnn_frontend": "cuDNN",
    "nccl": "NCCL",
    "sparse_gemm": "",
    "xnnpack": "",
}
APPLE = frozenset(("MPSGraph", "Metal"))
"""They are called with messages: PyTorch's own functions with their names stand for them."""


class Computing:
    """Answers for the functions of one tree; answers are kept while it lives."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._leads: dict[tuple[int, str, int], frozenset[str]] = {}
        self._next: dict[tuple[int, str], tuple[frozenset[str], list[Known]]] = {}

    def role(self, call: Call, known: Known, caller: Known) -> Role:
        """Headers hold what runs a function over elements; a function made for a dtype, or the
        way into a library, is what computes, given data to compute with."""
        path = known.definition.location.path
        if known.definition.kind == "macro":
            return "call"
        if is_header(path) and not self.leads_to(known, LOOK_AHEAD).isdisjoint(_RUNS):
            return "launch"
        if not _DATA.search(known.definition.parameters):
            return "call"
        if any(self.vendor(c, known) for c in self.facts.calls(known)):
            return "device_kernel"
        if is_header(path):
            return "call"
        if "_t" in call.template and self._runs(known):
            return "device_kernel"
        if path != caller.definition.location.path and "library" in self.leads_to(known, 3):
            return "device_kernel"
        return "call"

    def vendor(self, call: Call, caller: Known) -> str:
        """The library whose function is called; none where the name is the tree's own: vendors
        define nothing in its namespaces, and stand-ins of it are under a condition."""
        library = library_of(call)
        if not library or library in APPLE or not is_plain(call):
            return library
        own = visible_functions(call, caller, self.facts)
        theirs = all(k.definition.guard and not k.definition.scope for k in own)
        return library if theirs else ""

    def leads_to(self, known: Known, depth: int) -> frozenset[str]:
        """Which of stub, loop, launch and library a function reaches within ``depth`` calls."""
        key = (known.id, known.definition.scope, depth)
        if key not in self._leads:
            found, inner = self._step(known)
            if depth > 0:
                found = found.union(*(self.leads_to(one, depth - 1) for one in inner))
            self._leads[key] = found
        return self._leads[key]

    def _runs(self, known: Known) -> bool:
        """Whether a function computes itself, or calls what does, or what headers have for it."""
        found, inner = self._step(known)
        depths = ((one, is_header(one.definition.location.path)) for one in inner)
        return bool(found) or any(self.leads_to(one, far * LOOK_AHEAD) for one, far in depths)

    def _step(self, known: Known) -> tuple[frozenset[str], list[Known]]:
        """What a function reaches itself, and the functions that it may call."""
        key = (known.id, known.definition.scope)
        if key not in self._next:
            calls = self.facts.calls(known)
            found = frozenset(kind for c in calls if (kind := self._computing(c, known)))
            self.facts.expect(call.name for call in calls if call.kind == "call")
            inner = [
                in_place(one, known)
                for call in calls
                if call.kind == "call"
                for one in visible_functions(call, known, self.facts)[:4]
                if not is_given_nothing(one, known)
            ]
            self._next[key] = (found, inner)
        return self._next[key]

    def _computing(self, call: Call, caller: Known) -> str:
        if call.kind == "launch":
            return "launch"
        if call.name in LOOPS:
            return "loop"
        if self.vendor(call, caller):
            return "library"
        return "stub" if call.kind != "member" and visible_stub(call, caller, self.facts) else ""


def is_given_nothing(known: Known, caller: Known) -> bool:
    """Whether a function elsewhere takes no argument: it asks for a handle, a setting or the
    number of threads, but it has nothing that it could compute on."""
    found = known.definition
    elsewhere = found.location.path != caller.definition.location.path
    return elsewhere and found.kind == "function" and found.parameters.strip() in ("", "void")


def in_place(known: Known, caller: Known) -> Known:
    """A macro as seen where it is used: names in it are looked up in the user's scope."""
    if known.definition.kind != "macro":
        return known
    return Known(known.id, replace(known.definition, scope=caller.definition.scope))


def library_of(call: Call) -> str:
    """The library whose function a call names, by the prefix its vendor gives every name."""
    if call.kind == "name":
        return ""
    first = call.qualifier.partition("::")[0]
    if named := _QUALIFIED_LIBRARIES.get(first):
        return named
    if not is_plain(call):
        return ""
    return _library_by_name(call.name)


def is_plain(call: Call) -> bool:
    """Whether a name alone tells the library, not a namespace of the vendor's."""
    return call.qualifier.partition("::")[0] in ("at", "native", "")


@cache
def _library_by_name(name: str) -> str:
    if "MPSGraph" in name:
        return "MPSGraph"
    if "MetalShaderLibrary" in name:
        return "Metal"
    for library, beginnings, pattern in _LIBRARIES:
        if name.startswith(beginnings) and pattern.match(name):
            return library
    return ""
