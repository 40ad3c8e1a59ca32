// ${generated_comment}

namespace torch::autograd {

${generated_include}

${autograd_function_definitions}

} // namespace torch::autograd
