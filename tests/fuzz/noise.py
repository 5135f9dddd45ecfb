"""How far two right answers may be apart, element by element.

    spread = Sensitivity(function, tensors, gradient).spread()     # one tensor for each result; None for no floats

Eager runs again several times with its roundings changed: results of operators by a few units of the last place, what is
summed as well, operators in float64, halves in float32. An element that such a run moves far has no digits to compare; one
that none of them moves is a promise. So a bound that is wide for one element of a tensor is not for its neighbour.
"""

from __future__ import annotations

from typing import Any, Callable

import torch
from aot import Outcome, outcome, rows_of
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

_RUNS = 4
_HALVES = (torch.float16, torch.bfloat16)
_FLOATS = (torch.float32, torch.float64, *_HALVES)

# Operators that never round.
_MOVES = frozenset("""
    view _unsafe_view permute transpose t numpy_T expand unsqueeze squeeze alias detach lift_fresh unfold slice select unbind
    split split_with_sizes diagonal as_strided clone contiguous _to_copy copy_ copy zeros zeros_like ones ones_like full
    full_like fill fill_ arange eye scalar_tensor new_zeros new_full where masked_fill masked_fill_ cat stack flip roll
    repeat tril triu constant_pad_nd randn reflection_pad1d reflection_pad2d replication_pad1d slice_scatter select_scatter gather
    index_select index index_put index_put_ embedding argmax argmin
    clamp clamp_ clamp_min clamp_max relu relu_ neg neg_ abs abs_ sign floor floor_ ceil trunc round isnan isinf eq ne lt le
    gt ge signbit copysign nan_to_num hardtanh threshold argsort upsample_nearest2d
    zero_ unsqueeze_ scatter empty empty_like empty_strided new_empty new_empty_strided set_ hardshrink heaviside
    index_fill index_fill_ logical_not logical_and logical_or logical_xor take rot90 reshape pixel_shuffle""".split())
# Zeros of both signs are equal to these, so which one comes out depends on the order in which a vector is walked.
_PICKS = frozenset("amax amin max min aminmax maximum minimum fmax fmin sort cummax max_pool2d_with_indices".split())
# Rounded once, as IEEE says: eager and compiled code agree, except for halves.
_ARITHMETIC = frozenset("""add add_ sub sub_ mul mul_ div div_ rsub reciprocal square frac leaky_relu
    true_divide""".split())
# Their operands are what rounding errors are relative to.
_SUMS = frozenset("""sum mean prod var std var_mean std_mean logsumexp linalg_vector_norm cumsum cumprod _softmax
    _log_softmax native_layer_norm native_group_norm _native_batch_norm_legit_functional native_batch_norm _native_batch_norm_legit mm bmm addmm mv
    dot convolution avg_pool2d _adaptive_avg_pool2d index_add scatter_add scatter_reduce mse_loss huber_loss smooth_l1_loss
    index_put_ index_add_ scatter_add_ cumsum_ norm logcumsumexp nll_loss_forward remainder fmod floor_divide _fused_rms_norm
    addcmul addcdiv lerp addcmul_ lerp_ native_batch_norm_backward native_layer_norm_backward embedding_dense_backward
    lgamma digamma upsample_bilinear2d""".split())


# Of infinities these give infinities or NaN, as deviations are summed or oneDNN has it.
_LOOSE_AT_INFINITY = frozenset("""gelu var std var_mean std_mean native_layer_norm native_group_norm native_batch_norm
    _native_batch_norm_legit_functional _native_batch_norm_legit""".split())


def _is_scaled(name: str, args: Any, kwargs: Any) -> bool:
    """A sum with a factor, which eager's vectors multiply and add in one."""
    return kwargs.get("alpha", 1) != 1 or (len(args) > 2 and name not in ("div", "div_"))


def _exchanged(t: Any, wide: Any) -> Any:
    """`wide`, but of infinities and NaN in `t` the other one."""
    if not isinstance(t, torch.Tensor) or t.dtype not in _FLOATS:
        return wide
    return torch.where(t.isinf(), torch.nan, torch.where(t.isnan(), torch.inf, wide))


