// Read by tests/indexes/linking/edges.
namespace at::native {
void once(const Tensor& x) {}
#if defined(USE_TWINS) && AT_TWINS_ENABLED()
void twin(const Tensor& x) {}
#else
void twin(const Tensor& x) { once(x); }
#endif
#if defined(USE_TWINS)
void no_twin(const Tensor& x) {}
#endif
#if AT_TWINS_ENABLED()
void no_twin(const Tensor& x) { once(x); }
#endif
void edges_of_twins(const Tensor& self) { twin(self); no_twin(self); }
}
