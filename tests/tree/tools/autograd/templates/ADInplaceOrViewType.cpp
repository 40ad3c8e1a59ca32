// ${generated_comment}

namespace torch::autograd {

${inplace_or_view_method_definitions}

${inplace_or_view_wrapper_registrations}

} // namespace torch::autograd
