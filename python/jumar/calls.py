"""What only Python can call: a node of an FX graph as a function of the values that vary."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import torch
from torch import fx
from torch.utils import _pytree as pytree

_PYTHON_KEYS = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "")


@functools.lru_cache(maxsize=None)
def is_python_operator(op: torch._ops.OpOverload) -> bool:
    """Whether the operator's kernel is a Python function: it is then called from Python, with the
    interpreter's lock held and its exceptions intact."""
    if op.namespace in ("aten", "prims"):
        return op.namespace == "prims"
    namespace, _, name = op._schema.name.partition("::")
    if f"{namespace}::{name}" in torch._library.custom_ops.OPDEFS:
        return True
    overload = op._schema.overload_name
    full = f"{namespace}/{name}.{overload}" if overload else f"{namespace}/{name}"
    return any(f"{full}/{key}" in torch.library._impls for key in _PYTHON_KEYS)


@functools.lru_cache(maxsize=None)
def operator_call(name: str) -> Callable[..., Any]:
    """A function of all arguments of the operator "aten.add.Tensor", positional and in schema order."""
    namespace, op_name, overload = name.split(".", 2)
    op = getattr(getattr(getattr(torch.ops, namespace), op_name), overload)
    arguments = op._schema.arguments
    positional = sum(not arg.kwarg_only for arg in arguments)
    names = [arg.name for arg in arguments[positional:]]

    def call(*args: Any) -> Any:
        return op(*args[:positional], **dict(zip(names, args[positional:])))

    return call


def flattened(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flattened(item)]
    return [value]


# What becomes of a result of a Python call: a number is given as a tensor of one element and this type.
AS_IT_IS, DROPPED = "as it is", "dropped"
Form = str | torch.dtype


class PythonCall:
    """Splits a node's arguments into values that vary (`varying`) and those that stay (`constant`)."""

    def __init__(self, node: fx.Node, is_constant: Callable[[fx.Node], bool]):
        self._node = node
        leaves, self._spec = pytree.tree_flatten((node.args, dict(node.kwargs)))
        nodes = [leaf for leaf in leaves if isinstance(leaf, fx.Node)]
        self.constant = [n for n in dict.fromkeys(nodes) if is_constant(n)]
        self.varying = [n for n in dict.fromkeys(nodes) if not is_constant(n)]
        self._leaves = leaves
        self._values: dict[fx.Node, Any] = {}

    def bind(self, values: dict[fx.Node, Any]) -> None:
        self._values = values

    def function(self, forms: Sequence[Form]) -> Callable[..., tuple]:
        """Takes the varying values in order and returns the results as a tuple: lists flattened, each in its
        form, without those that are dropped."""
        slots = {n: k for k, n in enumerate(self.varying)}
        template = list(self._leaves)
        places = []
        for k, leaf in enumerate(template):
            if not isinstance(leaf, fx.Node):
                continue
            if leaf in slots:
                places.append((k, slots[leaf]))
            else:
                template[k] = self._values[leaf]
        target, spec = self._node.target, self._spec

        def call(*values: Any) -> tuple:
            leaves = list(template)
            for k, slot in places:
                leaves[k] = values[slot]
            args, kwargs = pytree.tree_unflatten(leaves, spec)
            result = target(*args, **kwargs)
            results = [] if result is None and not forms else flattened(result)
            return tuple(
                value if form is AS_IT_IS else torch.tensor(value, dtype=form)
                for value, form in zip(results, forms, strict=True)
                if form is not DROPPED
            )

        call.__name__ = f"python_{getattr(target, '__name__', str(target))}"
        return call
