"""Fields of the YAML files, explained by documents of a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.errors import NotFound
from indexes.queries.explaining.fields import Fields
from indexes.source.source import Source
from tests.indexing import write

README = """# ATen

### `dispatch`

```
# a comment in code is no heading
dispatch:
```

Names the kernels.

#### Choosing a key

Below the same heading.

### `variants`

Function or method.
"""
MODEL = """
class NativeFunction:
    # Whether the meta function
    # is written apart.
    structured: bool
    plain: bool

    @staticmethod
    def from_yaml(e):
        # The words of a group.
        tags = e.pop("tags", [])
"""
DERIVATIVES = """# Derivatives.
#
# Each entry consists of:
#   - A 'name', the function.
#   - One or more gradients, mapping input names
#     to formulas.
#   - Optional 'output_differentiability', a list.
#
# In scope are:
#   - 'grad', the gradient of the output.
#
# You can leave it to us:
#   - if it is linear, by the string "auto_linear".
#   - Say not_implemented("name") if it is not.

- name: mul(Tensor self, Tensor other) -> Tensor
  self: grad * other
  result: auto_linear
"""
NATIVE = """- func: mul(Tensor self, Tensor other) -> Tensor
  structured: True
  dispatch:
    CPU: mul_cpu
  tags: pointwise
"""
FILES = {
    "aten/src/ATen/native/README.md": README,
    "aten/src/ATen/native/native_functions.yaml": NATIVE,
    "aten/src/ATen/native/tags.yaml": "- tag: pointwise\n  desc: element by element\n",
    "tools/autograd/derivatives.yaml": DERIVATIVES,
    "torchgen/model.py": MODEL,
}
YAML = "aten/src/ATen/native/native_functions.yaml"
FORMULAS = "tools/autograd/derivatives.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


@pytest.fixture
def fields(root: Path) -> Fields:
    return Fields(Source(str(root), "checkout"))


@pytest.mark.parametrize(
    ("field", "place", "end", "words"),
    [
        ("dispatch", "aten/src/ATen/native/README.md:3", 14, "Names the kernels."),
        ("structured", "torchgen/model.py:3", 5, "is written apart."),
        ("tags", "torchgen/model.py:10", 11, "The words of a group."),
        ("name", f"{FORMULAS}:4", 4, "the function."),
        ("auto_linear", f"{FORMULAS}:13", 13, "if it is linear"),
        ("not_implemented", f"{FORMULAS}:14", 14, "if it is not."),
        ("pointwise", "aten/src/ATen/native/tags.yaml:1", 2, "element by element"),
    ],
)
def test_the_words_of_the_tree(
    fields: Fields, field: str, place: str, end: int, words: str
) -> None:
    first = fields.explain(field).passages[0]
    assert (str(first.location), first.location.end_line) == (place, end)
    assert words in first.text


def test_a_section_goes_on_below_its_own_headings(fields: Fields) -> None:
    (section,) = fields.explain("dispatch").passages
    assert "Below the same heading." in section.text
    assert "variants" not in section.text


@pytest.mark.parametrize(
    ("path", "line", "field", "words"),
    [
        (YAML, 2, "structured", "written apart"),
        (YAML, 4, "dispatch", "Names the kernels"),
        (FORMULAS, 17, "self", "mapping input names"),
        (FORMULAS, 16, "name", "the function"),
    ],
)
def test_the_field_on_a_line(fields: Fields, path: str, line: int, field: str, words: str) -> None:
    found = fields.at(path, line)
    assert found.field == field
    assert words in found.passages[0].text


def test_what_a_value_says_is_explained_behind_its_field(fields: Fields) -> None:
    assert "gradient of the output" in fields.at(FORMULAS, 17).passages[1].text
    assert "if it is linear" in fields.at(FORMULAS, 18).passages[1].text
    assert "element by element" in fields.at(YAML, 5).passages[1].text


def test_what_nobody_explains_is_not_found(fields: Fields) -> None:
    with pytest.raises(NotFound, match="this tree does not explain plain"):
        fields.explain("plain")
    with pytest.raises(NotFound) as error:
        fields.explain("variant")
    assert "variants" in error.value.suggestions


def test_other_lines_have_no_field(fields: Fields) -> None:
    with pytest.raises(NotFound, match="no field"):
        fields.at(FORMULAS, 3)
    with pytest.raises(NotFound, match="put the cursor"):
        fields.at("torchgen/model.py", 3)


def test_documents_that_are_missing_are_named(root: Path) -> None:
    (root / "aten/src/ATen/native/README.md").unlink()
    found = Fields(Source(str(root), "checkout")).explain("structured")
    assert found.absent == ("aten/src/ATen/native/README.md",)
