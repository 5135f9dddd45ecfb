"""The Dynamo backend: `torch.compile(model, backend="jumar")`.

AOTAutograd owns aliases, mutation and the split into forward and backward; the compiler sees functional graphs.
Each goes through `compile_graph`: printed as text (capture.py), compiled by the native extension, and returned as
a function of one list that it empties. A graph that text cannot express runs eagerly, with a warning that says
why; so does one that fails to compile, if the option `fallback_on_error` is set.
"""

from __future__ import annotations

import json
import warnings
from typing import Any, Callable, Mapping, Sequence

import torch
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext

from . import _native
from .capture import Unprintable, graph_text
from .errors import CompileError, InternalError
from .options import flag, option_text

Compiled = Callable[[list[Any]], Sequence[Any]]
Report = Callable[[dict[str, Any]], None]


def jumar(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """The entry point that torch.compile calls with each graph that Dynamo captures."""
    text = option_text(options, mode)
    _native.check_options(text)
    return compile_dynamo_graph(gm, example_inputs, text)


def compile_dynamo_graph(
    gm: fx.GraphModule, example_inputs: Sequence[Any], options_text: str, report: Report | None = None
) -> Callable[..., Any]:
    """Compiles with options already checked; `report` receives what became of each graph."""

    def compiler(kind: str) -> Callable[[fx.GraphModule, Sequence[Any]], Compiled]:
        return lambda graph, inputs: compile_graph(graph, inputs, kind, options_text, report)

    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions={},  # all of them are C++, so that exported programs get the same ones
        keep_inference_input_mutations=False,
    )
    return backend(gm, example_inputs)


def compile_graph(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    kind: str,
    options_text: str = "",
    report: Report | None = None,
) -> Compiled:
    """Compiles one functional ATen graph; `kind` is inference, forward or backward."""
    try:
        captured = graph_text(gm, example_inputs, static_indices(gm, kind), kind)
    except Unprintable as refusal:
        return _eager(gm, kind, f"it has {refusal}", report)
    try:
        compiled = _native.compile(captured.text, options_text, captured.python_calls, captured.constants)
    except (CompileError, InternalError) as error:
        if not flag(options_text, "fallback_on_error"):
            raise
        return _eager(gm, kind, str(error), report)
    if report is not None:
        report({"graph": kind, **json.loads(compiled.report())})
    run = compiled.run

    def call(args: list[Any]) -> Sequence[Any]:
        try:
            return run(args)
        finally:
            args.clear()

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def static_indices(gm: fx.GraphModule, kind: str) -> list[int]:
    """Inputs that stay the same tensors from call to call: parameters and buffers."""
    context = TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return []
    indices = context.fw_metadata.static_input_indices or []
    if kind != "backward":
        return list(indices)
    # The backward graph receives some of the forward's inputs, which keep their names.
    static_names = {f"primals_{k + 1}" for k in indices}
    placeholders = [n.name for n in gm.graph.nodes if n.op == "placeholder"]
    return [k for k, name in enumerate(placeholders) if name in static_names]


def _eager(gm: fx.GraphModule, kind: str, reason: str, report: Report | None) -> Compiled:
    warnings.warn(f"jumar: a graph ({kind}) runs eagerly: {reason}", stacklevel=2)
    if report is not None:
        report({"graph": kind, "eager": reason})
    return make_boxed_func(gm.forward)
