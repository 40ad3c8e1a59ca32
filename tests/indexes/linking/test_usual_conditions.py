"""Which conditions hold for dense tensors in a usual build."""

from __future__ import annotations

import pytest

from indexes.linking.usual_conditions import (
    flag_of,
    holds,
    is_of_few,
    is_of_one_value,
    is_within_limit,
    leans_to,
    taken,
)
from indexes.model.vocabulary import Choice, Location


@pytest.mark.parametrize(
    ("condition", "usual"),
    [
        ("self.is_complex()", False),
        ("!self.is_sparse()", True),
        ("bias->defined()", True),
        ("!weight.defined()", False),
        ("self.numel() == 0", False),
        ("is_os_15_or_newer(VERSION_15_1)", True),
        ("columns % vector_size == 0", True),
        ("is_misaligned", None),
        ("batchCount(b) >= std::max<int64_t>(2, m / 16)", False),
        ("columns <= static_cast<int64_t>(1ULL << std::numeric_limits<float>::digits)", True),
        ("rows > std::numeric_limits<int>::max()", False),
        ("!AT_MKL_ENABLED() || defined(FBCODE_CAFFE2)", False),
        ("defined(__x86_64__) && !defined(_MSC_VER)", True),
        ("self.dtype() == other.dtype()", True),
        ("iter.dtype(0) != iter.dtype(1)", False),
        ("self.dtype() == kComplexHalf", False),
        ("iter.dtype() == ScalarType::ComplexHalf", False),
        ("dtype == ScalarType::Float || dtype == ScalarType::Double", True),
        ("0 == iter.numel()", False),
        ("0 != iter.numel()", True),
        ("3 == inner && other", None),
        ("all_contiguous && all_tensors_contiguous", True),
        ("Impl::Contiguous", True),
        ("defined(USE_CUSOLVER_64_BIT)", True),
        ("batchCount(self) == 1", True),
        ("use_batched_ && batchCount(input) > 1", False),
        ("m != n || (looped_correct && batchCount(a) == 1)", True),
        ("ord > 0", True),
        ("nnz > 0 && n_values > 0", True),
        ("50 <= cc && cc <= 69", False),
        ("75 <= cc && cc < 80", False),
        ("80 <= cc && cc < 100", None),
        ("std::is_same_v<T, float>", True),
        ("std::is_same_v<scalar_t, at::opmath_type<scalar_t>>", True),
        ("!std::is_same_v<scalar_t, at::opmath_type<scalar_t>>", False),
        ("is_reduced_floating_point_v<scalar_t>", False),
        ("std::is_same_v<T, cutlass::bfloat16_t>", False),
        ("device_type == DeviceType::CUDA || device_type == DeviceType::XPU", True),
        ("device_type == DeviceType::XPU", False),
        ("self.is_xpu() || self.is_privateuseone()", False),
        ("std::is_same_v<T, uint8_t>", False),
        ("input_.ndimension() > 0 && dim_ == input_.ndimension() - 1", True),
        ("save_mean->numel() != 0", True),
        ("self.is_cuda() && inner == 3", None),
        ("self.is_cuda() || inner == 3", True),
        ("self.is_mps() && self.dim() == 2", False),
        ("(self.is_quantized() || self.is_nested())", False),
        ("self.device().type() != at::kCUDA", False),
        ("inner_size == 1", None),
        ("self.dim() == 2", True),
        ("dim_tensor1 == 1", False),
        ("USE_ROCM", False),
        ("defined(CUDNN_VERSION) && CUDNN_VERSION < 8900", False),
        ("!q.numel()", False),
        ("max_seqlen_k > 0", True),
        ("cpu", False),
        ("backend == LinalgBackend::Cusolver", True),
        ("self._fw_grad(0).defined()", False),
        ("MemoryFormat::Contiguous", True),
        ("at::MemoryFormat::ChannelsLast", False),
        ("ConvBackend::SlowTranspose2d", None),
        ("AT_POCKETFFT_ENABLED()", False),
        ("sameDataType", True),
        ("self.is_conj() == src.is_conj()", True),
        ("sizes.has_symbolic_ints()", False),
        ("use_channels_last_kernels(input)", False),
        ("src.stride(1) == src.size(0)", False),
        ("src != dst", True),
        ("softmax_elements == 0", False),
        ("count > 0", True),
        ("nan_count > 0", None),
        ("!benchmark", True),
        ("vec_size > 1", True),
        ("#ifndef A dtype == kHalf", None),  # of some builds
    ],
)
def test_pytorchs_words_tell(condition: str, usual: bool | None) -> None:
    assert holds(condition, "CUDA") is usual


