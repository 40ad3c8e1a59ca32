"""What headers declare of the types that decide a layout."""

from __future__ import annotations

from indexes.readers.cxx.declared_types import read_types

HEADER = b"""
#define MAX_INLINE 5
namespace c10 {
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
enum Plain { A, B };
using DeviceIndex = int8_t;
using c10::other::Brought;
struct C10_API Base {
  virtual ~Base();
};
struct C10_API Held : public Base, private c10::detail::Other<int, 3> {
  int size() const { return size_; }
  static int made;
  // How many.
  int64_t size_{1};
  union {
    int64_t* far_;
    int64_t near_[MAX_INLINE * 2]{};
  };
  bool first_ : 1, second_ : 1;
};
}
"""


def test_classes_have_their_bases_and_the_members_of_each_object() -> None:
    held = read_types(HEADER, "c10/Held.h").classes["Held"]

    assert held.bases == ("Base", "c10::detail::Other<int, 3>")
    assert not held.is_virtual
    assert read_types(HEADER, "c10/Held.h").classes["Base"].is_virtual
    names = [tuple(one.name for one in group) for group in held.members]
    assert names == [("size_",), ("far_", "near_"), ("first_",), ("second_",)]
    size = held.members[0][0]
    assert (size.type, size.comment, str(size.location)) == (
        "int64_t",
        "How many.",
        "c10/Held.h:15",
    )
    assert [one.bits for group in held.members[2:] for one in group] == [1, 1]


def test_enumerations_aliases_and_numbers() -> None:
    found = read_types(HEADER, "c10/Held.h")

    assert found.enums == {"DeviceType": "int8_t", "Plain": "int"}
    assert found.aliases == {"DeviceIndex": "int8_t"}
    assert found.numbers == {"MAX_INLINE": 5}
