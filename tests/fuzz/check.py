"""One random program, compiled and compared with eager: values, types, shapes, strides, what shares memory with what,
the inputs after the call, gradients, and the kind of exception.

    failures = failures_of(generated(31))        # [] where all is right
    failures[0].kind, failures[0].text

A dynamic program is called again with inputs of other sizes. Where the conditions of its trace don't hold for them, it
is traced again, as Dynamo would do.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Callable

import noise
import sympy
import torch
from aot import Outcome, by_eager, compiled, effective_strides, error_text, outcome, rows_of, sharing
from jumar.backend import compile_graph
from program import Program
from torch._subclasses.fake_tensor import FakeTensor

# Units in the last place that two answers may differ by even where noise moves nothing.
_ULPS = 4


@dataclass
class Failure:
    variant: int
    kind: str
    text: str


@dataclass
class Verdict:
    failures: list[Failure]
    graphs: int  # that were compiled
    eager: int  # that run eagerly, by the compiler's choice
    traced: int  # differences that the same trace shows with eager's own kernels


class ConditionBroken(Exception):
    """The sizes of a call are not what a trace is for."""


def _numbers(value: Any, fake: Any) -> list[tuple[Any, int]]:
    """Pairs of an expression or number, as the trace has it, and what it is in a call."""
    if isinstance(fake, FakeTensor):
        pairs = [*zip(fake.shape, value.shape), *zip(fake.stride(), value.stride()),
                 (fake.storage_offset(), value.storage_offset())]
    else:
        pairs = [(fake, value)] if isinstance(fake, (int, torch.SymInt)) else []
    return [(sympy.sympify(a.node.expr if isinstance(a, torch.SymInt) else a), b) for a, b in pairs]


def _check_conditions(fakes: list[Any], values: list[Any]) -> None:
    fake = next((f for f in fakes if isinstance(f, FakeTensor)), None)
    environment = fake.fake_mode.shape_env if fake is not None else None
    if environment is None:
        return
    known: dict[Any, int] = {}
    pairs = [pair for f, v in zip(fakes, values, strict=True) for pair in _numbers(v, f)]
    for expr, number in pairs:
        if expr.is_Symbol and known.setdefault(expr, number) != number:
            raise ConditionBroken
    if any(expr.subs(known) != number for expr, number in pairs if not expr.is_Symbol):
        raise ConditionBroken
    for symbol, interval in environment.var_to_range.items():
        if symbol in known and not interval.lower <= known[symbol] <= interval.upper:
            raise ConditionBroken
    for guard in environment.guards:
        if guard.expr.subs(known) == False:  # noqa: E712: a sympy value
            raise ConditionBroken


def _forms(results: list[Any]) -> list[tuple[Any, ...]]:
    """Types, sizes and strides; symbols as they were when the graph was traced."""

    def number(size: Any) -> int:
        return int(size.node.hint) if isinstance(size, torch.SymInt) else int(size)

    forms = []
    for r in results:
        if isinstance(r, torch.Tensor):
            pairs = [(number(n), number(s)) for n, s in zip(r.shape, r.stride())]
            forms.append((r.dtype, [n for n, _ in pairs], [s for n, s in pairs if n != 1]))
    return forms


class _Compiler:
    """Compiles the graphs of a trace; `promised` holds the forms of the last graph's results."""

    def __init__(self, program: Program, verdict: Verdict) -> None:
        self.program = program
        self.verdict = verdict
        self.promised: list[tuple[Any, ...]] = []

    def __call__(self, kind: str) -> Callable[..., Any]:
        def compile_one(module: Any, fakes: list[Any]) -> Any:
            reports: list[dict[str, Any]] = []
            if kind != "backward":
                results = next(n for n in module.graph.nodes if n.op == "output").args[0]
                self.promised = _forms([n.meta["val"] for n in results if hasattr(n, "meta")])
            run = compile_graph(module, fakes, kind, self.program.options, reports.append)
            self.verdict.graphs += 1
            self.verdict.eager += any("eager" in r for r in reports)
            fakes = list(fakes)

            def checked(values: list[Any]) -> Any:
                if self.program.dynamic:
                    _check_conditions(fakes, values)
                return run(values)

            checked._boxed_call = True
            return checked

        return compile_one


def _bits(t: torch.Tensor) -> torch.Tensor:
    """Equal where two tensors are equal to the last bit, whatever NaN it is."""
    plain = t.detach().contiguous()
    if not plain.dtype.is_floating_point:
        return plain
    plain = torch.where(plain.isnan(), torch.full_like(plain, torch.nan), plain)
    return plain.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[plain.element_size()])


