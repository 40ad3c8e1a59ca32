// Read by tests/indexes/linking/edges.
namespace at::native {
void edges_of_handed_names(const Tensor& x, bool up) {
  auto graph = [[MPSGraph new] autorelease];
  auto cached = LookUpOrCreateCachedGraph("bump");
  const std::string name = up ? "rise" : "fall";
  mps::scan_by_name(x, name);
}
static void handing(const Tensor& x, std::string name) { mps::scan_by_name(x, name); }
void edges_of_names_handed_on(const Tensor& x) { handing(x, "leap"); }
static void keyed(const Tensor& x, std::string mode) {
  mps::scan_all(x);
  if (mode == "leap") { x.size(); }
}
void edges_of_words_kept_beside(const Tensor& x) { keyed(x, "leap"); }
void edges_of_keys_of_graphs(const Tensor& x) { auto key = named("leap"); handing(x, key); }
} // namespace at::native
