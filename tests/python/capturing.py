"""A backend that captures every graph and runs it eagerly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch
from jumar.capture import Captured, Unprintable, graph_text
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext


@dataclass
class Graph:
    kind: str
    module: fx.GraphModule
    captured: Captured | None
    refusal: str = ""

    @property
    def text(self) -> str:
        assert self.captured is not None, self.refusal
        return self.captured.text


def capture(function: Callable[..., Any], *inputs: Any, dynamic: bool | None = None) -> list[Graph]:
    """The graphs of one call of `function`, which also compiles the backward graph where there is one."""
    graphs: list[Graph] = []

    def compiler(kind: str) -> Callable[..., Any]:
        def compile_graph(gm: fx.GraphModule, example_inputs: list[Any]) -> Any:
            context = TracingContext.try_get()
            static = context.fw_metadata.static_input_indices if context and context.fw_metadata else []
            try:
                indices = static if kind != "backward" else ()
                captured = graph_text(gm, example_inputs, indices, kind, origins=False)
                graphs.append(Graph(kind, gm, captured))
            except Unprintable as refusal:
                graphs.append(Graph(kind, gm, None, str(refusal)))
            return make_boxed_func(gm.forward)

        return compile_graph

    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions={},
        keep_inference_input_mutations=True,
    )
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        with torch._functorch.config.patch(force_non_lazy_backward_lowering=True):
            torch.compile(function, backend=backend, dynamic=dynamic)(*inputs)
    return graphs


def only_graph(function: Callable[..., Any], *inputs: Any, dynamic: bool | None = None) -> Graph:
    graphs = capture(function, *inputs, dynamic=dynamic)
    assert len(graphs) == 1, [g.kind for g in graphs]
    return graphs[0]
