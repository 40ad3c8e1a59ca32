#pragma once

namespace torch::autograd {

// A step of the backward graph.
struct TORCH_API Node : std::enable_shared_from_this<Node> {
  variable_list operator()(variable_list&& inputs) {
    return apply(std::move(inputs));
  }

  const edge_list& next_edges() const noexcept {
    return next_edges_;
  }

 protected:
  virtual variable_list apply(variable_list&& inputs) = 0;

  edge_list next_edges_;
};

} // namespace torch::autograd
