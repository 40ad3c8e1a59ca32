"""A small index made by hand, for tests of looks: nothing in it ever changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from indexes.model.answers import (
    Card,
    CardLine,
    Chain,
    EngineFunction,
    Hit,
    Hop,
    Member,
    NameMatch,
    Route,
    Unresolved,
    Way,
)
from indexes.model.errors import NotFound
from indexes.model.vocabulary import (
    Definition,
    Location,
    NativeFunction,
    OperatorSummary,
    Problem,
    SourceInfo,
)
from indexes.queries.index import Progress
from indexes.queries.search import OperatorFilter
from navigator.tui.session import Opener, Session

YAML = "aten/src/ATen/native/native_functions.yaml"
CPP = "aten/src/ATen/native/Activation.cpp"
CUDA = "aten/src/ATen/native/cuda/ActivationThresholdKernel.cu"
FORMULAS = "tools/autograd/derivatives.yaml"

INFO = SourceInfo(
    "checkout",
    "/src/pytorch",
    "2.7.0",
    "0123456789abcdef0123456789abcdef01234567",
    True,
    ("tests: torchnav clone --tests",),
)

TEXTS = {
    CUDA: "// the kernel\n" * 60,
    YAML: """\
- func: relu(Tensor self) -> Tensor
  device_check: NoCheck   # TensorIterator
  variants: function, method
  dispatch:
    CPU, CUDA: relu
    MPS: relu_mps
  tags: [core, pointwise]
""",
    CPP: """\
namespace at::native {

// Everything below zero becomes zero.
Tensor relu(const Tensor & self) {
  TORCH_CHECK(self.scalar_type() != at::kBool, "Boolean inputs not supported for relu");
  return at::clamp_min(self, 0);
}

} // namespace at::native
""",
    FORMULAS: """\
- name: relu(Tensor self) -> Tensor
  self: threshold_backward(grad, result, 0)
  result: auto_element_wise
