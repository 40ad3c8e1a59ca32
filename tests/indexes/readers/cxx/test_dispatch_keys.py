from __future__ import annotations

from pathlib import Path

import pytest

from indexes.readers.cxx.dispatch_keys import read_dispatch_keys, read_key_sets

LISTED = b"""\
#define C10_FORALL_BACKEND_COMPONENTS(_, extra) \\
  _(CPU, extra)                                 \\
  _(CUDA, extra)

#define C10_FORALL_FUNCTIONALITY_KEYS(_) \\
  _(Dense, )                             \\
  _(Sparse, Sparse)

enum class DispatchKey : uint16_t {
  Undefined = 0,
  CatchAll = Undefined,
  // CPU comes from here
  Dense,
  FPGA, // a comment, with a comma
  Sparse,
  EndOfFunctionalityKeys, // End of functionality keys.
#define DEFINE(n, prefix) prefix##n,
  C10_FORALL_FUNCTIONALITY_KEYS(DEFINE_PER_BACKEND_KEYS)
  EndOfRuntimeBackendKeys = EndOfSparseBackends,
  Autograd,
  CompositeImplicitAutograd, // registered elsewhere
  StartOfAliasKeys = Autograd,
  DefaultBackend = CompositeImplicitAutograd,
};
"""
WRITTEN_OUT = b"""\
enum class C10_API DispatchKey : uint8_t {
  Undefined = 0,
  Dense,
  Tracer,
  Sparse,
  StartOfDenseBackends,
  CPU,
  CUDA,
  EndOfDenseBackends = CUDA,
  StartOfSparseBackends,
  SparseCPU,
  SparseCUDA,
  EndOfSparseBackends = SparseCUDA,
  EndOfRuntimeBackendKeys = EndOfSparseBackends,
  Autograd,
};
"""


def test_keys_made_by_list_macros() -> None:
    keys, problems = read_dispatch_keys(LISTED, "D.h")
    assert not problems
    assert [(k.name, k.functionality, k.backend) for k in keys.runtime] == [
        ("Undefined", "Undefined", None),
        ("CPU", "Dense", "CPU"),
        ("CUDA", "Dense", "CUDA"),
        ("FPGA", "FPGA", None),
        ("SparseCPU", "Sparse", "CPU"),
        ("SparseCUDA", "Sparse", "CUDA"),
    ]
    assert list(keys.aliases) == ["Autograd", "CompositeImplicitAutograd"]
    assert keys.resolve("DefaultBackend") == "CompositeImplicitAutograd"
    assert keys.backends == ("CPU", "CUDA")
    lines = LISTED.decode().split("\n")
    for key in keys.runtime:
        assert (key.backend or key.name) in lines[key.location.line - 1]


def test_keys_written_out_one_by_one() -> None:
    keys, _ = read_dispatch_keys(WRITTEN_OUT, "D.h")
    assert [(k.name, k.functionality, k.backend) for k in keys.runtime][1:] == [
        ("CPU", "Dense", "CPU"),
        ("CUDA", "Dense", "CUDA"),
        ("Tracer", "Tracer", None),
        ("SparseCPU", "Sparse", "CPU"),
        ("SparseCUDA", "Sparse", "CUDA"),
    ]
    assert list(keys.aliases) == ["Autograd"]


def test_the_header_of_the_wheel(packaged: Path) -> None:
    torch = pytest.importorskip("torch")

    def shown(keys: object) -> list[str]:
        text: str = torch._C._dispatch_keyset_to_string(keys)
        return text.removeprefix("DispatchKeySet(").removesuffix(")").split(", ")

    include = packaged.parent.parent / "torch/include/c10/core"
    keys, problems = read_dispatch_keys((include / "DispatchKey.h").read_bytes(), "D.h")
    assert not problems
    assert [k.name for k in keys.runtime[1:]] == shown(torch._C._dispatch_keyset_full())
    other = torch._C._dispatch_get_backend_keyset_from_autograd(torch._C.DispatchKey.AutogradOther)
    sets, _ = read_key_sets((include / "DispatchKeySet.h").read_bytes(), "S.h")
    names = [k.name for k in keys.runtime if k.functionality in sets["autogradother_backends"].keys]
    assert names == shown(other)


def test_key_sets_and_backends_of_autograd_keys() -> None:
    sets, backends = read_key_sets(
        b"constexpr DispatchKeySet a = DispatchKeySet({DispatchKey::X, // c\n DispatchKey::Y})"
        b" .remove(DispatchKey::Z).remove_backend(BackendComponent::LazyBit);\n"
        b"switch (t) {\n case DispatchKey::AutogradCPU:\n"
        b"   return DispatchKeySet(DispatchKey::CPU);\n}",
        "S.cpp",
    )
    assert (sets["a"].keys, sets["a"].removed) == (("X", "Y"), ("Z", "LazyBit"))
    assert backends == {"AutogradCPU": "CPU"}


@pytest.mark.parametrize(
    "data", [b"", b"enum class Other { A };", b"enum class DispatchKey {", b"\xff{"]
)
def test_no_keys_are_a_problem(data: bytes) -> None:
    keys, problems = read_dispatch_keys(data, "D.h")
    assert keys.runtime == ()
    assert problems
