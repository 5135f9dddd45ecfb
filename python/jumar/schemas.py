"""Operator schemas as `schema` lines, made once per operator."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import torch

# Element types: torch's and the text's names (src/ir/dtype.def).
DTYPES: dict[torch.dtype, str] = {
    torch.uint8: "u8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.float16: "f16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.bfloat16: "bf16",
    torch.complex32: "c32",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.bool: "bool",
    torch.float8_e5m2: "f8e5m2",
    torch.float8_e4m3fn: "f8e4m3fn",
    torch.float8_e5m2fnuz: "f8e5m2fnuz",
    torch.float8_e4m3fnuz: "f8e4m3fnuz",
}

_NAMES = {
    "TensorType": "Tensor",
    "IntType": "int",
    "SymIntType": "SymInt",
    "FloatType": "float",
    "SymFloatType": "SymFloat",
    "BoolType": "bool",
    "SymBoolType": "SymBool",
    "NumberType": "Scalar",
    "StringType": "str",
    "ScalarTypeType": "ScalarType",
    "LayoutType": "Layout",
    "MemoryFormatType": "MemoryFormat",
    "DeviceObjType": "Device",
    "GeneratorType": "Generator",
    "StreamObjType": "Stream",
    "ComplexType": "complex",
    "StorageType": "Storage",
}

_OP_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+){2}")


@dataclass(frozen=True)
class OpSchema:
    name: str  # aten.mm.default
    text: str  # aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
    args: tuple[tuple[str, str, Any, bool], ...]  # name, type, default, whether there is one


@functools.lru_cache(maxsize=None)
def schema_of(op: torch._ops.OpOverload) -> OpSchema | None:
    """Nothing for an operator that a node with a schema cannot stand for."""
    schema = op._schema
    args = []
    for arg in schema.arguments:
        # The default of an optional argument and "no default" both read as None.
        has_default = arg.has_default_value()
        args.append((arg.name, type_text(arg.real_type, arg.N), arg.default_value, has_default))
    returns = [type_text(r.real_type, None) for r in schema.returns]
    name = str(op)
    list_returns = sum(r.endswith("]") for r in returns)
    if not _OP_NAME.fullmatch(name) or list_returns > 1:
        return None
    inside = ", ".join(f"{kind} {arg}" for arg, kind, _, _ in args)
    text = f"{name}({inside}) -> ({', '.join(returns)})"
    return OpSchema(name, text, tuple(args))


def type_text(kind: Any, count: int | None) -> str:
    """"Tensor?[]", "SymInt[2]"; an unknown type keeps torch's name, with no spaces, and takes no argument."""
    name = kind.kind()
    if name == "OptionalType":
        return type_text(kind.getElementType(), count) + "?"
    if name == "ListType":
        return f"{type_text(kind.getElementType(), None)}[{count or ''}]"
    return _NAMES.get(name) or re.sub(r"\W+", "_", str(kind))
