"""Names that no file binds: named tuples of torchgen, types made when torch starts, a module that
the build writes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes.queries.index import Index
from indexes.queries.python_names import find
from indexes.queries.python_names.finding import finder_of
from tests.indexing import grown, line_of

TYPES = """
const char* backend_to_string(const at::Backend& backend) {
  switch (backend) {
    case at::Backend::CPU:
      return "torch";
    case at::Backend::CUDA:
      return "torch.cuda";
    case at::Backend::SparseCPU:
      return "torch.sparse";
    case at::Backend::XPU:
      return "torch.xpu";
  }
}
std::vector<std::pair<Backend, ScalarType>> all_declared_types() {
  auto backends = {Backend::CPU, Backend::CUDA, Backend::SparseCPU};
  auto scalar_types = {ScalarType::Float, ScalarType::Bool};
  for (auto& type : scalar_types) {
    if (type == ScalarType::Bool && (backend == Backend::SparseCPU)) {
      continue;
    }
  }
}
static void initialize_aten_types() {
  auto declared_types = torch::utils::all_declared_types();
}
"""
TOOL = """
version_path = root / "torch" / "version.py"
with open(version_path, "w") as f:
    f.write(f"__version__ = '{version}'\\n")
    f.write(f"cuda: Optional[str] = {cuda!r}\\n")
"""
OPERATOR = """
- func: sift.dim(Tensor self, int dim) -> (Tensor oat, Tensor hay)
  variants: function, method
  dispatch:
    CPU: sift

- func: sift.out(Tensor self, *, Tensor(a!) oat, Tensor(b!) hay) -> (Tensor(a!) oat, Tensor(b!) hay)
  dispatch:
    CPU: sift_out

- func: sieve(Tensor self) -> (Tensor, Tensor)
  variants: function
"""
YAML = "aten/src/ATen/native/native_functions.yaml"
FILES = {"torch/csrc/types.cpp": TYPES, "tools/generate_version.py": TOOL, YAML: OPERATOR}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with grown(tmp_path_factory, FILES) as index:
        yield index


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("torch.FloatTensor", "torch/csrc/types.cpp", "static void initialize_aten_types"),
        ("torch.cuda.BoolTensor", "torch/csrc/types.cpp", "static void initialize_aten_types"),
        ("torch.FloatTensor.sift", YAML, "- func: sift.dim"),
        ("torch.return_types.sift", YAML, "- func: sift.dim"),
        ("torch.return_types.sift.hay", YAML, "- func: sift.dim"),
        ("torch.return_types.sift_out", YAML, "- func: sift.out"),
        ("torch.version", "tools/generate_version.py", "version_path"),
        ("torch.version.cuda", "tools/generate_version.py", '    f.write(f"cuda'),
    ],
)
def test_where_it_comes_from(name: str, path: str, text: str, index: Index) -> None:
    found = index.resolve(name)
    hit = found.hits[0]
    assert (found.kind, hit.location.path) == ("python", path)
    assert hit.location.line == line_of(index, path, text)
    assert found.note


@pytest.mark.parametrize(
    "name",
    [
        "torch.sparse.BoolTensor",  # skipped
        "torch.xpu.FloatTensor",  # not listed
        "torch.HalfTensor",
        "torch.FloatTensor.nothing",
        "torch.return_types.sieve",  # no names
        "torch.return_types.sift.chaff",
        "torch.version.nothing",
    ],
)
def test_what_is_not_made(name: str, index: Index) -> None:
    assert find(name, index) is None


def test_code_may_use_a_tensor_type(index: Index) -> None:
    names = finder_of(index).names
    assert names.find("torch.FloatTensor")
    assert names.find("torch.HalfTensor") is None
