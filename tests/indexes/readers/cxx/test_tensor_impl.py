from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.answers import Member
from indexes.readers.cxx.tensor_impl import read_members, with_accessors

HEADER = """\
#pragma once
struct C10_API TensorImpl;
// Not a member: int decoy_;
struct C10_API Other { int other_; };
struct C10_API TensorImpl : public c10::intrusive_ptr_target {
  enum ImplType { VIEW };
  TensorImpl(Storage&& storage) : storage_(storage) {}
  TensorImpl& operator=(const TensorImpl&) = delete;
  virtual int64_t numel() const {
    if (numel_ < 0) { return 0; }
    return numel_;
  }
  void set_meta(std::unique_ptr<Meta> meta);
  Meta* meta() const;
  std::function<void(int)> callback_;
  template <typename T> T* data() const { return storage_.data<T>(); }
 protected:
  // What the tensor's
  // bytes live in.
  Storage storage_;
 private:
  /**
   * Extra things.
   */
  std::unique_ptr<c10::Meta> meta_ = nullptr;
  int64_t numel_ = 1, other_numel_{2};
  std::map<int, long> sizes_; // trailing words

  // NOTE [ Bits ]

  // Whether set.
  bool is_set_ : 1;
  uint8_t policy_ : 2;
  friend class Dummy;
  static const char* const message_;
  int strides_[5];
  alignas(8) void (*hook_)(int);
};
"""


def members(text: str) -> dict[str, Member]:
    found, problems = read_members(text.encode(), "T.h")
    assert not problems
    return {member.name: member for member in found}


def test_members_with_types_bits_and_lines() -> None:
    found = members(HEADER)
    assert {m.name: (m.type, m.bits) for m in found.values()} == {
        "callback_": ("std::function<void(int)>", None),
        "storage_": ("Storage", None),
        "meta_": ("std::unique_ptr<c10::Meta>", None),
        "numel_": ("int64_t", None),
        "other_numel_": ("int64_t", None),
        "sizes_": ("std::map<int, long>", None),
        "is_set_": ("bool", 1),
        "policy_": ("uint8_t", 2),
        "message_": ("static const char* const", None),
        "strides_": ("int[5]", None),
        "hook_": ("void (*)(int)", None),
    }
    lines = HEADER.split("\n")
    assert all(m.name in lines[m.location.line - 1] for m in found.values())


def test_comments() -> None:
    found = members(HEADER)
    assert found["storage_"].comment == "What the tensor's\nbytes live in."
    assert found["meta_"].comment == "Extra things."
    assert found["sizes_"].comment == "trailing words"
    assert found["is_set_"].comment == "NOTE [ Bits ]\n\nWhether set."
    assert found["policy_"].comment == ""


def test_accessors() -> None:
    found = members(HEADER)
    assert found["storage_"].accessor_names == ("TensorImpl", "data")
    numel = found["numel_"]
    assert numel.accessor_names == ("numel",)
    assert (numel.accessors[0].line, numel.accessors[0].end_line) == (9, 12)
    assert found["meta_"].accessor_names == ("meta", "set_meta")
    assert found["policy_"].accessors == ()


def test_accessors_of_another_file() -> None:
    source = (
        b"namespace c10 {\nvoid TensorImpl::reset() {\n  policy_ = 0;\n}\nvoid f() { policy_; }\n}"
    )
    found = {m.name: m for m in with_accessors(members(HEADER).values(), source, "T.cpp")}
    assert [(a.path, a.line) for a in found["policy_"].accessors] == [("T.cpp", 2)]


def test_the_header_of_the_wheel(packaged: Path) -> None:
    path = packaged.parent.parent / "torch/include/c10/core/TensorImpl.h"
    text = path.read_text()
    found = members(text)
    lines = text.split("\n")
    assert {"storage_", "autograd_meta_", "version_counter_", "key_set_", "numel_"} <= found.keys()
    assert found["is_contiguous_"].bits == 1
    assert "always" in found["autograd_meta_"].comment
    assert found["version_counter_"].type == "c10::VariableVersion"
    for member in found.values():
        assert member.name in lines[member.location.line - 1]
        assert member.accessors, member.name
        for accessor in member.accessors:
            assert accessor.line <= accessor.end_line or accessor.end_line == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no definition"),
        ("struct TensorImpl;", "no definition"),
        ("struct TensorImpl { void f(); };", "no data members"),
        ("struct TensorImpl {", "no d"),
        ("\xff\x00((((", "no definition"),
    ],
)
def test_without_members_there_is_a_problem(text: str, message: str) -> None:
    found, problems = read_members(text.encode("latin-1"), "T.h")
    assert found == ()
    assert message in problems[0].message
