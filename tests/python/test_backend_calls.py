"""Called operators, exceptions, sizes that change, threads and options of compiled functions."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F
from comparing import assert_same, check, compiled, gradients, in_threads, leaf

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


@torch.library.custom_op("jumar_values::positives", mutates_args=())
def positives(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    found = x[x > 0].clone()
    return found, found.numel() * 2


@positives.register_fake
def _(x):
    size = torch.library.get_ctx().new_dynamic_size()
    return x.new_empty(size), torch.library.get_ctx().new_dynamic_size()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + x.sum().item(),
        lambda x: x + (1 if x.max().item() > 1 else 2),
        lambda x: x + (x.sum() > 3).item(),
        lambda x: torch.arange(int(x.max().item())) * x[0, 0],
        lambda x: x[x > 0] * 2,
        lambda x: x.nonzero().float().sum(1),
        lambda x: x.sort(1).values.unique(return_counts=True),
        lambda x: x.long().unique(return_counts=True, return_inverse=True),
        lambda x: x.flatten().int().unique_consecutive(dim=0) * 2,
        lambda x: torch.bincount(x.flatten().abs().int()) * 2,
        lambda x: torch.bincount(x.flatten().abs().long(), x.flatten().double()) * 2,
        lambda x: torch.repeat_interleave(x, torch.tensor([2, 3]), dim=0) + 1,
        lambda x: (lambda found: (found[0].exp(), x * found[1]))(positives(x)),
    ],
)
@pytest.mark.filterwarnings("ignore:jumar. a graph .* runs eagerly")
def test_numbers_and_sizes_that_data_decide(function):
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        check(function, torch.tensor([[1.0, 2.5, -1.0], [3.0, 0.0, 4.0]]))


def test_a_size_that_is_a_rounded_product():
    function = lambda x: F.interpolate(x, scale_factor=1.3) * 2  # noqa: E731
    run = compiled(function, dynamic=True)
    for shape in ((1, 3, 10, 12), (2, 3, 7, 30)):
        x = torch.randn(*shape)
        assert_same(run(x), function(x))


def test_control_flow():
    run = compiled(lambda x: torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,)) * 2)
    for x in (torch.ones(3), -torch.ones(3)):
        assert_same(run(x), (x.sin() + 1 if x.sum() > 0 else x.cos() - 1) * 2)


@pytest.mark.parametrize(
    "kind,error", [("key", KeyError), ("zero", ZeroDivisionError), ("runtime", RuntimeError)]
)
def test_exceptions_of_custom_operators_arrive_as_they_are(kind, error):
    run = compiled(lambda x: fails(x * 2, kind) + 1)
    for _ in range(2):
        with pytest.raises(error, match="from the operator"):
            run(torch.ones(3))


def test_exceptions_of_called_operators_are_eager_s():
    function = lambda x, w: torch.multinomial(w, 3).sum() + x.sin()  # noqa: E731
    run, x = compiled(function), torch.randn(3)
    assert_same(run(x, torch.ones(3)), function(x, torch.ones(3)))
    with pytest.raises(RuntimeError, match="probability tensor contains either"):
        run(x, -torch.ones(3))
    assert_same(run(x, torch.ones(3)), function(x, torch.ones(3)))  # a failed call leaves nothing behind


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
        with pytest.raises((IndexError, RuntimeError)) as expected:
            function(x, torch.tensor([0, bad, 2]))
        with pytest.raises(
            (IndexError, expected.type), match="out of bounds|out of range"
        ):  # kernels raise IndexError
            run(x, torch.tensor([0, bad, 2]))
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
    scores = (q @ k.transpose(-1, -2) * 0.01).masked_fill(
        torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), -1e9
    )
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


@pytest.mark.parametrize(
    "function,shapes",
    [
        (attention, [(2, 5, 6), (3, 9, 6), (4, 17, 6), (2, 64, 6)]),
        (
            lambda x: (x.mean(1), x[:, ::2] + 1, torch.cat([x, x * 2], 1), x.argmax()),
            [(3, 4), (5, 33), (64, 7), (2, 9)],
        ),
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


@pytest.fixture
def dynamo_settings():
    """Threads that use dynamic=True at once leave Dynamo's settings changed."""
    config = torch._dynamo.config
    with config.patch(
        assume_static_by_default=config.assume_static_by_default,
        automatic_dynamic_shapes=config.automatic_dynamic_shapes,
    ):
        yield


def test_threads_run_one_function(dynamo_settings):
    layer = torch.nn.Sequential(
        torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32)
    ).requires_grad_(False)

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

    in_threads(work, 6)
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
            if not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True)):
                failures.append(seed)

    in_threads(work, 4)
    assert not failures


# Options, faults and explanations.


def test_options_change_how_and_not_what():
    x = torch.randn(4, 33)
    function = lambda x: F.gelu(x).softmax(-1).sum(0) + x.mean(0)  # noqa: E731
    for options in (
        {"call_ops": "all"},
        {"max_fusions": 0},
        {"call_ops": "aten.gelu.default"},
        {"cache": False},
    ):
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


@pytest.mark.parametrize(
    "error,message",
    [
        (jumar.InternalError, "a broken invariant; the input is in /tmp/reproducer"),
        (jumar.CompileError, "no such luck"),
    ],
)
def test_a_failing_compilation_is_an_error_or_an_eager_run(monkeypatch, error, message):
    def fail(*args, **kwargs):
        raise error(message)

    monkeypatch.setattr("jumar._native.compile", fail)
    with pytest.raises(Exception, match=message):
        compiled(lambda x: x + 1)(torch.ones(2))
    torch._dynamo.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = compiled(lambda x: (x + 1).relu(), options={"fallback_on_error": True})
        for _ in range(3):
            assert torch.equal(run(torch.ones(2)), torch.full((2,), 2.0))
    assert len([w for w in caught if message in str(w.message)]) == 1


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
        (-4, torch.ones(4, 3), torch.ones(3), "input"),
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
