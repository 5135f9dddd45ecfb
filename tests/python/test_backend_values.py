"""Values, aliases, mutation, gradients, layouts and errors of compiled functions, next to eager PyTorch's."""

from __future__ import annotations

import threading
import warnings

import pytest
import torch
import torch.nn.functional as F

pytest.importorskip("jumar._native", reason="the extension is not built")

import jumar  # noqa: E402
from jumar import _native  # noqa: E402
from jumar.backend import jumar as backend  # noqa: E402


@torch.library.custom_op("jumar_values::twice_plus", mutates_args=())
def twice_plus(x: torch.Tensor, amount: float) -> torch.Tensor:
    return x * 2 + amount


@twice_plus.register_fake
def _(x, amount):
    return torch.empty_like(x)


@torch.library.custom_op("jumar_values::add_into", mutates_args=("x",))
def add_into(x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)


@torch.library.custom_op("jumar_values::fails", mutates_args=())
def fails(x: torch.Tensor, kind: str) -> torch.Tensor:
    raise {"key": KeyError, "zero": ZeroDivisionError, "runtime": RuntimeError}[kind]("from the operator")


@fails.register_fake
def _(x, kind):
    return torch.empty_like(x)


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(function, **kwargs):
    return torch.compile(function, backend=backend, **kwargs)


def leaves(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def assert_same(found, expected, strides=True, **tolerance):
    found, expected = list(leaves(found)), list(leaves(expected))
    assert len(found) == len(expected)
    for k, (a, b) in enumerate(zip(found, expected)):
        if not isinstance(b, torch.Tensor):
            assert type(a) is type(b) and a == b, k
            continue
        assert a.dtype == b.dtype and a.shape == b.shape, k
        assert a.requires_grad == b.requires_grad, k
        if strides and b.numel() > 0:
            ours = [s for s, n in zip(a.stride(), a.shape) if n != 1]
            theirs = [s for s, n in zip(b.stride(), b.shape) if n != 1]
            assert ours == theirs, (k, a.stride(), b.stride())
        torch.testing.assert_close(a.detach(), b.detach(), equal_nan=True, **tolerance)


def copied(tensors):
    """Copies with the same strides and flags; one tensor given twice stays one."""
    memo = {}
    for x in tensors:
        if isinstance(x, torch.Tensor) and id(x) not in memo:
            with torch.no_grad():
                y = x.detach().clone()
                if y.stride() != x.stride():
                    y = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype).copy_(x)
            memo[id(x)] = y.requires_grad_(x.requires_grad)
    return [memo.get(id(x), x) for x in tensors]


def check(function, *inputs, calls=2, dynamic=None, options=None, strides=True, **tolerance):
    """Results, and inputs after the call, of compiled and eager function; returns the compiled results."""
    run = compiled(function, dynamic=dynamic, options=options)
    for _ in range(calls):
        ours, theirs = copied(inputs), copied(inputs)
        found, expected = run(*ours), function(*theirs)
        assert_same(found, expected, strides, **tolerance)
        assert_same(ours, theirs, **tolerance)
    return found


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
        (lambda x, i: x.index_put_((i,), torch.tensor(2.0), accumulate=True), [torch.zeros(5), torch.tensor([1, 1, 3])]),
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
    check(lambda x, y: (x + y, x.sum(), torch.stack([x, y]), x.unsqueeze(0) * y, x.max()), torch.tensor(2.0), torch.tensor(3.0))
    check(lambda x, n: x * n, torch.randn(3), torch.tensor(2))
    check(lambda x, y: x + y, torch.randn(3), torch.tensor(2.0, dtype=torch.float64))


@pytest.mark.parametrize("dynamic", [None, True])
def test_empty_inputs(dynamic):
    function = lambda x: (x * 2, x.sum(0), x.sum(1), x.t(), torch.cat([x, x]), x.softmax(1), x.any(), x.prod())  # noqa: E731
    check(function, torch.randn(0, 3), dynamic=dynamic)
    check(lambda x: (x.sum(1), x.mean(), x @ x.t(), x.all(1), x.cumsum(0)), torch.randn(3, 0), dynamic=dynamic)


