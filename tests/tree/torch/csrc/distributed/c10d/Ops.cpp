#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace c10d {
namespace {

TORCH_LIBRARY(c10d, m) { //! library c10d
  m.class_<Work>("Work")
      .def("wait", [](const c10::intrusive_ptr<Work>& self) { self->wait(); });
  m.def( //! operator c10d::send
      "send(Tensor[] tensors, "
      "int dst, int tag) -> __torch__.torch.classes.c10d.Work");
  m.def("barrier(Tensor tensor, int timeout)-> ()"); //! operator c10d::barrier
}

} // namespace

namespace ops {

// The functions that a macro defines are registered by another one, for three keys.
#define IMPL_SEND(DEV)                                        \
  c10::intrusive_ptr<Work> send##DEV(at::TensorList tensors) { \
    return c10d::post(at::abs(tensors[0]));                   \
  }

IMPL_SEND(CPU) //! runs c10d::send CPU
IMPL_SEND(CUDA) //! runs c10d::send CUDA

#define REGISTER_C10D_OP1(FUNC, DEV) \
  TORCH_LIBRARY_IMPL(c10d, DEV, m) { \
    m.impl(#FUNC, FUNC##DEV);        \
  }

#define REGISTER_C10D_OP(FUNC)  \
  REGISTER_C10D_OP1(FUNC, CPU)  \
  REGISTER_C10D_OP1(FUNC, CUDA)

REGISTER_C10D_OP(send)

// What runs is decided by the class of the object that the function returns.
struct Backend {
  virtual void synchronize(int64_t timeout) {}
};
struct GlooBackend : Backend {
  void synchronize(int64_t timeout) override;
};
struct NCCLBackend : Backend {
  void synchronize(int64_t timeout) override;
};
void GlooBackend::synchronize(int64_t timeout) {}
void NCCLBackend::synchronize(int64_t timeout) {}
c10::intrusive_ptr<Backend> backend_of(const at::Tensor& tensor) {
  return nullptr;
}

void monitored(const at::Tensor& tensor, int64_t timeout) { //! runs c10d::monitored_barrier CPU
  backend_of(tensor)->synchronize(timeout);
}

TORCH_LIBRARY_FRAGMENT(c10d, m) { //! library c10d
  m.def("monitored_barrier(Tensor tensor, int timeout) -> ()"); //! operator c10d::monitored_barrier
}

TORCH_LIBRARY_IMPL(c10d, CPU, m) {
  m.impl("monitored_barrier", monitored);
}

} // namespace ops
} // namespace c10d

namespace {

at::Tensor all_reduce(const at::Tensor& input, std::string group) { //! runs _c10d_functional::all_reduce CompositeExplicitAutograd
  static auto op = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("c10d::send", "")
                       .typed<void(at::TensorList)>();
  return op.call(input);
}

bool is_supported() { //! runs _c10d_functional::is_supported CompositeImplicitAutograd
  return true;
}

at::Tensor wrapped(const at::Tensor& input) { //! runs _c10d_functional::wait_tensor Autograd
  return input.abs();
}

} // namespace

TORCH_LIBRARY(_c10d_functional, m) { //! library _c10d_functional
  m.def( //! operator _c10d_functional::all_reduce
      R"(all_reduce(Tensor input, str group = "a, b") -> Tensor)",
      torch::dispatch(
          c10::DispatchKey::CompositeExplicitAutograd, ::all_reduce),
      {at::Tag::pt2_compliant_tag});
  // Its schema is inferred from the function.
  m.def("is_supported", &is_supported); //! operator _c10d_functional::is_supported
  m.def(torch::schema("_c10d_functional::wait_tensor(Tensor tensor) -> Tensor", c10::AliasAnalysisKind::FROM_SCHEMA)); //! operator _c10d_functional::wait_tensor
}

TORCH_LIBRARY_IMPL(_c10d_functional, Autograd, m) { //! library _c10d_functional Autograd
  m.impl("wait_tensor", wrapped);
}
