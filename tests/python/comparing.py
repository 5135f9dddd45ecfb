"""Compiled functions next to eager ones: results, inputs after the call, and gradients."""

from __future__ import annotations

import threading

import torch


def compiled(function, **kwargs):
    from jumar.backend import jumar as backend

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
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
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


def gradients(function, inputs, parameters=()):
    inputs = copied(inputs)
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad] + list(parameters)
    outputs = [t for t in leaves(function(*inputs)) if isinstance(t, torch.Tensor)]
    loss = sum(
        (t.double() * torch.linspace(0.5, 1.5, t.numel()).reshape(t.shape)).sum()
        for t in outputs
        if t.requires_grad
    )
    return outputs, torch.autograd.grad(loss, wanted, allow_unused=True)


def check_gradients(function, *inputs, parameters=(), dynamic=None, **tolerance):
    found, found_grads = gradients(compiled(function, dynamic=dynamic), inputs, parameters)
    expected, expected_grads = gradients(function, inputs, parameters)
    assert_same(found, expected, False, **tolerance)
    assert_same(found_grads, expected_grads, False, **tolerance)


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def in_threads(work, count):
    """Runs work(0) to work(count - 1) at once and waits for all."""
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