def test_a_reduction_without_elements_raises_as_in_eager():
    with pytest.raises(Exception):
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
        out = [x == y, torch.where(x > y, x, y), x.to(torch.float32) * 0.5, x.flip(1), torch.cat([x, x[:, :3]], 1)]
        out += [x.amax(1), x.sum(0), x.any(1), x.argmax(1) if x.dtype != torch.bool else x, x.t().contiguous()]
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
    "dtype", [torch.uint16, torch.uint32, torch.uint64, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2], ids=str
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


def test_strides_of_a_convolution_in_either_layout():
    layer = torch.nn.Conv2d(4, 8, 3, padding=1).requires_grad_(False)
    for form in (torch.contiguous_format, torch.channels_last):
        torch._dynamo.reset()
        check(lambda x: (layer(x), layer(x).relu() + 1), torch.randn(2, 4, 9, 9).to(memory_format=form), atol=1e-5, rtol=1e-5)


# Gradients.


def gradients(function, inputs, parameters=()):
    inputs = copied(inputs)
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad] + list(parameters)
    outputs = [t for t in leaves(function(*inputs)) if isinstance(t, torch.Tensor)]
    loss = sum((t.double() * torch.linspace(0.5, 1.5, t.numel()).reshape(t.shape)).sum() for t in outputs if t.requires_grad)
    return outputs, torch.autograd.grad(loss, wanted, allow_unused=True)


def check_gradients(function, *inputs, parameters=(), dynamic=None, **tolerance):
    found, found_grads = gradients(compiled(function, dynamic=dynamic), inputs, parameters)
    expected, expected_grads = gradients(function, inputs, parameters)
    assert_same(found, expected, False, **tolerance)
    assert_same(found_grads, expected_grads, False, **tolerance)


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


@pytest.mark.parametrize(
    "function,inputs",
    [
        (lambda x, y: (x * y).sin().sum(1), [leaf(3, 4), leaf(4)]),
        (lambda x: x.softmax(-1).log().mean(), [leaf(5, 7)]),
        (lambda x: F.layer_norm(x, (3, 4)), [leaf(5, 3, 4)]),
        (lambda x: x.max(1), [leaf(4, 9)]),
        (lambda x: (x.argmax(1), x.sort(1).values, x.topk(2)), [leaf(4, 9)]),
        (lambda x, i: x[i] * 2, [leaf(5, 3), torch.tensor([4, 0, 4])]),
        (lambda x: (x[1:].cumsum(0), x[:, None].expand(5, 2, 3)), [leaf(5, 3)]),
        (lambda x: F.max_pool2d(F.avg_pool2d(x, 2), 2, return_indices=True), [leaf(1, 2, 8, 8)]),
        (lambda x, t: F.cross_entropy(x, t), [leaf(6, 5), torch.tensor([0, 1, 4, 2, 2, 3])]),
        (lambda x, y: torch.cat([x, y], 1).pow(2).amax(0), [leaf(3, 2), leaf(3, 4)]),
        (lambda x, y: torch.where(x > 0, x * y, y.exp()), [leaf(3, 4), leaf(3, 4)]),
        (lambda x: F.gelu(F.pad(x, (1, 2))).var(1), [leaf(3, 4)]),
        (lambda x: (x, x.view(-1), x * 1), [leaf(3, 4)]),
        (lambda x: x.clone().mul_(2).add_(x).relu_(), [leaf(3, 4)]),
        (lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True), [leaf(1, 2, 6, 8), leaf(1, 2, 6, 8)]),
        (lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), [leaf(1, 2, 4, 5)]),
        (lambda x: x.prod(1) + x.norm(dim=1) + x.logsumexp(1), [leaf(3, 5)]),
    ],
)
@pytest.mark.parametrize("dynamic", [None, True])
def test_gradients(function, inputs, dynamic):
    check_gradients(function, *inputs, dynamic=dynamic, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_model_with_integer_results_and_dropout_in_eval():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(11, 8, padding_idx=0)
            self.norm = torch.nn.LayerNorm(8)
            self.drop = torch.nn.Dropout(0.5)
            self.out = torch.nn.Linear(8, 11)

        def forward(self, ids):
            y = self.out(self.drop(F.silu(self.norm(self.embed(ids)))))
            return y, y.argmax(-1), ids + 1

    model = Model().eval()
    ids = torch.tensor([[0, 1, 5, 5], [10, 2, 0, 1]])
    parameters = list(model.parameters())
    check_gradients(model, ids, parameters=parameters, rtol=1e-4, atol=1e-5)


def test_convolution_and_batch_norm_gradients_in_training():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 6, 3), torch.nn.BatchNorm2d(6), torch.nn.Hardswish(), torch.nn.AdaptiveAvgPool2d(1)
    )
    check_gradients(model, leaf(2, 3, 8, 8), parameters=list(model.parameters()), rtol=1e-3, atol=1e-4)


