// ${generated_comment}

namespace torch::autograd {

${generated_include}

${autograd_function_declarations}

} // namespace torch::autograd