""",
}


def _operator(name: str, line: int, *keys: str, kind: str, derivative: bool) -> OperatorSummary:
    schema = f"{name}(Tensor self) -> Tensor"
    return OperatorSummary(
        name, schema, Location(YAML, line), keys, ("core",), None, derivative, kind, (CPP,)
    )


OPERATORS = (
    _operator("relu", 1, "CPU", "CUDA", "MPS", kind="plain", derivative=True),
    _operator("relu_", 1, "CPU", "CUDA", "MPS", kind="plain", derivative=True),
    _operator("relu6", 1, "CompositeImplicitAutograd", kind="composite", derivative=False),
    _operator("rrelu_with_noise_functional", 1, "Meta", kind="autogen", derivative=False),
)

HOPS = (
    Hop(
        0,
        None,
        "python",
        "torch.relu",
        Location("torch/_torch_docs.py", 7),
        "its binding",
        "by rule",
    ),
    Hop(
        1,
        None,
        "schema",
        "relu",
        Location(YAML, 1, 7),
        "its entry in native_functions.yaml",
        "exact",
        note="relu(Tensor self) -> Tensor",
    ),
    Hop(
        2,
        1,
        "kernel",
        "at::native::relu",
        Location(CPP, 4, 7),
        "named in dispatch",
        "exact",
        keys=("CPU", "CUDA"),
        evidence=(Location(YAML, 5),),
    ),
    Hop(
        3,
        2,
        "call",
        "at::clamp_min",
        Location(CPP, 6),
        "calls an operator: dispatches anew",
        "ambiguous",
        note="clamp_min, clamp_min.Tensor",
    ),
    Hop(
        4,
        3,
        "device_kernel",
        "at::native::(anonymous)::clamp_min_scalar_kernel_impl",
        Location(CUDA, 41, 52),
        "the registered function, in the file of its registration",
        "exact",
        device="CUDA",
        guard="!AT_ROCM_ENABLED()",
    ),
    Hop(5, 1, "derivative", "relu", Location(FORMULAS, 1), "has an entry", "exact"),
    Hop(
        6,
        5,
        "derivative",
        "self: threshold_backward(grad, result, 0)",
        Location(FORMULAS, 2),
        "gradient formula for self",
        "exact",
    ),
)

UNRESOLVED = (
    Unresolved(
        "kernel",
        "relu_mps",
        "no Metal sources in this tree: a sparse clone left them out",
        ("MPS",),
        1,
    ),
)


_KERNEL = Location(CPP, 4, 7)
_CLAMP = Location(CUDA, 41, 52)
_WAY = (Way("relu", Location(YAML, 1, 7)), Way("at::native::relu", _KERNEL))
_IMPL = "at::native::(anonymous)::clamp_min_scalar_kernel_impl"

ROUTES = (
    Route("CPU", "loop", "at::native::relu", _KERNEL, _WAY[:1]),
    Route("CUDA", "launch", _IMPL, _CLAMP, _WAY),
    Route("CUDA", "launch", "at::native::relu", _KERNEL, _WAY[:1], ("self.is_complex()",)),
)

CARD = Card(
    OPERATORS[0].schema,
    "plain, differentiable",
    Location(YAML, 1, 7),
    (
        CardLine("CPU", "relu", _KERNEL, key="1"),
        CardLine(
            "CUDA",
            "relu > clamp_min_scalar_kernel_impl",
            _CLAMP,
            "else relu",
            "torchnav op relu --key CUDA",
            "2",
        ),
        CardLine("grad", "ReluBackward0", Location(FORMULAS, 1), key="4"),
        CardLine("Python", "torch.relu", Location("torch/_torch_docs.py", 7), key="5"),
        CardLine("tests", "3 files, 12 tests", Location("test/test_nn.py", 3), key="6"),
        CardLine("more", "whole chain: --chain", opens="torchnav op relu --chain"),
    ),
)


class SampleIndex:
    """Knows one operator."""

    info = INFO

    def operators(self) -> tuple[OperatorSummary, ...]:
        return OPERATORS

    def filter(self, text: str) -> tuple[OperatorSummary, ...]:
        return OperatorFilter(OPERATORS)(text)

    def summary(self, full_name: str) -> OperatorSummary | None:
        return next((one for one in OPERATORS if one.full_name == full_name), None)

    def chain(self, full_name: str) -> Chain:
        if full_name != "relu":
            raise NotFound(f"no operator {full_name}")
        native = NativeFunction("relu", "", OPERATORS[0].schema, Location(YAML, 1), {}, None)
        return Chain(INFO, OPERATORS[0], native, None, HOPS, UNRESOLVED)

    def routes(self, _: str) -> tuple[Route, ...]:
        return ROUTES

    def card(self, _: str, __: Sequence[Route] | None = None) -> Card:
        return CARD

    def resolve(self, text: str) -> NameMatch:
        return NameMatch("operator", text, tuple(one.full_name for one in self.filter(text)))

    def python(self, name: str) -> None:
        return None

    def find(self, text: str, limit: int = 50) -> tuple[Hit, ...]:
        operators = [
            Hit("operator", one.full_name, one.location, one.schema, one.full_name)
            for one in self.filter(text)
        ]
        hops = [
            Hit("function", hop.symbol, hop.location, "const Tensor & self")
            for hop in HOPS[2:5]
            if hop.location and text in hop.symbol
        ]
        return (*operators, *hops)

    def definitions(self, symbol: str) -> tuple[Definition, ...]:
        return ()

    def uses(self, symbol: str, limit: int = 200) -> tuple[Hit, ...]:
        return ()

    def read(self, path: str) -> str:
        return TEXTS[path]

    def tensorimpl(self) -> tuple[Member, ...]:
        return ()

    def engine(self) -> tuple[EngineFunction, ...]:
        return ()

    def problems(self) -> tuple[Problem, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class SampleOpener(Opener):
    """Opens the sample."""

    def sessions(
        self,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> Iterator[Session]:
        yield Session(SampleIndex())  # type: ignore[arg-type]