def test_gradients_accumulate_over_calls():
    weight, run = leaf(3, 3), compiled(lambda x, w: (x @ w).tanh())
    inputs = [torch.randn(2, 3) for _ in range(3)]
    results = [run(x, weight) for x in inputs]  # all forwards before the first backward
    for y in results:
        y.sum().backward()
    found, weight.grad = weight.grad, None
    for x in inputs:
        (x @ weight).tanh().sum().backward()
    torch.testing.assert_close(found, weight.grad)


def test_inputs_that_require_grad_under_no_grad():
    layer = torch.nn.Linear(4, 4)
    run = compiled(lambda x: (layer(x).relu(), x.view(-1)))
    x = leaf(2, 4)
    with torch.no_grad():
        found = run(x)
        assert not found[0].requires_grad
        assert_same(found[0], layer(x).relu())
    assert run(x)[0].requires_grad
    with torch.inference_mode():
        assert_same(run(torch.ones(2, 4))[0], layer(torch.ones(2, 4)).relu())
    assert_same(run(x)[0], layer(x).relu())


def test_dropout_in_training_keeps_about_the_right_share():
    x = torch.ones(200, 200)
    y = compiled(lambda x: F.dropout(x, 0.25))(x)
    assert set(y.unique().tolist()) <= {0.0, x[0, 0].item() / 0.75}
    assert 0.2 < (y == 0).float().mean() < 0.3
    z = compiled(lambda x: F.dropout(x, 0.25))(x)
    assert not torch.equal(y, z)


# Operators without a lowering, and those of the user.


def test_operators_that_are_called():
    check(
        lambda x: (torch.linalg.qr(x).R.abs(), x.sort(0), x.unique(), torch.fft.rfft(x).abs(), x.median(1)),
        torch.randn(4, 4),
        atol=1e-5,
        rtol=1e-5,
    )
    check(lambda x: (torch.bincount(x), x.nonzero(), torch.histc(x.float(), 4)), torch.tensor([1, 3, 1, 0]))


def test_custom_operators():
    check(lambda x: twice_plus(x.exp(), 0.5).sum(0) * twice_plus(x[0], 1.0), torch.randn(3, 4))
    check(lambda x, y: (add_into(x, y), x * 2)[1], torch.randn(3, 4), torch.randn(3, 4))


def test_control_flow():
    run = compiled(lambda x: torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,)) * 2)
    for x in (torch.ones(3), -torch.ones(3)):
        assert_same(run(x), (x.sin() + 1 if x.sum() > 0 else x.cos() - 1) * 2)


@pytest.mark.parametrize("kind,error", [("key", KeyError), ("zero", ZeroDivisionError), ("runtime", RuntimeError)])
def test_exceptions_of_custom_operators_arrive_as_they_are(kind, error):
    run = compiled(lambda x: fails(x * 2, kind) + 1)
    for _ in range(2):
        with pytest.raises(error, match="from the operator"):
            run(torch.ones(3))


