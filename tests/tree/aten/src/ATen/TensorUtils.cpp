#include <ATen/TensorUtils.h>

namespace at {

std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& t) {
  out << "argument #" << t.pos << " '" << t.name << "'";
  return out;
}

void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim) {
  TORCH_CHECK(t->dim() == dim, //! says Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'self' (while checking arguments for glu)
      "Expected ", dim, "-dimensional tensor, but got ", t->dim(),
      "-dimensional tensor for ", t, " (while checking arguments for ", c, ")");
}

void checkScalarTypes(CheckedFrom c, const TensorArg& t, at::ArrayRef<ScalarType> l) {
  std::ostringstream oss;
  oss << "Expected tensor for " << t << " to have one of the following " //! says Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got FloatType instead
      << "scalar types: ";
  TORCH_CHECK(false, oss.str());
}

void checkMode(const std::string& mode, bool wide) {
  // "a comment is said by nobody at all"
  TORCH_CHECK_VALUE( //! says interpolation mode nearest is not known, wide was given
      mode == "linear" || mode == "cubic",
      "interpolation mode ", mode, " is not known, ", wide ? "wide" : "narrow", " was given");
  if (!mode.empty()) throw std::runtime_error("the mode has to be \"empty\" here"); //! says the mode has to be "empty" here
  TORCH_WARN_ONCE("this mode is deprecated since ", mode, " and goes soon"); //! says this mode is deprecated since linear and goes soon
}

void checkLost(const std::string& name) {
  std::ostringstream oss;
  oss << "The storage of " << name << " was freed before its last use. "; //! says The storage of b was freed before its last use. Keep a reference to the tensor that owns it alive.
  oss << "Keep a reference to the tensor that owns it alive.";
  throw std::runtime_error(oss.str());
}

} // namespace at