class _Noise(TorchDispatchMode):
    """`exact_halves`: the compiler was told to round halves as eager does. `widens`: operators compute in float64."""

    def __init__(self, seed: int, exact_halves: bool, widens: bool) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)
        self._exact_halves = exact_halves
        self._widens = widens

    def _moved(self, value: Any, units: float = 1.0) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype not in _FLOATS:
            return value
        # Never 0: an element that no run moves is a promise.
        signs = torch.randint(0, 2, value.shape, generator=self._generator) * 2 - 1
        steps = signs * torch.randint(1, 4, value.shape, generator=self._generator)
        unit = torch.finfo(value.dtype).eps * (units if value.dtype == torch.float64 else min(units, 1e3))
        moved = (value.double() * (1 + steps.double() * unit)).to(value.dtype)
        # Which NaN it is tells nothing either.
        return torch.where(value.isnan(), torch.copysign(value, signs.to(value.dtype)), moved)

    def _resigned(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype not in _FLOATS:
            return value
        signs = torch.randint(0, 2, value.shape, generator=self._generator) * 2 - 1
        return torch.where(value == 0, value * signs.to(value.dtype), value)

    def _wide(self, value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.dtype in _FLOATS
        return value.double() if is_float else value

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        writes = any(a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments)
        is_kept = self._is_kept(func, name, args, kwargs)
        unit = 1.0
        is_sum = name in _SUMS or (name in _ARITHMETIC and _is_scaled(name, args, kwargs))
        if is_sum:
            first, rest = (args[:1], args[1:]) if writes else ((), args)
            rounded = kwargs.get("dtype")
            # Operands are rounded to the type that a sum is told.
            operand_unit = torch.finfo(rounded).eps / torch.finfo(torch.float64).eps if rounded in _FLOATS else 1.0
            args = (*first, *tree_map(lambda value: self._moved(value, operand_unit), rest))
            kwargs = tree_map(self._moved, kwargs)
        out = func(*args, **kwargs) if is_kept or writes else self._widened(func, args, kwargs)
        if is_sum:
            unit += self._length(args, out) ** 0.5 / 4
        if is_kept:
            return out
        if name in _PICKS:
            return tree_map(self._resigned, out)
        if name == "sigmoid":
            return self._moved(out).clamp(0, 1)  # the range that cross entropies ask for
        if not writes:
            return tree_map(lambda value: self._moved(value, unit), out)
        if isinstance(out, torch.Tensor):
            out.copy_(self._moved(out, unit))
        return out

    def _is_kept(self, func: Any, name: str, args: Any, kwargs: Any) -> bool:
        """Whether the operator rounds nothing, or as everybody does."""
        accumulates = name in ("index_put", "index_put_") and len(args) > 3 and args[3]
        if func.is_view or (name in _MOVES and not accumulates):
            return True
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        rounds_halves = not self._exact_halves and any(t.dtype in _HALVES for t in tensors)
        return name in _ARITHMETIC and not _is_scaled(name, args, kwargs) and not rounds_halves

    def _length(self, args: Any, out: Any) -> float:
        """About how many elements make one of the result: the errors of a long sum add up."""
        sizes = [[t.numel() for t in tree_leaves(part) if isinstance(t, torch.Tensor)] for part in (args, out)]
        return max(sizes[0], default=1) / max(min(sizes[1], default=1), 1)

    def _widened(self, func: Any, args: Any, kwargs: Any) -> Any:
        out = func(*args, **kwargs)
        if not self._widens or kwargs.get("dtype") is not None:
            return out
        try:
            wide = func(*tree_map(self._wide, args), **kwargs)
        except RuntimeError:  # an operator that has no float64
            return out
        if func.overloadpacket.__name__ in ("prod", "cumprod"):
            # Where the factors above 1 overflow by themselves, the order decides.
            large = func(args[0].double().abs().clamp(min=1), *args[1:], **kwargs)
            overflows = large.isfinite() & (large > torch.finfo(out.dtype).max) if out.dtype in _FLOATS else large < 0
            wide = torch.where(overflows, torch.nan, wide)
        if func.overloadpacket.__name__ in _LOOSE_AT_INFINITY:
            wide = tree_map(_exchanged, out, wide) if isinstance(out, (tuple, list)) else _exchanged(out, wide)

        def narrow(narrower: Any, value: Any) -> Any:
            if not isinstance(narrower, torch.Tensor) or narrower.dtype not in _FLOATS:
                return narrower
            value = value.to(narrower.dtype)
            return torch.where(value.abs() < torch.finfo(value.dtype).tiny, value * 0, value)  # denormals may be 0

        return tree_map(narrow, out, wide) if isinstance(out, (tuple, list)) else narrow(out, wide)


class _Wide(TorchDispatchMode):
    """Halves are not rounded: whatever an operator is told to make of that type is float32."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        widened = lambda a: torch.float32 if a in _HALVES else a  # noqa: E731
        return func(*tree_map(widened, args), **tree_map(widened, kwargs or {}))


def _widened(t: torch.Tensor) -> torch.Tensor:
    if t.dtype not in _HALVES:
        return t
    out = torch.empty_strided(t.shape, t.stride(), dtype=torch.float32)
    return (out.copy_(t) if 0 not in t.stride() else t.float()).requires_grad_(t.requires_grad)


def runs(function: Callable[..., Any], tensors: list[torch.Tensor], gradient: bool, exact_halves: bool) -> list[Outcome]:
    """What other right answers look like. Some may run into what eager refuses, but not all."""

    def run_in(mode: TorchDispatchMode, inputs: list[torch.Tensor]) -> Outcome:
        with mode:  # the backward pass as well
            return outcome(function, inputs, gradient)

    out = [run_in(_Noise(k, exact_halves, k == _RUNS - 1), tensors) for k in range(_RUNS)]
    if not exact_halves and any(t.dtype in _HALVES for t in tensors):
        out.append(run_in(_Wide(), [_widened(t) for t in tensors]))
    done = [o for o in out if o.error is None]
    if not done:
        raise RuntimeError(f"eager refuses to run with other roundings: {out[0].error}")
    return done


def allowed(expected: torch.Tensor, others: list[torch.Tensor]) -> torch.Tensor:
    """How far each element may be from `expected`; inf where it has no digits."""
    a = expected.detach().double()
    out = torch.zeros_like(a)
    for other in others:
        if other.shape != a.shape:
            continue
        b = other.detach().double()
        same = (a == b) | (a.isnan() & b.isnan())
        both = a.isfinite() & b.isfinite()
        distance = torch.where(same, 0.0, torch.where(both, (a - b).abs(), torch.inf))
        out = torch.maximum(out, distance)
    return 10 * out


__all__ = ["allowed", "rows_of", "runs"]
