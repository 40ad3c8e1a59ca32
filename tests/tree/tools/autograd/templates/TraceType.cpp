// ${generated_comment}

namespace torch::autograd {

${trace_method_definitions}

${trace_wrapper_registrations}

} // namespace torch::autograd
