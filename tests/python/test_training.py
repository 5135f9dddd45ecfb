"""Training next to eager PyTorch: gradients of whole models, random numbers, optimizers, and what inputs become."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from comparing import assert_same

pytest.importorskip("jumar._native", reason="the extension is not built")

from jumar.backend import compile_dynamo_graph  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(function, reports, **kwargs):
    backend = lambda gm, inputs: compile_dynamo_graph(gm, inputs, {}, reports.append)  # noqa: E731
    return torch.compile(function, backend=backend, **kwargs)


def called(report):
    assert "eager" not in report, report.get("eager")
    assert not report["python_calls"], report["python_calls"]
    return {call["op"].split(".")[1]: call["count"] for call in report["calls"]}


# ---- models in training mode

# Products, convolutions and attention are called, and the random numbers are eager's.
CALLED = {"mm", "addmm", "bmm", "convolution", "convolution_backward", "native_dropout", "bernoulli", "new_empty"}
CALLED |= {"_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward"}


def encoder():
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    model = BertModel(BertConfig(vocab_size=50, **sizes))
    run = lambda ids: model(input_ids=ids, return_dict=False)[0]  # noqa: E731
    return model, run, torch.randint(0, 50, (3, 16))


def convolutional():
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.Conv2d(8, 8, 3, groups=8),
        nn.GroupNorm(2, 8), nn.Hardswish(), nn.AvgPool2d(2), nn.Conv2d(8, 16, 1), nn.BatchNorm2d(16), nn.GELU(),
        nn.AdaptiveAvgPool2d(2), nn.Dropout2d(0.2), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    return model, lambda x: F.cross_entropy(model(x), torch.arange(len(x)) % 10), torch.randn(4, 3, 32, 32)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("make", [encoder, convolutional])
def test_a_training_step_of_a_model(make, dynamic):
    torch.manual_seed(1)
    other, run_other, _ = make()
    torch.manual_seed(1)
    model, run, x = make()
    weights = torch.randn(run_other(x).shape)
    other.load_state_dict(model.state_dict())  # buffers that the run has changed
    other.zero_grad()

    def step(function):
        torch.manual_seed(5)
        (function(x) * weights).sum().backward()
        return torch.get_rng_state()

    reports: list = []
    assert torch.equal(step(compiled(run, reports, dynamic=dynamic)), step(run_other))
    assert [r["graph"] for r in reports] == ["forward", "backward"]
    for report in reports:
        assert set(called(report)) <= CALLED, report["calls"]
    expected = {k: p.grad for k, p in other.named_parameters() if p.grad is not None}
    found = {k: p.grad for k, p in model.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    largest = max(g.abs().max() for g in expected.values())
    for key, gradient in expected.items():
        allowed = 1e-4 * gradient.abs().max() + 1e-6 * largest
        assert (found[key] - gradient).abs().max() <= allowed, key
    for (key, buffer), (_, wanted) in zip(model.named_buffers(), other.named_buffers(), strict=True):
        torch.testing.assert_close(buffer, wanted, rtol=1e-5, atol=1e-6, msg=key)


# ---- random numbers


def dropped_twice(x):
    return F.dropout(F.dropout(x, 0.3).sin() + torch.rand(7), 0.2) + torch.randn_like(x)


def drawn(x):
    noise = torch.empty_like(x).uniform_(1, 2) + torch.empty(7).exponential_(2.0) + torch.randint(0, 9, (7,))
    return x * torch.bernoulli(torch.full_like(x, 0.3)) + noise + torch.normal(0.0, 1.0, (5, 7))


def checkpointed(x):
    def inside(y):
        return F.dropout(y.sin() + torch.rand_like(y), 0.3).cos()

    return torch.utils.checkpoint.checkpoint(inside, F.dropout(x, 0.4), use_reentrant=False) + torch.rand(7)


@pytest.mark.parametrize("function", [dropped_twice, drawn, checkpointed])
def test_random_numbers_and_the_generator_after_them_are_those_of_eager(function):
    def run(function, x):
        torch.manual_seed(3)
        for _ in range(2):
            result = function(x)
            (result * torch.linspace(1, 2, 7)).sum().backward()
        return result, x.grad, torch.get_rng_state()

    x = torch.randn(5, 7)
    reports: list = []
    found = run(compiled(function, reports), x.clone().requires_grad_())
    expected = run(function, x.clone().requires_grad_())
    assert_same(found, expected, rtol=1e-5, atol=1e-6)
    assert [r["graph"] for r in reports] == ["forward", "backward"]
    assert all("eager" not in r for r in reports)


# ---- optimizers


def parameters(dtypes):
    shapes = [(16, 16), (7,), (3, 5, 2), (1,), ()]
    return [torch.nn.Parameter(torch.randn(shape).to(d)) for shape, d in zip(shapes, dtypes, strict=True)]


def check_optimizer(make, dtypes=(torch.float32,) * 5, between=lambda k, optimizer, parameters: None, **tolerance):
    """Steps of a compiled optimizer and of an eager one; what was compiled, and how much of it by each step."""
    ours = parameters(dtypes)
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    found, expected = make(ours), make(theirs)
    reports: list = []
    step = compiled(found.step, reports)
    counts = []
    for k in range(7):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        between(k, found, ours)
        between(k, expected, theirs)
        versions = [p._version for p in ours]
        step()
        expected.step()
        assert all(p._version > before for p, before in zip(ours, versions, strict=True))
        assert_same(ours, theirs, **tolerance)
        counts.append(len(reports))
    states = [list(o.state_dict()["state"].values()) for o in (found, expected)]
    assert_same([list(s.values()) for s in states[0]], [list(s.values()) for s in states[1]], **tolerance)
    for report in reports:
        assert not called(report)
        assert len(report["kernels"]) == 1
    return counts


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.Adam(p, lr=1e-2, foreach=True, maximize=True),
        lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True, amsgrad=True),
        lambda p: torch.optim.SGD(p, lr=1e-2, foreach=True, momentum=0.9, nesterov=True, weight_decay=0.1),
        lambda p: torch.optim.RMSprop(p, lr=1e-2, foreach=True, momentum=0.9, centered=True),
        lambda p: torch.optim.NAdam(p, lr=1e-2, foreach=True),
    ],
    ids=["adam", "adamw", "sgd", "rmsprop", "nadam"],
)
def test_an_optimizer_of_many_tensors_is_one_launch(make):
    counts = check_optimizer(make, rtol=1e-5, atol=1e-6)
    # SGD makes its momentum in the first step; after that nothing is compiled again.
    assert counts[-1] == counts[1]


def test_parameters_of_different_types():
    dtypes = (torch.float32, torch.bfloat16, torch.float32, torch.bfloat16, torch.float64)
    counts = check_optimizer(lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True), dtypes, rtol=2e-2, atol=1e-3)
    assert counts[-1] == 1


def test_a_learning_rate_that_is_a_tensor_compiles_once():
    def change(k, optimizer, _):
        optimizer.param_groups[0]["lr"].fill_(1e-2 / (k + 1))

    make = lambda p: torch.optim.Adam(p, lr=torch.tensor(1e-2), foreach=False)  # noqa: E731
    assert check_optimizer(make, between=change, rtol=1e-5, atol=1e-6)[-1] == 1


def test_state_that_is_restored_between_steps():
    def between(k, optimizer, parameters):
        if k == 3:
            optimizer.saved = copy.deepcopy(optimizer.state_dict())
            optimizer.weights = [p.detach().clone() for p in parameters]
        if k == 5:
            optimizer.load_state_dict(optimizer.saved)
        if k in (5, 6):
            with torch.no_grad():
                for parameter, weight in zip(parameters, optimizer.weights, strict=True):
                    parameter.copy_(weight * k)

    counts = check_optimizer(lambda p: torch.optim.Adam(p, foreach=True), between=between, rtol=1e-5, atol=1e-6)
    assert counts == [1, 1, 1, 1, 1, 2, 2]  # a state of new tensors has other guards


# ---- what inputs become


@torch.no_grad()
def test_inputs_change_as_in_eager():
    def reversed_(x, y):
        x.copy_(x.flip(0))  # other elements of x are read
        return y * 2

    def swapped(x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        return x + y

    def kept(x, y):
        z = x * 2
        x.add_(y).mul_(y)
        return z, x.sum(0), x

    def indexed(x, y):
        x.add_(1)
        return x[y.abs().long() % 3]

    def transposed(x, y):
        x.t().mul_(2)
        y[1:].copy_(x[:-1])
        return x.t() @ y

    def softmaxed(x, y):
        x.copy_(x.softmax(0) + y)
        y.sub_(y.mean(1, keepdim=True))

    for function in (reversed_, swapped, kept, indexed, transposed, softmaxed):
        for dynamic in (None, True):
            torch._dynamo.reset()
            reports: list = []
            run = compiled(function, reports, dynamic=dynamic)
            for _ in range(2):
                ours = [torch.randn(4, 4), torch.randn(4, 4)]
                theirs = [x.clone() for x in ours]
                assert_same(run(*ours), function(*theirs), rtol=1e-5, atol=1e-6)
                assert_same(ours, theirs, rtol=1e-5, atol=1e-6)
            assert all("eager" not in r for r in reports), (function, reports)
