"""One operator of PyTorch's own test suite, compiled and compared with eager.

    result = run_case(Case("softmax", "with_dtype", "float32", "static"))
    result["samples"], result["failures"]

A sample of an operator becomes a function of its tensors; all else is part of the function. AOTAutograd traces it
and hands its graphs to the compiler, as torch.compile does after Dynamo. What comes back is compared with eager:
values, dtype, shape, strides, which results share memory with which inputs, what became of the inputs,
and the kind of exception where eager raises one.

A difference that the same trace shows with eager kernels (aot_eager) is not the compiler's: it is listed apart.
"""

from __future__ import annotations

import functools
import time
import traceback
import warnings
from dataclasses import dataclass, replace
from typing import Any, Callable

import torch
from aot import (
    SEED,
    Outcome,
    by_eager,
    by_jumar,
    compiled,
    effective_strides,
    error_text,
    outcome,
    rows_of,
    sharing,
)
from torch.utils import _pytree as pytree

DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "bool")
# static and dynamic run the operator, inplace its in-place form, gradient its backward pass too; errors runs what the
# suite says must raise, which has no type of its own.
MODES = ("static", "dynamic", "inplace", "gradient", "errors")
# Who captures and compiles: AOTAutograd and the compiler, Dynamo before them, or Dynamo and the default backend.
ROUTES = ("aot", "torch.compile", "inductor")
# One case in this many runs through torch.compile as well.
COMPILED_SHARE = 100

# What eager leaves unset: only shape, strides and dtype mean something.
_UNSET = ("empty", "new_empty", "empty_like", "empty_permuted", "empty_strided", "new_empty_strided")


@dataclass(frozen=True)
class Case:
    op: str
    variant: str
    dtype: str
    mode: str
    route: str = "aot"
    limit: int | None = None  # of samples: the first ones

    @property
    def name(self) -> str:
        words = [self.op + (f".{self.variant}" if self.variant else ""), self.dtype, self.mode]
        return " ".join(words + ([f"by {self.route}"] if self.route != "aot" else []))


@functools.cache
def operators() -> dict[tuple[str, str], Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {(op.name, op.variant_test_name): op for op in op_db}


def all_cases() -> list[Case]:
    """Every operator with every dtype that eager supports on the CPU, in a fixed order; then the share that runs through
    torch.compile."""
    cases = []
    for (name, variant), op in operators().items():
        for dtype in DTYPES:
            kind = getattr(torch, dtype)
            if not op.supports_dtype(kind, "cpu"):
                continue
            for mode in MODES:
                if mode == "inplace" and op.inplace_variant is None:
                    continue
                if mode == "gradient" and not (dtype == "float32" and op.supports_autograd):
                    continue
                if mode != "errors":
                    cases.append(Case(name, variant, dtype, mode))
        if op.error_inputs_func is not None:
            cases.append(Case(name, variant, "any", "errors"))
    return cases + [replace(c, route="torch.compile") for c in cases[::COMPILED_SHARE]]


def _by_dynamo(function: Callable[..., Any], backend: str, dynamic: bool) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, dynamic=dynamic)


# Comparing.


def _values_differ(found: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor | None) -> str:
    """Empty where the values agree. `exact` is the result in higher precision, where there is one."""
    try:
        torch.testing.assert_close(found, expected, equal_nan=True, check_stride=False)
        return ""
    except AssertionError as error:
        text = str(error).replace("\n", " ")[:300]
    if exact is None or not expected.dtype.is_floating_point or exact.shape != expected.shape:
        return text
    # Both round; the compiler may err as much as eager does, and by a few units in the last place.
    a, b, e = found.double(), expected.double(), exact.double()
    finite = e.isfinite() & b.isfinite()
    if not torch.equal(torch.nan_to_num(a[~finite]), torch.nan_to_num(b[~finite])):
        return text
    if not bool(finite.any()):
        return ""
    scale = float(e[finite].abs().max())
    allowed = 4 * float((b - e)[finite].abs().max()) + 16 * torch.finfo(expected.dtype).eps * scale
    worst = float((a - e)[finite].abs().max())
    return "" if worst <= allowed else text


