// ${generated_comment}

namespace torch::autograd {

${py_methods}

int THPVariable_set_requires_grad(bool is_floating) {
  if (!is_floating) throw std::runtime_error("only floating Tensors can require gradients"); //! says only floating Tensors can require gradients
  return 0;
}

${py_method_defs}

} // namespace torch::autograd
