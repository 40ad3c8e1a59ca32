// Read by tests/indexes/linking/edges.
namespace at::native {
struct HeldBase { virtual int held(int n) = 0; };
struct HeldHere : HeldBase { int held(int n) override { return n; } };
namespace elsewhere {
struct HeldBase { virtual int held(int n) = 0; };
struct HeldElsewhere : HeldBase { int held(int n) override { return n; } };
int edges_of_the_nearest_class(HeldBase* one) { return one->held(1); }
struct EdgeShelf { int shelved(int n) { return n; } };
using EdgeShelfPtr = std::shared_ptr<EdgeShelf>;
namespace elsewhere {
struct EdgeShelf { int shelved(int n) { return 2; } };
int edges_of_a_pointer_elsewhere(EdgeShelfPtr one) { return one->shelved(1); }
}
int edges_of_a_pointer(EdgeShelfPtr one) { return one->shelved(1); }
}
}
