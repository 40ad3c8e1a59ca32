// ${generated_comment}

namespace torch::autograd {

${py_methods}

${py_method_defs}

} // namespace torch::autograd