def test_exceptions_of_called_operators_are_eager_s():
    function = lambda x: torch.linalg.cholesky(x) + 1  # noqa: E731
    run = compiled(function)
    assert_same(run(torch.eye(3)), function(torch.eye(3)), False)
    with pytest.raises(torch.linalg.LinAlgError):
        run(-torch.eye(3))
    assert_same(run(torch.eye(3)), function(torch.eye(3)), False)  # a failed call leaves nothing behind


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x[i],
        lambda x, i: x.index_select(0, i) * 2,
        lambda x, i: F.embedding(i, x).sum(),
        lambda x, i: x.index_put((i,), torch.zeros(3)),
        lambda x, i: x.gather(0, i[:, None].expand(-1, 3)) + 1,
        lambda x, i: x.scatter(0, i[:, None].expand(-1, 3), 1.0) + 1,
    ],
)
def test_an_index_out_of_range_is_an_error(function):
    run, x = compiled(function), torch.randn(5, 3)
    good = torch.tensor([0, 4, 2])
    assert_same(run(x, good), function(x, good), False)
    for bad in (5, -6, 2**40):
        with pytest.raises((IndexError, RuntimeError)) as caught:
            run(x, torch.tensor([0, bad, 2]))
        with pytest.raises((IndexError, RuntimeError)) as expected:
            function(x, torch.tensor([0, bad, 2]))
        assert caught.type is expected.type
    assert_same(run(x, good), function(x, good), False)


# Sizes that change.


class Counting:
    """The backend, counting the graphs that reach it."""

    def __init__(self):
        self.count = 0

    def __call__(self, gm, inputs):
        self.count += 1
        return backend(gm, inputs)


def attention(x):
    q, k, v = (x @ torch.ones(x.shape[-1], 12)).view(x.shape[0], x.shape[1], 3, 2, 2).permute(2, 0, 3, 1, 4)
    scores = (q @ k.transpose(-1, -2) * 0.01).masked_fill(torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


@pytest.mark.parametrize(
    "function,shapes",
    [
        (attention, [(2, 5, 6), (3, 9, 6), (4, 17, 6), (2, 64, 6)]),
        (lambda x: (x.mean(1), x[:, ::2] + 1, torch.cat([x, x * 2], 1), x.argmax()), [(3, 4), (5, 33), (64, 7), (2, 2)]),
        (lambda x: x.reshape(-1, 2).sum(0) + x.shape[0], [(4, 6), (3, 8), (9, 10)]),
        (lambda x: (x.flip(1).cumsum(1), x.roll(1, 0), x.t().contiguous()), [(4, 6), (70, 3), (2, 200)]),
        (lambda x: F.pad(x, (1, x.shape[0])).std(1), [(4, 6), (7, 3), (2, 20)]),
        (lambda x: x.view(x.shape[0], -1, 2).amax(2).chunk(2, 1), [(4, 8), (7, 16), (2, 12)]),
    ],
)
def test_one_compilation_serves_many_sizes(function, shapes):
    counting = Counting()
    run = torch.compile(function, backend=counting, dynamic=True)
    for shape in shapes:
        x = torch.randn(*shape)
        assert_same(run(x), function(x), rtol=1e-4, atol=1e-4)
    assert counting.count == 1


def test_gradients_for_many_sizes():
    layer, counting = torch.nn.Linear(6, 3), Counting()
    function = lambda x: layer(x).log_softmax(-1).sum(1).square()  # noqa: E731
    run = torch.compile(function, backend=counting, dynamic=True)
    for shape in ((4, 6), (9, 6), (2, 6)):
        x = leaf(*shape)
        parameters = list(layer.parameters())
        found, expected = gradients(run, [x], parameters), gradients(function, [x], parameters)
        assert_same(found, expected, False, rtol=1e-4, atol=1e-5)
    assert counting.count == 1


# Threads.


def test_threads_run_one_function():
    layer = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32)).requires_grad_(False)

    def function(x):
        return layer(x).softmax(-1), twice_plus(x, 1.0), x.sort(1).values

    run = compiled(function, dynamic=True)
    run(torch.randn(3, 16))
    failures = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for k in range(20):
            x = torch.randn(2 + (seed + k) % 5, 16, generator=generator)
            try:
                assert_same(run(x), function(x), False)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)
                return

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_threads_run_backwards_at_once():
    function = lambda x, w: (x @ w).tanh().sum()  # noqa: E731
    run, failures = compiled(function), []
    run(leaf(4, 5), leaf(5, 3)).backward()

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(10):
            x, w = (torch.randn(4, 5, generator=generator), torch.randn(5, 3, generator=generator))
            x, w = x.requires_grad_(), w.requires_grad_()
            found = torch.autograd.grad(run(x, w), [x, w])
            expected = torch.autograd.grad(function(x, w), [x, w])
            if not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected)):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# Options, faults and explanations.


