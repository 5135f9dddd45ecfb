"""What only Python can call: a node of an FX graph as a function of the values that vary."""

from __future__ import annotations

import functools
from typing import Any, Callable

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

    def function(self) -> Callable[..., tuple]:
        """Takes the varying values in order and returns the results, lists flattened, as a tuple."""
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
            if result is None:
                return ()
            return tuple(_flattened(result)) if isinstance(result, (list, tuple)) else (result,)

        call.__name__ = f"python_{getattr(target, '__name__', str(target))}"
        return call


def _flattened(results: Any) -> list[Any]:
    out: list[Any] = []
    for result in results:
        if isinstance(result, (list, tuple)):
            out.extend(_flattened(result))
        else:
            out.append(result)
    return out