def _form_differs(found: Any, expected: torch.Tensor) -> tuple[str, str] | None:
    if not isinstance(found, torch.Tensor):
        return "kind", f"{type(found).__name__} for a tensor"
    if found.dtype != expected.dtype:
        return "dtype", f"{found.dtype} for {expected.dtype}"
    if found.shape != expected.shape:
        return "shape", f"{tuple(found.shape)} for {tuple(expected.shape)}"
    if expected.numel() > 0 and effective_strides(found) != effective_strides(expected):
        return "strides", f"{found.stride()} for {expected.stride()} of {tuple(expected.shape)}"
    return None


def _wrong(found: torch.Tensor, expected: torch.Tensor, is_exact: bool, others: list[torch.Tensor]) -> torch.Tensor:
    """Which elements are wrong."""
    a, b = found.detach(), expected.detach()
    different = _bits(a) != _bits(b)
    if is_exact or not bool(different.any()):
        return different
    room = noise.allowed(b, others)
    unit = torch.finfo(b.dtype).eps if b.dtype.is_floating_point else 0.0
    a, b = a.double(), b.double()
    # What is denormal may be 0.
    least = torch.finfo(expected.dtype).tiny if unit else 0.0
    near = (a - b).abs() <= room + _ULPS * unit * b.abs() + least
    return different & ~near & ~room.isinf() & (a != b)


def _difference(found: Outcome, expected: Outcome, program: Program, others: Callable[[], list[Outcome]]):
    if expected.error is not None:
        if found.error is None:
            return "no exception", f"eager raises {error_text(expected.error)}"
        same = isinstance(found.error, type(expected.error)) or isinstance(expected.error, type(found.error))
        return None if same else ("exception type", f"{error_text(found.error)} for {error_text(expected.error)}")
    if found.error is not None:
        return "exception", error_text(found.error)
    if len(found.results) != len(expected.results):
        return "kind", f"{len(found.results)} results for {len(expected.results)}"
    exact = [name in program.exact for name in [*program.results, *program.names()]]
    rows = list(zip(rows_of(found), rows_of(expected), strict=True))
    for k, ((name, a), (_, b)) in enumerate(rows):
        if not isinstance(b, torch.Tensor):
            if a is not b:
                return "kind", f"{name}: {type(a).__name__} for {type(b).__name__}"
            continue
        if form := _form_differs(a, b):
            if name.startswith("gradient") and form[0] == "strides":
                continue  # autograd promises none
            return form[0], f"{name}: {form[1]}"
        is_exact = k < len(exact) and exact[k] and not program.gradient
        wrong = _wrong(a, b, is_exact, [])
        if bool(wrong.any()) and not is_exact:
            wrong = _wrong(a, b, False, [rows_of(o)[k][1] for o in others()])
        if bool(wrong.any()):
            at = tuple(int(i) for i in wrong.nonzero()[0])
            count = int(wrong.sum())
            return "values", (f"{name}{' (exact)' * is_exact}: {count} of {b.numel()}; at {at} "
                              f"{a[at].item()!r} for {b[at].item()!r}, {b.dtype}")
    if sharing(found) != sharing(expected):
        return "aliases", f"{sharing(found)} for {sharing(expected)}"
    return None


def _checked(program: Program, verdict: Verdict) -> None:
    function = program.function()
    compiler = _Compiler(program, verdict)
    run: Callable[..., Any] | None = None
    for variant in range(program.variants):
        tensors = program.tensors(variant)
        expected = outcome(function, tensors, program.gradient)
        if program.gradient and expected.error is not None:
            continue  # a backward pass that autograd itself can't do

        def others() -> list[Outcome]:
            exact_halves = bool(program.options.get("emulate_precision_casts"))
            return noise.runs(function, tensors, program.gradient, exact_halves)  # noqa: B023

        if run is None:
            run = compiled(function, compiler, program.dynamic)
        found = outcome(run, tensors, program.gradient)
        if isinstance(found.error, ConditionBroken):
            run = compiled(function, compiler, program.dynamic)
            found = outcome(run, tensors, program.gradient)
        difference = _difference(found, expected, program, others)
        if difference is None:
            continue
        traced = outcome(compiled(function, by_eager, program.dynamic), tensors, program.gradient)
        same = _difference(traced, expected, program, others)
        is_of_trace = same is not None and same[0] == difference[0]
        # What a trace promises is not for every operator what its kernel gives.
        is_form = difference[0] in ("strides", "dtype", "shape") and found.error is None
        if is_of_trace or (is_form and compiler.promised[-len(found.results) :] == _forms(found.results)):
            verdict.traced += 1
            return
        else:
            verdict.failures.append(Failure(variant, *difference))


def verdict_of(program: Program) -> Verdict:
    verdict = Verdict([], 0, 0, 0)
    torch.set_num_threads(2 if program.seed % 4 == 0 else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _checked(program, verdict)
    return verdict