def _compare_tensors(found: Any, expected: Any, exact: Any, only_form: bool) -> tuple[str, str] | None:
    if not isinstance(expected, torch.Tensor):
        same = type(found) is type(expected) and (found == expected or (found != found and expected != expected))
        return None if same or only_form else ("values", f"{found!r} for {expected!r}")
    if not isinstance(found, torch.Tensor):
        return "kind", f"{type(found).__name__} for a tensor"
    if found.dtype != expected.dtype:
        return "dtype", f"{found.dtype} for {expected.dtype}"
    if found.shape != expected.shape:
        return "shape", f"{tuple(found.shape)} for {tuple(expected.shape)}"
    if found.layout != expected.layout or found.device != expected.device:
        return "kind", f"{found.layout} on {found.device} for {expected.layout} on {expected.device}"
    if expected.layout is torch.strided and expected.numel() > 0:
        if effective_strides(found) != effective_strides(expected):
            return "strides", f"{found.stride()} for {expected.stride()} of {tuple(expected.shape)}"
    if only_form:
        return None
    exact = exact if isinstance(exact, torch.Tensor) else None
    text = _values_differ(found.detach(), expected.detach(), exact)
    return ("values", text) if text else None


def _difference(found: Outcome, expected: Outcome, exact: Outcome | None, only_form: bool) -> tuple[str, str] | None:
    """The kind of the first difference and a text; None where there is none."""
    if expected.error is not None:
        if found.error is None:
            return "no exception", f"eager raises {type(expected.error).__name__}: {str(expected.error)[:200]}"
        if not isinstance(found.error, type(expected.error)):
            return "exception type", f"{error_text(found.error)} for {error_text(expected.error)}"
        return None
    if found.error is not None:
        return "exception", error_text(found.error)
    if len(found.results) != len(expected.results) or len(found.gradients) != len(expected.gradients):
        return "kind", f"{len(found.results)} results for {len(expected.results)}"
    has_exact = exact is not None and exact.error is None
    exact_rows = rows_of(exact) if has_exact else []
    for k, ((name, a), (_, b)) in enumerate(zip(rows_of(found), rows_of(expected), strict=True)):
        c = exact_rows[k][1] if has_exact and k < len(exact_rows) else None
        is_gradient = name.startswith("gradient")
        difference = _compare_tensors(a, b, c, only_form)
        if difference and is_gradient and difference[0] == "strides":
            continue  # autograd promises none
        if difference:
            return difference[0], f"{name}: {difference[1]}"
    if sharing(found) != sharing(expected):
        return "aliases", f"{sharing(found)} for {sharing(expected)}"
    for k, (a, b) in enumerate(zip(found.results, expected.results, strict=True)):
        if isinstance(b, torch.Tensor) and a.requires_grad != b.requires_grad:
            return "requires_grad", f"result {k}: {a.requires_grad}"
    return None


# Running.


def _higher(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16, torch.float32):
        return value.detach().double().requires_grad_(value.requires_grad)
    return value


