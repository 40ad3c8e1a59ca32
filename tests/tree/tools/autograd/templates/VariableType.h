// ${generated_comment}

namespace torch::autograd {

${type_derived_method_declarations}

} // namespace torch::autograd
