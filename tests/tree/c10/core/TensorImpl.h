#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/core/Storage.h>

namespace c10 {

struct AutogradMetaInterface;

// A shared counter: an in-place operator bumps it, backward checks it.
struct C10_API VariableVersion {
 private:
  struct VersionCounter : intrusive_ptr_target {
    explicit VersionCounter(uint32_t version) : version_(version) {}
    std::atomic<uint32_t> version_;
  };
  c10::intrusive_ptr<VersionCounter> version_counter_;
};

/**
 * The low-level representation of a tensor: a pointer to storage and the metadata
 * that says which view of that storage this tensor is.
 */
struct C10_API TensorImpl : public c10::intrusive_ptr_target {
  TensorImpl() = delete;
  ~TensorImpl() override;

  TensorImpl(Storage&& storage, DispatchKeySet key_set, const caffe2::TypeMeta data_type);

  /** Return the DispatchKeySet that operators on this tensor are chosen by. */
  DispatchKeySet key_set() const {
    return key_set_;
  }

  virtual IntArrayRef sizes_custom() const;

  const Storage& storage() const {
    if (C10_UNLIKELY(storage_access_should_throw_)) {
      throw_storage_access_error();
    }
    return storage_;
  }

  int64_t numel() const {
    return numel_;
  }

  bool is_wrapped_number() const {
    return is_wrapped_number_;
  }

  void set_wrapped_number(bool value) {
    TORCH_INTERNAL_ASSERT(dim() == 0);
    is_wrapped_number_ = value;
  }

 protected:
  /** Scratch for the accessors: a function, not a member. */
  int64_t compute_numel() const;

  Storage storage_; //! member storage_

 private:
  // This pointer points to an AutogradMeta struct that stores autograd-specific
  // fields (such as grad_ / grad_fn_ / grad_accumulator_).
  //
  // It is null when no autograd metadata has been needed yet.
  std::unique_ptr<c10::AutogradMetaInterface> autograd_meta_ = nullptr; //! member autograd_meta_

 protected:
  std::unique_ptr<c10::ExtraMeta> extra_meta_ = nullptr; //! member extra_meta_

  c10::VariableVersion version_counter_; //! member version_counter_

  c10::impl::SizesAndStrides sizes_and_strides_; //! member sizes_and_strides_

  int64_t storage_offset_ = 0; //! member storage_offset_
  // If sizes and strides are empty, the numel is 1.
  int64_t numel_ = 1; //! member numel_

  // INVARIANT: When storage is non-null, this type meta must
  // agree with the type meta in storage
  caffe2::TypeMeta data_type_; //! member data_type_

  std::optional<c10::Device> device_opt_; //! member device_opt_

  // Tensor is contiguous
  bool is_contiguous_ : 1; //! member is_contiguous_

  // default member initializers for bit-fields only available with -std=c++2a
  bool is_wrapped_number_ : 1; //! member is_wrapped_number_

  bool storage_access_should_throw_ : 1; //! member storage_access_should_throw_
  uint8_t sizes_strides_policy_ : 2; //! member sizes_strides_policy_

  // The set of DispatchKeys which describe this tensor.  NB: this
  // does NOT include Autograd (historically, it did, but
  // not anymore!)
  DispatchKeySet key_set_; //! member key_set_

 private:
  friend class C10_TensorImpl_Size_Check_Dummy_Class;
};

} // namespace c10
