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
from dataclasses import dataclass
from typing import Any, Callable

import torch
from torch._functorch.aot_autograd import aot_function, make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "bool")
# static and dynamic run the operator, inplace its in-place form, gradient its backward pass too.
MODES = ("static", "dynamic", "inplace", "gradient")
SEED = 1234

# What eager leaves unset: only shape, strides and dtype mean something.
_UNSET = ("empty", "new_empty", "empty_like", "empty_permuted", "empty_strided", "new_empty_strided")


@dataclass(frozen=True)
class Case:
    op: str
    variant: str
    dtype: str
    mode: str

    @property
    def name(self) -> str:
        return " ".join([self.op + (f".{self.variant}" if self.variant else ""), self.dtype, self.mode])


@functools.cache
def operators() -> dict[tuple[str, str], Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return {(op.name, op.variant_test_name): op for op in op_db}


def all_cases() -> list[Case]:
    """Every operator with every dtype that eager supports on the CPU, in a fixed order."""
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
                cases.append(Case(name, variant, dtype, mode))
    return cases


@dataclass
class Outcome:
    """What a call left behind."""

    error: BaseException | None
    results: list[Any]
    inputs: list[torch.Tensor]
    gradients: list[torch.Tensor | None]


def _with_own_memory(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Copies with the same strides and offsets; tensors that share memory go on sharing it."""
    storages: dict[int, torch.UntypedStorage] = {}
    out = []
    for t in tensors:
        plain = t.detach()
        if t.layout is not torch.strided or t.is_conj() or t.is_neg() or t.is_quantized or t.is_nested:
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


def _outcome(
    function: Callable[..., Any], tensors: list[torch.Tensor], wants_gradient: bool, seed: int = SEED
) -> Outcome:
    inputs = _with_own_memory(tensors)
    torch.manual_seed(seed)
    try:
        results = pytree.tree_leaves(function(*inputs))
        gradients = _gradients(results, inputs) if wants_gradient else []
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001: eager's exceptions are part of what is compared
        return Outcome(error, [], inputs, [])
    return Outcome(None, results, inputs, gradients)


def _compiled(function: Callable[..., Any], compiler: Callable[[str], Any], dynamic: bool) -> Callable[..., Any]:
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


def _by_jumar(reports: list[dict[str, Any]]) -> Callable[[str], Any]:
    from jumar.backend import compile_graph

    def compiler(kind: str) -> Any:
        return lambda graph, inputs: compile_graph(graph, inputs, kind, {}, reports.append)

    return compiler


def _by_eager(kind: str) -> Any:
    return lambda graph, inputs: make_boxed_func(graph.forward)


# Comparing.


def _storage(t: torch.Tensor) -> int | None:
    try:
        return t.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return None


def _sharing(outcome: Outcome) -> list[tuple[int, int]]:
    """Pairs of a result and an input, or an earlier result, in the same memory."""
    tensors = [t for t in outcome.inputs + outcome.results if isinstance(t, torch.Tensor)]
    keys = [_storage(t) if t.numel() else None for t in tensors]
    first = len(outcome.inputs)
    return [(a, b) for b in range(first, len(keys)) for a in range(b) if keys[a] is not None and keys[a] == keys[b]]


def _effective_strides(t: torch.Tensor) -> list[int]:
    return [s for s, n in zip(t.stride(), t.shape) if n != 1]


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
        if _effective_strides(found) != _effective_strides(expected):
            return "strides", f"{found.stride()} for {expected.stride()} of {tuple(expected.shape)}"
    if only_form:
        return None
    exact = exact if isinstance(exact, torch.Tensor) else None
    text = _values_differ(found.detach(), expected.detach(), exact)
    return ("values", text) if text else None


def _rows(outcome: Outcome) -> list[tuple[str, Any]]:
    rows = [(f"result {k}", r) for k, r in enumerate(outcome.results)]
    rows += [(f"input {k} after the call", t) for k, t in enumerate(outcome.inputs)]
    return rows + [(f"gradient {k}", g) for k, g in enumerate(outcome.gradients)]


def _difference(found: Outcome, expected: Outcome, exact: Outcome | None, only_form: bool) -> tuple[str, str] | None:
    """The kind of the first difference and a text; None where there is none."""
    if expected.error is not None:
        if found.error is None:
            return "no exception", f"eager raises {type(expected.error).__name__}: {str(expected.error)[:200]}"
        if not isinstance(found.error, type(expected.error)):
            return "exception type", f"{_error_text(found.error)} for {_error_text(expected.error)}"
        return None
    if found.error is not None:
        return "exception", _error_text(found.error)
    if len(found.results) != len(expected.results) or len(found.gradients) != len(expected.gradients):
        return "kind", f"{len(found.results)} results for {len(expected.results)}"
    has_exact = exact is not None and exact.error is None
    exact_rows = _rows(exact) if has_exact else []
    for k, ((name, a), (_, b)) in enumerate(zip(_rows(found), _rows(expected), strict=True)):
        c = exact_rows[k][1] if has_exact and k < len(exact_rows) else None
        is_gradient = name.startswith("gradient")
        difference = _compare_tensors(a, b, c, only_form)
        if difference and is_gradient and difference[0] == "strides":
            continue  # autograd promises none
        if difference:
            return difference[0], f"{name}: {difference[1]}"
    if _sharing(found) != _sharing(expected):
        return "aliases", f"{_sharing(found)} for {_sharing(expected)}"
    for k, (a, b) in enumerate(zip(found.results, expected.results, strict=True)):
        if isinstance(b, torch.Tensor) and a.requires_grad != b.requires_grad:
            return "requires_grad", f"result {k}: {a.requires_grad}"
    return None


def _error_text(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])[:300]}"


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
        kind = getattr(torch, self.case.dtype)
        return list(self.op.sample_inputs("cpu", kind, requires_grad=self.wants_gradient))

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
        other = _outcome(function, tensors, self.wants_gradient, SEED + 1)
        return _difference(other, expected, None, False) is not None

    def agree(self, found: Outcome, traced: Outcome, kind: str) -> bool:
        """Of two that differ from eager in the same way: whether they give the same values. The compiler rounds halves
        less often than eager's kernels do."""
        if kind != "values":
            return True
        rough = {"rtol": 2e-2, "atol": 2e-2} if self.case.dtype in ("float16", "bfloat16") else {}
        for (_, a), (_, b) in zip(_rows(found), _rows(traced), strict=True):
            if isinstance(b, torch.Tensor):
                try:
                    torch.testing.assert_close(a, b, equal_nan=True, check_stride=False, **rough)
                except AssertionError:
                    return False
        return True

    def run_sample(self, sample: Any) -> dict[str, Any]:
        """What is to be said of a sample; empty where all is well."""
        function, tensors = self.function_of(sample)
        expected = _outcome(function, tensors, self.wants_gradient)
        if self.case.mode == "inplace" and expected.error is not None:
            return {"eager_refuses": True}
        reports: list[dict[str, Any]] = []
        run = _compiled(function, _by_jumar(reports), self.dynamic)
        found = _outcome(run, tensors, self.wants_gradient)
        row: dict[str, Any] = {}
        if eager := [r["eager"] for r in reports if "eager" in r]:
            row["eager"] = eager[0]
        only_form = self.op.name in _UNSET
        difference = _difference(found, expected, None, only_form)
        if difference is None:
            return row
        if difference[0] == "values":
            # Tracing draws from the generator (Dynamo puts its state back); the second call does not trace.
            found = _outcome(run, tensors, self.wants_gradient)
            difference = _difference(found, expected, None, only_form)
            if difference is None:
                return row
        if difference[0] == "values":
            exact = _outcome(function, [_higher(t) for t in tensors], self.wants_gradient)
            difference = _difference(found, expected, exact, only_form)
            if difference is None:
                return row
        by_eager = _compiled(function, _by_eager, self.dynamic)
        traced = _outcome(by_eager, tensors, self.wants_gradient)
        if traced.error is None:
            traced = _outcome(by_eager, tensors, self.wants_gradient)
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
    out: dict[str, Any] = {"case": case.name, "samples": 0, "refused": 0, "eager": {}, "random": 0,
                           "failures": [], "aot_eager": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = _Runner(case)
        try:
            samples = runner.samples()
        except Exception as error:  # noqa: BLE001: the suite itself can't make samples of this kind
            return out | {"no_samples": _error_text(error)}
        for number, sample in enumerate(samples):
            row = runner.run_sample(sample)
            out["samples"] += 1
            if row.get("eager_refuses"):
                out["refused"] += 1
            if "eager" in row:
                out["eager"][row["eager"][:200]] = out["eager"].get(row["eager"][:200], 0) + 1
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
