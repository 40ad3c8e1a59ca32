#pragma once

#include <ATen/native/DispatchStub.h>

namespace at::native {

using fused_sdp_choice_fn = int64_t (*)(const Tensor& query_, const Tensor& key, const Tensor& value,
        const std::optional<Tensor>& attn_mask_, double dropout_p, bool is_causal, std::optional<double> scale);

DECLARE_DISPATCH(fused_sdp_choice_fn, _fused_sdp_choice_stub) //! declares _fused_sdp_choice_stub

} // namespace at::native
