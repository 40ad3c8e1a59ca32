"""What a tree says of its own folders."""

from __future__ import annotations

from indexes.readers.project.prose import first_sentence, package_sentence, read_structure

CONTRIBUTING = b"""# Contributing

* [c10](c10) - not yet in the section

## Codebase structure

* [c10](c10) - Core library files, e.g. `Device`,
  for [all](x) platforms. More.
  * [core](c10/core/) - The core. [README](c10/core/README.md)
* [mkl](aten/mkl) [mkldnn](aten/mkldnn)
  - bind to some library
* [setup.py](setup.py)
* ...

## Next

* [torch](torch) - after the section
"""


def test_the_section_of_contributing() -> None:
    found = read_structure(CONTRIBUTING, "CONTRIBUTING.md")
    assert sorted(found) == ["aten/mkl", "aten/mkldnn", "c10", "c10/core"]
    assert found["c10"].text == "Core library files, e.g. Device, for all platforms. More."
    assert str(found["c10"].location) == "CONTRIBUTING.md:7"
    assert found["c10/core"].text == "The core."
    assert found["aten/mkl"].text == "bind to some library"
    assert read_structure(b"# nothing", "x") == {}


def test_the_first_sentence_of_a_readme() -> None:
    data = (
        b"Title\n=====\n\n![badge](x)\n\n# Heading\n\nThe **code** of [ATen](y),\nfor you. More.\n"
    )
    found = first_sentence(data, "a/README.md")
    assert found
    assert (found.text, found.location.line) == ("The code of ATen, for you.", 8)
    assert first_sentence(b"# only a heading\n", "x") is None
    assert first_sentence(b"\xff\xfe", "x") is not None


def test_the_first_sentence_of_a_package() -> None:
    found = package_sentence(b'# mypy\n"""Says what.\n\nAnd more."""\nimport os\n', "a/__init__.py")
    assert found
    assert (found.text, found.location.line) == ("Says what.", 2)
    assert package_sentence(b"import os\n", "x") is None
    assert package_sentence(b"def broken(:\n", "x") is None
    assert package_sentence(b"\0", "x") is None
