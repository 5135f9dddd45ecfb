"""What became of a model: kernels, called operators, Python calls and refusals, each with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass
class Explanation:
    """One report per graph, as the compiler wrote it, with "graph": inference, forward or backward."""

    graphs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        return self._all("kernels")

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Operators that are called instead of compiled, with "op", "reason" and "count"."""
        return self._all("calls")

    @property
    def python_calls(self) -> list[Any]:
        return self._all("python_calls")

    @property
    def refusals(self) -> list[Any]:
        """Fusions and other chances that were not taken, and why."""
        return self._all("refusals")

    @property
    def eager(self) -> list[str]:
        """Reasons why whole graphs run eagerly."""
        return [graph["eager"] for graph in self.graphs if "eager" in graph]

    def _all(self, key: str) -> list[Any]:
        return [row for graph in self.graphs for row in graph.get(key, ())]

    def __str__(self) -> str:
        lines: list[str] = []
        for graph in self.graphs:
            lines += _graph_lines(graph)
        return "\n".join(lines) if lines else "no graph was compiled"


def _graph_lines(graph: dict[str, Any]) -> list[str]:
    if "eager" in graph:
        return [f"{graph['graph']} graph: runs eagerly: {graph['eager']}"]
    kernels, calls = graph.get("kernels", ()), graph.get("calls", ())
    called = sum(row.get("count", 1) for row in calls)
    lines = [f"{graph['graph']} graph: {len(kernels)} kernels, {called} called operators"]
    lines += [f"  kernel {_row_text(row, ('name', 'origin'))}" for row in kernels]
    for row in calls:
        lines.append(f"  call {row.get('op')} x{row.get('count', 1)}: {row.get('reason', '')}".rstrip(": "))
    for row in graph.get("python_calls", ()):
        lines.append(f"  python {row.get('name', row.get('callable'))}: {row.get('reason', '')}".rstrip(": "))
    refusals = Counter(_refusal(row) for row in graph.get("refusals", ()))
    for text, count in refusals.items():
        lines.append(f"  refused {text}" + (f" ({count} times)" if count > 1 else ""))
    return lines


def _refusal(row: dict[str, Any]) -> str:
    pair = " and ".join(row[key] for key in ("producer", "consumer") if row.get(key))
    return f"{pair}: {row.get('reason', '')}" if pair else str(row.get("reason", ""))


def _row_text(row: Any, keys: tuple[str, ...]) -> str:
    if not isinstance(row, dict):
        return str(row)
    known = [str(row[key]) for key in keys if row.get(key)]
    return ": ".join(known) if known else ", ".join(f"{k}={v}" for k, v in row.items())


def explain(
    model: Any, *inputs: Any, dynamic: bool | None = None, options: dict[str, Any] | None = None
) -> Explanation:
    """Compiles and runs `model(*inputs)`; with grad enabled the backward graph is compiled as well."""
    from torch._functorch import config

    from .backend import compile_dynamo_graph

    explanation = Explanation()

    def backend(gm: torch.fx.GraphModule, example_inputs: list[Any]) -> Any:
        return compile_dynamo_graph(gm, example_inputs, options, explanation.graphs.append)

    with config.patch(force_non_lazy_backward_lowering=True):
        torch.compile(model, backend=backend, dynamic=dynamic)(*inputs)
    return explanation
