"""Smaller programs that fail in the same way, and the graphs that the compiler gets of a program.

    small = reduced(generated(31))
    print(small.source(), *graph_texts(small))

Lines and results are left out, one after another, as long as the kind of failure stays. What is left of a graph is
`jumar reduce`'s to make smaller (docs/debugging.md).
"""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable

from aot import compiled, outcome
from check import verdict_of
from jumar.capture import Unprintable, graph_text
from program import Program
from torch._functorch.aot_autograd import make_boxed_func


def _kinds(program: Program) -> set[str]:
    try:
        return {f.kind for f in verdict_of(program).failures}
    except (NameError, SyntaxError):
        return set()  # a line uses what was left out


def reduced(program: Program, seconds: float = 60.0) -> Program:
    """The best that is found in this time. What a program returns, and then its lines, in ever smaller runs."""
    kinds = _kinds(program)
    end = time.monotonic() + seconds
    changed = bool(kinds)
    while changed:
        changed = False
        for part in ("results", "lines"):
            size = len(getattr(program, part))
            while size > 0:
                for begin in reversed(range(0, len(getattr(program, part)), size)):
                    smaller = program.without(**{part: frozenset(range(begin, begin + size))})
                    if time.monotonic() < end and smaller.results and _kinds(smaller) & kinds:
                        program, changed = smaller, True
                size //= 2
    return program.without_unused_inputs()


def graph_texts(program: Program) -> list[str]:
    """Of the first variant."""
    texts: list[str] = []

    def compiler(kind: str) -> Callable[..., Any]:
        def note(module: Any, fakes: list[Any]) -> Any:
            try:
                texts.append(graph_text(module, fakes, (), kind, origins=False).text)
            except Unprintable as refusal:
                texts.append(f"# {kind}: {refusal}\n")
            return make_boxed_func(module.forward)

        return note

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome(compiled(program.function(), compiler, program.dynamic), program.tensors(0), program.gradient)
    return texts
