"""What stands beside the places of a contribution."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from indexes.model.vocabulary import Location
from indexes.queries.contribution.kin import shader_math
from indexes.queries.contribution.steps import Step
from indexes.queries.corpus import Corpus

_SHADER = b"""#include <c10/metal/indexing.h>
#include <c10/metal/special_math.h>
"""


def test_shaders_take_scalar_functions_from_a_header() -> None:
    corpus = cast(Corpus, SimpleNamespace(text=lambda path: _SHADER))
    steps = [Step("sibling", "", Location(path, 1), "") for path in ("a.mm", "a.metal")]
    (found,) = shader_math(corpus, steps)
    assert found.location == Location("c10/metal/special_math.h", 1)
    assert "a.metal" in found.rule
