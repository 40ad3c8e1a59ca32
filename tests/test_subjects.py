"""What the benchmark of pull requests asks for: the words of commits' messages, in the forms that
PyTorch's have."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.commits import Commit, diff
from benchmarks.subjects import YAML, subjects
from tests.indexing import write
from tests.repositories import begin, commit

_OPERATORS = (
    "add.Scalar(Tensor self, Scalar other) -> Tensor",
    "all(Tensor self) -> Tensor",
    "addmm(Tensor self, Tensor mat1) -> Tensor",
    "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
    "adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    "linalg_inv(Tensor A) -> Tensor",
    "max(Tensor self) -> Tensor",
    "norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
    "segment_reduce(Tensor data, str reduce) -> Tensor",
    "stft(Tensor self, int n_fft) -> Tensor",
    "where(Tensor self) -> Tensor",
    "zero_(Tensor(a!) self) -> Tensor(a!)",
)
_ENTRIES = "".join(f"- func: {one}\n  dispatch:\n    CPU: kernel\n\n" for one in _OPERATORS)
_POOLS = "aten/src/ATen/native/AdaptivePooling.cpp"
_MODULE = "torch/nn/modules/conv.py"
_BEFORE = {
    YAML: _ENTRIES,
    _POOLS: "Tensor x() { return y; }\n",
    "aten/src/ATen/native/ReduceAllOps.cpp": "Tensor x() { return f4d::y; }\n",
    _MODULE: "class _ConvNd:\n    def reset_parameters(self):\n        pass\n",
}


def _asked(
    root: Path,
    message: str,
    files: dict[str, str],
    *,
    in_python: bool = False,
    before: dict[str, str] | None = None,
) -> tuple[str, ...]:
    """The subjects of a commit that writes some files."""
    root.mkdir(exist_ok=True)
    write(root, _BEFORE | (before or {}))
    begin(root)
    write(root, files)
    name = commit(root, message)
    one = Commit(name, "", message.partition("\n")[0], tuple(files))
    return subjects(root, one, diff(root, one), in_python=in_python)


def _registers(*names: str) -> dict[str, str]:
    return {"aten/src/ATen/Batching.cpp": "".join(f'm.impl("{one}", rule);\n' for one in names)}


@pytest.mark.parametrize(
    ("message", "names", "asked"),
    [
        ("[vmap] implement batching rule for fill_ and zero_ (#48516)", ["fill_", "zero_"], None),
        ("Fix forward AD add.Scalar to not set tangent as-is", ["add"], None),
        ("adaptive_avg_pool[23]d: check output_size.size() (#42831)", [], ("2d", "3d")),
        ("Fix derivatives of norm(p=inf)", ["norm"], None),
        ("Use new FFT operators in stft (#47601)", ["stft"], None),
        ("Speed up stft via linalg_inv", ["stft"], None),
        ("Batching rules of linalg.inv", ["linalg_inv"], None),
        ("Add more batching rules", ["where"], ()),
        ("[torch] Add cuda support for segment reduction 'max' (#56704)", [], ()),
    ],
)
def test_operators_that_a_title_names(
    tmp_path: Path, message: str, names: list[str], asked: tuple[str, ...] | None
) -> None:
    tests = {"test/test_x.py": "torch.adaptive_avg_pool2d(torch.adaptive_avg_pool3d(x.max()))\n"}
    found = _asked(tmp_path, message, _registers(*names) | tests)
    pools = tuple(f"adaptive_avg_pool{one}" for one in asked or ())
    assert found == (pools if asked is not None else tuple(names))


def test_a_plain_word_of_the_body_is_none_though_a_file_has_it(tmp_path: Path) -> None:
    files = {"aten/src/ATen/native/ReduceAllOps.cpp": "Tensor x() { return velox::y; }\n"}
    body = "Moving all namespace definitions from 'f4d' to 'velox'"
    assert _asked(tmp_path, f"rename namespace f4d to velox (#61)\n\n{body}", files) == ()


def test_a_file_called_after_a_word_of_the_title_makes_it_one(tmp_path: Path) -> None:
    files = {"aten/src/ATen/native/ReduceAllOps.cpp": "Tensor x() { return velox::y; }\n"}
    assert _asked(tmp_path, "Speed up all (#61)", files) == ("all",)


def test_a_method_of_python_is_asked_with_its_class(tmp_path: Path) -> None:
    files = {_MODULE: "class _ConvNd:\n    def reset_parameters(self):\n        pass  # said\n"}
    title = "DOC Adds code comment for _ConvNd.reset_parameters (#58931)"
    found = _asked(tmp_path, title, files, in_python=True)
    assert found == ("_ConvNd.reset_parameters",)


def test_a_word_that_is_only_in_the_name_of_a_file_is_rather_what_else_has_it(
    tmp_path: Path,
) -> None:
    """A page, or a public function beside it in the title."""
    page = {"docs/source/max.rst": "Words.\n"}
    assert _asked(tmp_path / "a", "Mend the page of max", page, in_python=True) == (*page,)
    public = "def interpolate(x):\n    pass\n"
    kernel = {"aten/src/ATen/native/UpSampleMax.cpp": "Tensor x() { return f4d::z; }\n"}
    title = "Added a flag to interpolate (max and others)"
    functional = {"torch/nn/functional.py": public}
    assert _asked(tmp_path / "b", title, kernel, before=functional) == ("interpolate",)
    assert _asked(tmp_path / "c", title, kernel) == ("max",)
