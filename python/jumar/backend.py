"""The Dynamo backend: `torch.compile(model, backend="jumar")`.

AOTAutograd owns aliases, mutation and the split into forward and backward; the compiler sees functional
graphs. Each goes through `compile_graph`: printed as text (capture.py), compiled by the native extension, and
returned as a function of one list that it empties. A graph that text cannot express runs eagerly, with a
warning that says why; so does one that fails to compile, if the option `fallback_on_error` is set.
"""

from __future__ import annotations

import json
import warnings
from typing import Any, Callable, Mapping, Sequence

from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext

from . import _native
from .capture import Captured, Unprintable, graph_text

Compiled = Callable[[list[Any]], Sequence[Any]]
Options = Mapping[str, Any]
Report = Callable[[dict[str, Any]], None]

# Modes that torch.compile documents. Jumar compiles in one way: they are accepted, so that code which names
# one runs, and change nothing.
_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def jumar(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Options | None = None,
) -> Callable[..., Any]:
    """The entry point that torch.compile calls with each graph that Dynamo captures."""
    if mode is not None and mode not in _MODES:
        raise _native.CompileError(f"mode={mode!r}: expected one of {', '.join(_MODES)}")
    return compile_dynamo_graph(gm, example_inputs, options)


def compile_dynamo_graph(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    options: Options | None = None,
    report: Report | None = None,
) -> Callable[..., Any]:
    """`report` receives what became of each graph, as a dict."""
    options = dict(options or {})
    resolved = _native.resolve_options(options)  # a wrong option is an error even where no graph gets here

    def compiler(kind: str) -> Callable[[fx.GraphModule, Sequence[Any]], Compiled]:
        return lambda graph, inputs: compile_graph(graph, inputs, kind, options, report)

    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions={},  # all of them are C++, so that exported programs get the same ones
        # The processor's kernels store what an input becomes to the input; for a device AOTAutograd copies it.
        keep_inference_input_mutations=resolved["target"] == "cpu",
    )
    return backend(gm, example_inputs)


def compile_graph(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    kind: str,
    options: Options | None = None,
    report: Report | None = None,
) -> Compiled:
    """Compiles one functional ATen graph; `kind` is inference, forward or backward."""
    options = dict(options or {})
    try:
        captured = graph_text(gm, example_inputs, static_indices(gm, kind), kind)
    except Unprintable as refusal:
        return _eager(gm, kind, f"it has {refusal}", report)
    try:
        # Dynamo's guards compare the flags of a graph's inputs with those of the example inputs, and a graph of
        # inputs that have one is not captured. What arrives from autograd in a backward pass has no guards.
        program = _native.compile(
            captured.text,
            {"free_results": free_results(kind), **options},
            captured.python_calls,
            captured.constants,
            guarded=kind != "backward",
        )
    except (_native.CompileError, _native.InternalError) as error:
        if _native.resolve_options(options)["fallback_on_error"] != "true":
            raise
        return _eager(gm, kind, str(error), report)
    if report is not None:
        report(_named_report(kind, program.report(), captured))
    program._boxed_call = True  # AOTAutograd: called with one list, which it empties
    return program


def _named_report(kind: str, text: str, captured: Captured) -> dict[str, Any]:
    """The compiler's report, with the names of Python calls in place of their numbers."""
    report = {"graph": kind, **json.loads(text)}
    for row in report.get("python_calls", ()):
        number = str(row.get("callable", "")).rpartition(".")[2]
        if number.isdigit() and int(number) < len(captured.python_calls):
            row["name"] = captured.python_calls[int(number)].__name__
    return report


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


def free_results(kind: str) -> int:
    """How many of a graph's first results go to the user, who gets the strides that an operator really returns; what
    is saved for the backward graph, or is the base of other results, has the strides that were captured."""
    context = TracingContext.try_get()
    if kind == "backward" or context is None or context.fw_metadata is None:
        return 0
    metadata = context.fw_metadata
    shares_results = metadata.num_intermediate_bases > 0 or metadata.num_outputs_aliased_to_intermediates > 0
    return 0 if shares_results else metadata.num_forward_returns


def _eager(gm: fx.GraphModule, kind: str, reason: str, report: Report | None) -> Compiled:
    warnings.warn(f"jumar: a graph ({kind}) runs eagerly: {reason}", stacklevel=2)
    if report is not None:
        report({"graph": kind, "eager": reason})
    return make_boxed_func(gm.forward)