@pytest.mark.parametrize(
    ("condition", "usual"),
    [
        ("smoothing > 0.0", False),
        ("!train || self.is_complex()", False),
        ("reduction == at::Reduction::Mean", True),
        ("reduction != at::Reduction::Mean", False),
        ("reduction > 1", None),
        ("rate > 0.0", None),
        ("smoothing.toDouble() == 0.0", True),
        ("smoothing.to<opmath_t>() != 0", False),
        ('way == "valid"', True),
        ('way == "same"', False),
        ("dim.has_value()", False),
        ("!dim.has_value()", True),
        ("out.defined()", False),
        ("has_out", False),
        ("_out.has_value()", False),
        ("bias.defined()", True),
        ('way.value_or("same") == "valid"', True),
        ("dim.value_or(2) == 2", True),
        ("dim.value_or(0) > 1", False),
        ("rate.value_or(true)", None),  # a user may give it
        ("defined(USE_ROCM) ? rate : train", True),
        ("(train ? 2 : 3) == 3", False),
        ("rate ? train : !train", None),
        ("n == N", None),  # a name, and no constant
        ("kSpatialDim == 2", None),  # a constant, but nobody knows which
        ("reduction == at::reduction::none", False),
        ("std::abs(smoothing.toDouble()) == 0.0", True),
        ("(dim.has_value() ? dim.value() : 2) == 2", True),
        ("bias.sizes()[0] == x_sizes[1]", True),
        ("bias.size(0) != x.size(1)", False),
        ("bias.size(0) == 1", False),
        ("weight.size(0) == x.size(1)", None),
    ],
)
def test_defaults_of_arguments_tell(condition: str, usual: bool | None) -> None:
    values = (("smoothing", "0.0"), ("train", "True"), ("reduction", "Mean"), ("way", '"valid"'))
    defaults = (*values, ("dim?", "False"), ("out?", "False"), ("bias.dim()", "1"))
    assert holds(condition, "CUDA", defaults) is usual


@pytest.mark.parametrize(
    ("text", "arm", "usual"),
    [
        ("if (self.is_complex())", "then", False),
        ("if (self.is_complex())", "otherwise", True),
        ("if constexpr (x)", "else", None),
        ("switch (backend) case ConvBackend::Cudnn", "case", True),
        ("switch (backend) case ConvBackend::Miopen", "case", False),
    ],
)
def test_an_arm_is_taken_or_not(text: str, arm: str, usual: bool | None) -> None:
    assert taken(Choice(text, arm, Location("x.cpp", 1)), "CUDA") is usual


@pytest.mark.parametrize(
    ("text", "arm", "means", "usual"),
    [
        ("if (is_mean)", "then", "if (reduction == Reduction::Mean)", True),
        ("if (is_mean)", "otherwise", "if (reduction == Reduction::Mean)", False),
        ("if (is_mean)", "then", "", None),
        ("if (whole)", "then", "if (weight.has_value())", None),  # or not: nobody knows
        ("if (wide)", "then", "if (x.numel() == 0)", False),
        ("switch (reduction) case Reduction::Sum, Reduction::Mean", "case", "", True),
        ("switch (reduction) case Reduction::Sum", "case", "", False),
        ("switch (reduction) case default", "case", "", None),
        ("switch (kind) case Kind::Mean", "case", "", None),
    ],
)
def test_values_of_arguments_decide_arms(
    text: str, arm: str, means: str, usual: bool | None
) -> None:
    choice = Choice(text, arm, Location("x.cpp", 1), means)
    assert taken(choice, "CPU", (("reduction", "Mean"),)) is usual


@pytest.mark.parametrize(
    ("text", "arm", "flag"),
    [
        ("if constexpr (LogSoftMax)", "then", ("logsoftmax", True)),
        ("if (LogSoftMax)", "else", ("logsoftmax", False)),
        ("if (!is_log_softmax)", "otherwise", ("islogsoftmax", True)),
        ("if (x > 1)", "then", None),
        ("switch (LogSoftMax) case true", "case", None),
    ],
)
def test_the_flag_that_an_arm_depends_on(
    text: str, arm: str, flag: tuple[str, bool] | None
) -> None:
    assert flag_of(Choice(text, arm, Location("x.cpp", 1))) == flag


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("if (use_fast(a, b(c)))", True),
        ("if (at::globalContext().use_fast() && use_slow(b))", False),
        ("if (!use_slow(b) || heuristic)", True),
        ("if (use_fast(a) == use_slow(a))", False),
        ("if (use_fast(a) + 1)", None),
        ("if (way_of(a) == Way::Plain)", True),
        ("if (kind == Way::Wide)", None),
    ],
)
def test_what_functions_answer_decides_conditions(text: str, held: bool | None) -> None:
    answers = (("use_fast()", "True"), ("use_slow()", "False"), ("way_of()", "Plain"))
    assert taken(Choice(text, "then", Location("a.cpp", 1)), "CPU", answers) is held


def test_what_a_function_answers_tells_more_than_the_name_that_keeps_it() -> None:
    one = Choice("if (use_cudnn)", "then", Location("a.cpp", 1), "if (can_run(a))")
    assert taken(one, "CUDA") is True
    assert taken(one, "CUDA", (("can_run()", "False"),)) is False
    assert taken(one, "CUDA", (("", "2"),)) is True  # of an argument without a name


