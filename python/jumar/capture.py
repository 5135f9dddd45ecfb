"""The FX graph that AOTAutograd hands to a compiler, printed as graph text (docs/graph.md).

    captured = graph_text(gm, example_inputs, static_indices=[2, 3])
    captured.text           "graph @main symbols(s0 in [2, inf] hint 128) { ..."
    captured.constants      tensors that the graph holds; they are the inputs after the call's arguments
    captured.python_calls   callables; a node `python.<k>` is python_calls[k](*values) -> tuple of its results

Every operator is printed with all arguments of its schema, in order, defaults filled in. Nodes that compute
sizes vanish into the expressions of those who use them; floats of sizes become `scalar.*` nodes. What only
Python can call becomes a `python.<k>` node. A graph that cannot be printed truthfully (sparse tensors, tensor
subclasses, operators that write to their operands, ...) raises Unprintable with the reason.
"""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

import sympy
import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import resolve_unbacked_bindings
from torch.utils._sympy import functions as torch_functions

from .calls import AS_IT_IS, DROPPED, Form, PythonCall, flattened, is_python_operator
from .schemas import DTYPES, OpSchema, schema_of
from .symbols import ROUNDINGS, Symbols, Unprintable, float_text, is_unbacked, quoted
from .targets import AS_ATEN, NUMBERS, SCALAR_OPS, SYMPY_SCALARS
from .targets import find_results, returns_numbers, wrong_fake_results

__all__ = ["Captured", "Unprintable", "graph_text"]


@dataclass
class Captured:
    text: str
    input_count: int  # the graph's first inputs are the call's arguments, in order; the constants follow
    constants: list[torch.Tensor] = field(default_factory=list)
    python_calls: list[Callable[..., tuple]] = field(default_factory=list)
    node_count: int = 0


def graph_text(
    gm: fx.GraphModule,
    example_inputs: Sequence[Any],
    static_indices: Sequence[int] = (),
    name: str = "main",
    origins: bool = True,
) -> Captured:
    """Prints `gm`. Inputs whose index is in `static_indices` stay the same tensors from call to call."""
    return _Capture(gm, example_inputs, static_indices, name, origins).run()


# A value's place in the text: "%x", an expression, a number, or a list of these for operators with several
# results.
_Text = Any

_LAYOUTS = {torch.strided: "strided", torch.sparse_coo: "sparse_coo", torch.sparse_csr: "sparse_csr"}
_MEMORY_FORMATS = {
    torch.contiguous_format: "contiguous",
    torch.preserve_format: "preserve",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
}


class _NotAnOperator(Exception):
    """This node has no place as an operator with a schema: it becomes a Python call."""


