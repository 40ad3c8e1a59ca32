import pytest

from indexes.model.schema import SchemaKind, parse_schema, tensor_options
from indexes.model.vocabulary import NativeFunction


def test_every_schema_of_the_wheel_is_parsed_and_printed_unchanged(
    wheel_functions: tuple[NativeFunction, ...],
) -> None:
    assert len(wheel_functions) > 2000
    for function in wheel_functions:
        assert str(parse_schema(function.schema)) == function.schema


def test_arguments() -> None:
    schema = parse_schema(
        "add.out(Tensor self, Tensor[] other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    self, other, alpha, out = schema.arguments
    assert (self.name, self.type, self.kwarg_only, self.mutable) == ("self", "Tensor", False, False)
    assert (other.type, other.base_type) == ("Tensor[]", "Tensor")
    assert (alpha.default, alpha.kwarg_only, alpha.is_out) == ("1", True, False)
    assert (out.type, out.annotation, out.mutable, out.is_out) == ("Tensor", "a!", True, True)
    assert schema.returns[0].annotation == "a!"
    assert schema.full_name == "add.out"


def test_the_spelling_of_the_dispatcher() -> None:
    schema = parse_schema(
        "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], "
        'int[2] dilation=[1, 1], *, str mode="a, (b", bool ceil_mode=False) -> Tensor'
    )
    assert (schema.namespace, schema.name, schema.overload) == ("aten", "max_pool2d", "")
    assert [a.default for a in schema.arguments] == [None, None, "[]", "[1, 1]", '"a, (b"', "False"]


def test_annotations_with_arrows_lists_and_options() -> None:
    schema = parse_schema(
        "f(Tensor(a -> *) self, Tensor(b!)[] xs, Tensor(c|d)? y) -> (Tensor(a) first, Tensor[])"
    )
    assert [(a.type, a.annotation) for a in schema.arguments] == [
        ("Tensor", "a -> *"),
        ("Tensor[]", "b!"),
        ("Tensor?", "c|d"),
    ]
    assert [(r.name, r.type) for r in schema.returns] == [("first", "Tensor"), (None, "Tensor[]")]


@pytest.mark.parametrize(
    ("text", "kind", "base"),
    [
        ("relu(Tensor self) -> Tensor", SchemaKind.FUNCTIONAL, "relu"),
        ("relu_(Tensor(a!) self) -> Tensor(a!)", SchemaKind.INPLACE, "relu"),
        ("__iand__.Tensor(Tensor(a!) self, Tensor o) -> Tensor(a!)", SchemaKind.INPLACE, "and"),
        ("__and__.Tensor(Tensor self, Tensor o) -> Tensor", SchemaKind.FUNCTIONAL, "and"),
        ("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", SchemaKind.OUT, "relu"),
        ("bn(Tensor x, Tensor(a!) mean) -> Tensor", SchemaKind.MUTABLE, "bn"),
        ("bn_functional(Tensor x) -> Tensor", SchemaKind.FUNCTIONAL, "bn"),
        ("f.out(*, Tensor(a!) o, Tensor(b!) _scratch_x) -> Tensor(a!)", SchemaKind.SCRATCH, "f"),
    ],
)
def test_kind_and_base(text: str, kind: SchemaKind, base: str) -> None:
    schema = parse_schema(text)
    assert (schema.kind, schema.base) == (kind, base)


def test_variants_of_one_operator_share_their_signature() -> None:
    functional = parse_schema("add.Tensor(Tensor self, Tensor o, *, Scalar alpha=1) -> Tensor")
    inplace = parse_schema(
        "add_.Tensor(Tensor(a!) self, Tensor o, *, Scalar alpha=1) -> Tensor(a!)"
    )
    out = parse_schema(
        "add.out(Tensor self, Tensor o, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    other = parse_schema("add.Scalar(Tensor self, Scalar o, Scalar alpha=1) -> Tensor")
    assert functional.signature() == inplace.signature() == out.signature() != other.signature()


def test_tensor_options_are_no_part_of_a_signature() -> None:
    options = "ScalarType? dtype=None, Layout? layout=None, Device? device=None"
    ones = parse_schema(f"ones(int[] size, *, {options}, bool? pin_memory=None) -> Tensor")
    out = parse_schema("ones.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)")
    assert [a.name for a in tensor_options(ones)] == ["dtype", "layout", "device", "pin_memory"]
    assert ones.signature() == out.signature()
    assert tensor_options(parse_schema(f"f(int[] size, *, {options}) -> Tensor")) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add",
        "add(Tensor self",
        "add(Tensor self) Tensor",
        "a b(Tensor self) -> Tensor",
        "add(Tensor) -> Tensor",
        "add(Tensor self,, int x) -> Tensor",
        "f(int[ x) -> Tensor",
    ],
)
def test_what_is_no_schema_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a|unbalanced|nothing between"):
        parse_schema(text)
