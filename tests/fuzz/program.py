"""A random program: tensors that it is called with, and lines of Python over them.

    program = generated(seed)          # generate.py
    program.source()                   # the function's text
    function, tensors = program.function(), program.tensors(variant=0)

A program has several variants of its inputs, which differ in sizes only. Everything about it follows from the seed and
can be printed, so a program that fails is cut down by leaving lines and results out (`without`).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any, Callable

import torch
import torch.nn.functional as F

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
HALVES = (torch.bfloat16, torch.float16)
SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e-40, -1e-44, 0.5, -0.5, 2.5, 255.0, 1e10)
# Near overflow, where an operator's own intermediate results decide, unless it has none.
EXTREME = (*SPECIAL, 3e38, -3e38, 65504.0, -65504.0, 1e308, 2.0**31, -(2.0**63))


@dataclass(frozen=True)
class Input:
    """`order` is the order of dimensions in memory; `steps` and `before` cut the tensor out of a larger one, and the
    dimensions `expanded` have stride 0. `content`: "plain", "special" and
    "extreme" (floats and integers at their limits), "index" (positions below `limits`, and the same from the end), or
    "order" (each position once)."""

    dtype: torch.dtype
    sizes: tuple[tuple[int, ...], ...]  # by variant
    seed: int
    content: str = "plain"
    order: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    expanded: tuple[int, ...] = ()
    limits: tuple[int, ...] = ()  # by variant
    needs_gradient: bool = False

    def tensor(self, variant: int) -> torch.Tensor:
        sizes = self.sizes[variant]
        generator = torch.Generator().manual_seed(self.seed * 7 + variant)
        order = self.order or tuple(range(len(sizes)))
        steps = self.steps or (1,) * len(sizes)
        before = self.before or (0,) * len(sizes)
        whole = [1 if d in self.expanded else before[d] + max(sizes[d] * steps[d], 1) for d in range(len(sizes))]
        stored = self._values([whole[d] for d in order], variant, generator)
        out = stored.permute([order.index(d) for d in range(len(sizes))])
        for d, size in enumerate(sizes):
            if d not in self.expanded:
                out = out[(slice(None),) * d + (slice(before[d], before[d] + size * steps[d], steps[d]),)]
        return out.expand(sizes).requires_grad_(self.needs_gradient)

    def _values(self, sizes: list[int], variant: int, generator: torch.Generator) -> torch.Tensor:
        if self.content == "index":
            limit = self.limits[variant]
            return torch.randint(-limit, max(limit, 1), sizes, generator=generator).to(self.dtype)
        if self.content == "order":
            return torch.randperm(sizes[0], generator=generator).to(self.dtype)
        if self.dtype == torch.bool:
            return torch.rand(sizes, generator=generator) < 0.5
        if self.dtype in FLOATS:
            values = torch.randn(sizes, generator=generator, dtype=torch.float64) * 2
            if self.content != "plain":
                some = torch.tensor(SPECIAL if self.content == "special" else EXTREME, dtype=torch.float64)
                special = some[torch.randint(0, len(some), sizes, generator=generator)]
                values = torch.where(torch.rand(sizes, generator=generator) < 0.3, special, values)
            return values.to(self.dtype)
        limits = torch.iinfo(self.dtype)
        low = max(-9, limits.min)
        values = torch.randint(low, 10, sizes, generator=generator)
        if self.content != "plain":
            extreme = torch.tensor([limits.min, limits.max, limits.min + 1, limits.max - 1, 0, 1])
            chosen = extreme[torch.randint(0, len(extreme), sizes, generator=generator)]
            values = torch.where(torch.rand(sizes, generator=generator) < 0.3, chosen, values)
        return values.to(self.dtype)

    def text(self) -> str:
        parts = [str(self.dtype).removeprefix("torch."), " or ".join(str(list(s)) for s in self.sizes), self.content]
        for name in ("order", "steps", "before", "expanded"):
            if getattr(self, name):
                parts.append(f"{name} {list(getattr(self, name))}")
        return ", ".join(parts + ["needs a gradient"] * self.needs_gradient)


@dataclass(frozen=True)
class Line:
    """`target = text`, or a statement where `target` is empty."""

    target: str
    text: str

    def source(self) -> str:
        return f"{self.target} = {self.text}" if self.target else self.text


@dataclass(frozen=True)
class Program:
    seed: int
    inputs: dict[str, Input]
    lines: tuple[Line, ...]
    results: tuple[str, ...]
    # Names of results, and of inputs that are written to, that have one right answer, bit for bit: every operator on the
    # way to them rounded as IEEE says.
    exact: frozenset[str] = frozenset()
    dynamic: bool = False
    gradient: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    variants: int = 1

    def names(self) -> list[str]:
        return list(self.inputs)

    def source(self) -> str:
        head = [f"# {name}: {x.text()}" for name, x in self.inputs.items()]
        if self.options:
            head.append(f"# options: {self.options}")
        head.append(f"# {'dynamic' if self.dynamic else 'static'}{', gradient' * self.gradient}; exact: "
                    f"{', '.join(r for r in self.results if r in self.exact) or 'none'}")
        body = [f"    {line.source()}" for line in self.lines]
        return "\n".join([*head, f"def f({', '.join(self.names())}):", *body, f"    return {', '.join(self.results)},"])

    def function(self) -> Callable[..., Any]:
        space: dict[str, Any] = {"torch": torch, "F": F}
        exec(self.source(), space)  # noqa: S102: it is the program
        return space["f"]

    def tensors(self, variant: int) -> list[torch.Tensor]:
        return [x.tensor(variant) for x in self.inputs.values()]

    def without(self, lines: frozenset[int] = frozenset(), results: frozenset[int] = frozenset()) -> Program:
        return replace(self, lines=tuple(line for k, line in enumerate(self.lines) if k not in lines),
                       results=tuple(r for k, r in enumerate(self.results) if k not in results))

    def without_unused_inputs(self) -> Program:
        used = " ".join([*(line.source() for line in self.lines), *self.results])
        kept = {name: x for name, x in self.inputs.items() if re.search(rf"\b{name}\b", used)}
        return replace(self, inputs=kept or self.inputs)
