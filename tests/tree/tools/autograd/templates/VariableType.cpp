// ${generated_comment}

namespace torch::autograd {

${type_derived_method_definitions}

${wrapper_registrations}

} // namespace torch::autograd
