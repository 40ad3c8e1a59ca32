"""What a function reaches that computes, and so what it is to a chain: a step on the way, what
computes for a device, or what starts it. Libraries are told by the prefix that each gives to
the names of its functions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from indexes.linking.facts import Call, Facts, Known
from indexes.linking.visible import is_header, visible_functions, visible_stub
from indexes.model.regex import regex
from indexes.model.vocabulary import Role
from indexes.readers.cxx.bodies import LOOPS

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
