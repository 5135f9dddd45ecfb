"""What capture knows about single targets of FX nodes."""

from __future__ import annotations

import contextlib
import math
import operator
from typing import Any, Callable

import torch
from torch import fx
from torch._prims import rng_prims
from torch.utils._sympy import functions as torch_functions

from .calls import flattened

# What a host number may be in the metadata of a node.
NUMBERS = (int, float, torch.SymInt, torch.SymFloat, torch.SymBool)

# Arithmetic on host numbers: FX target -> name of the scalar operator.
SCALAR_OPS: dict[Any, str] = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.neg: "neg",
    operator.abs: "abs",
    operator.eq: "eq",
    operator.ne: "ne",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.and_: "and",
    operator.or_: "or",
    math.floor: "floor",
    math.ceil: "ceil",
    math.trunc: "trunc",
    math.sqrt: "sqrt",
    torch.sym_float: "to_float",
    torch.sym_max: "max",
    torch.sym_min: "min",
    torch.sym_not: "not",
    torch._sym_sqrt: "sqrt",
}

# The same for the sympy functions that sizes may contain.
SYMPY_SCALARS: dict[type, str] = {
    torch_functions.ToFloat: "to_float",
    torch_functions.IntTrueDiv: "truediv",
    torch_functions.FloatTrueDiv: "truediv",
    torch_functions.FloatPow: "pow",
    torch_functions.Max: "max",
    torch_functions.Min: "min",
    torch_functions.OpaqueUnaryFn_sqrt: "sqrt",
}

# Operators that are printed as another one, and how its arguments are made from theirs: those of torch.prims
# that torch's own passes put into a graph; and the lazy conjugation and negation, which would leave a flag on
# a tensor that compiled code does not see.
AS_ATEN: dict[Any, tuple[Any, Callable[..., tuple]]] = {
    torch.ops.prims.convert_element_type.default: (
        torch.ops.aten._to_copy.default,
        lambda a, dtype: (a, dtype, None, None, None, False, None),
    ),
    torch.ops.aten._conj.default: (torch.ops.aten._conj_physical.default, lambda a: (a,)),
    torch.ops.aten._neg_view.default: (torch.ops.aten.neg.default, lambda a: (a,)),
}

# Operators whose results after the first hold int64 numbers. PyTorch's fake tensors give them the type of the
# operand, and with it everything that is computed from them.
_COUNTING = (
    torch.ops.aten._unique2.default,
    torch.ops.aten.unique_dim.default,
    torch.ops.aten.unique_consecutive.default,
    torch.ops.aten.unique_dim_consecutive.default,
)


def _has_invented_size(node: fx.Node) -> bool:
    """Whether the data decide the first result's sizes, and the metadata has none that is open: some fake kernels make
    up a shape."""
    if node.target not in (*_COUNTING, torch.ops.aten._unique.default):
        return False
    value = node.meta["val"][0] if isinstance(node.meta["val"], (tuple, list)) else node.meta["val"]
    if not isinstance(value, torch.Tensor) or value.dim() == 0:
        return False
    if node.target is torch.ops.aten.unique_consecutive.default:
        _, with_inverse, with_counts, along = (node.args + (None,) * 3)[:4]
        # Along a dimension, results that are not asked for are empty, but not in the metadata.
        if along is not None and not (with_inverse and with_counts):
            return True
        if value.dim() != (1 if along is None else node.args[0].meta["val"].dim()):
            return True
    return all(isinstance(n, int) for n in value.shape)


def _bincount_type(node: fx.Node) -> torch.dtype:
    """Numbers of elements, or sums of weights; the metadata has the operand's type."""
    weights = node.args[1] if len(node.args) > 1 else node.kwargs.get("weights")
    if weights is None:
        return torch.int64
    return torch.float32 if weights.meta["val"].dtype == torch.float32 else torch.float64


def wrong_fake_results(node: fx.Node) -> bool:
    """Whether results have another element type, or another shape, than the node's metadata says."""
    if _has_invented_size(node):
        return True
    if node.target is torch.ops.aten.bincount.default:
        return node.meta["val"].dtype != _bincount_type(node)
    return node.target in _COUNTING and any(value.dtype != torch.int64 for value in node.meta["val"][1:])


def returns_numbers(target: Any, value: Any) -> bool:
    """Whether the operator returns floats or bools, which only the one that reads an element may do."""
    if target is torch.ops.aten._local_scalar_dense.default or value is None:
        return False
    return any(isinstance(leaf, (float, bool, torch.SymFloat, torch.SymBool)) for leaf in flattened(value))


def find_results(node: fx.Node) -> None:
    """Metadata of the operators that draw random numbers once more, in a state that was saved: the partitioner wraps
    them, and says nothing of the results but of their elements."""
    picked = {user.args[1]: user.meta.get("val") for user in node.users if user.target is operator.getitem}
    if len(picked) == len(node.users) and picked.keys() == set(range(len(picked))):
        node.meta["val"] = tuple(picked[k] for k in range(len(picked)))
    elif node.target is rng_prims.run_with_rng_state:
        values = fx.map_arg(node.args[2:], lambda n: n.meta["val"])
        kwargs = fx.map_arg(node.kwargs, lambda n: n.meta["val"])
        mode = torch._guards.detect_fake_mode([node.args[0].meta["val"], values])
        with contextlib.nullcontext() if mode is None else mode:
            node.meta["val"] = node.args[1](*values, **kwargs)
