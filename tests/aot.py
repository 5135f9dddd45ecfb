"""A function through AOTAutograd straight into the compiler, and what a call of it leaves behind.

    run = compiled(function, by_jumar(reports), dynamic=True)
    found, expected = outcome(run, tensors, seed=1), outcome(function, tensors, seed=1)
    found.results, found.inputs, sharing(found)

It is what torch.compile does after Dynamo, without Dynamo's guards: a compiled function is for tensors of which the
conditions hold that its first call met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch
from torch._functorch.aot_autograd import aot_function, make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

SEED = 1234


@dataclass
class Outcome:
    """What a call left behind."""

    error: BaseException | None
    results: list[Any]
    inputs: list[torch.Tensor]
    gradients: list[torch.Tensor | None]


def with_own_memory(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Copies with the same strides and offsets; tensors that share memory go on sharing it."""
    storages: dict[int, torch.UntypedStorage] = {}
    out = []
    for t in tensors:
        plain = t.detach()
        is_plain = t.layout is torch.strided and t.device.type == "cpu"
        if not is_plain or t.is_conj() or t.is_neg() or t.is_quantized or t.is_nested:
            out.append(plain.clone().requires_grad_(t.requires_grad))
            continue
        storage = plain.untyped_storage()
        copy = storages.setdefault(storage._cdata, storage.clone())
        own = torch.empty(0, dtype=t.dtype)
        own.set_(copy, t.storage_offset(), t.shape, t.stride())
        out.append(own.requires_grad_(t.requires_grad))
    return out


def _gradients(results: list[Any], inputs: list[torch.Tensor]) -> list[torch.Tensor | None]:
    wanted = [t for t in inputs if t.requires_grad]
    outputs = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    if not wanted or not outputs:
        return []
    generator = torch.Generator().manual_seed(SEED)
    seeds = [torch.randn(r.shape, generator=generator, dtype=torch.float32).to(r.dtype) for r in outputs]
    return list(torch.autograd.grad(outputs, wanted, seeds, allow_unused=True))


def outcome(
    function: Callable[..., Any], tensors: list[torch.Tensor], wants_gradient: bool, seed: int = SEED
) -> Outcome:
    inputs = with_own_memory(tensors)
    torch.manual_seed(seed)
    try:
        results = pytree.tree_leaves(function(*inputs))
        gradients = _gradients(results, inputs) if wants_gradient else []
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001: eager's exceptions are part of what is compared
        return Outcome(error, [], inputs, [])
    return Outcome(None, results, inputs, gradients)


def compiled(function: Callable[..., Any], compiler: Callable[[str], Any], dynamic: bool) -> Callable[..., Any]:
    run = aot_function(
        function,
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions={},
        keep_inference_input_mutations=True,
        dynamic=dynamic,
    )
    # What Dynamo sets for its backends.
    mode = FakeTensorMode(shape_env=ShapeEnv() if dynamic else None)
    context = TracingContext(mode)

    def traced(*inputs: torch.Tensor) -> Any:
        with tracing(context):
            return run(*inputs)

    return traced


def by_jumar(reports: list[dict[str, Any]]) -> Callable[[str], Any]:
    from jumar.backend import compile_graph

    def compiler(kind: str) -> Any:
        return lambda graph, inputs: compile_graph(graph, inputs, kind, {}, reports.append)

    return compiler


def by_eager(kind: str) -> Any:
    return lambda graph, inputs: make_boxed_func(graph.forward)


def _storage(t: torch.Tensor) -> int | None:
    try:
        return t.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return None


def sharing(left: Outcome) -> list[tuple[int, int]]:
    """Pairs of a result and an input, or an earlier result, in the same memory."""
    tensors = [t for t in left.inputs + left.results if isinstance(t, torch.Tensor)]
    keys = [_storage(t) if t.numel() else None for t in tensors]
    first = len(left.inputs)
    return [(a, b) for b in range(first, len(keys)) for a in range(b) if keys[a] is not None and keys[a] == keys[b]]


def effective_strides(t: torch.Tensor) -> list[int]:
    return [s for s, n in zip(t.stride(), t.shape) if n != 1]


def rows_of(left: Outcome) -> list[tuple[str, Any]]:
    rows = [(f"result {k}", r) for k, r in enumerate(left.results)]
    rows += [(f"input {k} after the call", t) for k, t in enumerate(left.inputs)]
    return rows + [(f"gradient {k}", g) for k, g in enumerate(left.gradients)]


def error_text(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])[:300]}"
