"""Layouts by the rules of the Itanium C++ ABI, each case as a compiler lays it out."""

from __future__ import annotations

import pytest

from indexes.linking.memory_layout import Layouts
from indexes.readers.cxx.declared_types import read_types


def layouts(text: str) -> Layouts:
    types = read_types(text.encode(), "c10/T.h")
    return Layouts(lambda name: types)


def offsets(text: str, name: str = "T") -> dict[str, int]:
    return {slot.member.name: slot.offset for slot in layouts(text).of(name).slots}


def test_members_stand_at_multiples_of_their_alignment() -> None:
    text = "struct T { bool a_; int32_t b_; uint16_t c_; void* d_; };"

    assert offsets(text) == {"a_": 0, "b_": 4, "c_": 8, "d_": 16}
    assert layouts(text).shape("T").size == 24  # type: ignore[union-attr]


def test_a_derived_class_begins_in_the_padding_of_its_base() -> None:
    text = "struct B { virtual ~B(); int32_t a_; }; struct T : B { int32_t b_; void* c_; };"

    assert offsets(text) == {"a_": 8, "b_": 12, "c_": 16}


def test_the_pointer_to_virtual_functions_is_there_once() -> None:
    assert offsets("struct B { }; struct T : B { virtual void f(); int a_; };") == {"a_": 8}
    assert offsets("struct B { virtual ~B(); }; struct T : B { void f() override; int a_; };") == {
        "a_": 8
    }


def test_bit_fields_are_packed_and_never_cross_their_unit() -> None:
    text = "struct T { bool a_ : 1; uint8_t b_ : 6; uint8_t c_ : 2; bool d_; };"
    slots = layouts(text).of("T").slots

    found = [(slot.member.name, slot.offset, slot.bit) for slot in slots]
    assert found == [("a_", 0, 0), ("b_", 0, 1), ("c_", 1, 0), ("d_", 2, None)]


def test_members_of_a_union_stand_in_one_place() -> None:
    text = "#define N 2\nstruct T { size_t a_; union { void* b_; int64_t c_[N * 2]; }; bool d_; };"

    assert offsets(text) == {"a_": 0, "b_": 8, "c_": 8, "d_": 40}


@pytest.mark.parametrize(
    ("type_", "size"),
    [
        ("std::unique_ptr<T>", 8),
        ("std::unique_ptr<T, Deleter>", 16),
        ("std::atomic<uint32_t>", 4),
        ("std::optional<Small>", 3),
        ("mutable std::shared_ptr<T>", 16),
        ("Kind", 1),
        ("const T*", 8),
        ("void (*)(int)", 8),
    ],
)
def test_sizes_of_types(type_: str, size: int) -> None:
    text = (
        "using Deleter = void (*)(void*); enum class Kind : int8_t { A };"
        " struct Small { Kind a_; int8_t b_; }; struct T { int a_; };"
    )
    shape = layouts(text).shape(type_)

    assert shape is not None
    assert shape.size == size


def test_a_type_of_unknown_size_ends_the_layout_with_the_reason() -> None:
    found = layouts("struct T { int a_; boost::any b_; int c_; };").of("T")

    assert [slot.member.name for slot in found.slots] == ["a_"]
    assert found.shape is None
    assert found.reason == "the size of boost::any (b_) is not known"
