"""Values, aliases, mutation, layouts and element types of compiled functions, next to eager PyTorch's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from comparing import assert_same, check, compiled, leaf

pytest.importorskip("jumar._native", reason="the extension is not built")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


# Aliases.


def test_outputs_that_are_views_of_an_input():
    x = torch.arange(24.0).reshape(4, 6)

    def function(x):
        return x[1:3], x.t(), x.view(2, 12)[:, ::3], x.select(1, 2), x.unfold(0, 2, 1), x + 1

    found, expected = compiled(function)(x), function(x)
    assert_same(found, expected)
    for a, b in zip(found[:-1], expected[:-1]):
        assert a.data_ptr() == b.data_ptr()
    x.fill_(-1)
    assert all(bool((view == -1).all()) for view in found[:-1])
    assert found[-1][0, 0] == 1


def test_outputs_that_share_an_intermediate_share_memory():
    def function(x):
        y = x * 2
        return y, y.t(), y[0]

    y, t, row = compiled(function)(torch.ones(3, 4))
    y.fill_(7)
    assert torch.equal(t, torch.full((4, 3), 7.0)) and torch.equal(row, torch.full((4,), 7.0))


def test_the_same_tensor_returned_twice():
    check(lambda x: (y := x.exp(), y, x, x, y.sum()), torch.randn(5))


def test_a_view_with_another_element_type():
    check(lambda x: (x.view(torch.int32), (x * 2).view(torch.int32) + 1), torch.randn(3, 4))


def test_called_operators_may_return_views_of_their_arguments():
    x = torch.randn(3)
    run = compiled(lambda x: x.unsqueeze(1).expand(3, 4)[:, 1:3] * 1, options={"call_ops": "all"})
    assert_same(run(x), x.unsqueeze(1).expand(3, 4)[:, 1:3] * 1)


@pytest.mark.parametrize("start", [0, 3, 10])
@pytest.mark.parametrize("dynamic", [False, None])
def test_strides_of_a_storage_that_begins_before_the_input(start, dynamic):
    def function(x):
        row = x.view(4, 2)[1]
        return torch.as_strided(x, (2, 2), (1, 2), 0) * 2, torch.as_strided(row, (3,), (2,), 1) + 1, x.sum()

    run = compiled(function, dynamic=dynamic)
    for first in (start, 0, 5):
        x = torch.arange(20.0)[first : first + 8]
        assert_same(run(x), function(x))


def test_detached_and_cloned_results():
    x = torch.randn(4, requires_grad=True)
    found = compiled(lambda x: (x.detach(), x.clone(), x.detach() * 2))(x)
    assert [t.requires_grad for t in found] == [False, True, False]
    assert found[0].data_ptr() == x.data_ptr() and found[1].data_ptr() != x.data_ptr()


# Mutation.


def write_slices(x, y):
    x[1:] += y
    x[:, 0] = 5
    y.mul_(x[1:])
    return x.sum(), y


def swap_halves(x):
    half = x[:3].clone()
    x[:3] = x[3:]
    x[3:] = half
    return x


@pytest.mark.parametrize(
    "function,inputs",
    [
        (write_slices, [torch.randn(4, 3), torch.randn(3, 3)]),
        (swap_halves, [torch.randn(6, 2)]),
        (lambda x: x.add_(1), [torch.randn(5)]),
        (lambda x: x.t().mul_(2), [torch.randn(3, 4)]),
        (
            lambda x, i: x.index_put_((i,), torch.tensor(2.0), accumulate=True),
            [torch.zeros(5), torch.tensor([1, 1, 3])],
        ),
        (lambda x, i, s: x.scatter_add_(0, i, s), [torch.zeros(5), torch.tensor([4, 0, 4]), torch.ones(3)]),
        (lambda x, m: x.masked_fill_(m, -1.0), [torch.randn(6), torch.tensor([True, False] * 3)]),
        (lambda x: x.copy_(x.flip(0)), [torch.arange(6.0)]),
        (lambda x: x.zero_().add_(3).view(2, 3), [torch.randn(6)]),
        (lambda x: torch.relu_(x).transpose_(0, 1), [torch.randn(2, 3)]),
        (lambda x: x.to(torch.float64).add_(1), [torch.randn(3)]),
        (lambda x, y: (x.copy_(y), y.add_(1))[0], [torch.zeros(3, dtype=torch.int64), torch.randn(3) * 9]),
    ],
)
def test_inputs_are_updated_as_in_eager(function, inputs):
    check(function, *inputs)


def test_updates_of_an_input_that_is_not_contiguous():
    check(lambda x: x.mul_(3).sum(0), torch.randn(6, 4).t())
    check(lambda x: x.mul_(3).sum(0), torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last))
    wide = torch.randn(5, 9)
    before = wide.clone()
    compiled(lambda x: x.add_(1))(wide[:, 2:5])
    before[:, 2:5] += 1
    assert torch.equal(wide, before)


def test_the_same_tensor_passed_twice():
    def function(x, y):
        x.add_(1)
        return x * y

    x = torch.randn(4)
    check(function, x, x)
    check(function, x, torch.randn(4))


def test_two_views_of_one_tensor_passed():
    def function(x, y):
        x.mul_(2)
        return x.sum() + y.sum()

    ours, theirs = torch.arange(10.0), torch.arange(10.0)
    found, expected = compiled(function)(ours[:6], ours[4:]), function(theirs[:6], theirs[4:])
    assert_same([found, ours], [expected, theirs])


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.count += 1
        self.mean.lerp_(x.mean(0), 0.25)
        return x - self.mean


def test_buffers_are_updated():
    ours, theirs = Counter(), Counter()
    run = compiled(ours)
    for k in range(3):
        x = torch.randn(4, 3) + k
        assert_same(run(x), theirs(x))
    assert_same(list(ours.buffers()), list(theirs.buffers()))


def test_batch_norm_in_training_updates_its_statistics():
    ours, theirs = torch.nn.BatchNorm2d(3), torch.nn.BatchNorm2d(3)
    run = compiled(ours)
    for _ in range(3):
        x = torch.randn(4, 3, 5, 5)
        assert_same(run(x), theirs(x), rtol=1e-5, atol=1e-5)
    assert_same(list(ours.buffers()), list(theirs.buffers()))


# Layouts, shapes and element types of inputs.


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(8, 6).t(),
        lambda: torch.randn(12, 16)[::2, 1::2],
        lambda: torch.randn(1, 8).expand(6, 8),
        lambda: torch.randn(6).unsqueeze(1).expand(6, 8),
        lambda: torch.randn(100)[3:51].reshape(6, 8),
        lambda: torch.randn(6, 8, 2)[..., 1],
        lambda: torch.as_strided(torch.randn(30), (6, 8), (2, 1)),
    ],
)
def test_inputs_that_are_not_contiguous(make):
    with torch.no_grad():
        x = make()
        found = compiled(lambda x: (x.softmax(1), x * 2, x.sum(0), x.argmax(1), x.t() @ x))(x)
        assert_same(found, (x.softmax(1), x * 2, x.sum(0), x.argmax(1), x.t() @ x), False)


def test_inputs_of_no_dimension():
    check(
        lambda x, y: (x + y, x.sum(), torch.stack([x, y]), x.unsqueeze(0) * y, x.max()),
        torch.tensor(2.0),
        torch.tensor(3.0),
    )
    check(lambda x, n: x * n, torch.randn(3), torch.tensor(2))
    check(lambda x, y: x + y, torch.randn(3), torch.tensor(2.0, dtype=torch.float64))


@pytest.mark.parametrize("dynamic", [None, True])
def test_empty_inputs(dynamic):
    def function(x):
        return x * 2, x.sum(0), x.sum(1), x.t(), torch.cat([x, x]), x.softmax(1), x.any(), x.prod()

    check(function, torch.randn(0, 3), dynamic=dynamic)
    check(
        lambda x: (x.sum(1), x.mean(), x @ x.t(), x.all(1), x.cumsum(0)), torch.randn(3, 0), dynamic=dynamic
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.roll(x, 1, 0),
        lambda x: x.repeat(0, 2),
        lambda x: x.repeat(3, 0),
        lambda x: torch.cumsum(x[:, :0], 1),
        lambda x: torch.cumprod(x[:0], 0) + 1,
        lambda x: torch.gather(x[0], 0, torch.zeros(0, dtype=torch.int64)),
        lambda x: torch.gather(x[0], 0, torch.zeros(2, 0, dtype=torch.uint8)),
        lambda x: torch.cat([x[:0], x[:0]]).sum(1),
        lambda x: torch.scatter_add(x[0], 0, torch.zeros(2, 0, dtype=torch.int64), x[:2, :0]),
        lambda x: torch.gather(x[0], 0, torch.tensor(3)),
        lambda x: torch.scatter_add(x[0], 0, torch.tensor(3), x[1, 1]),
    ],
)
def test_operands_without_elements_or_dimensions(function):
    check(function, torch.randn(4, 6))


def test_strides_that_overlap_are_made_where_they_are_asked_for():
    check(lambda x: torch.empty_strided((5, 4), (0, 1)).zero_() + x, torch.randn(4))
    run = compiled(lambda x: (x + 1, torch.empty_strided((5, 5, 5), (2, 0, 1))))
    assert run(torch.randn(2))[1].stride() == (2, 0, 1)


def test_a_reduction_without_elements_raises_as_in_eager():
    with pytest.raises(Exception, match="amax"):
        compiled(lambda x: x.amax(0))(torch.randn(0, 3))


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.uint8,
        torch.bool,
    ],
    ids=str,
)
def test_every_element_type(dtype):
    x = (torch.randn(5, 19) * 4).to(dtype)
    y = (torch.randn(19) * 4).to(dtype)

    def function(x, y):
        out = [
            x == y,
            torch.where(x > y, x, y),
            x.to(torch.float32) * 0.5,
            x.flip(1),
            torch.cat([x, x[:, :3]], 1),
        ]
        out += [
            x.amax(1),
            x.sum(0),
            x.any(1),
            x.argmax(1) if x.dtype != torch.bool else x,
            x.t().contiguous(),
        ]
        if x.dtype != torch.bool:
            out += [x + y * 2, x.abs() if x.dtype != torch.uint8 else x, x.clamp(1, 3), x.cumsum(1), x.max(1)]
        if x.dtype.is_floating_point:
            out += [x.exp(), x.softmax(1), x.mean(0), x // 0.75]
        else:
            out += [x & y, x ^ y, ~x]
        return [list(item) if isinstance(item, tuple) else item for item in out]

    rough = dtype in (torch.float16, torch.bfloat16)
    check(function, x, y, strides=not rough, **(dict(rtol=2e-2, atol=3e-2) if rough else {}))


@pytest.mark.parametrize(
    "dtype",
    [torch.uint16, torch.uint32, torch.uint64, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2],
    ids=str,
)
def test_rare_element_types(dtype):
    x = torch.randint(0, 50, (4, 7)).to(torch.float32).to(dtype)
    check(lambda x: (x.t().contiguous(), x.to(torch.float32) + 1 if not x.is_complex() else x * 2), x)


# Strides of results.


def test_strides_of_results():
    image = torch.randn(2, 3, 5, 7).to(memory_format=torch.channels_last)
    permuted = torch.randn(3, 4, 5).permute(2, 0, 1)
    check(
        lambda a, b: (
            a * 2,
            a + a.contiguous(),
            a.mean(1, keepdim=True),
            a.permute(0, 2, 3, 1),
            F.relu(a).flatten(1),
            b.exp(),
            b + 1.0,
            b.sum(1),
            b.transpose(0, 2).clone(memory_format=torch.contiguous_format),
            torch.empty_like(b).fill_(2.0),
            b.new_zeros(2, 3),
            F.pad(b, (1, 1)),
            torch.cat([b, b], 1),
        ),
        image,
        permuted,
    )


def test_strides_that_a_called_operator_decides():
    """Fake tensors promise a transform contiguous results; the kernel gives others, and eager returns those."""
    x = torch.randn(5, 10, 7)
    check(lambda x: torch.fft.fft(x, dim=1), x)
    # What else reads such a result relies on the strides that were captured.
    check(lambda x: torch.fft.fft(x, dim=1).abs(), x, strides=False)

    def twice(x):
        y = torch.fft.fft(x, dim=1)
        return y, y.real + 1

    check(twice, x, strides=False)


def test_strides_of_a_convolution_in_either_layout():
    layer = torch.nn.Conv2d(4, 8, 3, padding=1).requires_grad_(False)
    for form in (torch.contiguous_format, torch.channels_last):
        torch._dynamo.reset()
        check(
            lambda x: (layer(x), layer(x).relu() + 1),
            torch.randn(2, 4, 9, 9).to(memory_format=form),
            atol=1e-5,
            rtol=1e-5,
        )