class _Capture:
    def __init__(self, gm, example_inputs, static_indices, name, origins):
        self._gm = gm
        self._examples = example_inputs
        self._static = frozenset(static_indices)
        self._name = name
        self._origins = origins
        self._env: dict[fx.Node, _Text] = {}
        self._schemas: dict[str, str] = {}
        self._inputs: list[str] = []
        self._lines: list[str] = []
        self._types: dict[Any, str] = {}
        self._constants: list[torch.Tensor] = []
        self._constant_names: dict[str, str] = {}
        self._python_calls: list[Callable[..., tuple]] = []
        self._rounded = 0
        self._updated: set[fx.Node] = set()
        self._known: set[sympy.Symbol] = set()  # symbols in the types of inputs, and those that nodes were found to make
        self._scalars: dict[Any, str] = {}
        self._shape_env = _shape_env(gm, example_inputs)
        self._symbols = Symbols(self._shape_env, self._define_rounding)

    def run(self) -> Captured:
        nodes = self._gm.graph.nodes
        placeholders = [n for n in nodes if n.op == "placeholder"]
        for index, node in enumerate(placeholders):
            self._placeholder(index, node)
        returned = ""
        for node in nodes:
            if node.op == "call_function":
                self._call(node)
            elif node.op == "get_attr":
                self._attribute(node)
            elif node.op == "output":
                returned = ", ".join(self._output(value) for value in node.args[0])
            elif node.op != "placeholder":
                raise Unprintable(f"an FX node of kind {node.op} ({node.target})")
        if undefined := self._symbols.undefined():
            raise Unprintable(f"symbol {undefined[0]} is used, but no input or node defines it")
        schemas = [f"  schema {self._schemas[op]}" for op in sorted(self._schemas)]
        header = f"graph @{self._name}{self._symbols.header()} {{"
        footer = f"  return {returned}".rstrip()
        text = "\n".join([header, *schemas, *self._inputs, *self._lines, footer, "}\n"])
        return Captured(text, len(placeholders), self._constants, self._python_calls, len(self._lines))

    # Inputs and constants.

    def _placeholder(self, index: int, node: fx.Node) -> None:
        value = node.meta["val"] if "val" in node.meta else self._examples[index]
        if isinstance(value, torch.Tensor) and (value.is_conj() or value.is_neg()):
            raise Unprintable("an input with a pending conjugation or negation")
        word = "parameter" if index in self._static else "input"
        origin = getattr(node.meta.get("desc"), "target", None)
        suffix = f" {quoted(origin)}" if isinstance(origin, str) and origin else ""
        kind = self._result_type(value)
        self._inputs.append(f"  %{node.name}: {kind} = {word} {index}{suffix}")
        # An int is known by its expression from here on.
        is_int = isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)
        self._env[node] = kind[len("int(") : -1] if is_int else None if value is None else f"%{node.name}"
        if isinstance(value, torch.Tensor):
            self._know_symbols(*value.shape, *value.stride())
        elif isinstance(value, torch.SymFloat):
            self._scalars[self._symbols.expr(value)] = f"%{node.name}"
        else:
            self._know_symbols(value)

    def _know_symbols(self, *sizes: Any) -> None:
        """Symbols in the type of an input are known to the graph from the start."""
        for size in sizes:
            if isinstance(size, torch.SymInt):
                self._known.update(self._symbols.expr(size).free_symbols)
                self._symbols.defined.update(s.name for s in self._symbols.expr(size).free_symbols)

    def _attribute(self, node: fx.Node) -> None:
        value = self._gm
        for part in node.target.split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            self._env[node] = _Bound(value)  # a graph of a higher-order operator: only Python calls see it
            return
        if node.target not in self._constant_names:
            if isinstance(value, FakeTensor):
                raise Unprintable(f"the constant {node.target} is a fake tensor")
            value = value.detach() if isinstance(value, torch.nn.Parameter) else value
            index = len(self._inputs)
            line = f"  %{node.name}: {self._tensor_type(value)} = parameter {index} {quoted(node.target)}"
            self._inputs.append(line)
            self._constants.append(value)
            self._constant_names[node.target] = f"%{node.name}"
        self._env[node] = self._constant_names[node.target]

    # Types.

    def _result_type(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return self._tensor_type(value)
        if value is None:
            return "none"
        if isinstance(value, (bool, torch.SymBool)):
            return "bool"
        if isinstance(value, (int, torch.SymInt)):
            return f"int({self._symbols.text(value)})"
        if isinstance(value, (float, torch.SymFloat)):
            return "float"
        raise Unprintable(f"a value of type {type(value).__name__}")

    def _tensor_type(self, value: torch.Tensor) -> str:
        kind = type(value)
        if kind is not FakeTensor and kind is not torch.Tensor and kind is not torch.nn.Parameter:
            raise Unprintable(f"a tensor subclass ({kind.__name__})")
        if value.device.type != "cpu":
            raise Unprintable(f"a tensor on device {value.device}")
        if value.layout is not torch.strided or value.is_quantized or value.is_nested:
            raise Unprintable("a sparse, quantized or nested tensor")
        shape, strides = tuple(value.shape), value.stride()
        key = (value.dtype, shape, strides)
        try:
            text = self._types.get(key)
        except TypeError:  # symbolic sizes have no hash
            return self._symbolic_type(value.dtype, shape, strides)
        if text is None:
            text = self._types[key] = self._static_type(value.dtype, shape, strides)
        return text

    def _static_type(self, dtype: torch.dtype, shape: tuple, strides: tuple) -> str:
        text = f"{_dtype_name(dtype)}[{', '.join(map(str, shape))}]"
        expected = 1
        for size, stride in zip(reversed(shape), reversed(strides)):
            if stride != expected:
                return f"{text}{{{', '.join(map(str, strides))}}}"
            expected *= max(size, 1)
        return text

    def _symbolic_type(self, dtype: torch.dtype, shape: tuple, strides: tuple) -> str:
        # The reader drops strides that are the contiguous ones.
        text = self._symbols.text
        sizes = ", ".join([text(s) for s in shape])
        return f"{_dtype_name(dtype)}[{sizes}]{{{', '.join([text(s) for s in strides])}}}"

    # Nodes.

    def _call(self, node: fx.Node) -> None:
        target = node.target
        if self._updated and not self._updated.isdisjoint(node.all_input_nodes):
            raise Unprintable("an input that is used after it was updated")
        if target is operator.getitem and isinstance(self._env.get(node.args[0]), (list, tuple)):
            self._env[node] = self._env[node.args[0]][node.args[1]]
            return
        if node.meta.get("val") is None and node.users:
            find_results(node)
        value = node.meta.get("val")
        if isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat, int, float)):
            if self._number(node, value):
                return
        args, kwargs = node.args, node.kwargs
        if target in AS_ATEN:
            target, rewrite = AS_ATEN[target]
            args, kwargs = rewrite(*args, **kwargs), {}
        if isinstance(target, torch._ops.OpOverload):
            if wrong_fake_results(node):
                raise Unprintable(f"{target}, whose fake results in PyTorch have another type or shape")
            if target is torch.ops.aten.copy_.default:
                self._update(node)
                return
            if target._schema.is_mutable:
                raise Unprintable(f"{target} writes to an operand")
            if not is_python_operator(target):
                try:
                    schema = schema_of(target)
                    if schema is None or returns_numbers(target, value):
                        raise _NotAnOperator
                    self._operator(node, schema, self._arguments(args, kwargs, schema))
                    return
                except _NotAnOperator:
                    pass
        self._python_call(node)

    def _update(self, node: fx.Node) -> None:
        """A copy into an input, which AOTAutograd puts after everything else: the graph updates the input."""
        place, value = node.args[0], node.args[1]
        if not isinstance(place, fx.Node) or place.op != "placeholder" or not isinstance(value, fx.Node):
            raise Unprintable("a copy into a tensor that is no input")
        old, new = place.meta["val"], value.meta["val"]
        is_small_float = old.is_floating_point() and old.itemsize == 1
        if old.dtype != new.dtype or old.shape != new.shape or old.is_complex() or is_small_float:
            raise Unprintable(f"a copy of {new.dtype} into an input of {old.dtype}")
        if any(isinstance(stride, int) and stride == 0 for stride in old.stride()) and old.numel() != 1:
            raise Unprintable("a copy into an input whose elements overlap")
        self._updated.add(place)
        self._env[node] = self._env[value]
        origin = self._origin(value) if self._origins else ""
        name = "aten.copy_.default"
        self._schemas[name] = f"{name}(Tensor self, Tensor src, bool non_blocking) -> ()"
        self._lines.append(f"  {name}({self._env[place]}, {self._env[value]}, false){origin}")

    def _number(self, node: fx.Node, value: Any) -> bool:
        """A node that computes a host number: an expression where it can be one, else a scalar operator."""
        if isinstance(value, (bool, int, float)):
            self._env[node] = float_text(value) if isinstance(value, float) else self._symbols.text(value)
            return True
        if node.meta.get("unbacked_bindings"):
            return False  # a number read from a tensor: the operator that reads it defines it
        if isinstance(value, torch.SymFloat):
            expr = self._symbols.expr(value)
            if expr.is_number:
                self._env[node] = float_text(float(expr))
                return True
        else:
            expr = self._symbols.expr(value)
            of_integers = not any(symbol.is_integer is not True for symbol in expr.free_symbols)
            if of_integers or isinstance(value, torch.SymInt):
                try:
                    self._env[node] = self._symbols.text(value)
                    return True
                except Unprintable:
                    if isinstance(value, torch.SymInt):
                        raise
        op = SCALAR_OPS.get(node.target)
        if op is None or node.kwargs:
            return False
        args = ", ".join([self._argument(arg, "Scalar") for arg in node.args])
        kind = self._result_type(value)
        self._lines.append(f"  %{node.name}: {kind} = scalar.{op}({args})")
        self._env[node] = f"%{node.name}"
        if isinstance(value, torch.SymFloat):
            self._scalars[self._symbols.expr(value)] = f"%{node.name}"
        return True

    def _arguments(self, given: Sequence[Any], kwargs: Mapping[str, Any], schema: OpSchema) -> str:
        out = []
        for k, (name, type_text, default, has_default) in enumerate(schema.args):
            if k < len(given):
                value = given[k]
            elif name in kwargs:
                value = kwargs[name]
            elif has_default:
                value = default
            else:
                raise _NotAnOperator
            out.append(self._argument(value, type_text))
        return ", ".join(out)

    def _argument(self, value: Any, type_text: str) -> str:
        if isinstance(value, fx.Node):
            text = self._env[value]
            if isinstance(text, str):
                if type_text.endswith("]") and not text.startswith("["):
                    raise _NotAnOperator
                return text
            if isinstance(text, list):
                return f"[{', '.join(self._flat(text))}]"
            if text is None:
                return "none"
            raise _NotAnOperator
        if value is None:
            return "none"
        if isinstance(value, (list, tuple)):
            item = type_text.rstrip("?").rpartition("[")[0]
            return f"[{', '.join([self._argument(v, item) for v in value])}]"
        bare = type_text.rstrip("?")
        if bare.endswith("]"):
            count = bare.rpartition("[")[2][:-1]
            item = self._argument(value, bare.rpartition("[")[0])
            return f"[{', '.join([item] * (int(count) if count else 1))}]"
        return self._constant(value, bare)

    def _constant(self, value: Any, type_text: str) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            if type_text in ("ScalarType", "MemoryFormat", "Layout"):  # an enumeration's default, as a number
                raise _NotAnOperator
            if not -(2**63) <= value < 2**63:
                raise _NotAnOperator
            return float_text(float(value)) if type_text == "float" else str(value)
        if isinstance(value, float):
            return float_text(value)
        if isinstance(value, str):
            return quoted(value)
        if isinstance(value, torch.dtype):
            return f"dtype({_dtype_name(value)})"
        if isinstance(value, torch.device):
            if value.type != "cpu":
                raise Unprintable(f"a tensor on device {value}")
            return 'device("cpu")'
        if isinstance(value, torch.memory_format):
            return f"memory_format({_MEMORY_FORMATS[value]})"
        if isinstance(value, torch.layout):
            if value not in _LAYOUTS:
                raise _NotAnOperator
            return f"layout({_LAYOUTS[value]})"
        if isinstance(value, (torch.SymInt, torch.SymBool)):
            return self._symbols.text(value)
        raise _NotAnOperator

    def _operator(self, node: fx.Node, schema: OpSchema, args: str) -> None:
        if schema.name not in self._schemas:
            self._schemas[schema.name] = schema.text
        self._emit(node, f"{schema.name}({args})")

    def _python_call(self, node: fx.Node) -> None:
        """The callable keeps everything that is constant; what varies from call to call is its arguments."""
        call = PythonCall(node, self._is_constant)
        args = ", ".join([self._argument(arg, "Scalar") for arg in call.varying])
        call.bind(self._bound_values(call))
        text = f"python.{len(self._python_calls)}({args})"
        value = node.meta.get("val")
        leaves = [] if value is None else flattened(value)
        if not any(isinstance(leaf, NUMBERS) for leaf in leaves):
            self._emit(node, text)
            self._python_calls.append(call.function([AS_IT_IS] * len(leaves)))
            return
        forms = self._emit_with_numbers(node, text)
        self._python_calls.append(call.function(forms))

    def _emit_with_numbers(self, node: fx.Node, call: str) -> list[Form]:
        """A Python call that returns numbers: those that the text does not know become tensors, whose items
        are read."""
        value = node.meta["val"]
        in_sizes: set[str] = set()
        for leaf in flattened(value):
            if isinstance(leaf, torch.Tensor):
                sizes = [s for s in (*leaf.shape, *leaf.stride()) if isinstance(s, torch.SymInt)]
                in_sizes.update(s.name for size in sizes for s in self._symbols.expr(size).free_symbols)
        new = self._new_symbols(node)
        from_sizes = [name for name in new if name in in_sizes]
        self._symbols.defined.update(from_sizes)
        results: list[str] = []
        items: list[str] = []
        forms: list[Form] = []

        def define(value: Any, name: str) -> _Text:
            if isinstance(value, (list, tuple)):
                return [define(v, f"{name}.{k}") for k, v in enumerate(value)]
            if not isinstance(value, NUMBERS):
                forms.append(AS_IT_IS)
                return self._define(value, name, {0: name}, results)
            if isinstance(value, (bool, int, float)):
                forms.append(DROPPED)
                return self._constant(value, "Scalar")
            missing = [s.name for s in self._symbols.expr(value).free_symbols if s.name in new]
            missing = [s for s in missing if s not in self._symbols.defined]
            if isinstance(value, torch.SymInt) and not missing:
                forms.append(DROPPED)
                return self._symbols.text(value)
            self._symbols.defined.update(missing)
            dtype = torch.int64 if isinstance(value, torch.SymInt) else torch.float64
            forms.append(torch.bool if isinstance(value, torch.SymBool) else dtype)
            results.append(f"%{name}.host: {_dtype_name(forms[-1])}[]")
            kind = self._result_type(value)
            defines = f" defines({', '.join(missing)})" if missing else ""
            items.append(f"  %{name}: {kind} = {item.name}(%{name}.host){defines}")
            if isinstance(value, torch.SymFloat):
                self._scalars[self._symbols.expr(value)] = f"%{name}"
            return kind[len("int(") : -1] if kind.startswith("int(") else f"%{name}"

        item = schema_of(torch.ops.aten._local_scalar_dense.default)
        assert item is not None
        self._schemas[item.name] = item.text
        self._env[node] = define(value, node.name)
        defines = f" defines({', '.join(from_sizes)})" if from_sizes else ""
        origin = self._origin(node) if self._origins else ""
        left = f"{', '.join(results)} = " if results else ""
        self._lines += [f"  {left}{call}{defines}{origin}", *items]
        return forms

    def _is_constant(self, node: fx.Node) -> bool:
        return isinstance(self._env[node], (_Bound, type(None)))

    def _bound_values(self, call: PythonCall) -> dict[fx.Node, Any]:
        return {n: getattr(self._env[n], "value", None) for n in call.constant}

    def _emit(self, node: fx.Node, call: str) -> None:
        value = node.meta.get("val")
        names: dict[int, str] = {}
        if isinstance(value, (list, tuple)):
            for user in node.users:
                if user.target is operator.getitem and isinstance(user.args[1], int):
                    names.setdefault(user.args[1], user.name)
        new = self._new_symbols(node)
        self._symbols.defined.update(new)
        results: list[str] = []
        self._env[node] = self._define(value, node.name, names, results)
        if isinstance(value, torch.SymFloat):
            self._scalars[self._symbols.expr(value)] = f"%{node.name}"
        defines = f" defines({', '.join(new)})" if new else ""
        origin = self._origin(node) if self._origins else ""
        left = f"{', '.join(results)} = " if results else ""
        self._lines.append(f"  {left}{call}{defines}{origin}")

    def _define(self, value: Any, name: str, names: dict[int, str], results: list[str]) -> _Text:
        """Names the results of a node, lists flattened, and returns their places in the text."""
        if isinstance(value, (list, tuple)):
            return [self._define(v, names.get(k, f"{name}.{k}"), {}, results) for k, v in enumerate(value)]
        if value is None and not names and not name.count("."):
            return None  # a node without results
        kind = self._result_type(value)
        results.append(f"%{name}: {kind}")
        if kind.startswith("int("):
            return kind[len("int(") : -1]
        return None if value is None else f"%{name}"

    def _new_symbols(self, node: fx.Node) -> list[str]:
        """Unbacked symbols that the node defines, under the names that sizes know them by."""
        bindings = resolve_unbacked_bindings(self._shape_env, node.meta.get("unbacked_bindings"))
        names = self._made_symbols(node)
        for symbol in bindings or ():
            known_as = self._shape_env.replace(symbol)
            if not known_as.is_Symbol or not is_unbacked(known_as.name):
                continue
            name = self._symbols.expr_text(known_as)
            if name not in self._symbols.defined and name not in names:
                names.append(name)
        return names

    def _made_symbols(self, node: fx.Node) -> list[str]:
        """Sizes in a node's results that look as if inputs had them and that no input has, under new names: the length
        of a generator's state, which the partitioner saves."""
        names = []
        for leaf in flattened(node.meta.get("val")):
            for size in (*leaf.shape, *leaf.stride()) if isinstance(leaf, torch.Tensor) else ():
                symbols = self._symbols.expr(size).free_symbols if isinstance(size, torch.SymInt) else ()
                for symbol in sorted(symbols, key=str):
                    if symbol in self._known or symbol not in self._shape_env.backed_var_to_val:
                        continue
                    self._known.add(symbol)
                    names.append(f"u{800000 + len(self._known)}")
                    self._symbols.rename(symbol, names[-1])
        return names

    def _origin(self, node: fx.Node) -> str:
        trace = node.meta.get("stack_trace")
        if not trace:
            return ""
        start = trace.rfind('File "')
        end = trace.find('"', start + 6)
        line_end = trace.find(",", end + 2)
        if start < 0 or end < 0:
            return ""
        file = os.path.basename(trace[start + 6 : end])
        return f' origin "{file}:{trace[end + 8 : line_end if line_end >= 0 else None]}"'

    def _output(self, value: Any) -> str:
        text = self._argument(value, "Scalar")
        if text.startswith("["):
            raise Unprintable("a list of values is returned")
        return text

    def _flat(self, texts: list) -> list[str]:
        if any(not isinstance(t, (str, type(None))) for t in texts):
            raise _NotAnOperator
        return ["none" if t is None else t for t in texts]

    # Integers that come from floats.

    def _define_rounding(self, expr: sympy.Expr) -> str:
        """floor(1.1*s0) as a size: computed by scalar operators, which define a symbol that stands for it."""
        if not self._lines and not self._env:
            raise Unprintable(f"the size {expr} of an input")
        name = f"u{900000 + self._rounded}"
        self._rounded += 1
        operand = self._scalar(expr.args[0])
        self._symbols.declare(name, "-inf", "inf", None)
        self._symbols.defined.add(name)
        call = f"scalar.{ROUNDINGS[type(expr)]}({operand})"
        self._lines.append(f"  %{name}: int({name}) = {call} defines({name})")
        return name

    def _scalar(self, expr: sympy.Expr) -> str:
        """The place of a float expression over sizes, emitted as scalar operators once."""
        if expr.is_Float or (expr.is_number and not expr.is_Integer):
            return float_text(float(expr))
        if expr.is_integer and not isinstance(expr, torch_functions.ToFloat):
            return self._symbols.expr_text(expr)
        if expr in self._scalars:
            return self._scalars[expr]
        op = SYMPY_SCALARS.get(type(expr)) or ("add" if expr.is_Add else "mul" if expr.is_Mul else None)
        if op is None:
            raise Unprintable(f"the number {expr}")
        args = [self._scalar(a) for a in expr.args]
        place = args[0]
        if len(args) == 1:
            place = self._scalar_line(op, args)
        for arg in args[1:]:
            place = self._scalar_line(op, [place, arg])
        self._scalars[expr] = place
        return place

    def _scalar_line(self, op: str, args: list[str]) -> str:
        name = f"scalar.{len(self._lines)}"
        self._lines.append(f"  %{name}: float = scalar.{op}({', '.join(args)})")
        return f"%{name}"


@dataclass(frozen=True)
class _Bound:
    """A value that a Python call holds instead of receiving it."""

    value: Any


def _shape_env(gm: fx.GraphModule, example_inputs: Sequence[Any]) -> Any:
    mode = torch._guards.detect_fake_mode(list(example_inputs))
    if mode is None:
        values = [n.meta.get("val") for n in gm.graph.nodes]
        mode = next((v.fake_mode for v in values if isinstance(v, FakeTensor)), None)
    return mode.shape_env if mode is not None else None


def _dtype_name(dtype: torch.dtype) -> str:
    name = DTYPES.get(dtype)
    if name is None:
        raise Unprintable(f"a tensor of {dtype}")
    return name
