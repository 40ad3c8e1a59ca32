"""What a dispatch key is for, who sets it, what is registered for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.model.dispatch import KeyCard
from indexes.model.errors import NotFound
from indexes.queries.dispatch_path.key_card import KeyCards
from indexes.queries.index import Index
from tests.indexes.queries.test_dispatch_path import tree
from tests.indexing import opened

__all__ = ["tree"]

SETTERS = """
DispatchKey key_of(DeviceType device) {
  switch (device) {
    case DeviceType::CPU:
      return DispatchKey::AutocastCPU;
    default:
      return DispatchKey::Undefined;
  }
}

void set_enabled(DeviceType device, bool enabled) {
  DispatchKey key = key_of(device);
  c10::impl::tls_set_dispatch_key_excluded(key, !enabled);
}

struct Below {
  Below() : guard_(DispatchKey::AutocastCPU) {}
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

bool asked(const Tensor& x) {
  return x.key_set().has(DispatchKey::AutocastCPU);
}

void Wrapper::forget() {
  key_set_ = key_set_.remove(c10::DispatchKey::AutocastCPU);
}
"""


@pytest.fixture(scope="module")
def index(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    (tree / "aten/src/ATen/setters.cpp").write_text(SETTERS, encoding="utf-8")
    with opened(tree, tmp_path_factory.mktemp("cache")) as index:
        yield index


def lines(card: KeyCard, what: str) -> set[str]:
    return {str(use.location) for use in card.uses if use.what == what}


def test_who_sets_a_key(index: Index) -> None:
    card = KeyCards(index).card("AutocastCPU")
    excludes = lines(card, "excludes")
    assert "aten/src/ATen/setters.cpp:13" in excludes  # the variable that holds it
    assert "aten/src/ATen/setters.cpp:17" in excludes  # a member that is a guard
    assert lines(card, "returns") >= {"aten/src/ATen/setters.cpp:5"}
    assert "aten/src/ATen/setters.cpp:22" in lines(card, "asks")
    assert lines(card, "removes") == {"aten/src/ATen/setters.cpp:26"}
    assert "c10/core/DispatchKeySet.h:6" in lines(card, "set")
    setter = next(use for use in card.uses if str(use.location).endswith("setters.cpp:13"))
    assert setter.function == "set_enabled"


def test_the_comment_above_a_key_and_beside_it(index: Index) -> None:
    comment = KeyCards(index).card("ADInplaceOrView").comment
    assert comment.startswith("Note [ADInplaceOrView key]")
    assert KeyCards(index).card("MkldnnCPU").comment.startswith("registered at build/")
    assert KeyCards(index).card("Tracer").comment == comment  # of its group, which begins there


def test_an_alias_says_what_it_stands_for(index: Index) -> None:
    card = KeyCards(index).card("CompositeImplicitAutograd")
    assert (card.kind, card.rank) == ("alias", 0)
    assert {"CPU", "AutogradCPU", "AutogradOther"} <= set(card.keys)
    assert card.keys.index("AutogradCPU") < card.keys.index("CPU")
    assert "Tracer" not in card.keys


def test_a_functionality_and_a_key_of_a_backend(index: Index) -> None:
    assert "SparseCUDA" in KeyCards(index).card("Sparse").keys
    card = KeyCards(index).card("c10::DispatchKey::SparseCPU")
    assert card.kind == "per backend"
    assert card.meaning == "the functionality Sparse of tensors on CPU"
    assert all(one.slot.key == "SparseCPU" for one in card.registrations)


def test_registrations_and_the_fallback(index: Index) -> None:
    card = KeyCards(index).card("AutocastCPU")
    assert {one.op for one in card.registrations} == {
        slot_op
        for slot_op in index.dispatch.operators()
        if any(slot.key == "AutocastCPU" for slot in index.table(slot_op).registrations)
    }
    assert sum(card.origins().values()) == len(card.registrations) > 0
    fallback = KeyCards(index).card("BackendSelect").fallback
    assert fallback
    assert fallback.fallthrough


def test_an_unknown_key_has_near_names(index: Index) -> None:
    with pytest.raises(NotFound) as refused:
        KeyCards(index).card("AutocastCPUs")
    assert "AutocastCPU" in refused.value.suggestions