class _Runner:
    def __init__(self, case: Case):
        self.case = case
        self.op = operators()[case.op, case.variant]
        self.wants_gradient = case.mode == "gradient"
        self.dynamic = case.mode == "dynamic"
        self.callable = self.op.inplace_variant if case.mode == "inplace" else self.op.op

    def samples(self) -> list[Any]:
        torch.manual_seed(SEED)
        if self.case.mode == "errors":
            found = [error.sample_input for error in self.op.error_inputs("cpu")]
        else:
            kind = getattr(torch, self.case.dtype)
            found = list(self.op.sample_inputs("cpu", kind, requires_grad=self.wants_gradient))
        return found[: self.case.limit]

    def compiled(self, function: Callable[..., Any], reports: list[dict[str, Any]]) -> Callable[..., Any]:
        if self.case.route == "aot":
            return compiled(function, by_jumar(reports), self.dynamic)
        return _by_dynamo(function, "jumar" if self.case.route == "torch.compile" else "inductor", self.dynamic)

    def compiled_by_eager(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.case.route == "aot":
            return compiled(function, by_eager, self.dynamic)
        return _by_dynamo(function, "aot_eager", self.dynamic)

    def function_of(self, sample: Any) -> tuple[Callable[..., Any], list[torch.Tensor]]:
        leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

        def function(*tensors: torch.Tensor) -> Any:
            filled = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                filled[place] = tensor
            first, args, kwargs = pytree.tree_unflatten(filled, spec)
            return self.callable(first, *args, **kwargs)

        return function, [leaves[k] for k in places]

    def is_random(self, function: Callable[..., Any], tensors: list[torch.Tensor], expected: Outcome) -> bool:
        other = outcome(function, tensors, self.wants_gradient, SEED + 1)
        return _difference(other, expected, None, False) is not None

    def agree(self, found: Outcome, traced: Outcome, kind: str) -> bool:
        """Of two that differ from eager in the same way: whether they give the same values. The compiler rounds halves
        less often than eager's kernels do."""
        if kind != "values":
            return True
        rough = {"rtol": 2e-2, "atol": 2e-2} if self.case.dtype in ("float16", "bfloat16") else {}
        for (_, a), (_, b) in zip(rows_of(found), rows_of(traced), strict=True):
            if isinstance(b, torch.Tensor):
                try:
                    torch.testing.assert_close(a, b, equal_nan=True, check_stride=False, **rough)
                except AssertionError:
                    return False
        return True

    def run_sample(self, sample: Any) -> dict[str, Any]:
        """What is to be said of a sample; empty where all is well."""
        function, tensors = self.function_of(sample)
        expected = outcome(function, tensors, self.wants_gradient)
        if self.case.mode == "inplace" and expected.error is not None:
            return {"eager_refuses": True}
        reports: list[dict[str, Any]] = []
        run = self.compiled(function, reports)
        found = outcome(run, tensors, self.wants_gradient)
        row: dict[str, Any] = {}
        if eager := [r["eager"] for r in reports if "eager" in r]:
            row["eager"] = eager[0]
        row["calls"] = sorted({f"{c['op']}: {c['reason']}" for r in reports for c in r.get("calls", ())})
        only_form = self.op.name in _UNSET
        difference = _difference(found, expected, None, only_form)
        if difference is None:
            return row
        if difference[0] == "values":
            # Tracing draws from the generator (Dynamo puts its state back); the second call does not trace.
            found = outcome(run, tensors, self.wants_gradient)
            difference = _difference(found, expected, None, only_form)
            if difference is None:
                return row
        if difference[0] == "values":
            exact = outcome(function, [_higher(t) for t in tensors], self.wants_gradient)
            difference = _difference(found, expected, exact, only_form)
            if difference is None:
                return row
        eager_run = self.compiled_by_eager(function)
        traced = outcome(eager_run, tensors, self.wants_gradient)
        if traced.error is None:
            traced = outcome(eager_run, tensors, self.wants_gradient)
        same = _difference(traced, expected, None, only_form)
        row |= {"kind": difference[0], "text": difference[1]}
        if same is not None and same[0] == difference[0] and self.agree(found, traced, difference[0]):
            row["aot_eager"] = same[1]
        elif difference[0] == "values" and self.is_random(function, tensors, expected):
            row["random"] = True
        if found.error is not None and expected.error is None and "aot_eager" not in row:
            row["trace"] = "".join(traceback.format_exception(found.error)[-3:])[-1500:]
        return row


def run_case(case: Case) -> dict[str, Any]:
    """Samples that differ are in "failures"; those that aot_eager shows too in "aot_eager"."""
    begin = time.monotonic()
    out: dict[str, Any] = {"case": case.name, "samples": 0, "refused": 0, "eager": {}, "calls": {}, "random": 0,
                           "failures": [], "aot_eager": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = _Runner(case)
        try:
            samples = runner.samples()
        except Exception as error:  # noqa: BLE001: the suite itself can't make samples of this kind
            return out | {"no_samples": error_text(error)}
        for number, sample in enumerate(samples):
            row = runner.run_sample(sample)
            out["samples"] += 1
            if row.get("eager_refuses"):
                out["refused"] += 1
            if "eager" in row:
                out["eager"][row["eager"][:200]] = out["eager"].get(row["eager"][:200], 0) + 1
            for call in row.pop("calls", ()):
                out["calls"][call] = out["calls"].get(call, 0) + 1
            if "kind" not in row:
                continue
            row["sample"] = number
            if "aot_eager" in row:
                out["aot_eager"].append(row)
            elif "random" in row:
                out["random"] += 1
            else:
                out["failures"].append(row)
    return out | {"seconds": round(time.monotonic() - begin, 2)}