def test_options_change_how_and_not_what():
    x = torch.randn(4, 33)
    function = lambda x: (x.gelu() if hasattr(x, "gelu") else F.gelu(x)).softmax(-1).sum(0) + x.mean(0)  # noqa: E731
    for options in ({"call_ops": "all"}, {"max_fusions": 0}, {"call_ops": "aten.gelu.default"}, {"cache": False}):
        torch._dynamo.reset()
        check(function, x, options=options)


@pytest.mark.parametrize(
    "options,parts",
    [
        ({"max_fusions": -1}, ["max_fusions", "-1", "0"]),
        ({"target": "tpu"}, ["target", "tpu", "cpu"]),
        ({"cache": "maybe"}, ["cache", "maybe", "true"]),
        ({"no_such": 1}, ["no_such"]),
        ({"log": "everything"}, ["log", "everything", "remarks"]),
    ],
)
def test_bad_options_are_named_with_what_is_allowed(options, parts):
    with pytest.raises(jumar.CompileError) as caught:
        backend(torch.fx.symbolic_trace(lambda x: x + 1), [torch.ones(2)], options=options)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_a_bug_names_a_reproducer_and_may_fall_back(monkeypatch):
    def fail(*args):
        raise jumar.InternalError("a broken invariant; the input is in /tmp/reproducer")

    monkeypatch.setattr("jumar._native.compile", fail)
    with pytest.raises(Exception, match="/tmp/reproducer"):
        compiled(lambda x: x + 1)(torch.ones(2))
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = compiled(lambda x: (x + 1).relu(), options={"fallback_on_error": True})
        for _ in range(3):
            assert torch.equal(run(torch.ones(2)), torch.full((2,), 2.0))
    assert len([w for w in caught if "broken invariant" in str(w.message)]) == 1


NATIVE = """graph @main symbols(s0 in [2, 64]) {
  schema aten.add.Tensor(Tensor self, Tensor other, Scalar alpha) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 3] = input 1
  %y: f32[3] = input 2
  %z: f32[s0, 3] = aten.add.Tensor(%x, %y, 1)
  return %z
}
"""


@pytest.mark.parametrize(
    "n,x,y,message",
    [
        (4, torch.ones(5, 3), torch.ones(3), "input 1"),
        (4, torch.ones(4, 2), torch.ones(3), "input 1"),
        (4, torch.ones(4, 3), torch.ones(4), "input 2"),
        (4, torch.ones(4, 3), torch.ones(1, 3), "input 2"),
        (4, torch.ones(3, 4).t(), torch.ones(3), "input 1"),
        (4, torch.ones(4, 3).double(), torch.ones(3), "f64"),
        (65, torch.ones(65, 3), torch.ones(3), "64"),
        (1, torch.ones(1, 3), torch.ones(3), "s0"),
        (-4, torch.ones(4, 3), torch.ones(3), ""),
    ],
)
def test_inputs_that_break_what_was_compiled_are_refused(n, x, y, message):
    program = _native.compile(NATIVE, {"cache": False})
    assert torch.equal(program.run([4, torch.ones(4, 3), torch.ones(3)])[0], torch.full((4, 3), 2.0))
    with pytest.raises(jumar.InputError, match=message):
        program.run([n, x, y])


def test_explanations_name_kernels_calls_and_python():
    def function(x):
        return twice_plus((x @ x.t()).relu(), 1.0).softmax(-1).sort(-1).values

    explanation = jumar.explain(function, torch.randn(4, 4))
    assert len(explanation.graphs) == 1 and not explanation.eager
    assert explanation.kernels
    assert {"aten.mm.default", "aten.sort.default"} <= {row["op"] for row in explanation.calls}
    assert all(row["reason"] for row in explanation.calls)
    assert len(explanation.python_calls) == 1
    text = str(explanation)
    assert "kernel" in text and "aten.mm.default" in text and "twice_plus" in text