@pytest.mark.parametrize(
    ("condition", "usual"),
    [
        ('check_env("NO_CUDNN_API") == 1', None),
        ('(check_env("X") != true) == 1', True),
        ('(check_env("X") == true) == 1', False),
        ("n.numel() >= 16", True),
        ("x.dim() > 1", True),
        ("x.dim() > 2", None),
        ("x.dim() != 1", None),
        ("dim_size <= 1024", None),
        ("get_env(name).has_value()", None),
        ('(c10::utils::get_env("NO_LT")) == "1"', False),
        ('get_env("NO_LT") != "1"', True),
        ('std::getenv("NO_LT") != nullptr', False),
        ('std::getenv("NO_LT") == NULL', True),
        ("&result != &self", True),
        ("items_contiguous_or_transposed(x)", True),
        ("is_non_contiguous(x)", None),
        ("iter.has_contiguous_first_dim()", None),  # of some flips
        ("(*x.expect_contiguous()).stride() == 1", None),  # asks the tensor that is made
        ("dim == 0", None),  # the value of an argument
        ("dim == 2", None),
        ("x.sizes()[1] > 1", True),
        ("#endif x.scalar_type() == kFloat", True),
        ("#else x.scalar_type() == kFloat", None),
        ("iter.num_reduce_dims() == 1", None),
        ("x.numel() <= 1", False),
        ("train && p > 0 && p < 1", None),
        ("p > 0 && p < 1", True),
        ("targets.scalar_type() == at::kInt", False),
    ],
)
def test_words_that_tell_and_those_that_do_not(condition: str, usual: bool | None) -> None:
    assert holds(condition, "CUDA") is usual


def test_what_a_function_answers_decides_the_cases_of_a_switch() -> None:
    answers = (("way_of()", "Plain"),)
    for label, held in (("Way::Plain", True), ("Way::Wide", False)):
        for text, means in (("switch (way_of(a))", ""), ("switch (way)", "switch (way_of(a))")):
            one = Choice(f"{text} case {label}", "case", Location("a.cpp", 1), means)
            assert taken(one, "CPU", answers) is held


@pytest.mark.parametrize(
    ("text", "arm", "one"),
    [
        ("if (n == -1)", "then", True),
        ('if (ord == "fro")', "then", True),
        ("if (mode == Mode::MAX)", "then", True),
        ("if (n == 1)", "else", True),
        ("if (n == 1)", "otherwise", False),
        ("if (n == m)", "then", False),
        ("if (n == 1 || m == 1)", "then", False),
    ],
)
def test_a_condition_of_one_value_is_like_a_case(text: str, arm: str, one: bool) -> None:
    assert is_of_one_value(Choice(text, arm, Location("x.cpp", 1))) is one


def test_what_nothing_reaches_is_never_taken() -> None:
    behind = Choice("true", "otherwise", Location("x.cpp", 1))
    assert [taken(behind, "CPU"), taken(behind._replace(arm="then"), "CPU")] == [False, True]


@pytest.mark.parametrize(
    ("condition", "leans"),
    [
        ("if (x.is_contiguous() && (y.is_contiguous() && fits(x)))", True),
        ("if (x.is_contiguous() && fits(x))", False),  # too few to tell
        ("if (canUse32Bit(x) && canUse32Bit(y) && x.numel() <= 16)", False),
        ("if ((n < at::GRAIN_SIZE || alone()) && canUse32Bit(x) && canUse32Bit(y))", False),
        ("if (n < 65535 * 32 && canUse32Bit(x) && canUse32Bit(y))", True),
        ("if (x.is_contiguous() && fits(x) && fits(y))", False),
        ("if (x.is_contiguous() && y.is_contiguous() && x.is_complex())", True),
        ("if (fits(x) || (x.is_contiguous() && y.is_contiguous() && fits(y)))", False),
        ("if (x.is_complex() || (x.is_contiguous() && y.is_contiguous() && fits(y)))", True),
    ],
)
def test_most_parts_of_a_conjunction_hold(condition: str, leans: bool) -> None:
    assert leans_to(condition, "CPU", ()) is leans


@pytest.mark.parametrize(
    ("condition", "few"),
    [
        ("canUse32BitIndexMath(out) && count <= 16", True),
        ("rows * columns < 400", True),
        ("is_same_v<T, float> && 80 <= cc && cc < 100", False),  # a range
    ],
)
def test_a_branch_for_few_elements_is_none_for_a_range(condition: str, few: bool) -> None:
    assert is_of_few(Choice(f"if ({condition})", "then", Location("x.cpp", 1))) is few


@pytest.mark.parametrize(
    ("condition", "within"),
    [
        ("dim_size <= 2048 && dim_size*sizeof(scalar_t) <= 8192", True),
        ("axis_size <= 1024 * N_READS", True),
        ("num_indices <= 3072 && !scale_grad_by_freq", False),  # another condition too
        ("numIndex <= 16", False),  # few
        ("driver_version < 11040", False),
    ],
)
def test_most_sizes_are_less_than_thousands(condition: str, within: bool) -> None:
    choice = Choice(f"if ({condition})", "then", Location("x.cpp", 1))
    assert is_within_limit(choice) is within
